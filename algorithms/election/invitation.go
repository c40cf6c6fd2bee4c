package election

import (
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var invitationAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "invitation", Kind: nodes.Election,
		New: func(c nodes.Config) nodes.Machine {
			return &invitation{wait: c.Duration(answerOption), period: c.Duration(pollOption)}
		},
		Timers: inviteTimers,
		Messages: []nodes.MessageKind{{Zero: inviteInvitation{}}, {Zero: inviteAccept{}}, {Zero: inviteReady{}},
			{Zero: inviteAreYouCoordinator{}, Heartbeat: true}, {Zero: inviteCoordinates{}, Heartbeat: true},
			{Zero: inviteAreYouThere{}, Heartbeat: true}, {Zero: inviteThere{}, Heartbeat: true},
			{Zero: inviteSaved{}}},
		Options: []nodes.Option{inviteAnswer, pollOption},
		Safe:    nodes.NoAmnesia, // after amnesia a group might get the number of an earlier one
		// Coordinators look for others, and members for their coordinator.
		Circulates: true,
		Grace:      inviteGrace,
	},
	Aliases: []string{"groups"}, Family: "complete network",
	Source: "H. Garcia-Molina, Elections in a distributed computing system, IEEE TC C-31(1), 1982, section " +
		"on asynchronous systems",
	Summary: "Each node begins as the coordinator of a group of its own; coordinators look for one another " +
		"and invite each other's groups into a new one, and a node that loses its coordinator is alone again.",
	// Each node is a group of its own until groups have merged.
	Elector: &algorithm.Leadership{Terms: true, Overlap: inviteGrace, Partitions: []algorithm.Partition{{
		Does: algorithm.PerSide, Why: "each side is a group, under a number of its own"},
		{Cuts: algorithm.SomeLinks, Does: algorithm.SeveralLead,
			Why: "a group is the nodes that its coordinator reaches, and groups merge and fall apart"}}},
	Published: invitationClaims,
	Faults: single("one coordinator per group, and no two groups have one number (Garcia-Molina 1982, "+
		"section on asynchronous systems)",
		under(recovers|unhit, "one coordinator per group (L); not hit if nothing is sent across, as if the "+
			"coordinator is the bridge (-)", "parted-bridge"),
		under(unhit, "node 0 sends nothing to nodes 1 and 2, since it does not coordinate", "unheard-node",
			"one-link")),
}

// inviteAnswer is answerOption: nodes lead groups of their own until they have answers.
var inviteAnswer = func() nodes.Option {
	o := answerOption
	o.Shows = []nodes.Shown{{Value: "1s", Than: "100ms", Figure: "settled", Least: 1.5, Most: 11,
		For: 6 * time.Second}}
	return o
}()

// inviteGrace bounds the time until all groups have merged. A merge may meet another, and is then tried
// again.
func inviteGrace(c nodes.Config) time.Duration {
	return 4 * (2*c.Duration(pollOption) + time.Duration(c.N+8)*c.Duration(answerOption))
}

// invitationClaims are figures of one period. In it each node is a group of its own, and polls the others.
var invitationClaims = []algorithm.Claim{{
	Figure: algorithm.MessagesPerPeriod, Source: "2(N-1) per coordinator that looks for others",
	Value: func(c nodes.Config) algorithm.Range { return algorithm.Exactly(2 * float64(c.N-1)) },
	Election: &algorithm.Trial{Lasts: 50 * time.Millisecond, Kinds: []string{"areyoucoordinator", "coordinates"},
		Per: func(c nodes.Config) float64 { return float64(c.N) }},
}}

// invitation is Garcia-Molina's algorithm for systems in which a live node may seem down. It has no single
// leader: nodes that reach each other form groups, each with a coordinator and a unique number.
//
// Once a period a coordinator asks all nodes whether they coordinate (AreYouCoordinator). If others do, it
// begins a group: it invites the coordinators, which pass that on to their members, and its own members. A
// NORMAL node accepts, and gets a Ready when the time for acceptances is over. Once a period a member asks
// its coordinator whether it is there and counts it as a member (AreYouThere). If not, or if a Ready does
// not come, the node is alone: the coordinator of a group of its own, as when it came up.
//
// A group has one leader at most. The number of a group is its coordinator and a count that the coordinator
// has never used, in any of its lives, since it saves a count first. Nothing else is needed, even if messages
// are lost, late or doubled. The count exceeds the counts of all groups that the coordinator has heard of. So
// the numbers at a node rise, and a late invitation is not accepted. Messages name the group, or the question
// that they answer.
//
// As in the paper, acceptances are not answered. Unlike in the paper, Ready is not answered either: a node
// that misses it is alone again, and is found.
type invitation struct {
	wait, period time.Duration

	status  status
	group   group
	count   uint64    // the highest count of all groups that it has heard of
	members nodes.Set // of a coordinator: the other members of its group
	asks    uint64    // the number of its latest question, over all its lives
	asked   nodes.Set // nodes whose answers to the latest question are missing
	others  nodes.Set // coordinators that the latest question has found
}

