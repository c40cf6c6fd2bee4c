package section

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// lags are the times in which processes of nodes were late, though no fault of the run slowed them down: they
// waited for processors, or for a disk.
type lags struct {
	of       map[nodes.ID][]history.Lag // as recorded; once the history is over, in order and merged
	all      []history.Lag              // those of all nodes, in order and merged
	messages history.Lateness
	timers   history.Lateness
}

func (l *lags) add(e *history.Event) {
	if l.of == nil {
		l.of = map[nodes.ID][]history.Lag{}
	}
	l.of[e.Node] = append(l.of[e.Node], e.Lag())
}

// close removes what faults of the run caused, and counts timers and messages by lateness.
func (l *lags) close(f *Fold, logs []*history.NodeLog) {
	l.messages, l.timers = history.MessagesIn(logs), history.TimersIn(logs)
	for id, all := range l.of {
		slices.SortStableFunc(all, byTime)
		own, caused := all[:0], f.caused(id)
		for _, lag := range all {
			if lag.To = min(lag.To, caused(lag)); lag.From < lag.To {
				own = append(own, lag)
				l.timers[history.LatenessBucket(lag.To-lag.From)] += uint64(lag.Timers)
			}
		}
		l.all = append(l.all, own...)
		l.of[id] = merged(own)
	}
	slices.SortFunc(l.all, byTime)
	l.all = merged(l.all)
}

func byTime(a, b history.Lag) int { return cmp.Compare(a.From, b.From) }

// merged joins lags that overlap, given their order.
func merged(all []history.Lag) (apart []history.Lag) {
	for _, lag := range all {
		if last := len(apart) - 1; last >= 0 && lag.From <= apart[last].To {
			apart[last].To = max(apart[last].To, lag.To)
			continue
		}
		apart = append(apart, lag)
	}
	return apart
}

// caused returns a function that takes the lags of a node in order, and returns from when on a fault of the
// run caused it: the fault slowed down the node or the sender, or the node still works off what had waited
// meanwhile. That may take as long as the fault lasted. If no fault did, the function returns the latest
// time.
func (f *Fold) caused(id nodes.ID) func(history.Lag) (from int64) {
	// The backlog is worked off at this time, and at the latest at until.
	backlog, until := int64(math.MinInt64), int64(math.MinInt64)
	return func(lag history.Lag) (from int64) {
		if from = math.MaxInt64; lag.From <= min(backlog, until) {
			from = lag.From
		}
		for i := range f.Faults {
			fault := &f.Faults[i]
			if f.Slows != nil && lag.From <= fault.To && fault.From <= lag.To &&
				(f.Slows(fault, id) || lag.Sender != nodes.None && f.Slows(fault, lag.Sender)) {
				from, until = min(from, fault.From), max(until, fault.To+(fault.To-fault.From))
			}
		}
		if from < math.MaxInt64 {
			backlog = max(backlog, lag.To)
		}
		return from
	}
}

// LateIn returns for how long, between two times, a process of a node was late, though no fault of the run
// slowed it down. The time in which several were late counts once. of names the nodes; none: all nodes.
func (f *Fold) LateIn(from, to int64, of ...nodes.ID) time.Duration {
	all := f.lags.all
	if len(of) > 0 {
		all = nil
		for _, id := range of {
			all = append(all, f.lags.of[id]...)
		}
		slices.SortFunc(all, byTime)
		all = merged(all)
	}
	first, _ := slices.BinarySearchFunc(all, from,
		func(lag history.Lag, at int64) int { return cmp.Compare(lag.To, at) })
	late := int64(0)
	for _, lag := range all[first:] {
		if lag.From >= to {
			break
		}
		late += min(lag.To, to) - max(lag.From, from)
	}
	return time.Duration(late)
}

// Lags yields the lags of all nodes that LateIn counts, in no order.
func (f *Fold) Lags() iter.Seq[history.Lag] {
	return func(yield func(history.Lag) bool) {
		for _, all := range f.lags.of {
			for _, lag := range all {
				if !yield(lag) {
					return
				}
			}
		}
	}
}

// Longest returns the length of the longest lag that overlaps the time between two times, though no fault of
// the run slowed the process down.
func (f *Fold) Longest(from, to int64) (longest time.Duration) {
	for _, all := range f.lags.of {
		for _, lag := range all {
			if lag.From < to && lag.To > from {
				longest = max(longest, time.Duration(lag.To-lag.From))
			}
		}
	}
	return longest
}

// Usual returns how late 99 in 100 timers and messages of the run were handled at most, without the ones
// that LateIn counts.
func (f *Fold) Usual() time.Duration {
	usual := int64(0)
	for _, counts := range []*history.Lateness{&f.lags.messages, &f.lags.timers} {
		if ns, known := counts.Quantile(0.99); known {
			usual = max(usual, min(ns, int64(history.LateFrom)))
		}
	}
	return time.Duration(usual)
}

// spared reports whether, from their requests until a time, nothing hit the nodes of sections: no fault, and
// no pause of their processes. It is false if clients depend on each other.
func (f *Fold) spared(until int64, sections ...*Section) bool {
	if f.Touches == nil {
		return false
	}
	for _, s := range sections {
		hit := slices.ContainsFunc(f.Pauses, func(p Pause) bool {
			return p.Process == uint32(s.Node) && p.From <= until && p.To >= s.Asked
		}) || slices.ContainsFunc(f.Faults, func(fault Fault) bool {
			return fault.From <= until && fault.To >= s.Asked && f.Touches(&fault, s.Node)
		})
		if hit {
			return false
		}
	}
	return true
}

// Timers counts timers by lateness, without the ones that faults of the run made late.
func (f *Fold) Timers() *history.Lateness { return &f.lags.timers }
