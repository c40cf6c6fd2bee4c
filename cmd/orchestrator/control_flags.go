package main

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/pflag"

	"turnstile/bench/access"
)

// controlFlags say how the control plane is reached.
type controlFlags struct {
	url, key string
}

// add adds the flags.
func (c *controlFlags) add(f *pflag.FlagSet) { addControl(f, &c.url, &c.key) }

// addControl adds the flags that say how the control plane is reached.
func addControl(f *pflag.FlagSet, url, key *string) {
	f.StringVar(url, "control", "", "`URL` of the control plane, as orchestrator control prints it")
	f.StringVar(key, "key", "", "`file` with the key for it, as orchestrator keys makes it")
}

// connect connects to the control plane, by a name that people see there.
func (c *controlFlags) connect(name string) (*nats.Conn, error) {
	conn, who, err := access.Connect(c.url, c.key, nats.Name(name), nats.Timeout(5*time.Second))
	if err != nil {
		return nil, fmt.Errorf("--control: %w", err)
	}
	if who.Role != "" && who.Role != access.User {
		conn.Close()
		return nil, fmt.Errorf("--key: %s is the key of %v, and only that of a user may ask hosts", c.key, who)
	}
	return conn, nil
}
