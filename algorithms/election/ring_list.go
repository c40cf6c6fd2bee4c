package election

import (
	"cmp"
	"math"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var ringListAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "ring-list", Kind: nodes.Election,
		New: func(c nodes.Config) nodes.Machine {
			return &ringList{ids: c.Value(idsOption), lowest: c.Value(winsOption) == "lowest",
				multicast: c.Value(listAnnounceOption) == "multicast", wait: c.Duration(listWaitOption),
				leader: nodes.None, to: nodes.None}
		},
		Timers: []nodes.TimerName{{Name: "wait"}},
		Messages: []nodes.MessageKind{{Zero: listElection{}}, {Zero: listCoordinator{}},
			{Zero: listResult{}, Broadcast: true}},
		Options: []nodes.Option{idsOption, winsOption, listAnnounceOption, listWaitOption},
		Edges: func(c nodes.Config, id nodes.ID) []nodes.ID {
			if c.Value(listAnnounceOption) == "multicast" {
				return c.Others(id)
			}
			return nextOnly(c, id)
		},
		Detects: "heartbeat:period=50ms,timeout=250ms",
		// A live node that is passed over keeps its old leader.
		Safe: nodes.PerfectDetector,
		Live: nodes.EventualDetector,
		// A wait of up to twice the option's value, and as much again for a list that was on its way.
		Grace: func(c nodes.Config) time.Duration { return 6 * c.Duration(listWaitOption) },
	},
	Aliases: []string{"tanenbaum-ring"}, Family: "ring",
	Source: "A. S. Tanenbaum and M. van Steen, Distributed Systems: Principles and Paradigms, 2nd " +
		"edition, 2007, section 6.5.1; ballots and time limit added by Turnstile",
	Summary: "A list goes round the ring, past nodes that seem dead, and each node adds itself; when " +
		"it is back, its initiator announces the lowest or the highest.",
	Elector: &algorithm.Leadership{Wins: algorithm.HighestWins,
		Partitions: []algorithm.Partition{{Does: algorithm.TwoLead,
			Why: "each side skips the other as dead, and closes to a ring of its own"},
			{Cuts: algorithm.SomeLinks, Does: algorithm.SeveralLead,
				Why: "each node skips nodes that it does not reach, and closes a ring of its own"}},
		Rank: func(c nodes.Config, id nodes.ID) uint32 {
			if rank := rankInRing(c, id); c.Value(winsOption) == "highest" {
				return rank
			}
			return math.MaxUint32 - rankInRing(c, id)
		}},
	Published: ringListClaims,
	Faults: splitting("one leader per fragment: each side skips the other, and closes to a ring of its own",
		under(recovers|breaks, "a node that seems dead after a cut of 300 ms is skipped, and learns late that "+
			"it leads no more; it promises no overlap (X)", "flapping-links"),
		under(recovers|breaks, "it is skipped as dead, and believes that it leads when it goes on (X), unless "+
			"messages that came meanwhile tell it at once (L)", "stopped-leader")),
}

var (
	winsOption = nodes.Option{Name: "wins", Values: []string{"highest", "lowest"}, Default: "highest",
		Usage: "which identity leads",
		Shows: []nodes.Shown{
			{Value: "highest", Figure: "leader", Least: 4, Most: 4},
			{Value: "lowest", Figure: "leader", Least: 0, Most: 0},
		}}
	listAnnounceOption = nodes.Option{Name: "announce", Values: []string{"circulate", "multicast"},
		Default: "circulate", Usage: "how the others learn the leader",
		Shows: []nodes.Shown{
			{Value: "circulate", Figure: "coordinator sent", Least: 5, Most: 6, Load: "lowest"},
			{Value: "multicast", Figure: "coordinator sent", Least: 0, Most: 0, Load: "lowest"},
		}}
	listWaitOption = nodes.Option{Name: "wait", Default: "1s",
		Usage: "how long a node waits for the end of an election: longer than it takes to find a failure, " +
			"and than four times round the ring",
		Check: func(_ nodes.Config, value string) error {
			return algorithm.CheckTime(value, time.Millisecond, time.Hour, "1s")
		},
		Shows: []nodes.Shown{{Value: "3s", Than: "1s", Figure: "first leader", Least: 2, Most: 4,
			For:    8 * time.Second,
			Faults: []string{"loss: 100%, for: 20ms"}}},
		Bound: &nodes.TimeoutBound{Formula: "4NT",
			Covers: func(c nodes.Config, d nodes.Delays) time.Duration {
				return 4 * time.Duration(c.N) * d.Message
			}}}
)

