package section

import (
	"math"

	"turnstile/nodes/history"
)

// A nodeClock bounds the error of a node's stamps, in nanoseconds, if hosts have different clocks.
type nodeClock struct {
	Error  int64  // error against the orchestrator's clock
	Own    int64  // error against other nodes with the same clock
	Number uint64 // number of the clock; history.NoClock: the clock jumped
}

// clocks bounds the errors of stamps, as far as the history has been read.
type clocks struct {
	of      []nodeClock // by node; nil: all hosts have one clock
	all     int64       // bounds the error of comparing any two stamps read so far
	ordered bool        // events of equal stamps happened in the order in which they are read
	// Of the clocks that did not jump: the largest error, and the largest error of a clock with another number.
	worst, second nodeClock
	jumps         int            // how many bounds said that a clock jumped
	jumping       map[uint32]int // by node whose clock jumps: the index of its pause
}

// bounded takes a bound on the error of stamps. Clocks jump while hosts are suspended or moved, so a node
// counts as paused while its clock jumps.
func (f *Fold) bounded(e *history.Event) {
	f.clocks.bounded(e)
	pause, jumps := f.clocks.jumping[e.Count]
	switch now := e.Fence == history.NoClock && e.Value < history.Unknowable; {
	case now && !jumps:
		if f.clocks.jumping == nil {
			f.clocks.jumping = map[uint32]int{}
		}
		f.clocks.jumping[e.Count] = len(f.Pauses)
		f.Pauses = append(f.Pauses, Pause{e.Count, e.At, math.MaxInt64})
		f.turn(e)
	case jumps && !now:
		f.Pauses[pause].To = e.At
		delete(f.clocks.jumping, e.Count)
		f.turn(e)
	}
}

// bounded takes a bound on the error of stamps.
func (c *clocks) bounded(e *history.Event) {
	if e.Count >= maxSuspect {
		return // no such node: the history is garbled
	}
	for int(e.Count) >= len(c.of) {
		c.of = append(c.of, nodeClock{Error: history.Unknowable, Number: history.NoClock})
	}
	now := nodeClock{e.Value, int64(e.Entry), e.Fence}
	c.of[e.Count] = now
	// Any two stamps err by at most twice the largest error of one, whether clocks jumped or not.
	if c.all = max(c.all, 2*min(now.Error, history.Unknowable)); now.Number == history.NoClock {
		c.jumps++
		return
	}
	switch {
	case now.Number == c.worst.Number && c.worst.Error > 0:
		c.worst.Error = max(c.worst.Error, now.Error)
	case now.Error > c.worst.Error:
		c.worst, c.second = now, c.worst
	case now.Error > c.second.Error:
		c.second = now
	}
}

// clock returns the bounds on the error of a node's stamps by now.
func (c *clocks) clock(s *Section) nodeClock {
	switch {
	case c.of == nil:
		return nodeClock{}
	case int(s.Node) < len(c.of):
		return c.of[s.Node]
	}
	return nodeClock{Error: history.Unknowable, Number: history.NoClock}
}

// between bounds the error of comparing stamps of two nodes.
func between(a, b nodeClock) int64 {
	if a.Number == b.Number && a.Number != history.NoClock {
		return a.Own + b.Own + 1
	}
	return a.Error + b.Error
}

// longer reports whether both sections have been inside together for longer than any two stamps may err.
func (c *clocks) longer(a, b *Section, now int64) bool {
	return c.ordered || now-max(a.Entered, b.Entered) > c.all
}

// together reports whether two sections that are inside, one of which ends now, were certainly inside
// together: each was entered before the other ended, under any error of their stamps.
func (c *clocks) together(a, b *Section, now int64) bool {
	switch {
	case a == b:
		return true
	case c.of == nil:
		return c.longer(a, b, now)
	}
	return now-a.Entered > between(a.clock, c.clock(b)) && now-b.Entered > between(b.clock, c.clock(a))
}

// allTogether reports whether s, which ends now, and the sections in most were certainly inside together,
// each two of them.
func (c *clocks) allTogether(s *Section, most []*Section, now int64) bool {
	if c.of == nil { // the last section of most was entered last
		return c.longer(most[len(most)-1], s, now)
	}
	for i, one := range most {
		if !c.together(one, s, now) {
			return false
		}
		for _, other := range most[:i] {
			if !c.together(one, other, now) {
				return false
			}
		}
	}
	return true
}

// StampError bounds the error of comparing any two stamps read so far, in nanoseconds.
func (f *Fold) StampError() int64 { return f.clocks.all }

// ClockError bounds the error of comparing stamps of any two nodes whose clocks did not jump, in nanoseconds.
func (f *Fold) ClockError() int64 {
	if f.clocks.of == nil {
		return f.clocks.all
	}
	return f.clocks.worst.Error + f.clocks.second.Error
}

// Jumped reports whether the clock of a host jumped, or was unknown for some time.
func (f *Fold) Jumped() bool { return f.clocks.jumps > 0 }
