package mutex

import (
	"testing"
	"time"

	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
)

// What is changed in central-lease.
func centralLeaseMutants() []mutant {
	c := nodes.Config{N: 3}
	atServer := mutantsOf[leaseServer](&centralLeaseAlgorithm, c)
	atClients := mutantsOf[leaseClient](&centralLeaseAlgorithm, c)
	c.Fenced = true // unfenced, the model allows no loss, so a stall after one would not count
	atFencedServer := mutantsOf[leaseServer](&centralLeaseAlgorithm, c)
	atFencedClients := mutantsOf[leaseClient](&centralLeaseAlgorithm, c)
	return []mutant{
		atServer("a lease lasts for ever", "progress",
			func(l leaseServer) nodes.Machine { return &leaseEndless{l} }).crashed(),
		atServer("a request is granted while a lease is on", "exclusion",
			func(l leaseServer) nodes.Machine { return &leaseHasty{l} }),
		atServer("any release ends the lease that is on", "exclusion",
			func(l leaseServer) nodes.Machine { return &leaseAnyRelease{l} }).copied(),
		atFencedServer("a lease that has ended is over for its client, too", "progress",
			func(l leaseServer) nodes.Machine { return &leaseOver{l} }).lost(),
		atClients("a holder does not renew its lease", "exclusion",
			func(l leaseClient) nodes.Machine { return &leaseSilent{l} }).
			at("lease", "60ms").holding(200 * time.Millisecond),
		atClients("a holder renews its lease twice as often as it says", "cost",
			func(l leaseClient) nodes.Machine { return &leaseEager{leaseClient: l} }).holding(200 * time.Millisecond),
		atClients("a holder renews its lease every other time", "cost",
			func(l leaseClient) nodes.Machine { return &leaseLazy{leaseClient: l} }).holding(400 * time.Millisecond),
		atClients("a copy of a grant is taken for the next", "exclusion",
			func(l leaseClient) nodes.Machine { return &leaseAnyGrant{l} }).copied(),
		atFencedClients("a request is not repeated", "progress",
			func(l leaseClient) nodes.Machine { return &leaseOnce{l} }).lost(),
	}
}

type (
	leaseEndless    struct{ leaseServer }
	leaseHasty      struct{ leaseServer }
	leaseAnyRelease struct{ leaseServer }
	leaseOver       struct{ leaseServer }
	leaseSilent     struct{ leaseClient }
	leaseAnyGrant   struct{ leaseClient }
	leaseEager      struct{ leaseClient }
	leaseLazy       struct {
		leaseClient
		skip bool
	}
	leaseOnce struct{ leaseClient }
)

func (l *leaseEndless) Timeout(*nodes.Env, nodes.Timer) {}

func (l *leaseHasty) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(leaseRequest); ok {
		l.Holder = ticket{}
	}
	l.leaseServer.Receive(env, from, m)
}

func (l *leaseAnyRelease) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(leaseRelease); ok {
		m = leaseRelease{l.Serial}
	}
	l.leaseServer.Receive(env, from, m)
}

func (l *leaseOver) Timeout(env *nodes.Env, t nodes.Timer) {
	l.Over[l.Holder.Client] = l.Holder.Number
	l.leaseServer.Timeout(env, t)
}

func (l *leaseSilent) Timeout(env *nodes.Env, t nodes.Timer) {
	if l.waits {
		l.leaseClient.Timeout(env, t)
	}
}

func (l *leaseEager) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	l.leaseClient.Receive(env, from, m)
	if !l.waits {
		env.SetTimer(leaseRepeat, l.repeat/2, l.repeat/2)
	}
}

func (l *leaseEager) Timeout(env *nodes.Env, t nodes.Timer) {
	l.leaseClient.Timeout(env, t)
	if !l.waits {
		env.SetTimer(leaseRepeat, l.repeat/2, l.repeat/2)
	}
}

func (l *leaseLazy) Timeout(env *nodes.Env, t nodes.Timer) {
	if l.skip = !l.skip && !l.waits; l.skip {
		env.SetTimer(leaseRepeat, l.repeat, l.repeat)
		return
	}
	l.leaseClient.Timeout(env, t)
}

func (l *leaseAnyGrant) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if g, ok := m.(leaseGrant); ok {
		m = leaseGrant{l.number, g.Serial}
	}
	l.leaseClient.Receive(env, from, m)
}

func (l *leaseOnce) Timeout(env *nodes.Env, t nodes.Timer) {
	if !l.waits {
		l.leaseClient.Timeout(env, t)
	}
}

// leaseLate sends a grant before it saves the lease.
type leaseLate struct{ leaseServer }

func (l *leaseLate) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	asks, is := m.(leaseRequest)
	if free := l.Holder == (ticket{}) && len(l.Queue) == 0; is && free && asks.Number > l.Over[from] {
		env.Send(from, leaseGrant{asks.Number, l.Serial + 1})
	}
	l.leaseServer.Receive(env, from, m)
}

// A server that crashes between a grant and the save of its lease hands out the number of the lease twice.
func TestLeasesAreSavedBeforeGrants(t *testing.T) {
	late := algotest.Rebuilt(&centralLeaseAlgorithm, func(l leaseServer) nodes.Machine { return &leaseLate{l} })
	for _, spec := range []*algorithm.Algorithm{&centralLeaseAlgorithm, late} {
		x := algotest.Explore(t, explore.Space{Spec: spec, Entries: 1, Crashes: 1, Restarts: true, Timeouts: 1,
			Config: spec.Explicit(nodes.Config{N: 2, Fenced: true}), States: 1 << 17})
		if found := x.Violation != nil; found != (spec == late) {
			t.Errorf("late saves: %v, and a violation is found: %v, in %d states", spec == late, found, x.States)
		}
	}
}
