package raft

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// kinds returns the kinds of messages for electing and following a leader.
func kinds() map[string]service.Kind {
	all := map[string]service.Kind{}
	for _, t := range []raftpb.MessageType{raftpb.MsgPreVote, raftpb.MsgPreVoteResp, raftpb.MsgVote,
		raftpb.MsgVoteResp, raftpb.MsgApp, raftpb.MsgAppResp, raftpb.MsgHeartbeat, raftpb.MsgHeartbeatResp,
		raftpb.MsgTimeoutNow} {
		all[t.String()] = service.Kind{Heartbeat: t == raftpb.MsgHeartbeat || t == raftpb.MsgHeartbeatResp}
	}
	return all
}

// A node is the Raft node of one process. Its number in Raft is its index among all nodes, counted from 1.
type node struct {
	*program.Conn
	values  service.Values
	storage *raft.MemoryStorage
	raw     *raft.RawNode // nil: the disk has not been read yet
	kept    kept

	leader uint64 // leader that was reported last
	term   uint64

	led  time.Duration // for how long it has led since it last tried to hand over
	heir uint64        // to whom it last tried to hand over; itself: to nobody
}

// kept is the contents of the disk: all that Raft must keep, in the library's encoding.
type kept struct {
	State   []byte   `json:"state"`
	Entries [][]byte `json:"entries"`
}

// The key on the disk, and the name of the timer.
const (
	diskKey = "raft"
	tick    = "tick"
)

// serve runs a node until its input ends. If the library panics, for instance since its log was lost, the
// node is disabled: it follows no leader and does nothing any more, like a process that crashes at each
// start.
func serve(c *program.Conn, v service.Values) error {
	n := &node{Conn: c, values: v}
	c.Load(diskKey)
	panicked := false
	for {
		l, err := c.Read()
		if errors.Is(err, io.EOF) {
			return c.Err()
		}
		if err != nil {
			return err
		}
		if panicked {
			continue
		}
		if panicked, err = n.protected(l); err != nil {
			return err
		}
	}
}

// protected handles a line, and reports whether the library panicked.
func (n *node) protected(l program.Line) (panicked bool, err error) {
	defer func() {
		if text := recover(); text != nil {
			fmt.Fprintln(os.Stderr, "raft has panicked, and this node does nothing any more:", text)
			n.say(raft.None, n.term)
			panicked = true
		}
	}()
	return false, n.handle(l)
}

func (n *node) handle(l program.Line) (err error) {
	switch {
	case l.Src == program.Disk:
		err = n.start(l)
	case l.Src == program.Client:
		if l.Type == "campaign" {
			n.Answer(l, "error", map[string]any{"code": program.Unsupported, "text": "elections start by themselves"})
		}
		return nil
	case n.raw == nil: // a message that arrives before Raft has started is lost
		return nil
	case l.Src == program.Timer:
		n.raw.Tick()
		n.handOver()
		n.SetTimer(tick, n.values.Duration(tickOption), n.values.Duration(tickOption))
	default:
		err = n.receive(l)
	}
	if err != nil || n.raw == nil {
		return err
	}
	return n.work()
}

// start starts Raft with the contents of the disk.
func (n *node) start(l program.Line) error {
	if n.raw != nil { // this is the answer to another request
		return nil
	}
	if l.Type == "read_ok" {
		var body struct{ Value kept }
		if err := json.Unmarshal(l.Body, &body); err != nil {
			return err
		}
		n.kept = body.Value
	}
	if err := n.restore(); err != nil {
		return err
	}
	id := uint64(slices.Index(n.Init.Names, n.Init.Name) + 1)
	raw, err := raft.NewRawNode(&raft.Config{ID: id, Storage: n.storage, Applied: first,
		ElectionTick: n.values.Int(electionOption), HeartbeatTick: n.values.Int(heartbeatOption),
		PreVote: n.values.On(preVoteOption), CheckQuorum: n.values.On(quorumOption),
		MaxSizePerMsg: 64 << 10, MaxInflightMsgs: 256,
		Logger: &raft.DefaultLogger{Logger: log.New(os.Stderr, "", 0)}})
	if err != nil {
		return err
	}
	n.raw, n.heir = raw, id
	n.SetTimer(tick, n.values.Duration(tickOption), n.values.Duration(tickOption))
	return nil
}

