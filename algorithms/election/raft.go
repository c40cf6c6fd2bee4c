package election

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var raftAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "raft-election", Kind: nodes.Election,
		New:        func(c nodes.Config) nodes.Machine { return newRaft(c) },
		Timers:     raftTimers,
		Messages:   raftMessages,
		Options:    raftOptions,
		Safe:       nodes.NoAmnesia,                               // each term and vote must survive a crash
		Live:       nodes.Majority | nodes.NoPause | nodes.Timing, // after a loss a node asks again
		Grace:      raftGrace,
		Circulates: true,
	},
	Aliases: []string{"raft"}, Family: "majority",
	Source: "D. Ongaro and J. Ousterhout, In search of an understandable consensus algorithm, USENIX ATC " +
		"2014; D. Ongaro, Consensus: bridging theory and practice, Stanford 2014 (pre-vote: 9.6, " +
		"check-quorum: 6.2)",
	Summary: "A node that hears of no leader for a random time asks all for their vote in a new term; each " +
		"has one vote in a term, and a majority elects.",
	Elector: &algorithm.Leadership{Terms: true, Follow: algorithm.MajorityReached, Lapse: raftLapse,
		// The old leader learns the next term from a request for votes.
		Overlap: func(c nodes.Config) time.Duration {
			shortest, _, _ := timeRange(c.Value(electionTimeoutOption))
			return shortest
		}, Partitions: raftPartitions},
	Published: raftClaims,
	Faults: single("at most one leader per term (Ongaro and Ousterhout 2014, figure 3); an old one "+
		"believes that it leads until check-quorum fires (Ongaro 2014, 6.2)",
		under(recovers|unhit, "at most one leader per term (L); not hit if nothing is sent across, as if the "+
			"leader is the bridge, or not node 0 (-)", "parted-bridge", "unheard-node"),
		under(recovers|unhit, "at most one leader per term, though it may change again and again (L); not hit if "+
			"neither node leads (-)", "one-link"),
		under(recovers|breaks, "nodes that have forgotten their votes vote in the same term again, and two may "+
			"lead in it (X): figure 2 of Ongaro and Ousterhout 2014 wants votes saved", "empty-restarts",
			"forgetful-election"),
		under(recovers, "the node has forgotten its vote, but a leader tells it the term before anybody asks for "+
			"a vote in it again", "amnesia")),
}

// raft is the election of Raft, with neither log nor clients.
//
// Time is divided into numbered terms. A node that hears of no leader for its election timeout, which is
// drawn anew each time, begins a term: it votes for itself and asks all others for their votes. A node has
// one vote in a term, for the first that asks. A node with the votes of a majority leads in that term, and
// says so by heartbeats. Every message carries the term of its sender. The receiver of a higher term enters
// it without a leader; the receiver of a lower one answers with its own.
//
// Two leaders of one term would have the votes of two majorities, which share a node. That node would have
// voted for both, one perhaps in an earlier life; but it saves its vote before it gives it, and comes up
// again with it. So the loss, duplication and order of messages, pauses and delays do no harm. A leader that
// comes up again does not lead: it would have to count its votes anew.
//
// With pre-vote, a node asks all others first whether they would vote for it in the next term, and stays in
// its own. They would if they have heard of no leader for the shortest election timeout. So a node that was
// cut off does not return in a higher term, which would depose the leader.
//
// With check-quorum, a leader steps down if no majority, itself included, has answered a heartbeat of the
// latest rounds. These cover the shortest election timeout. A round counts from when it was sent, so an
// isolated leader steps down within raftLapse.
type raft struct {
	shortest, longest, heartbeat time.Duration
	preVote, checkQuorum         bool
	forgets                      bool // it does not save its vote: see raftForgetfulRow

	term   uint64
	vote   nodes.ID // the node that it has voted for in term; None: no vote yet
	role   raftRole
	leader nodes.ID  // the leader of that term, as far as it knows
	quiet  bool      // it has heard of no leader for the shortest election timeout
	votes  nodes.Set // of a candidate: the others that vote for it, or would

	round    uint32   // of a leader: how many heartbeats it has sent in term
	answered []uint32 // of a leader, by node: the latest heartbeat that it answered
}

// A raftRole is what a node is in its term.
type raftRole uint8

const (
	raftFollower     raftRole = iota
	raftPreCandidate          // it asks others whether they would vote for it in the next term
	raftCandidate
	raftLeader
)

type (
	raftRequest struct{ Term uint64 } // asks for a vote in the term
	raftVote    struct {
		Term    uint64 // of its sender
		Granted bool
	}
	raftPrerequest struct{ Term uint64 } // would you vote for the sender in the term?
	raftPrevote    struct {
		Term    uint64 // the term asked for, if granted; otherwise the sender's own
		Granted bool
	}
	raftHeartbeat struct { // the sender leads
		Term  uint64
		Round uint32
	}
	raftAnnounce raftHeartbeat // the first heartbeat of a term
	raftAnswer   struct {      // answers a heartbeat
		Term  uint64 // of its sender
		Round uint32
	}
	raftState struct { // what a node saves
		Term uint64
		Vote nodes.ID
	}
)

