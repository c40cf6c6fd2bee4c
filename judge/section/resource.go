package section

import (
	"math"

	"turnstile/nodes"
)

// A Resource is shared by the clients of one instance. It has a capacity in units. Each concern has a file.
type Resource struct {
	Instance  uint16
	Capacity  uint32
	Clients   []Client // by node; the last nodes may be missing if they did nothing
	Requests  uint64
	Tries     uint64 // refused tries
	FreeTries uint64 // refused tries during which no client was inside

	register
	account
	overlaps
	fences
	line
	busy
}

// A Client is the state of one client of a resource. It is small: with many clients, none stays in the cache
// of the processor from one event to the next.
type Client struct {
	open     *Section // its open request, or nil
	left     int64    // when its last section ended
	next     int64    // when its last request was made, or issuing stopped
	Asked    uint32   // requests
	Entered  uint32   // entries
	Left     uint32   // exits and revocations
	InWindow uint32   // entries in the window
	Unissued uint32   // arrivals that never became requests
	orphaned uint32   // see register
	updated  bool     // it wrote the account, and has not asked again since
}

func newResource(instance uint16, capacity uint32) *Resource {
	return &Resource{Instance: instance, Capacity: capacity, overlaps: overlaps{Closest: math.MinInt64,
		lastLeft: math.MinInt64, lastBy: nodes.None, others: math.MinInt64}}
}

// client returns the client of a node.
func (r *Resource) client(id nodes.ID) *Client {
	if have := len(r.Clients); int(id) >= have {
		r.Clients = append(r.Clients, make([]Client, int(id)+1-have)...)
	}
	return &r.Clients[id]
}
