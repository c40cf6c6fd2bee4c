package site

import (
	"context"
	"errors"
	"strings"

	"turnstile/hosts/agent"
	"turnstile/internal/broker"

	"github.com/nats-io/nats.go"
)

// LeftFolder returns the name of the folder in which hosts keep the files of a trial until they are fetched.
func LeftFolder(fleet, trial string) string { return fleet + "-" + trial }

// CleanHosts makes all hosts remove the unfetched files of runs that are over, and returns what was removed.
func CleanHosts(ctx context.Context, conn *nats.Conn, version string) (removed []string, err error) {
	found, err := Find(conn)
	for _, d := range found {
		for _, left := range d.Left {
			wrong := Adopt(ctx, conn, d, version, left, func(*agent.Machine) error { return nil })
			if err = errors.Join(err, wrong); wrong == nil {
				removed = append(removed, d.Name+": "+left)
			}
		}
	}
	return removed, err
}

// Adopt takes over the files of a run that a host has kept, calls do, and then makes the host remove them.
func Adopt(ctx context.Context, conn *nats.Conn, d agent.Description, version, left string,
	do func(*agent.Machine) error) error {
	run, err := agent.NewRun(conn, strings.ToLower(broker.NewToken()[:12]))
	if err != nil {
		return err
	}
	defer run.Close()
	h, err := run.Join(ctx, d,
		agent.Join{Version: version, User: userAtHost(), What: "fetching files", Adopt: left})
	if err != nil {
		return err
	}
	if err = do(h); err == nil {
		err = h.Clear(ctx)
	}
	return errors.Join(err, h.End(ctx))
}

// Find returns the hosts at a control plane.
func Find(conn *nats.Conn) ([]agent.Description, error) { return agent.Find(conn, findLimit) }
