package check

import (
	"math"
	"slices"

	"turnstile/nodes"
)

// sides tell on which side of cuts clients were, as far as the history has been read.
type sides struct {
	*model
	known []*parting // what has been asked for, until any of it may change
}

// A parting is who reaches whom from one time until another, between two changes of that.
type parting struct {
	from, until int64
	n           int // clients
	up          int // those that are up
	down        map[nodes.ID]bool
	cuts        []func(a, b nodes.ID) bool // report whether two nodes do not reach each other
	of          []int32                    // the part of each client; nil: there are no cuts
	parts       []part
}

// A part is clients that reach each other and the same others, or one of which no more is known.
type part struct {
	any  nodes.ID // one of them
	up   int      // those that are up
	size int      // of the side that those are on, no further than to a majority; 0: not known yet
}

// changed forgets what is known, since what happens may change it.
func (s *sides) changed() { s.known = nil }

// when returns who reached whom at a time.
func (s *sides) when(at int64) *parting {
	for _, p := range s.known {
		if p.from <= at && at < p.until {
			return p
		}
	}
	p := s.parting(at)
	s.known = append(s.known, p)
	return p
}

func (s *sides) parting(at int64) *parting {
	n := s.Config.N
	p := &parting{from: math.MinInt64, until: math.MaxInt64, n: n, up: n, down: map[nodes.ID]bool{}}
	for turn := range s.turns() {
		if turn <= at {
			p.from = max(p.from, turn)
		} else {
			p.until = min(p.until, turn)
		}
	}
	for i := range s.sections.Deaths {
		if d := &s.sections.Deaths[i]; d.From <= at && at < d.Back && d.Node >= 0 && int(d.Node) < n &&
			!p.down[d.Node] {
			p.down[d.Node] = true
			p.up--
		}
	}
	for i := range s.sections.Faults {
		f := &s.sections.Faults[i]
		if asked := s.asked(f); f.From <= at && at < f.To && asked.Separates != nil {
			p.cut(asked, f.Victim)
		}
	}
	for id, of := range p.of {
		if int(of) == len(p.parts) {
			p.parts = append(p.parts, part{any: nodes.ID(id)})
		}
		if !p.down[nodes.ID(id)] {
			p.parts[of].up++
		}
	}
	return p
}

// cut adds a cut, and divides the parts by its own. They are numbered in the order of their first clients.
func (p *parting) cut(asked *Fault, victim nodes.ID) {
	p.cuts = append(p.cuts, func(a, b nodes.ID) bool { return asked.Separates(a, b, victim) })
	if p.of == nil {
		p.of = make([]int32, p.n)
	}
	finer, last, its := map[[2]int]int32{}, [2]int{-1, -1}, int32(0)
	for id := range p.of {
		parts := [2]int{int(p.of[id]), id}
		if asked.Part != nil {
			parts[1] = asked.Part(nodes.ID(id), victim)
		}
		if parts != last {
			known := false
			if its, known = finer[parts]; !known {
				its = int32(len(finer))
				finer[parts] = its
			}
			last = parts
		}
		p.of[id] = its
	}
}

func (p *parting) separated(a, b nodes.ID) bool {
	return slices.ContainsFunc(p.cuts, func(cut func(a, b nodes.ID) bool) bool { return cut(a, b) })
}

// side returns how many clients are on the side of a node: those that it can reach, and those that these can,
// itself included. A coordinator or a token may be with any of them. It counts no further than to a majority.
func (p *parting) side(from nodes.ID) int {
	alone := 0 // the node itself, if it is down
	if p.down[from] {
		alone = 1
	}
	if p.of == nil { // all that are up reach each other
		return p.up + alone
	}
	its := &p.parts[p.of[from]]
	if its.size > 0 {
		return its.size + alone
	}
	reached, rest, size := []*part{its}, p.others(its), its.up
	for i := 0; i < len(reached) && 2*size <= p.n; i++ {
		beyond := rest[:0]
		for _, other := range rest {
			if p.separated(reached[i].any, other.any) {
				beyond = append(beyond, other)
				continue
			}
			reached = append(reached, other)
			size += other.up
		}
		rest = beyond
	}
	size = min(size, p.n/2+1)
	if its.up > 0 { // otherwise those that it reaches need not reach each other
		for _, one := range reached {
			one.size = size
		}
	}
	return size + alone
}

// others returns the parts but one of which somebody is up.
func (p *parting) others(than *part) (all []*part) {
	for i := range p.parts {
		if one := &p.parts[i]; one != than && one.up > 0 {
			all = append(all, one)
		}
	}
	return all
}

// minoritySince returns since when a node has been in a minority that is in one at a time.
func (s *sides) minoritySince(id nodes.ID, at, began int64) int64 {
	for {
		p := s.when(at)
		if p.from <= began {
			return began
		}
		if at = p.from - 1; 2*s.when(at).side(id) > p.n {
			return p.from
		}
	}
}