// ringList is the election of textbooks on a ring in which every node knows all others, so that it can pass
// over its successor if that seems dead. Any number of lists may go round at once.
//
// A list is complete when it comes to a node that is on it. That node is the list's initiator or, if that has
// died, the next node on the list, which begins anew. An announcement ends at the first node that gets it
// again.
//
// Lists have ballots: unique numbers, ordered by epoch and then by initiator. A node that a list has passed
// ignores announcements of lower ballots, and no longer leads. So a list that was closed before a crash, or
// before a node came back, makes nobody leader once another list has passed. So no two lead as long as no
// live node is passed over: the announcement of the higher ballot comes after its list has passed all.
//
// If the receiver of its last message seems dead now, a node sends it again, to the next one. If that is not
// enough, since a message was lost or a node forgot it in a crash, a new list goes out after listWaitOption.
// A node that comes up again lets that time pass too: nodes that still take it for dead would pass it over.
type ringList struct {
	ids       string // see idsOption
	ring      ring
	lowest    bool // the lowest identity leads
	multicast bool
	wait      time.Duration

	suspects nodes.Set
	leftOut  nodes.Set // members of its latest closed list that seemed dead by then
	leader   nodes.ID
	ballot   listBallot // the highest that this node knows of
	open     bool       // the election of ballot goes on
	closed   listBallot // the latest of its own lists that came back
	to       nodes.ID   // the receiver of its latest message
	list     listElection
	result   listCoordinator
}

// A listBallot tells elections apart, even if their initiator has forgotten one in a crash. Epoch 0: no
// ballot.
type listBallot struct {
	Epoch uint32
	By    nodes.ID
	Life  uint32 // the incarnation of the initiator
}

// A listMember is a node on a list. Life shows whether it has crashed since.
type listMember struct {
	Node           nodes.ID
	Identity, Life uint32
}

type (
	listElection struct {
		Ballot  listBallot
		Seen    listBallot // the highest ballot that the members knew of
		Members []listMember
	}
	listCoordinator struct {
		Ballot, Seen listBallot
		Leader       listMember
		Told         []nodes.ID // nodes that have had the announcement
	}
	// listResult is a listCoordinator that is sent to all at once.
	listResult struct {
		Ballot, Seen listBallot
		Leader       listMember
	}
)

func compareBallots(a, b listBallot) int {
	return cmp.Or(cmp.Compare(a.Epoch, b.Epoch), cmp.Compare(a.By, b.By), cmp.Compare(a.Life, b.Life))
}

// Start implements nodes.Starter.
func (l *ringList) Start(env *nodes.Env) { l.ring = ringOf(env, l.ids) }

// Recover implements nodes.Recoverer: a node that trusts this one again holds an election. If nobody has
// noticed that it was down, it does so itself, after the others have had time to notice.
func (l *ringList) Recover(env *nodes.Env, _ nodes.Message) {
	l.Start(env)
	env.SetTimer(nodes.Timer{}, l.wait, 2*l.wait)
}

func (l *ringList) Campaign(env *nodes.Env) {
	if !l.open {
		l.elect(env)
	}
}

// Suspect implements nodes.Suspecter.
func (l *ringList) Suspect(env *nodes.Env, peer nodes.ID) {
	l.suspects.Add(peer)
	switch {
	case peer == l.leader:
		l.elect(env)
	case peer != l.to: // this node's latest message did not go to the peer
	case l.open:
		l.pass(env, l.list)
	case len(l.result.Told) > 0:
		l.pass(env, l.result)
	}
}

// Trust implements nodes.Truster: a peer that was passed over, or left out, may have to lead.
func (l *ringList) Trust(env *nodes.Env, peer nodes.ID) {
	if l.suspects.Remove(peer) && (l.leftOut.Has(peer) || l.successor(env) == peer) {
		l.elect(env)
	}
}

// Timeout implements nodes.Timed: the election has not ended in time.
func (l *ringList) Timeout(env *nodes.Env, _ nodes.Timer) { l.elect(env) }

// successor returns the next node that seems to be up, which may be this one.
func (l *ringList) successor(env *nodes.Env) nodes.ID {
	id := l.ring.next
	for l.suspects.Has(id) {
		id = (id + 1) % nodes.ID(env.N())
	}
	return id
}

// pass sends a message to the next node that seems to be up.
func (l *ringList) pass(env *nodes.Env, m nodes.Message) {
	l.to = l.successor(env)
	env.Send(l.to, m)
}