var raftMessages = []nodes.MessageKind{{Zero: raftPrerequest{}, Broadcast: true}, {Zero: raftPrevote{}},
	{Zero: raftRequest{}, Broadcast: true}, {Zero: raftVote{}}, {Zero: raftAnnounce{}, Broadcast: true},
	{Zero: raftHeartbeat{}, Heartbeat: true, Broadcast: true}, {Zero: raftAnswer{}, Heartbeat: true},
	{Zero: raftState{}}}

// The timers of a raft.
const (
	raftElection nodes.TimerKind = iota // it has heard of no leader for its election timeout
	raftSilence                         // it has heard of no leader for the shortest election timeout
	raftBeat                            // the next heartbeat is due
)

var raftTimers = []nodes.TimerName{{Kind: raftElection, Name: "election"},
	{Kind: raftSilence, Name: "silence"}, {Kind: raftBeat, Name: "beat"}}

// newRaft returns a machine that has not started.
func newRaft(c nodes.Config) *raft {
	shortest, longest, _ := timeRange(c.Value(electionTimeoutOption)) // the option is valid
	return &raft{shortest: shortest, longest: longest, heartbeat: c.Duration(heartbeatOption),
		preVote: c.Value(preVoteOption) == "on", checkQuorum: c.Value(checkQuorumOption) == "on",
		vote: nodes.None, leader: nodes.None, quiet: true}
}

// Start implements nodes.Starter.
func (r *raft) Start(env *nodes.Env) { r.wait(env) }

// Recover implements nodes.Recoverer.
func (r *raft) Recover(env *nodes.Env, saved nodes.Message) {
	if s, some := saved.(raftState); some {
		r.term, r.vote = s.Term, s.Vote
	}
	r.wait(env)
}

// Campaign begins an election at once, without a pre-vote, which would protect the leader to be replaced.
func (r *raft) Campaign(env *nodes.Env) {
	if r.role == raftFollower || r.role == raftLeader {
		r.stand(env)
	}
}

// Timeout implements nodes.Timed.
func (r *raft) Timeout(env *nodes.Env, t nodes.Timer) {
	switch {
	case t.Kind == raftSilence:
		r.quiet = true
	case t.Kind == raftBeat:
		r.beat(env)
	case r.preVote:
		r.ask(env)
	default:
		r.stand(env)
	}
}

// wait restarts the election timeout, drawn anew.
func (r *raft) wait(env *nodes.Env) {
	env.SetTimer(nodes.Timer{Kind: raftElection}, r.shortest, r.longest)
}

// follow records the leader of the term.
func (r *raft) follow(env *nodes.Env, leader nodes.ID) {
	if leader != r.leader {
		r.leader = leader
		env.Elect(leader, r.term)
	}
}

// enter begins a term without a known leader, and with a vote in it; None: no vote yet.
func (r *raft) enter(env *nodes.Env, term uint64, vote nodes.ID) {
	r.resign(env)
	r.term = term
	r.voteFor(env, vote)
	r.follow(env, nodes.None)
}

// voteFor sets the vote, or None, and saves it before a message tells of it.
func (r *raft) voteFor(env *nodes.Env, vote nodes.ID) {
	r.vote = vote
	s := raftState{r.term, r.vote}
	if r.forgets {
		s.Vote = nodes.None
	}
	env.Save(s)
}

// resign makes the node a follower. A former leader waits for another.
func (r *raft) resign(env *nodes.Env) {
	if r.role == raftLeader {
		env.StopTimer(nodes.Timer{Kind: raftBeat})
		r.quiet, r.round, r.answered = true, 0, nil
		r.wait(env)
	}
	r.role = raftFollower
	r.votes.Clear()
}

// ask asks all others whether they would vote for the node in the next term.
func (r *raft) ask(env *nodes.Env) {
	r.resign(env)
	r.role = raftPreCandidate
	r.follow(env, nodes.None)
	r.wait(env)
	env.Broadcast(raftPrerequest{r.term + 1})
	r.count(env)
}

// stand begins a term as a candidate.
func (r *raft) stand(env *nodes.Env) {
	r.enter(env, r.term+1, env.Self())
	r.role = raftCandidate
	r.wait(env)
	env.Broadcast(raftRequest{r.term})
	r.count(env)
}

// count acts if a majority has voted for the node.
func (r *raft) count(env *nodes.Env) {
	switch {
	case 1+r.votes.Len() < majority(env.N()):
	case r.role == raftPreCandidate:
		r.stand(env)
	default:
		r.lead(env)
	}
}

// majority returns how many nodes are more than half of n.
func majority(n int) int { return n/2 + 1 }

