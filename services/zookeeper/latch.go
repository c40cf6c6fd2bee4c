package zookeeper

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// latchClient is the client of Curator's LeaderLatch.
//
//go:embed Latch.java
var latchClient []byte

// Latch is the service that uses Curator's LeaderLatch. The term of a leader is the czxid of its ZooKeeper
// node.
var Latch = service.Service{
	Name:    "zookeeper-latch",
	Summary: "LeaderLatch of Apache Curator on ZooKeeper, in Java; a term is the czxid of the leader's node",
	Promise: "If SUSPENDED or LOST is reported, the LeaderLatch that is the leader will report that it is no " +
		"longer the leader [...]. If a LOST connection is RECONNECTED, the LeaderLatch will delete its previous " +
		"ZNode and create a new one.",
	Link: "https://curator.apache.org/docs/recipes-leader-latch",
	Options: []service.Option{session,
		{Name: "lost", Default: disconnected, Usage: "when a leader says that it leads no more: once it is " +
			"disconnected (StandardConnectionStateErrorPolicy), or once its session is over as far as it knows " +
			"(SessionConnectionStateErrorPolicy)", Values: []string{expired, disconnected}},
		durable,
	},
	Servers: &servers, Settings: settings,
	Delete: deleteNodes, Expire: expireSessions, Queues: true,
	Granted: granted,
	Declare: func(v service.Values) service.Declaration {
		d := declaration(v)
		d.Elects, d.Leaves, d.Terms = true, true, true
		return d
	},
	Library: func(service.Values) string { return curatorVersion() },
	Needs:   func(service.Values) error { return prepareCurator("Latch", latchClient) },
	Client: func(v service.Values, d service.Declaration, in io.Reader, out io.Writer) error {
		return program.ServeElector(in, out, d,
			func(ctx context.Context, s program.Init) (program.Elector, error) { return openLatch(ctx, s, v) })
	},
}

// A latch is one node's client of the service.
type latch struct {
	process *curatorProcess
	lines   chan string // closed once the process has ended
}

func openLatch(ctx context.Context, s program.Init, v service.Values) (program.Elector, error) {
	l := &latch{lines: make(chan string, 100)}
	path := "/" + strings.Trim(s.Options.Prefix, "/") + "/latch"
	var err error
	l.process, err = startCurator(ctx, s, "Latch", latchClient, v.Duration("session"),
		[]string{path, s.Name, v["lost"]},
		func(line string) { l.lines <- line }, func() { close(l.lines) })
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Run implements program.Elector. The process of Curator campaigns from its start on.
func (l *latch) Run(ctx context.Context, follow func(leader string, term uint64)) error {
	var leader string
	var term uint64
	for {
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), program.ErrLeaves) {
				fmt.Fprint(l.process.in, "leave")
			}
			return nil
		case line, is := <-l.lines:
			switch {
			case !is:
				return errors.New("the process of Curator has ended")
			case line == "connected":
			case line == "nobody":
				follow("", term)
			default:
				if _, err := fmt.Sscanf(line, "follows %s %d", &leader, &term); err != nil {
					return fmt.Errorf("the process of Curator says %q: %w", line, err)
				}
				follow(leader, term)
			}
		}
	}
}

// Close implements program.Elector. The process of Curator ends when its input does.
func (l *latch) Close() error {
	l.process.in.Close()
	for range l.lines {
	}
	return l.process.ending()
}
