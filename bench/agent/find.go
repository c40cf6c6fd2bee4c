package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/bench/access"
)

// Clock asks the host for the reading of its clock.
func Clock(conn *nats.Conn, host string, within time.Duration) (r Reading, err error) {
	m, err := conn.Request(clockSubject(host), nil, within)
	if err == nil {
		err = json.Unmarshal(m.Data, &r)
	}
	return r, err
}

// Find returns the hosts that can be found within a time, by name.
func Find(conn *nats.Conn, within time.Duration) ([]Description, error) {
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil {
		return nil, fmt.Errorf("looking for hosts: %w", err)
	}
	defer sub.Unsubscribe()
	if err := conn.PublishRequest("$SRV.INFO."+access.Service, inbox, nil); err != nil {
		return nil, fmt.Errorf("looking for hosts: %w", err)
	}
	found := map[string]Description{}
	const quiet = 150 * time.Millisecond // after which no more are waited for
	for late, next := time.Now().Add(within), within; ; next = min(quiet, time.Until(late)) {
		m, err := sub.NextMsg(next)
		switch {
		case errors.Is(err, nats.ErrTimeout), errors.Is(err, nats.ErrNoResponders):
			return slices.SortedFunc(maps.Values(found), func(a, b Description) int {
				return cmp.Compare(a.Name, b.Name)
			}), nil
		case err != nil:
			return nil, fmt.Errorf("looking for hosts: %w", err)
		}
		var info struct {
			Metadata map[string]string `json:"metadata"`
		}
		if json.Unmarshal(m.Data, &info) != nil || access.CheckName(info.Metadata["host"]) != nil {
			continue
		}
		if d, err := Describe(conn, info.Metadata["host"], time.Until(late)+time.Second); err == nil {
			found[d.Name] = d
		}
	}
}

// Describe asks a host what it is like.
func Describe(conn *nats.Conn, host string, within time.Duration) (d Description, err error) {
	m, err := conn.Request(describeSubject(host), nil, within)
	if err == nil {
		err = json.Unmarshal(m.Data, &d)
	}
	return d, err
}
