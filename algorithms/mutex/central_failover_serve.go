package mutex

import (
	"cmp"
	"math"
	"slices"

	"turnstile/nodes"
)

// What a client does in central-failover while it coordinates, or takes a census to become coordinator.

// serve begins to grant, starting from the clients' reports.
func (f *failover) serve(env *nodes.Env) {
	f.serving = true
	f.grantQueue = grantQueueOf(env.N())
	for id := range f.answered.All() {
		f.note(id, f.reports[id])
	}
	slices.SortFunc(f.queue, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.Stamp, b.Stamp), cmp.Compare(a.Client, b.Client))
	})
	f.next(env)
	f.tick(env)
}

// note applies a client's report.
func (f *failover) note(id nodes.ID, r failoverReport) {
	switch nodes.ClientState(r.State) {
	case nodes.Idle:
		f.finish(id, r.Number)
	case nodes.Waiting:
		f.claim(claim{id, r.Number, r.Stamp})
	case nodes.Inside:
		if r.Number > f.seen[id] && !f.held() {
			f.seen[id], f.holder = r.Number, claim{id, r.Number, r.Stamp}
			if f.suspected.Has(id) { // it has crashed since it answered
				f.takeBack(id)
			}
		}
	}
}

// asks takes the request of a client. While our census is open, the request replaces what the client has
// reported.
func (f *failover) asks(env *nodes.Env, from nodes.ID, number uint64) {
	switch {
	case !f.serving:
		if f.open && number > f.reports[from].Number {
			f.reports[from] = failoverReport{uint8(nodes.Waiting), number, math.MaxUint64}
		}
	case f.claim(claim{Client: from, Number: number}):
		f.next(env)
	case f.holds(from, number):
		env.Resend(from, f.grant(env))
	}
}

// leaves takes a release.
func (f *failover) leaves(env *nodes.Env, from nodes.ID, number uint64) {
	switch {
	case f.serving:
		f.finish(from, number)
		f.next(env)
	case f.open && number >= f.reports[from].Number:
		f.reports[from] = failoverReport{Number: number}
	}
}

// next grants to the first in the queue if nobody holds a grant, and a majority may be up. If the epoch has
// no fence numbers left, it takes another one.
func (f *failover) next(env *nodes.Env) {
	switch {
	case !f.serving || f.minority():
	case f.serial == mostSerial(env.N()) && !f.held():
		f.anew(env)
	case f.grantQueue.next(&f.suspected):
		env.Send(f.holder.Client, f.grant(env))
		f.tick(env)
	}
}

// minority reports whether so many are suspected that others may have a coordinator by now.
func (f *failover) minority() bool { return 2*f.suspected.Len() >= len(f.reports) && !f.lowest }

// grant returns the message that tells the holder of its grant.
func (f *failover) grant(env *nodes.Env) failoverGrant {
	return failoverGrant{f.epoch, f.holder.Number, fence(env.N(), f.epoch, f.serial)}
}

// remind repeats a grant that was not given back since the last tick, and asks clients again that have not
// answered in the census.
func (f *failover) remind(env *nodes.Env) {
	missing := f.missing(env)
	for peer := range missing.All() {
		env.Resend(peer, censusAsk{f.epoch, env.Incarnation()})
		f.tick(env)
	}
	if f.held() && f.holder.Client != env.Self() {
		if f.granted == f.serial {
			env.Resend(f.holder.Client, f.grant(env))
		}
		f.granted = f.serial
		f.tick(env)
	}
}

// LentTo returns the holder of the grant that we have given.
func (f *failover) LentTo() nodes.ID {
	if !f.serving {
		return nodes.None
	}
	return f.lentTo()
}
