package mutex

import (
	"slices"

	"turnstile/nodes"
)

// A grantQueue is the state of a coordinator that copes with crashed clients and lost messages: the client
// with the grant, and the waiting clients in order. The requests of a client have rising numbers, also over
// its restarts; one of them is open at a time, so a new request ends the earlier ones.
type grantQueue struct {
	holder claim    // the latest grant, zero once that is over
	serial uint64   // of the last grant
	queue  []claim  // the other open requests, in the order of service
	seen   []uint64 // by client: the number of its latest request
	over   []uint64 // by client: its requests up to this number are over
}

// A claim is an open request of a client. Numbers start at 1; the zero claim stands for no request.
type claim struct {
	Client nodes.ID
	Number uint64
	Stamp  uint64 // the order of requests that the coordinator learns from reports
}

// grantQueueOf returns the empty queue of n clients.
func grantQueueOf(n int) grantQueue {
	return grantQueue{seen: make([]uint64, n), over: make([]uint64, n)}
}

// firstNumber returns a number below all requests of a node in this incarnation. It is above all earlier
// ones, as an incarnation makes fewer than 2^32.
func firstNumber(env *nodes.Env) uint64 { return uint64(env.Incarnation()) << 32 }

// claim takes a request, and reports whether it is new.
func (q *grantQueue) claim(c claim) bool {
	if c.Number <= q.seen[c.Client] {
		return false // it is a copy
	}
	q.finish(c.Client, q.seen[c.Client])
	q.seen[c.Client] = c.Number
	q.queue = append(q.queue, c)
	return true
}

// finish ends the requests of a client up to a number: the client has left, or wants to enter no more.
func (q *grantQueue) finish(client nodes.ID, number uint64) {
	if number <= q.over[client] {
		return
	}
	q.over[client], q.seen[client] = number, max(number, q.seen[client])
	if q.held() && q.holder.Client == client && q.holder.Number <= number {
		q.holder = claim{}
		return
	}
	q.queue = slices.DeleteFunc(q.queue, func(c claim) bool { return c.Client == client && c.Number <= number })
}

// held reports whether somebody holds a grant.
func (q *grantQueue) held() bool { return q.holder.Number > 0 }

// holds reports whether a request is the one that was granted.
func (q *grantQueue) holds(client nodes.ID, number uint64) bool {
	return q.holder.Client == client && q.holder.Number == number
}

// next grants to the first waiting client that is not suspected, if nobody holds a grant. It reports whether
// there is a new grant to send.
func (q *grantQueue) next(suspected *nodes.Set) bool {
	at := -1
	if !q.held() {
		at = slices.IndexFunc(q.queue, func(c claim) bool { return !suspected.Has(c.Client) })
	}
	if at < 0 {
		return false
	}
	q.holder = q.queue[at]
	q.queue = slices.Delete(q.queue, at, at+1)
	q.serial++
	return true
}

// takeBack takes back the grant of a suspected client. Its request is the first to be granted once it is
// trusted again: if it has entered and left meanwhile, it gives that grant back at once.
func (q *grantQueue) takeBack(client nodes.ID) {
	if q.held() && q.holder.Client == client {
		q.queue = slices.Insert(q.queue, 0, q.holder)
		q.holder = claim{}
	}
}

// place returns the position at which a request waits, not counting suspected clients; 1: it is granted
// next; 0: it does not wait.
func (q *grantQueue) place(client nodes.ID, number uint64, suspected *nodes.Set) (place uint32) {
	for _, c := range q.queue {
		if !suspected.Has(c.Client) || c.Client == client {
			place++
		}
		if c.Client == client && c.Number == number {
			return place
		}
	}
	return 0
}

// lentTo returns the holder of the grant.
func (q *grantQueue) lentTo() nodes.ID {
	if !q.held() {
		return nodes.None
	}
	return q.holder.Client
}
