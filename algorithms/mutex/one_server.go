package mutex

import (
	"slices"

	"turnstile/nodes"
)

// The common part of central, semaphore and ticket, in which all clients ask one server outside the cluster.

func oneServer(nodes.Config) int        { return 1 }
func theServer(c nodes.Config) nodes.ID { return nodes.ID(c.N) }

// onlyTheServer returns whom a client sends to.
func onlyTheServer(c nodes.Config, _ nodes.ID) []nodes.ID { return []nodes.ID{theServer(c)} }

// An asker is a client that asks the server, enters when the server grants its request, and gives the grant
// back when it leaves. Requests and grants have numbers: a copy of a grant must not let a client in that has
// left and requested again.
type asker[Request ~struct{ Number uint64 }, Grant ~numbers, Release ~struct{ Serial uint64 }] struct {
	server  nodes.ID
	number  uint64 // of our latest request
	waiting bool   // we wait for the grant of our latest request
	serial  uint64 // of our latest grant
}

// numbers are the two numbers of a grant: Number names the request that it permits, Serial counts all grants
// of the server.
type numbers = struct{ Number, Serial uint64 }

func (a *asker[Request, Grant, Release]) Request(env *nodes.Env) {
	a.number++
	a.waiting = true
	env.Send(a.server, Request{a.number})
}

func (a *asker[Request, Grant, Release]) Release(env *nodes.Env) {
	env.Send(a.server, Release{a.serial})
}

func (a *asker[Request, Grant, Release]) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case Grant:
		if grant := numbers(m); a.waiting && grant.Number == a.number {
			a.waiting = false
			a.serial = grant.Serial
			env.Grant()
		}
	default:
		nodes.Unexpected(a, m)
	}
}

// WaitsFor names the server. Its LentTo names the client inside.
func (a *asker[Request, Grant, Release]) WaitsFor() nodes.Set { return waitsFor(a.server, a.waiting) }

// waitsFor returns the server that a client asks, if the client waits.
func waitsFor(server nodes.ID, waits bool) nodes.Set {
	if !waits {
		return nodes.Set{}
	}
	return nodes.SetOf(server)
}

// A ticket is a client's request. Numbers start at 1; the zero ticket stands for no request.
type ticket struct {
	Client nodes.ID
	Number uint64
}

// client returns the client of a ticket; None: the ticket is zero.
func (t ticket) client() nodes.ID {
	if t == (ticket{}) {
		return nodes.None
	}
	return t.Client
}

// tickets are the requests that wait at a server, in order of arrival.
type tickets []ticket

// first removes and returns the first ticket.
func (t *tickets) first() ticket {
	first := (*t)[0]
	*t = slices.Delete(*t, 0, 1)
	return first
}

// latest is the number of the latest request of each client; nil before the first request.
type latest []uint64

// admit records a request, and reports whether it is new; if not, it is a copy.
func (l *latest) admit(env *nodes.Env, t ticket) (isNew bool) {
	if *l == nil {
		*l = make(latest, env.N())
	}
	number := &(*l)[t.Client]
	isNew = t.Number > *number
	*number = max(*number, t.Number)
	return isNew
}

// askingOne are the cells of algorithms whose clients all ask one node.
var askingOne = slices.Concat(
	under(recovers, "the coordinator does not wait for an idle client", "dead-idle"),
	under(blocks, "all clients ask the coordinator, and none takes its place", "dead-coordinator"),
	under(starves, "the client whose request is lost waits for ever, and the others go on", "lost-request"),
	under(blocks, "the coordinator waits for the release of a grant that never came, and all clients wait "+
		"behind it", "lost-reply"),
	under(starves|blocks, "a client waits if its request is lost (P), all wait if a grant or a release is (B)",
		losses...),
)

// reachingServer are the cells for cuts between clients that all reach the server.
var reachingServer = under(unhit, "its clients send each other nothing, and reach the server", "one-way",
	"bridge", "majority-ring")