// lead makes the node the leader of its term.
func (r *raft) lead(env *nodes.Env) {
	r.role = raftLeader
	r.votes.Clear()
	env.StopTimer(nodes.Timer{Kind: raftElection})
	env.StopTimer(nodes.Timer{Kind: raftSilence})
	r.follow(env, env.Self())
	r.round, r.answered = 1, make([]uint32, env.N())
	env.Broadcast(raftAnnounce{r.term, r.round})
	env.SetTimer(nodes.Timer{Kind: raftBeat}, r.heartbeat, r.heartbeat)
}

// beat sends the next heartbeat, unless the leader has to step down.
func (r *raft) beat(env *nodes.Env) {
	r.round++
	if r.checkQuorum && !r.heard(env) {
		r.resign(env)
		r.follow(env, nodes.None)
		return
	}
	env.Broadcast(raftHeartbeat{r.term, r.round})
	env.SetTimer(nodes.Timer{Kind: raftBeat}, r.heartbeat, r.heartbeat)
}

// heard reports whether a majority has answered in the latest rounds.
func (r *raft) heard(env *nodes.Env) bool {
	count := 1
	for id, answered := range r.answered {
		if nodes.ID(id) != env.Self() && answered+raftRounds(r.shortest, r.heartbeat) >= r.round {
			count++
		}
	}
	return count >= majority(env.N())
}

// raftRounds returns how many rounds of heartbeats cover an election timeout.
func raftRounds(timeout, heartbeat time.Duration) uint32 {
	return uint32((timeout + heartbeat - 1) / heartbeat)
}

func (r *raft) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case raftPrerequest:
		if m.Term > r.term && r.quiet && r.role != raftLeader {
			env.Send(from, raftPrevote{m.Term, true})
		} else {
			env.Send(from, raftPrevote{r.term, false})
		}
	case raftPrevote:
		r.takeVote(env, from, m.Term, m.Granted, r.role == raftPreCandidate && m.Term == r.term+1)
	case raftRequest:
		r.requested(env, from, m.Term)
	case raftVote:
		r.takeVote(env, from, m.Term, m.Granted, r.role == raftCandidate && m.Term == r.term)
	case raftAnnounce:
		r.led(env, from, raftHeartbeat(m))
	case raftHeartbeat:
		r.led(env, from, m)
	case raftAnswer:
		switch {
		case m.Term > r.term:
			r.enter(env, m.Term, nodes.None)
		case m.Term == r.term && r.role == raftLeader:
			r.answered[from] = max(r.answered[from], m.Round)
		}
	default:
		nodes.Unexpected(r, m)
	}
}

// requested answers a candidate's request for a vote.
func (r *raft) requested(env *nodes.Env, from nodes.ID, term uint64) {
	switch {
	case term > r.term:
		r.enter(env, term, from)
	case term == r.term && r.vote == nodes.None:
		r.voteFor(env, from)
	}
	granted := term == r.term && r.vote == from
	if granted {
		r.wait(env) // the candidate has this node's election timeout to win
	}
	env.Send(from, raftVote{r.term, granted})
}

// takeVote takes the answer to a request for a vote. asked says that the node still asks for that vote.
func (r *raft) takeVote(env *nodes.Env, from nodes.ID, term uint64, granted, asked bool) {
	switch {
	case granted && asked:
		r.votes.Add(from)
		r.count(env)
	case !granted && term > r.term:
		r.enter(env, term, nodes.None)
	}
}

// led answers a heartbeat, and follows its sender unless the sender's term is over.
func (r *raft) led(env *nodes.Env, from nodes.ID, m raftHeartbeat) {
	if m.Term > r.term {
		r.enter(env, m.Term, nodes.None)
	}
	if m.Term == r.term {
		r.resign(env)
		r.follow(env, from)
		r.wait(env)
		if r.preVote {
			r.quiet = false
			env.SetTimer(nodes.Timer{Kind: raftSilence}, r.shortest, r.shortest)
		}
	}
	env.Send(from, raftAnswer{r.term, m.Round})
}

// raftLapse is the time within which a leader that reaches no majority any more steps down; 0: it may never.
// The last answered round was sent before the cut, and the leader finds it too old raftRounds+1 rounds later.
func raftLapse(c nodes.Config) time.Duration {
	if c.Value(checkQuorumOption) == "off" {
		return 0
	}
	shortest, _, _ := timeRange(c.Value(electionTimeoutOption))
	heartbeat := c.Duration(heartbeatOption)
	return time.Duration(raftRounds(shortest, heartbeat)+1) * heartbeat
}

// raftGrace bounds the time until a leader is elected: one timeout, and nine elections that end in a split
// vote. If messages take a tenth of the range of timeouts, votes split in 19 of 100
// elections in the worst cluster, two nodes of three. All nine votes split in one of three million cases.
func raftGrace(c nodes.Config) time.Duration {
	_, longest, _ := timeRange(c.Value(electionTimeoutOption))
	return 10 * longest
}

// raftOptions are the options of raft-election and of its broken form.
var raftOptions = []nodes.Option{heartbeatOption, electionTimeoutOption, preVoteOption, checkQuorumOption}
