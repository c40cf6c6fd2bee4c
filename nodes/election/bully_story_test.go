package election

import "turnstile/nodes"

// bullyForms are the mutants in the stories of bullies, which TestBullyMutants simulates as well.
func bullyForms() []form {
	blind, amnesic := bullyMajorityRow, bullyMajorityRow
	blind.New = func(c nodes.Config) nodes.Machine { return &majorityBlind{voting(c)} }
	amnesic.New = func(c nodes.Config) nodes.Machine { return &majorityAmnesic{voting(c)} }
	return []form{
		{row: &bullyMajorityRow, spec: &blind, title: "a late announcement is believed"},
		{row: &bullyMajorityRow, spec: &amnesic, title: "an epoch is not saved", fails: "terms"},
		{row: &bullyNoTimeoutRow, spec: &bullyRow, title: "a node waits for a time", sound: true},
	}
}
