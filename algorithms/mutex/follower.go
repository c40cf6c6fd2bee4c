package mutex

import (
	"errors"
	"time"

	"turnstile/nodes"
)

// A follower is what a node knows of the elector beside it, if it has one. With an elector, only the leader
// takes a census. A census still needs a majority to be complete, so a wrong leader does no harm.
type follower struct {
	follows bool
	leader  nodes.ID // chosen by the elector
}

func newFollower(c nodes.Config) follower {
	return follower{follows: c.Elect != "", leader: nodes.None}
}

// callsOption says what calls an election: a detector, or, as in the lecture notes of Temple University, a
// client whose request is not answered in time. Then a crash stays unnoticed until a client asks.
var callsOption = nodes.Option{
	Name: "calls",
	Usage: "what calls an election, with --elect: the failure detector of a node that suspects the " +
		"coordinator, or its client, when a request has waited for --retry",
	Values:  []string{"detector", "request"},
	Default: "detector",
	Shows: []nodes.Shown{{Value: "request", Than: "detector", Figure: "election sent", Least: 5, Most: 100,
		Elect: "bully", For: 3 * time.Second, Hold: 300 * time.Millisecond}},
	Check: func(c nodes.Config, value string) error {
		if value == "request" && !newFollower(c).follows {
			return errors.New("no request calls an election where nobody elects: add --elect bully")
		}
		return nil
	},
}

// campaign calls an election, if there is an elector.
func (f *follower) campaign(env *nodes.Env) {
	if f.follows {
		env.Campaign()
	}
}

// leads reports whether this node may take a census: it is the leader, or there is no elector.
func (f *follower) leads(env *nodes.Env) bool { return !f.follows || f.leader == env.Self() }
