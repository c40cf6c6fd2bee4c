package cluster

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A BrokerConfig says how a broker is to run.
type BrokerConfig struct {
	Port  int    `json:"port"`  // on the loopback address; 0: any that is free
	Token string `json:"token"` // the credential that clients must show
}

// BrokerVersion is the version of the embedded NATS server.
const BrokerVersion = server.VERSION

// NewToken returns a fresh credential.
func NewToken() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// maxPause is longer than any pause of a node. The broker keeps what such a node has not read, and does not
// disconnect it, which would lose messages.
const maxPause = 5 * time.Minute

// StartBroker runs a NATS server in this process. It listens on the loopback address alone.
func StartBroker(c BrokerConfig) (*server.Server, error) {
	port := c.Port
	if port == 0 {
		port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "turnstile", Host: "127.0.0.1", Port: port, Authorization: c.Token,
		NoLog: true, NoSigs: true, NoSystemAccount: true,
		MaxConn: 1 << 20, MaxPending: 1 << 30, WriteDeadline: maxPause,
		PingInterval: maxPause, AuthTimeout: 60,
	})
	if err != nil {
		return nil, fmt.Errorf("making the broker: %w", err)
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, fmt.Errorf("the broker does not come up on 127.0.0.1:%d: is the port in use?", c.Port)
	}
	return s, nil
}

// ServeBroker runs a broker as a process that a Launcher started: it reads its BrokerConfig from in,
// prints its URL to out, and returns when in ends.
func ServeBroker(in io.Reader, out io.Writer) error {
	var c BrokerConfig
	if err := json.NewDecoder(in).Decode(&c); err != nil {
		return fmt.Errorf("reading the broker's configuration: %w", err)
	}
	s, err := StartBroker(c)
	if err != nil {
		return err
	}
	defer s.Shutdown()
	if _, err := fmt.Fprintln(out, s.ClientURL()); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// LaunchBroker starts a broker in a process of its own, by running the program at path with args, which
// must call ServeBroker. It returns the process, the broker's URL and its credential.
func LaunchBroker(ctx context.Context, l *Launcher, path string, args []string) (
	p *Process, url, token string, err error) {
	token = NewToken()
	config, err := json.Marshal(BrokerConfig{Token: token})
	if err != nil {
		return nil, "", "", err
	}
	urls := make(chan string, 1)
	p, err = l.Start("the broker", path, args, nil, config, findURL(urls))
	if err != nil {
		return nil, "", "", err
	}
	select {
	case url = <-urls:
		p.expected = url + "\n"
		return p, url, token, nil
	case <-p.Ended():
		err = errors.New("the broker ended before it was up: " + p.Fate())
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(20 * time.Second):
		err = errors.New("the broker did not come up within 20 s" + p.LastWords())
	}
	p.Kill()
	return nil, "", "", err
}

// findURL returns a function that finds the URL in what a broker prints and sends it to urls. Anything else
// that a broker prints is an error message.
func findURL(urls chan<- string) func([]byte) []byte {
	var begun string // of a line
	return func(b []byte) []byte {
		lines := strings.Split(begun+string(b), "\n")
		begun = lines[len(lines)-1]
		for _, line := range lines[:len(lines)-1] {
			if strings.HasPrefix(line, "nats://") {
				select {
				case urls <- line:
				default: // one is enough
				}
			}
		}
		return b
	}
}
