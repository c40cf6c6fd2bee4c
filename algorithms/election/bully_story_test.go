package election

import (
	"turnstile/judge/algotest"
	"turnstile/nodes"
)

// bullyForms returns the forms that play the stories of bullies: mutants, and sound variants of broken
// algorithms.
func bullyForms() []form {
	blind, amnesic := bullyMajorityAlgorithm, bullyMajorityAlgorithm
	blind.New = func(c nodes.Config) nodes.Machine { return &majorityBlind{voting(c)} }
	amnesic.New = func(c nodes.Config) nodes.Machine { return &majorityAmnesic{voting(c)} }
	credulous := bullyAlgorithm
	credulous.New = func(c nodes.Config) nodes.Machine { return &bullyCredulous{*newBully(c)} }
	forgetful := bullySharedDiskAlgorithm
	forgetful.New = func(c nodes.Config) nodes.Machine {
		return &diskForgetful{*bullySharedDiskAlgorithm.New(c).(*bullySharedDisk)}
	}
	watchful := bullyFourPhasePrintedAlgorithm
	watchful.Flaw, watchful.New = nil, bullyFourPhaseAlgorithm.New
	return []form{
		{&bullyAlgorithm, algotest.Form{Algorithm: &credulous,
			Title: "announcements are believed in the order in which they come", Fails: "agreement"}},
		{&bullyMajorityAlgorithm, algotest.Form{Algorithm: &blind, Title: "a late announcement is believed"}},
		{&bullyMajorityAlgorithm, algotest.Form{Algorithm: &amnesic, Title: "an epoch is not saved",
			Fails: "terms"}},
		{&bullySharedDiskAlgorithm, algotest.Form{Algorithm: &forgetful, Title: "a node does not save the term",
			Fails: "terms"}},
		{&bullyFourPhasePrintedAlgorithm,
			algotest.Form{Algorithm: &watchful, Title: "each node looks for itself", Sound: true}},
		{&bullyNoTimeoutAlgorithm, algotest.Form{Algorithm: &bullyAlgorithm, Title: "a node waits for a time",
			Sound: true}},
	}
}

// bullyCredulous follows the node that has announced itself last, and asks nobody.
type bullyCredulous struct{ bully }

func (b *bullyCredulous) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, announced := m.(bullyCoordinator); announced {
		b.follow(env, from)
		return
	}
	b.bully.Receive(env, from, m)
}

// diskForgetful does not remember the term that it knew before a crash.
type diskForgetful struct{ bullySharedDisk }

func (d *diskForgetful) Recover(env *nodes.Env, _ nodes.Message) { d.bullySharedDisk.Recover(env, nil) }