// elect sends a list round.
func (l *ringList) elect(env *nodes.Env) {
	l.take(env, listElection{Ballot: listBallot{l.ballot.Epoch + 1, env.Self(), env.Incarnation()}})
}

// take adds this node to a list of the highest ballot, and sends it on.
func (l *ringList) take(env *nodes.Env, m listElection) {
	l.ballot, l.open = m.Ballot, true
	l.follow(env, nodes.None)
	env.SetTimer(nodes.Timer{}, l.wait, 2*l.wait)
	l.list = l.signed(env, m)
	l.pass(env, l.list)
}

// signed returns a list with this node on it.
func (l *ringList) signed(env *nodes.Env, m listElection) listElection {
	me := listMember{env.Self(), l.ring.identity, env.Incarnation()}
	if compareBallots(l.ballot, m.Seen) > 0 {
		m.Seen = l.ballot
	}
	return listElection{m.Ballot, m.Seen, append(slices.Clip(m.Members), me)}
}

func (l *ringList) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case listElection:
		listed := func(member listMember) bool { return member.Node == env.Self() }
		switch {
		case slices.ContainsFunc(m.Members, listed):
			l.close(env, m)
		case compareBallots(m.Ballot, l.ballot) > 0:
			l.take(env, m)
		default:
			l.pass(env, l.signed(env, m))
		}
	case listCoordinator:
		l.announce(env, m)
	case listResult:
		l.settle(env, m)
	default:
		nodes.Unexpected(l, m)
	}
}

// close ends an election: all live nodes are on its list. Only its initiator may name the leader, and only
// once, so that a ballot has one leader. A node that finds the list of a lost initiator begins anew.
func (l *ringList) close(env *nodes.Env, m listElection) {
	switch mine := m.Ballot.By == env.Self() && m.Ballot.Life == env.Incarnation(); {
	case !mine, compareBallots(m.Seen, l.ballot) > 0: // its initiator is gone, or there is a higher ballot
		if l.open && m.Ballot == l.ballot {
			l.ballot.Epoch = m.Seen.Epoch
			l.elect(env)
		}
		return
	case compareBallots(m.Ballot, l.closed) <= 0: // a copy
		return
	}
	l.closed = m.Ballot
	l.leftOut.Clear()
	members := slices.DeleteFunc(slices.Clone(m.Members), func(member listMember) bool {
		return l.suspects.Has(member.Node) && l.leftOut.Add(member.Node)
	})
	byIdentity := func(a, b listMember) int { return cmp.Compare(a.Identity, b.Identity) }
	leader := slices.MaxFunc(members, byIdentity)
	if l.lowest {
		leader = slices.MinFunc(members, byIdentity)
	}
	if l.multicast {
		result := listResult{m.Ballot, m.Seen, leader}
		env.Broadcast(result)
		l.settle(env, result)
		return
	}
	l.announce(env, listCoordinator{Ballot: m.Ballot, Seen: m.Seen, Leader: leader})
}

// announce records a result and sends it on, unless this node has had it.
func (l *ringList) announce(env *nodes.Env, m listCoordinator) {
	if slices.Contains(m.Told, env.Self()) {
		return
	}
	m.Told = append(slices.Clip(m.Told), env.Self())
	l.pass(env, m)
	if compareBallots(m.Ballot, l.ballot) >= 0 {
		l.result = m
	}
	l.settle(env, listResult{m.Ballot, m.Seen, m.Leader})
}

// settle accepts a result, unless this node, or one on the list, knows of a higher ballot.
func (l *ringList) settle(env *nodes.Env, m listResult) {
	order, leader := compareBallots(m.Ballot, l.ballot), m.Leader
	if order < 0 || compareBallots(m.Seen, m.Ballot) > 0 {
		return
	}
	l.ballot, l.open = m.Ballot, false
	gone := l.suspects.Has(leader.Node) || leader.Node == env.Self() && leader.Life != env.Incarnation()
	if gone || order > 0 {
		// The leader seems to have died since, or this node was not on that list. This node does not begin anew at
		// once: while two nodes suspect different nodes, elections would not end.
		env.SetTimer(nodes.Timer{}, l.wait, 2*l.wait)
	} else {
		env.StopTimer(nodes.Timer{})
	}
	if gone {
		leader.Node = nodes.None
	}
	l.follow(env, leader.Node)
}

// follow records the leader.
func (l *ringList) follow(env *nodes.Env, leader nodes.ID) {
	if leader != l.leader {
		l.leader = leader
		env.Elect(leader, 0)
	}
}