// A group is the number of a group.
type group struct {
	Count       uint64
	Coordinator nodes.ID
}

// term returns the number as one integer.
func (g group) term(env *nodes.Env) uint64 { return g.Count*uint64(env.N()) + uint64(g.Coordinator) }

type (
	inviteInvitation        struct{ Group group } // join this group
	inviteAccept            struct{ Group group } // the sender joins
	inviteReady             struct{ Group group } // the group is complete
	inviteAreYouCoordinator struct{ Ask uint64 }
	inviteCoordinates       struct {
		Ask   uint64
		Yes   bool
		Count uint64 // of the sender's group
	}
	inviteAreYouThere struct {
		Ask   uint64
		Group group // the sender's group
	}
	inviteThere struct {
		Ask uint64
		Yes bool
	}
	inviteSaved struct{ Count uint64 } // what a node saves: the count of its group
)

// The timers.
var (
	inviteLook   = nodes.Timer{Kind: 0} // time to look for other coordinators, or for its own
	inviteFound  = nodes.Timer{Kind: 1} // the answers to the latest question are due
	inviteMerge  = nodes.Timer{Kind: 2} // no higher coordinator has begun a group
	inviteGather = nodes.Timer{Kind: 3} // in ELECTION: acceptances are due
	inviteMissed = nodes.Timer{Kind: 4} // in REORGANIZATION: Ready is due
)

var inviteTimers = []nodes.TimerName{{Kind: inviteLook.Kind, Name: "look"},
	{Kind: inviteFound.Kind, Name: "found"}, {Kind: inviteMerge.Kind, Name: "merge"},
	{Kind: inviteGather.Kind, Name: "gather"}, {Kind: inviteMissed.Kind, Name: "missed"}}

// Start implements nodes.Starter.
func (v *invitation) Start(env *nodes.Env) { v.alone(env) }

// Recover implements nodes.Recoverer.
func (v *invitation) Recover(env *nodes.Env, saved nodes.Message) {
	if s, ok := saved.(inviteSaved); ok {
		v.count = s.Count
	}
	v.asks = uint64(env.Incarnation()) << 32
	v.alone(env)
}

// Campaign looks for others, or for the coordinator, at once.
func (v *invitation) Campaign(env *nodes.Env) {
	if v.status == statusNormal && v.asked.Empty() {
		v.look(env)
	}
}

// Suspect implements nodes.Suspecter.
func (v *invitation) Suspect(env *nodes.Env, peer nodes.ID) {
	if peer == v.group.Coordinator {
		v.Campaign(env)
	}
}

// alone begins a group of only this node. (Garcia-Molina: Recovery.)
func (v *invitation) alone(env *nodes.Env) {
	v.join(env, group{v.count + 1, env.Self()}, statusNormal)
	v.settle(env)
}

// join takes the node into a group, and ends its work in another.
func (v *invitation) join(env *nodes.Env, g group, to status) {
	led := v.status == statusNormal
	v.group, v.status = g, to
	v.count = max(v.count, g.Count)
	v.members.Clear()
	v.asked.Clear()
	for _, t := range []nodes.Timer{inviteLook, inviteFound, inviteMerge, inviteGather, inviteMissed} {
		env.StopTimer(t)
	}
	env.Save(inviteSaved{v.count})
	if led && to != statusNormal {
		env.Elect(nodes.None, g.term(env))
	}
}

// settle makes the node NORMAL in the group that it has joined.
func (v *invitation) settle(env *nodes.Env) {
	v.status = statusNormal
	env.Elect(v.group.Coordinator, v.group.term(env))
	v.rest(env)
}

// rest makes the node look again after a period, and not in step with others.
func (v *invitation) rest(env *nodes.Env) {
	v.asked.Clear()
	env.StopTimer(inviteFound)
	env.SetTimer(inviteLook, v.period, v.period+v.period/4)
}

func (v *invitation) coordinates(env *nodes.Env) bool {
	return v.status == statusNormal && v.group.Coordinator == env.Self()
}

