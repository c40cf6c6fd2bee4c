package election

import (
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var omegaAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "omega", Kind: nodes.Election,
		New: func(c nodes.Config) nodes.Machine {
			return &omega{patience: patienceOf(c), leader: nodes.None}
		},
		Timers: []nodes.TimerName{{Kind: omegaBeat, Name: "beat"},
			{Kind: omegaSilence, Name: "silence", PerPeer: true}},
		Messages: []nodes.MessageKind{{Zero: omegaHeartbeat{}, Heartbeat: true, Broadcast: true}},
		Options:  []nodes.Option{heartbeatOption, silenceOption, growOption},
		// It promises only that one node leads in the end: until then several may lead.
		Safe: nodes.Timing | nodes.NoPause | nodes.NoLoss,
		Live: nodes.Timing | nodes.NoPause,
		// Twice a silence and a heartbeat, since the timeout may have grown to twice its length.
		Grace: func(c nodes.Config) time.Duration {
			return 2*c.Duration(silenceOption) + 2*c.Duration(heartbeatOption)
		},
		Circulates: true,
	},
	Aliases: []string{"omega-all-to-all"}, Family: "eventual leader",
	Source: "T. D. Chandra and S. Toueg, Unreliable failure detectors for reliable distributed systems, " +
		"JACM 43(2), 1996, figure 10; Chandra, Hadzilacos and Toueg, The weakest failure detector for solving " +
		"consensus, JACM 43(4), 1996",
	Summary: "All send all others a heartbeat each period; the lowest that was not silent too long leads, " +
		"and a timeout that was too short grows.",
	Elector: &algorithm.Leadership{Wins: algorithm.LowestWins, Overlap: omegaOverlap, Mistakes: omegaMistakes,
		Partitions: []algorithm.Partition{{
			Does: algorithm.PerSide, Why: "each side trusts the lowest that it hears from"},
			{Cuts: algorithm.SomeLinks, Does: algorithm.SeveralLead,
				Why: "each node trusts the lowest that it hears from"}}},
	Published: []algorithm.Claim{quietClaim("N(N-1): all send to all", []string{"heartbeat"},
		func(n float64) float64 { return n * (n - 1) })},
	Faults: splitting("one leader per component: each side trusts the lowest that it hears from",
		under(breaks, "nodes 1 and 2 do not hear the leader, and follow node 1, which does not give way to "+
			"it", "unheard-node"),
		under(recovers, "a node that does not hear the leader follows the next, which does not lead", "one-link",
			"chain"),
		under(recovers, "two lead for the rest of a cut of 300 ms, which is no longer than a take-over takes",
			"flapping-links")),
}

var (
	silenceOption = nodes.Option{Name: "silence", Default: "250ms", Check: checkSilence,
		Usage: "silence after which a node is given up at first; each mistake adds to it",
		Bound: &nodes.TimeoutBound{Formula: "T plus a heartbeat",
			Covers: func(c nodes.Config, d nodes.Delays) time.Duration {
				return d.Message + c.Duration(heartbeatOption)
			}},
		Shows: []nodes.Shown{{Value: "1s", Than: "250ms", Figure: "leaderless", Least: 2, Most: 5,
			For:    4 * time.Second,
			Faults: []string{"kill: 0, at: 1s"}}}}
	growOption = nodes.Option{Name: "grow", Default: "50ms",
		Usage: "what each mistake about a node adds to its silence",
		Check: func(_ nodes.Config, value string) error {
			return algorithm.CheckTime(value, time.Millisecond, time.Minute, "50ms")
		},
		Shows: []nodes.Shown{
			{Value: "500ms", Than: "1ms", Figure: "given up", Least: 0, Most: 0.5, For: 20 * time.Second,
				Faults: []string{"loss: 60%"}},
			{Value: "50ms", Than: "1ms", Figure: "given up", Least: 0, Most: 0.8, For: 20 * time.Second,
				Faults: []string{"loss: 60%"}},
		}}
)

// checkSilence returns an error unless the silence is longer than a heartbeat, and bounded.
func checkSilence(c nodes.Config, value string) error {
	if err := algorithm.CheckTime(value, 0, 1000*time.Hour, "250ms"); err != nil {
		return err
	}
	silence, _ := time.ParseDuration(value)
	switch heartbeat := c.Duration(heartbeatOption); {
	case silence <= heartbeat:
		return fmt.Errorf("%v is not longer than the heartbeat of %v, so every node would be given up: take some "+
			"heartbeats, such as %v", silence, heartbeat, 5*heartbeat)
	case silence > mostBeats*heartbeat:
		return fmt.Errorf("%v is more than %d heartbeats of %v: send them less often", silence, mostBeats,
			heartbeat)
	}
	return nil
}

// omegaOverlap is how long a node that comes up again below the leader leads beside the leader: while its
// first heartbeat travels. A message takes less than the silence minus the time between heartbeats; otherwise
// live nodes would be given up.
func omegaOverlap(c nodes.Config) time.Duration {
	return c.Duration(silenceOption) - c.Duration(heartbeatOption)
}