// handOver asks another node to lead, once this node has led for as long as the option transfer says.
func (n *node) handOver() {
	after, self, all := n.values.Duration(transferOption), n.raw.BasicStatus(), uint64(len(n.Init.Names))
	if self.RaftState != raft.StateLeader || after == 0 || all == 1 {
		n.led = 0
		return
	}
	if n.led += n.values.Duration(tickOption); n.led < after {
		return
	}
	n.led = 0
	if n.heir = n.heir%all + 1; n.heir == self.ID {
		n.heir = n.heir%all + 1
	}
	n.raw.TransferLeader(n.heir)
}

// first is the index and the term of the entry before the first entry of every log. After this entry all
// nodes are members.
const first = 1

// restore fills Raft's storage with the contents of the disk.
func (n *node) restore() error {
	n.storage = raft.NewMemoryStorage()
	var voters []uint64
	for i := range n.Init.Names {
		voters = append(voters, uint64(i+1))
	}
	err := n.storage.ApplySnapshot(&raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{
		ConfState: &raftpb.ConfState{Voters: voters}, Index: proto.Uint64(first), Term: proto.Uint64(first)}})
	if err != nil {
		return err
	}
	state := &raftpb.HardState{Term: proto.Uint64(first), Commit: proto.Uint64(first)}
	if n.kept.State != nil {
		if err := proto.Unmarshal(n.kept.State, state); err != nil {
			return err
		}
	}
	var entries []*raftpb.Entry
	for _, b := range n.kept.Entries {
		e := &raftpb.Entry{}
		if err := proto.Unmarshal(b, e); err != nil {
			return err
		}
		entries = append(entries, e)
	}
	if err := n.storage.Append(entries); err != nil {
		return err
	}
	return n.storage.SetHardState(state)
}

// receive handles a message of another node. If the library rejects the message, since it is late for
// instance, the node goes on.
func (n *node) receive(l program.Line) error {
	var body struct{ Message []byte }
	m := &raftpb.Message{}
	if err := json.Unmarshal(l.Body, &body); err != nil {
		return err
	}
	if err := proto.Unmarshal(body.Message, m); err != nil {
		return err
	}
	if err := n.raw.Step(m); err != nil {
		fmt.Fprintln(os.Stderr, "raft:", err)
	}
	return nil
}

// work does what Raft asks for: it saves state, sends messages, and reports the leader.
func (n *node) work() error {
	for n.raw.HasReady() {
		r := n.raw.Ready()
		if err := n.keep(&r); err != nil {
			return err
		}
		for _, m := range r.Messages {
			b, err := proto.Marshal(m)
			if err != nil {
				return err
			}
			n.Say(n.Init.Names[m.GetTo()-1], map[string]any{"type": m.GetType().String(), "message": b})
		}
		n.raw.Advance(r)
	}
	s := n.raw.BasicStatus()
	n.say(s.Lead, s.GetTerm())
	return nil
}

// keep saves to disk what has changed, before the messages that depend on it are sent.
func (n *node) keep(r *raft.Ready) error {
	if r.HardState == nil && len(r.Entries) == 0 {
		return nil
	}
	if err := n.storage.Append(r.Entries); err != nil {
		return err
	}
	if r.HardState != nil {
		if err := n.storage.SetHardState(r.HardState); err != nil {
			return err
		}
		b, err := proto.Marshal(r.HardState)
		if err != nil {
			return err
		}
		n.kept.State = b
	}
	for _, e := range r.Entries {
		b, err := proto.Marshal(e)
		if err != nil {
			return err
		}
		n.kept.Entries = append(n.kept.Entries[:e.GetIndex()-first-1], b)
	}
	n.Store(diskKey, n.kept)
	return nil
}

// say reports the leader and the term of the node, if they have changed.
func (n *node) say(leader, term uint64) {
	if leader == n.leader && term == n.term {
		return
	}
	n.leader, n.term = leader, term
	body := map[string]any{"type": "elected", "leader": nil, "term": term}
	if leader != raft.None {
		body["leader"] = n.Init.Names[leader-1]
	}
	n.Say(program.Client, body)
}
