package election

import "turnstile/nodes"

// bullyForms are the mutants in the stories of bullies, which TestBullyMutants simulates as well.
func bullyForms() []form {
	blind, amnesic := bullyMajorityRow, bullyMajorityRow
	blind.New = func(c nodes.Config) nodes.Machine { return &majorityBlind{voting(c)} }
	amnesic.New = func(c nodes.Config) nodes.Machine { return &majorityAmnesic{voting(c)} }
	credulous := bullyRow
	credulous.New = func(c nodes.Config) nodes.Machine { return &bullyCredulous{*newBully(c)} }
	return []form{
		{row: &bullyRow, spec: &credulous, title: "announcements are believed in the order in which they come",
			fails: "agreement"},
		{row: &bullyMajorityRow, spec: &blind, title: "a late announcement is believed"},
		{row: &bullyMajorityRow, spec: &amnesic, title: "an epoch is not saved", fails: "terms"},
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