// omegaMistakes returns how often a node gives up a live one, if messages take up to longest. Each time its
// patience with that node grows, until it exceeds the time between two heartbeats.
func omegaMistakes(c nodes.Config, longest time.Duration) int {
	short := c.Duration(heartbeatOption) + longest - c.Duration(silenceOption)
	if short < 0 {
		return 0
	}
	return int(short/c.Duration(growOption)) + 1
}

// omega elects, in the end, the lowest node that is up, by the eventually perfect failure detector of
// Chandra and Toueg.
//
// Each period a node sends a heartbeat to all others. It gives up a node that is silent for as long as its
// patience with that node, and trusts it again at its next heartbeat. If the node was up all the time, this
// was wrong, and the patience with it grows. The lowest node that is not given up leads, once it was heard
// of; each node counts itself as up.
//
// Why one leads in the end: dead nodes are given up for ever. If from some time on messages take no longer
// than some bound, however long, the patience with a live node grows only until it exceeds the bound. So
// from some time on every node gives up only the dead, and all agree on the lowest of the others. Until then
// any number may lead: this is not a lock. In a partition the lowest node of each component leads it.
//
// There are no elections, so Campaign does nothing.
type omega struct {
	patience
	given  nodes.Set // nodes given up
	heard  nodes.Set // nodes heard of since they were last given up, or since this node is up
	leader nodes.ID
}

// omegaHeartbeat says that its sender is up, in the incarnation Life.
type omegaHeartbeat struct{ Life uint32 }

// The timers of an omega.
const (
	omegaBeat    nodes.TimerKind = iota // the next heartbeat is due
	omegaSilence                        // nothing was heard of the timer's peer for too long
)

// A patience says how long each node may be silent until it is given up.
type patience struct {
	heartbeat, silence, grow time.Duration
	all                      []patienceWith
}

// A patienceWith is the patience with one node.
type patienceWith struct {
	extra time.Duration // what is added to patience.silence for this node
	life  uint32        // its latest known incarnation
}

func patienceOf(c nodes.Config) patience {
	return patience{heartbeat: c.Duration(heartbeatOption), silence: c.Duration(silenceOption),
		grow: c.Duration(growOption), all: make([]patienceWith, c.N)}
}

// wait sets a timer that ends when a node has been silent for too long.
func (p *patience) wait(env *nodes.Env, t nodes.Timer, id nodes.ID) {
	silence := p.silence + p.all[id].extra
	env.SetTimer(t, silence, silence)
}

// hear takes a heartbeat of a node, and reports whether its incarnation is not earlier than the known one. If
// the node was given up and is in the same incarnation, that was wrong, and the patience with it grows.
func (p *patience) hear(id nodes.ID, life uint32, given bool) bool {
	with := &p.all[id]
	if life < with.life {
		return false
	}
	if given && life == with.life {
		with.extra += p.grow
	}
	with.life = life
	return true
}

// Start implements nodes.Starter.
func (o *omega) Start(env *nodes.Env) {
	peers := env.Peers()
	for id := range peers.All() {
		o.wait(env, nodes.Timer{Kind: omegaSilence, Peer: id}, id)
	}
	o.beat(env)
	o.choose(env)
}

// Recover implements nodes.Recoverer: the node finds out again which one leads.
func (o *omega) Recover(env *nodes.Env, _ nodes.Message) { o.Start(env) }

// Campaign implements nodes.Elector.
func (*omega) Campaign(*nodes.Env) {}

func (o *omega) beat(env *nodes.Env) {
	env.Broadcast(omegaHeartbeat{env.Incarnation()})
	env.SetTimer(nodes.Timer{Kind: omegaBeat}, o.heartbeat, o.heartbeat)
}

// choose follows the lowest node that is not given up.
func (o *omega) choose(env *nodes.Env) {
	var leader nodes.ID
	for o.given.Has(leader) {
		leader++ // it never gives itself up
	}
	if leader != env.Self() && !o.heard.Has(leader) {
		leader = nodes.None
	}
	if leader != o.leader {
		o.leader = leader
		env.Elect(leader, 0)
	}
}

func (o *omega) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case omegaHeartbeat:
		if !o.hear(from, m.Life, o.given.Has(from)) {
			return
		}
		o.given.Remove(from)
		o.heard.Add(from)
		o.wait(env, nodes.Timer{Kind: omegaSilence, Peer: from}, from)
		o.choose(env)
	default:
		nodes.Unexpected(o, m)
	}
}

// Timeout implements nodes.Timed.
func (o *omega) Timeout(env *nodes.Env, t nodes.Timer) {
	if t.Kind == omegaBeat {
		o.beat(env)
		return
	}
	o.given.Add(t.Peer)
	o.heard.Remove(t.Peer)
	o.choose(env)
}
