package mutex

import (
	"slices"

	"turnstile/nodes"
)

// A grantQueue is what a coordinator that stands crashed clients and lost messages knows: who has been
// granted the resource, and who waits for it in which order. The requests of a client have rising numbers,
// also over its restarts; one of them is open at a time, so a new request ends the earlier ones.
type grantQueue struct {
	holder claim    // whom we granted last, zero once that is over
	serial uint64   // of the last grant
	queue  []claim  // who else waits, the first to be served first
	seen   []uint64 // by client: the number of its latest request
	over   []uint64 // by client: its requests up to this number are over
}

// A claim is an open request of a client; the zero claim is none, since numbers start at 1.
type claim struct {
	Client nodes.ID
	Number uint64
	Stamp  uint64 // of requests that a coordinator did not see come: by what they are sorted
}

// grantQueueOf returns the empty queue of n clients.
func grantQueueOf(n int) grantQueue {
	return grantQueue{seen: make([]uint64, n), over: make([]uint64, n)}
}

// firstNumber returns below what all requests of a node in this incarnation are numbered: in an earlier one
// it has made fewer than 2^32.
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

// finish ends the requests of a client up to a number: it has left, or is no longer there to enter.
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

// next makes the first holder who waits and is not suspected, if nobody holds a grant. It reports whether
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

// takeBack takes the grant of a client back that is suspected. Its request is the first to be granted once it
// is trusted again: if it has been inside meanwhile, and has left, it gives that grant back at once.
func (q *grantQueue) takeBack(client nodes.ID) {
	if q.held() && q.holder.Client == client {
		q.queue = slices.Insert(q.queue, 0, q.holder)
		q.holder = claim{}
	}
}

// place returns at which position a request waits, not counting clients that are suspected: 1 is to be
// granted next. It is 0 for one that does not wait.
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

// lentTo returns who holds the grant.
func (q *grantQueue) lentTo() nodes.ID {
	if !q.held() {
		return nodes.None
	}
	return q.holder.Client
}
