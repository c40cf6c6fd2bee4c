package check

import (
	"math"
	"slices"

	"turnstile/nodes/history"
)

// sites follows who is inside each critical section, one per instance, and what becomes of the account
// that it guards.
type sites struct {
	stampError, end int64
	all             []*site // by instance
}

// A site is the critical section of one instance.
type site struct {
	instance   uint16
	stampError int64
	inside     []*stay
	spare      *stay // one that is over and that nobody will ask for, to use again; or nil
	latestExit int64
	closest    int64 // the longest overlap of two stays; less than zero if they were that far apart

	violations uint64  // stays that overlapped another for longer than the stamps may err
	doubtful   uint64  // pairs that overlapped, but not for longer
	first      *pair   // the first overlap beyond doubt
	overlaps   []spell // beyond doubt, apart from each other, in order

	deepest      history.Event // the Entered with the highest count of the register
	exits, final uint64        // of the account
}

// A stay is one Enter-Exit interval. One that never ended lasts to the end of the history.
type stay struct {
	enter, exit history.Event
	until       int64
	left        bool
	violates    bool
}

// A pair is two stays that overlapped, the one that began first in front.
type pair struct {
	a, b  *stay
	spell spell
}

type spell struct{ from, to int64 }

func (s *sites) Add(e history.Event) {
	switch e.Kind {
	case history.Entered:
		s.at(e.Instance).enter(e)
	case history.Exited:
		s.at(e.Instance).exit(e)
	case history.Crashed:
		for _, site := range s.all {
			site.crash(e)
		}
	}
}

// Close ends the stays that never ended.
func (s *sites) Close() {
	for _, site := range s.all {
		for len(site.inside) > 0 {
			site.leave(0, s.end)
		}
	}
}

func (s *sites) at(instance uint16) *site {
	for i := len(s.all); i <= int(instance); i++ {
		s.all = append(s.all, &site{
			instance: uint16(i), stampError: s.stampError, closest: math.MinInt64, latestExit: math.MinInt64})
	}
	return s.all[instance]
}

func (s *site) enter(e history.Event) {
	if s.latestExit != math.MinInt64 {
		s.closest = max(s.closest, s.latestExit-e.At)
	}
	if e.Count > s.deepest.Count {
		s.deepest = e
	}
	fresh := s.spare
	if s.spare = nil; fresh == nil {
		fresh = &stay{}
	}
	*fresh = stay{enter: e}
	s.inside = append(s.inside, fresh)
}

func (s *site) exit(e history.Event) {
	s.exits++
	s.final = uint64(e.Value)
	at := slices.IndexFunc(s.inside, func(i *stay) bool {
		return i.enter.Node == e.Node && i.enter.Entry == e.Entry
	})
	if at < 0 {
		return // the books will say so
	}
	s.inside[at].exit, s.inside[at].left = e, true
	s.leave(at, e.At)
}

// crash ends the stay of a node that is down.
func (s *site) crash(e history.Event) {
	at := slices.IndexFunc(s.inside, func(i *stay) bool { return i.enter.Node == e.Node })
	if at >= 0 {
		s.leave(at, e.At)
	}
}

// leave ends a stay, and compares it with all that have not ended yet.
func (s *site) leave(at int, now int64) {
	leaver := s.inside[at]
	leaver.until = now
	s.inside = slices.Delete(s.inside, at, at+1)
	s.latestExit = now
	from := int64(math.MaxInt64)
	for _, other := range s.inside {
		began := max(leaver.enter.At, other.enter.At)
		s.closest = max(s.closest, now-began)
		if now-began <= s.stampError {
			if now > began {
				s.doubtful++
			}
			continue
		}
		from = min(from, began)
		for _, stay := range []*stay{leaver, other} {
			if !stay.violates {
				stay.violates = true
				s.violations++
			}
		}
		if s.first == nil || began < s.first.spell.from {
			s.first = &pair{leaver, other, spell{began, now}}
			if other.enter.At < leaver.enter.At {
				s.first.a, s.first.b = other, leaver
			}
		}
	}
	if from < now {
		s.overlapped(spell{from, now})
	}
	if !leaver.violates { // there are millions of those, one after the other
		s.spare = leaver
	}
}

// overlapped adds a spell that ends no earlier than those before it.
func (s *site) overlapped(fresh spell) {
	for len(s.overlaps) > 0 && s.overlaps[len(s.overlaps)-1].to >= fresh.from {
		fresh.from = min(fresh.from, s.overlaps[len(s.overlaps)-1].from)
		s.overlaps = s.overlaps[:len(s.overlaps)-1]
	}
	s.overlaps = append(s.overlaps, fresh)
}

// overlap returns for how long two or more were inside, beyond doubt.
func (s *site) overlap() (ns int64) {
	for _, o := range s.overlaps {
		ns += o.to - o.from
	}
	return ns
}

// lost returns how many updates of the account another one overwrote: each exit adds one to it.
func (s *site) lost() uint64 {
	if s.exits > s.final {
		return s.exits - s.final
	}
	return 0
}
