package explore

import (
	"fmt"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// Timing bounds how long things take in an exploration or a schedule. Time passes in ticks. In each tick
// things may happen in any order and number; what has to happen in it does so before it ends.
//
// A timer runs out within what it was set to, rounded outward to whole ticks, so that no run is missed.
// Handlers take no time. Clients ask and leave when they like.
type Timing struct {
	Tick    time.Duration
	Latency chance.Distribution // of each message: constant or uniform, in whole ticks
}

// unbounded is what is broken without a Timing: a message may take any time, and a node may stand still while
// others do anything.
const unbounded = nodes.Timing | nodes.NoPause

// mostTicks bounds a latency, since a message is another flight after each tick.
const mostTicks = 100

// Validate says what is wrong with the timing, if anything is, and what would be right.
func (t *Timing) Validate() error {
	least, most, bounded := t.Latency.Bounds()
	switch {
	case t.Tick <= 0:
		return fmt.Errorf("a tick of %v: time goes on by ticks, such as 1ms", t.Tick)
	case !bounded:
		return fmt.Errorf("a latency of %v has no bounds: explore with a constant one or one that is uniform, "+
			"such as uniform:1ms,2ms", t.Latency)
	case least%t.Tick != 0 || most%t.Tick != 0:
		return fmt.Errorf("a latency of %v is no whole number of ticks of %v: take a shorter tick",
			t.Latency, t.Tick)
	case most/t.Tick > mostTicks:
		return fmt.Errorf("a latency of %v is %d ticks of %v, and can be up to %d: take a longer tick",
			t.Latency, most/t.Tick, t.Tick, mostTicks)
	}
	return nil
}

// String prints the timing as in a schedule.
func (t *Timing) String() string { return fmt.Sprint(t.Tick, " ", t.Latency) }

// A window says in how many ticks something can happen, and in how many it must have. Without timing all
// windows are zero: everything can happen now, and no tick comes.
type window struct{ opens, closes int64 }

func (w window) open() bool    { return w.opens == 0 }
func (w window) due() bool     { return w.closes == 0 }
func (w window) later() window { return window{max(0, w.opens-1), w.closes - 1} }

// window returns the window of something that takes between two times. As in all hosts, machines may give
// them in either order, and negative ones count as zero.
func (t *Timing) window(from, to time.Duration) window {
	if t == nil {
		return window{}
	}
	least, most := max(0, min(from, to)), max(0, from, to)
	w := window{int64(least / t.Tick), int64(most / t.Tick)}
	if most%t.Tick > 0 {
		w.closes++
	}
	return w
}

// flight returns the window of a message that is sent now.
func (t *Timing) flight() window {
	if t == nil {
		return window{}
	}
	least, most, _ := t.Latency.Bounds()
	return t.window(least, most)
}

// A runningTimer is a timer of an instance, with the window in which it runs out.
type runningTimer struct {
	instance int32
	timer    nodes.Timer
	gen      uint32
	window
}

// timers returns the running timers of a process: those it had before that still run, and those that were
// set.
func (t *Timing) timers(p *nodes.Process, before, set []runningTimer) (all []runningTimer) {
	for i := range p.Stack().Instances() {
		for timer, gen := range p.Timers(int32(i)) {
			running := runningTimer{instance: int32(i), timer: timer, gen: gen}
			for _, list := range [][]runningTimer{before, set} {
				for _, b := range list {
					if b.instance == running.instance && b.timer == timer && b.gen == gen {
						running.window = b.window
					}
				}
			}
			all = append(all, running)
		}
	}
	return all
}

// laterTimers returns the timers as they are one tick later.
func laterTimers(timers []runningTimer) []runningTimer {
	later := make([]runningTimer, len(timers))
	for i, a := range timers {
		later[i] = a
		later[i].window = a.later()
	}
	return later
}
