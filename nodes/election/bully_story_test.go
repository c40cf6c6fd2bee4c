package election

import "turnstile/nodes"

// bullyForms are the mutants in the stories of bullies, which TestBullyMutants simulates as well.
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
		{row: &bullyRow, spec: &credulous, title: "announcements are believed in the order in which they come",
			fails: "agreement"},
		{row: &bullyMajorityRow, spec: &blind, title: "a late announcement is believed"},
		{row: &bullyMajorityRow, spec: &amnesic, title: "an epoch is not saved", fails: "terms"},
		{row: &bullySharedDiskRow, spec: &forgetful, title: "a node does not save the term", fails: "terms"},
		{row: &bullyFourPhasePrintedRow, spec: &watchful, title: "each node looks for itself", sound: true},
		{row: &bullyNoTimeoutRow, spec: &bullyRow, title: "a node waits for a time", sound: true},
	}
}

// bullyCredulous follows whoever has announced itself last, and asks nobody.
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
