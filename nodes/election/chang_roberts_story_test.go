package election

import "turnstile/nodes"

// A changEager tries the rules in the order in which they are often printed: who has the higher identity
// replaces a lower one before it looks whether it takes part already.
type changEager struct{ changRoberts }

func (c *changEager) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if e, ok := m.(changElection); ok && e.Identity < c.ring.identity {
		c.stand(env, c.ring.identity)
		return
	}
	c.changRoberts.Receive(env, from, m)
}

func changForms() []form {
	eager := changRobertsRow
	eager.New = func(c nodes.Config) nodes.Machine {
		return &changEager{*changRobertsRow.New(c).(*changRoberts)}
	}
	return []form{{row: &changRobertsRow, spec: &eager,
		title: "a lower identity is replaced by who takes part already, too"}}
}
