package diagram

import (
	"math"
	"testing"
	"time"

	"turnstile/judge/section"
	"turnstile/judge/spacetime"
)

// quiet returns an extract with a message per millisecond for a second, of two nodes.
func quiet(t *testing.T) *spacetime.Extract {
	t.Helper()
	x, _ := played(t, "algorithm ricart-agrawala\nn 2\nreq 0")
	x.Messages, x.End = nil, int64(time.Second)
	for at := int64(0); at < x.End; at += stepTime {
		x.Messages = append(x.Messages, spacetime.Message{To: 1, Fate: spacetime.Handled, Sent: at, Over: at + 1})
	}
	return x
}

// The window begins a little before the fault. It ends a little after the heal or, if that would be too much
// to draw, after the first effect.
func TestWindowAroundAFault(t *testing.T) {
	const ms = stepTime
	short := section.Fault{From: 500 * ms, To: 600 * ms, Healed: true}
	long := section.Fault{From: 300 * ms, To: 900 * ms, Healed: true}
	for name, c := range map[string]struct {
		fault    section.Fault
		change   func(x *spacetime.Extract)
		from, to int64
	}{
		"healed": {fault: short, from: 488 * ms, to: 613 * ms},
		"it hits late": {fault: section.Fault{From: 500 * ms, To: 600 * ms, Until: 650 * ms}, from: 488 * ms,
			to: 663 * ms},
		"too long to draw": {fault: long, from: 288 * ms, to: 341 * ms},
		"a message is hit": {fault: section.Fault{From: 300 * ms, To: 900 * ms, HitAt: 350 * ms}, from: 288 * ms,
			to: 391 * ms},
		"a message is lost": {fault: long, from: 288 * ms, to: 361 * ms, change: func(x *spacetime.Extract) {
			x.Messages[100].Fate, x.Messages[320].Fate = spacetime.Lost, spacetime.Lost
		}},
		"a node dies": {fault: long, from: 288 * ms, to: 351 * ms, change: func(x *spacetime.Extract) {
			x.Deaths = []section.Death{{Node: 1, At: 310 * ms, Back: math.MaxInt64}}
		}},
		"the effect comes late": {fault: section.Fault{From: 100 * ms, To: 900 * ms, HitAt: 800 * ms},
			from: 88 * ms, to: 388 * ms},
		"until the end": {fault: section.Fault{From: 900 * ms, To: math.MaxInt64}, from: 888 * ms, to: 1000 * ms},
		"before all":    {fault: section.Fault{From: 0, To: 1 * ms}, from: 0, to: 14 * ms},
		"messages are rare": {fault: short, from: 450 * ms, to: 600 * ms, change: func(x *spacetime.Extract) {
			x.Messages = append(x.Messages[:9], x.Messages[550:551:551]...)
			x.End = 600 * ms
		}},
	} {
		x := quiet(t)
		if c.change != nil {
			c.change(x)
		}
		if w := AroundFault(x, c.fault); w.From != c.from || w.To != c.to {
			t.Errorf("%s: from %v to %v, not from %v to %v", name, time.Duration(w.From), time.Duration(w.To),
				time.Duration(c.from), time.Duration(c.to))
		}
	}
}
