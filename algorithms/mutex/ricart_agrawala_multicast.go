package mutex

import (
	"errors"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// ricartMulticast is the algorithm of Ricart and Agrawala whose exit is one multicast, as lecture notes have
// it (source G of docs/coverage.md): the replies that a node has put off go to all peers in one message.
//
// The message names the request of each peer that it permits. A peer whose request is still on its way must
// not take it for a reply: the node that left may ask again under an earlier stamp than that request, and
// would get the reply of the peer, which is inside by then.
//
// An exit costs N-1 deliveries if others wait, however many, and no message otherwise. So an entry takes from
// 2(N-1) messages, if every delivery at exits permits a request, to 3(N-1). When saturated, with --multicast,
// an entry is two publishes: a request, and the replies of an exit.
type ricartMulticast struct{ ricartAgrawala }

// ricartReplies permits several requests. Clocks has the stamp of each client's permitted request; 0: no
// request.
type ricartReplies struct{ Clocks []uint64 }

var repliesOption = nodes.Option{
	Name:    "replies",
	Usage:   "how a node that leaves sends the replies that it has put off",
	Values:  []string{"unicast", "multicast"},
	Default: "unicast",
	Shows: []nodes.Shown{{Value: "multicast", Than: "unicast", Figure: "publishes per entry", Least: 0.3,
		Most: 0.9,
		Load: "saturated"}},
	Check: func(c nodes.Config, value string) error {
		if value == "multicast" && priorityOf(c) != byStamp {
			return errors.New("an exit is a multicast only with the priority stamp: leave out --priority or " +
				"--replies")
		}
		return nil
	},
}

// repliesTogether reports whether the replies of an exit are one message; repliesApart reports the opposite.
func repliesTogether(c nodes.Config) bool { return c.Value(repliesOption) == "multicast" }
func repliesApart(c nodes.Config) bool    { return !repliesTogether(c) }

func (r *ricartMulticast) Release(env *nodes.Env) {
	r.ours = stamp{}
	if len(r.owed) == 0 {
		return
	}
	clocks := make([]uint64, env.N())
	for _, peer := range r.owed {
		clocks[peer] = r.deferred[peer].Clock
		r.deferred[peer] = ricartReply{}
	}
	r.owed = r.owed[:0]
	env.Broadcast(ricartReplies{clocks})
}

func (r *ricartMulticast) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if m, ok := m.(ricartReplies); ok {
		if clock := m.Clocks[env.Self()]; clock > 0 {
			r.ricartAgrawala.Receive(env, from, ricartReply{clock})
		}
		return
	}
	r.ricartAgrawala.Receive(env, from, m)
}

// where restricts an identity to some configurations.
func where(only func(nodes.Config) bool, i algorithm.Identity) algorithm.Identity {
	i.Only = only
	return i
}