// look looks for other coordinators, or for the node's own. (Garcia-Molina: Check, and Timeout.)
func (v *invitation) look(env *nodes.Env) {
	env.StopTimer(inviteLook)
	env.StopTimer(inviteMerge)
	v.asks++
	v.others.Clear()
	env.SetTimer(inviteFound, v.wait, v.wait)
	if !v.coordinates(env) {
		v.asked = nodes.SetOf(v.group.Coordinator)
		env.Send(v.group.Coordinator, inviteAreYouThere{v.asks, v.group})
		return
	}
	v.asked = env.Peers()
	for id := range v.asked.All() {
		env.Send(id, inviteAreYouCoordinator{v.asks})
	}
}

// found acts on the answers of other nodes. If several coordinate, the highest begins a group at once. A
// lower one waits longer before it begins a group, so that it is invited first.
func (v *invitation) found(env *nodes.Env) {
	if v.others.Empty() {
		v.rest(env)
		return
	}
	highest := env.Self()
	for id := range v.others.All() {
		highest = max(highest, id)
	}
	if highest == env.Self() {
		v.merge(env)
		return
	}
	env.StopTimer(inviteFound)
	v.asked.Clear()
	later := time.Duration(highest-env.Self()) * v.wait
	env.SetTimer(inviteMerge, later, later)
}

// merge joins this node's group and the groups of the coordinators that it found. Two nodes that merge at the
// same time refuse each other's invitations, since neither is NORMAL.
func (v *invitation) merge(env *nodes.Env) {
	invited := v.others.Clone()
	for id := range v.members.All() {
		invited.Add(id)
	}
	v.join(env, group{v.count + 1, env.Self()}, statusElection)
	v.invite(env, invited)
	// An invitation, the same passed on, and an acceptance take at most three delays.
	env.SetTimer(inviteGather, 2*v.wait, 2*v.wait)
}

func (v *invitation) invite(env *nodes.Env, others nodes.Set) {
	for id := range others.All() {
		env.Send(id, inviteInvitation{v.group})
	}
}

// invited takes an invitation.
func (v *invitation) invited(env *nodes.Env, to group) {
	if v.status != statusNormal || to.Count <= v.group.Count {
		return
	}
	members := v.members.Clone() // empty unless this node coordinates
	v.join(env, to, statusReorganization)
	v.invite(env, members)
	env.Send(to.Coordinator, inviteAccept{to})
	env.SetTimer(inviteMissed, 4*v.wait, 4*v.wait)
}

func (v *invitation) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case inviteInvitation:
		v.invited(env, m.Group)
	case inviteAccept:
		if v.status == statusElection && m.Group == v.group {
			v.members.Add(from)
		}
	case inviteReady:
		if v.status == statusReorganization && m.Group == v.group {
			env.StopTimer(inviteMissed)
			v.settle(env)
		}
	case inviteAreYouCoordinator:
		env.Send(from, inviteCoordinates{m.Ask, v.coordinates(env), v.group.Count})
	case inviteCoordinates:
		if m.Ask == v.asks && v.asked.Remove(from) {
			if v.count = max(v.count, m.Count); m.Yes {
				v.others.Add(from)
			}
			if v.asked.Empty() {
				v.found(env)
			}
		}
	case inviteAreYouThere:
		env.Send(from, inviteThere{m.Ask, v.coordinates(env) && m.Group == v.group && v.members.Has(from)})
	case inviteThere:
		if m.Ask == v.asks && v.asked.Remove(from) {
			v.there(env, m.Yes)
		}
	default:
		nodes.Unexpected(v, m)
	}
}

// there takes the coordinator's answer: whether it counts this node among its members.
func (v *invitation) there(env *nodes.Env, yes bool) {
	if yes {
		v.rest(env)
	} else {
		v.alone(env)
	}
}

// Timeout implements nodes.Timed.
func (v *invitation) Timeout(env *nodes.Env, t nodes.Timer) {
	switch t {
	case inviteLook:
		v.look(env)
	case inviteFound:
		if v.coordinates(env) {
			v.found(env)
		} else {
			v.there(env, false)
		}
	case inviteMerge:
		v.merge(env)
	case inviteGather:
		for id := range v.members.All() {
			env.Send(id, inviteReady{v.group})
		}
		v.settle(env)
	case inviteMissed:
		v.alone(env)
	}
}

// Standing implements nodes.Standing.
func (v *invitation) Standing() string {
	return fmt.Sprintf("%v, in group %d of node %d", v.status, v.group.Count, v.group.Coordinator)
}
