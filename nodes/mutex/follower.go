package mutex

import "turnstile/nodes"

// A follower is what a node knows of the elector beside it, if there is one: then the leader alone takes a
// census. Whether that is complete still rests on a majority, so a wrong leader does no harm.
type follower struct {
	follows bool
	leader  nodes.ID // whom the elector has chosen
}

func newFollower(c nodes.Config) follower {
	return follower{follows: c.Elect != "", leader: nodes.None}
}

// campaign brings an election about, if there is an elector.
func (f *follower) campaign(env *nodes.Env) {
	if f.follows {
		env.Campaign()
	}
}

// leads reports whether this node may take a census: if nobody elects, or it is the leader.
func (f *follower) leads(env *nodes.Env) bool { return !f.follows || f.leader == env.Self() }
