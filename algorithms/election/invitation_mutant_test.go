package election

import (
	"fmt"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// inviteMutants are invitation with one rule changed, for inviteFault to find.
var inviteMutants = []algotest.Mutant{
	inviteMutant("an acceptance of any group counts",
		func(v invitation) nodes.Machine { return &inviteAnyAccept{v} }),
	inviteMutant("Ready of any group counts", func(v invitation) nodes.Machine { return &inviteAnyReady{v} }),
	inviteMutant("a late invitation is accepted", func(v invitation) nodes.Machine { return &inviteLate{v} }),
	inviteMutant("the count is not saved", func(v invitation) nodes.Machine { return &inviteForgetful{v} }),
	inviteMutant("a member does not ask for its coordinator",
		func(v invitation) nodes.Machine { return &inviteLoyal{v} }),
	inviteMutant("an invitation is not passed on",
		func(v invitation) nodes.Machine { return &inviteSelfish{v} }),
	inviteMutant("all merge at once", func(v invitation) nodes.Machine { return &inviteHasty{v} }),
}

var inviteMutant = algotest.MutantsOf[invitation](&invitationAlgorithm)

type (
	inviteAnyAccept struct{ invitation }
	inviteAnyReady  struct{ invitation }
	inviteLate      struct{ invitation }
	inviteForgetful struct{ invitation }
	inviteLoyal     struct{ invitation }
	inviteSelfish   struct{ invitation }
	inviteHasty     struct{ invitation }
)

func (v *inviteAnyAccept) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(inviteAccept); ok {
		m = inviteAccept{v.group}
	}
	v.invitation.Receive(env, from, m)
}

func (v *inviteAnyReady) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(inviteReady); ok {
		m = inviteReady{v.group}
	}
	v.invitation.Receive(env, from, m)
}

func (v *inviteLate) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(inviteInvitation); ok && v.status == statusNormal {
		v.group.Count = 0
	}
	v.invitation.Receive(env, from, m)
}

func (v *inviteForgetful) Recover(env *nodes.Env, _ nodes.Message) { v.invitation.Recover(env, nil) }

func (v *inviteLoyal) Timeout(env *nodes.Env, t nodes.Timer) {
	if t == inviteLook && !v.coordinates(env) {
		v.rest(env)
		return
	}
	v.invitation.Timeout(env, t)
}

func (v *inviteSelfish) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(inviteInvitation); ok {
		v.members.Clear()
	}
	v.invitation.Receive(env, from, m)
}

func (v *inviteHasty) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	v.invitation.Receive(env, from, m)
	if _, ok := m.(inviteCoordinates); ok && v.coordinates(env) && v.asked.Empty() && !v.others.Empty() {
		v.merge(env)
	}
}

func TestInvitationMutantsAreCaught(t *testing.T) {
	algotest.Hunt(t, &invitationAlgorithm, inviteMutants, 40,
		func(t testing.TB, algo *algorithm.Algorithm, seed uint64) string {
			return inviteFault(t, algo, nodes.Config{N: 2 + int(seed%4)}, seed)
		})
}

// An answer to an earlier question does not count.
func TestInvitationHeedsNoLateAnswers(t *testing.T) {
	n := algotest.Node(&invitationAlgorithm, 3, 0)
	for _, in := range []nodes.Input{{Kind: nodes.Start}, {Kind: nodes.Campaign},
		{Kind: nodes.Receive, From: 1, Message: inviteCoordinates{Ask: 1, Count: 1}},
		{Kind: nodes.Receive, From: 2, Message: inviteCoordinates{Ask: 0, Yes: true, Count: 1}}} {
		n.Handle(in)
	}
	if v := n.Machine(0).(*invitation); !v.others.Empty() || v.asked.Len() != 1 {
		t.Errorf("%+v", v)
	}
	n.Handle(nodes.Input{Kind: nodes.Receive, From: 2, Message: inviteCoordinates{Ask: 1, Yes: true, Count: 1}})
	if v := n.Machine(0).(*invitation); v.others.Len() != 1 {
		t.Errorf("%+v", v)
	}
}

// inviteFault runs an algorithm in scenarios that invitation must survive. It returns what failed; "":
// nothing.
func inviteFault(t testing.TB, algo *algorithm.Algorithm, c nodes.Config, seed uint64) string {
	storms, crashed := storm(algo, c, seed, false), crashes(algo, c, seed)
	for _, faults := range [][]chaos.Fault{storms.faults, crashed.faults} {
		for i := range faults {
			if k, is := faults[i].Effect.(*effect.Kill); is {
				k.Forget = false
			}
		}
	}
	late := scenario{config: c, seed: seed, duration: storms.duration, faults: []chaos.Fault{
		{Effect: &effect.Reorder{Later: algotest.Drawn("uniform:0s,400ms")},
			Schedule: chaos.Schedule{For: storms.duration / 2}}}}
	for _, test := range []struct {
		name string
		scenario
	}{{"storm", storms}, {"crashes", crashed}, {"late messages", late},
		{"calm", scenario{config: c, seed: seed}}, {"a cut", cutInTwo(t, algo, 0)}} {
		w := &inviteWatch{told: map[inviteVote]bool{}, accepted: map[inviteVote]bool{}}
		test.algorithm = observedBy(algo, w.around)
		o := test.simulated(t)
		switch {
		case w.wrong != "":
			return test.name + ": " + w.wrong
		case len(o.Conflicts) > 0:
			return fmt.Sprintf("%s: two lead in one term: %v", test.name, o.Conflicts)
		case len(o.Backwards) > 0:
			return fmt.Sprintf("%s: a term goes backwards: %v", test.name, o.Backwards)
		case o.leader() == nodes.None:
			return fmt.Sprintf("%s: nobody leads all at the end: %v", test.name, o.last())
		case test.name == "calm" && o.Agreements[0].Agreed > o.Begun+int64(invitedWithin):
			return fmt.Sprintf("%s: one group after %v", test.name, time.Duration(o.Agreements[0].Agreed-o.Begun))
		case test.name == "a cut" && o.messages() != cutInTwoCosts:
			return fmt.Sprintf("%s: %d messages", test.name, o.messages())
		}
	}
	return ""
}

// invitedWithin is how long it takes to merge nodes that all look for others when a run begins: answers, and
// the time for acceptances.
const invitedWithin = 10*hop + 200*time.Millisecond

// An inviteWatch looks at the machines of a run: a node that counts as a member has accepted, and a node
// that goes on in the group of another counts as a member there.
type inviteWatch struct {
	told, accepted map[inviteVote]bool
	wrong          string
}

type inviteVote struct {
	member nodes.ID
	group  group
}

func (v *invitation) itself() *invitation { return v }

func (w *inviteWatch) around(env *nodes.Env, m nodes.Machine, handle func()) {
	v := m.(interface{ itself() *invitation }).itself()
	was := v.status
	handle()
	vote := inviteVote{env.Self(), v.group}
	switch {
	case was == v.status:
	case v.status == statusReorganization:
		w.accepted[vote] = true
	case v.status != statusNormal:
	case v.coordinates(env):
		for id := range v.members.All() {
			member := inviteVote{id, v.group}
			if w.told[member] = true; !w.accepted[member] {
				w.wrong = fmt.Sprintf("node %d is a member of group %+v, which it has not accepted", id, v.group)
			}
		}
	case !w.told[vote]:
		w.wrong = fmt.Sprintf("node %d goes on in group %+v, of which it is no member", env.Self(), v.group)
	}
}
