package mutex

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A priority is a rule on which request comes first (D. W. Jones, notes of 22C:116: "Breaking ties"). A node
// takes a number when it asks, which is sent with the request and does not change until it has left:
// otherwise two nodes would judge the same request by different numbers. The lower number comes first, and
// the lower ID breaks ties.
type priority uint8

const (
	byStamp      priority = iota // by logical clocks: a node's new request comes after all that it knows of
	byID                         // the lowest ID, with any number
	byFewest                     // the node that has entered least often
	byLongestAgo                 // the node that left longest ago
)

var priorityOption = nodes.Option{
	Name:    "priority",
	Usage:   "which request comes first",
	Values:  []string{"stamp", "id", "fewest", "longest-ago"},
	Default: "stamp",
	Shows: []nodes.Shown{
		{Value: "stamp", Figure: "order by request", Least: 0.9, Most: 1},
		{Value: "id", Figure: "order by id", Least: 0.9, Most: 1},
		{Value: "fewest", Figure: "order by fewest", Least: 0.9, Most: 1},
		{Value: "longest-ago", Figure: "order by longest-ago", Least: 0.9, Most: 1},
	},
}

func priorityOf(c nodes.Config) (p priority) {
	for i, value := range priorityOption.Values {
		if value == c.Value(priorityOption) {
			p = priority(i)
		}
	}
	return p
}

// ofStamps is the Bypass of an algorithm that, with the priority stamp, lets each peer pass a request at most
// once. Other priorities promise nothing.
func ofStamps(c nodes.Config) int {
	if priorityOf(c) == byStamp {
		return peers(c)
	}
	return algorithm.Any
}

// before reports whether request s comes before t. Of two requests of different nodes, one comes before the
// other.
func (p priority) before(s, t stamp) bool {
	if p == byID {
		return s.ID < t.ID
	}
	return s.before(t)
}

// A ranking hands out the numbers of a node's requests. Each number is higher than the one before it.
type ranking struct {
	by    priority
	known uint64 // byStamp: the highest number seen or used; byLongestAgo: how many requests we know of
	last  uint64 // byID, byFewest: how many requests we have made; byLongestAgo: the value of known when we left
}

// next returns the number of our next request.
func (r *ranking) next() uint64 {
	switch r.by {
	case byStamp:
		r.known++
		return r.known
	case byLongestAgo:
		r.known++ // our own request
		return r.last + 1
	}
	r.last++
	return r.last
}

// hear records the request of a peer. It is called once for each request.
func (r *ranking) hear(number uint64) {
	switch r.by {
	case byStamp:
		r.known = max(r.known, number)
	case byLongestAgo:
		// Nodes read no clocks. But all hear of all requests, so a node that knew of more requests when it left has
		// left later, apart from requests on their way.
		r.known++
	}
}

// meet records a peer's number: that of its request or, outside, the number that it left with.
func (r *ranking) meet(number uint64) {
	if r.by == byLongestAgo {
		r.known = max(r.known, number+1)
	}
}

// leave records that we have left.
func (r *ranking) leave() {
	if r.by == byLongestAgo {
		r.last = r.known
	}
}
