// Package raft has the election of etcd's Raft library, run in the nodes of the testbed. Its messages are
// sent over the links of the run, its ticks are timers of the run, and what Raft must keep is on the disks of
// the nodes.
package raft

import (
	"errors"
	"io"
	"time"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// Options of the service.
const (
	tickOption      = "tick"
	electionOption  = "election"
	heartbeatOption = "heartbeat"
	preVoteOption   = "pre-vote"
	quorumOption    = "check-quorum"
	transferOption  = "transfer"
)

// Service is the election.
var Service = service.Service{
	Name:    "etcd-raft",
	Summary: "RawNode of etcd's Raft library at each node, over the links of the run, with an empty log",
	Promise: "Election Safety: at most one leader can be elected in a given term.",
	Link:    "https://raft.github.io/raft.pdf", // figure 3
	Options: []service.Option{
		{Name: tickOption, Default: "50ms", Usage: "length of a tick",
			Check: service.Length(time.Millisecond, time.Minute), Drawn: []string{"20ms", "70ms"}},
		{Name: electionOption, Default: "10", Check: service.Count(2, 10_000), Drawn: []string{"5", "13"},
			Usage: "ticks without a leader after which a node stands; the library draws up to twice as many"},
		{Name: heartbeatOption, Default: "1", Usage: "ticks between heartbeats", Check: service.Count(1, 10_000),
			Drawn: []string{"1", "3"}},
		service.Switch(preVoteOption, "on", "a node asks for votes only if a majority would give them (PreVote)"),
		service.Switch(quorumOption, "on",
			"a leader that hears of no majority for an election steps down (CheckQuorum)"),
		{Name: transferOption, Default: "0s", Check: service.Length(0, time.Hour),
			Drawn: []string{"0s", "300ms", "2s"},
			Usage: "time after which a leader hands over to another node, each time to the next (TransferLeader); " +
				"if that node does not take over within an election, the leader leads on; 0s: never"},
	},
	Check: func(v service.Values) error {
		if v.Int(electionOption) <= v.Int(heartbeatOption) {
			return errors.New("election has to be more ticks than heartbeat")
		}
		return nil
	},
	Declare: func(v service.Values) service.Declaration {
		return service.Declaration{Safe: []string{"no-amnesia"}, Live: []string{"majority", "no-pause", "timing"},
			Elects: true, Terms: true, Kinds: kinds(),
			// Two lead only until the old leader hears of the next term, which a candidate sends it.
			OverlapMS: float64(election(v) / time.Millisecond),
			GraceMS:   float64((8*election(v) + time.Second) / time.Millisecond)}
	},
	Granted: election,
	Library: func(service.Values) string { return service.Module("go.etcd.io/raft/v3") },
	Client: func(v service.Values, d service.Declaration, in io.Reader, out io.Writer) error {
		c, err := program.Open(in, out, d)
		if err != nil {
			return err
		}
		return serve(c, v)
	},
}

// election returns the shortest time without a leader after which a node campaigns.
func election(v service.Values) time.Duration {
	return time.Duration(v.Int(electionOption)) * v.Duration(tickOption)
}
