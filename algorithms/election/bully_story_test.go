package election

import (
	"turnstile/judge/rowtest"
	"turnstile/nodes"
)

// bullyForms returns the forms that play the stories of bullies: mutants, and sound variants of broken rows.
func bullyForms() []form {
	blind, amnesic := bullyMajorityRow, bullyMajorityRow
	blind.New = func(c nodes.Config) nodes.Machine { return &majorityBlind{voting(c)} }
	amnesic.New = func(c nodes.Config) nodes.Machine { return &majorityAmnesic{voting(c)} }
	credulous := bullyRow
	credulous.New = func(c nodes.Config) nodes.Machine { return &bullyCredulous{*newBully(c)} }
	forgetful := bullySharedDiskRow
	forgetful.New = func(c nodes.Config) nodes.Machine {
		return &diskForgetful{*bullySharedDiskRow.New(c).(*bullySharedDisk)}
	}
	watchful := bullyFourPhasePrintedRow
	watchful.Flaw, watchful.New = nil, bullyFourPhaseRow.New
	return []form{
		{&bullyRow, rowtest.Form{Row: &credulous,
			Title: "announcements are believed in the order in which they come", Fails: "agreement"}},
		{&bullyMajorityRow, rowtest.Form{Row: &blind, Title: "a late announcement is believed"}},
		{&bullyMajorityRow, rowtest.Form{Row: &amnesic, Title: "an epoch is not saved", Fails: "terms"}},
		{&bullySharedDiskRow, rowtest.Form{Row: &forgetful, Title: "a node does not save the term",
			Fails: "terms"}},
		{&bullyFourPhasePrintedRow, rowtest.Form{Row: &watchful, Title: "each node looks for itself", Sound: true}},
		{&bullyNoTimeoutRow, rowtest.Form{Row: &bullyRow, Title: "a node waits for a time", Sound: true}},
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
