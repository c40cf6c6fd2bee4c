package replay

import (
	"fmt"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// Timing bounds how long messages and timers take in an exploration or a schedule. Time passes in ticks.
// Within a tick events may happen in any order and number; events that are due happen before it ends.
//
// A timer runs out within the bounds that it was set to, rounded outward to whole ticks, so that no possible
// order of events is missed. Handlers take no time. Clients ask and leave at any time.
type Timing struct {
	Tick    time.Duration
	Latency Latency // of each message, in whole ticks
}

// A Latency says how long a message takes: from Least to Most, both included.
type Latency struct{ Least, Most time.Duration }

// Set reads a latency as runs take it: 1ms, or uniform:1ms,2ms.
func (l *Latency) Set(text string) error {
	d, err := chance.ParseDistribution(text)
	if err != nil {
		return err
	}
	least, most, bounded := d.Bounds()
	if !bounded {
		return fmt.Errorf("a latency of %v has no bounds: explore with a constant one or one that is uniform, "+
			"such as uniform:1ms,2ms", d)
	}
	l.Least, l.Most = least, most
	return nil
}

// String writes a latency as Set reads it.
func (l *Latency) String() string {
	if l.Least == l.Most {
		return l.Least.String()
	}
	return fmt.Sprintf("uniform:%v,%v", l.Least, l.Most)
}

// MarshalText writes a latency as Set reads it.
func (l *Latency) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Type names the values of the flag.
func (*Latency) Type() string { return "latency" }

// Breaks returns the assumptions that a nil Timing breaks: a message may take any time, and a node may pause
// while others do anything.
func (t *Timing) Breaks() nodes.Assumption {
	if t == nil {
		return nodes.Timing | nodes.NoPause
	}
	return 0
}

// mostTicks bounds a latency, since an exploration stores a message anew for each tick.
const mostTicks = 100

// Validate returns what is wrong with the timing, and what would be right.
func (t *Timing) Validate() error {
	least, most := t.Latency.Least, t.Latency.Most
	switch {
	case t.Tick <= 0:
		return fmt.Errorf("a tick of %v: time goes on by ticks, such as 1ms", t.Tick)
	case least%t.Tick != 0 || most%t.Tick != 0:
		return fmt.Errorf("a latency of %v is no whole number of ticks of %v: take a shorter tick",
			&t.Latency, t.Tick)
	case most/t.Tick > mostTicks:
		return fmt.Errorf("a latency of %v is %d ticks of %v, and can be up to %d: take a longer tick",
			&t.Latency, most/t.Tick, t.Tick, mostTicks)
	}
	return nil
}

// String prints the timing as in a schedule.
func (t *Timing) String() string { return fmt.Sprint(t.Tick, " ", &t.Latency) }

// A Window says after how many ticks an event may happen (Opens), and within how many ticks it must happen
// (Closes). Without timing all windows are zero: every event may happen now, and no tick comes.
type Window struct{ Opens, Closes int64 }

func (w Window) Open() bool    { return w.Opens == 0 }
func (w Window) Due() bool     { return w.Closes == 0 }
func (w Window) Later() Window { return Window{max(0, w.Opens-1), max(0, w.Closes-1)} }

// window returns the window of an event that takes a time between from and to. As in all hosts, machines may
// give the two times in either order, and a negative time counts as zero.
func (t *Timing) window(from, to time.Duration) Window {
	if t == nil {
		return Window{}
	}
	least, most := max(0, min(from, to)), max(0, from, to)
	w := Window{int64(least / t.Tick), int64(most / t.Tick)}
	if most%t.Tick > 0 {
		w.Closes++
	}
	return w
}

// Flight returns the message that an effect sends to a node.
func (t *Timing) Flight(from, to nodes.ID, e *nodes.Effect) Flight {
	f := Flight{From: from, To: to, Instance: e.Instance, Kind: e.Kind, Message: e.Message}
	if t != nil {
		f.Window = t.window(t.Latency.Least, t.Latency.Most)
	}
	return f
}

// A RunningTimer is a timer of an instance, with the window in which it runs out.
type RunningTimer struct {
	Instance int32
	Timer    nodes.Timer
	Gen      uint32
	Window
}

// Timer returns the timer that an effect sets.
func (t *Timing) Timer(e *nodes.Effect) RunningTimer {
	return RunningTimer{e.Instance, e.Timer, e.Gen, t.window(e.Min, e.Max)}
}

// Timers returns the running timers of a process. Their windows come from before or, for timers set since,
// from set.
func (t *Timing) Timers(p *nodes.Process, before, set []RunningTimer) (all []RunningTimer) {
	for i := range p.Stack().Instances() {
		for timer, gen := range p.Timers(int32(i)) {
			running := RunningTimer{Instance: int32(i), Timer: timer, Gen: gen}
			for _, list := range [][]RunningTimer{before, set} {
				for _, b := range list {
					if b.Instance == running.Instance && b.Timer == timer && b.Gen == gen {
						running.Window = b.Window
					}
				}
			}
			all = append(all, running)
		}
	}
	return all
}

// Later returns the timers as they are one tick later.
func (t *Timing) Later(timers []RunningTimer) []RunningTimer {
	later := make([]RunningTimer, len(timers))
	for i, a := range timers {
		later[i] = a
		later[i].Window = a.Later()
	}
	return later
}
