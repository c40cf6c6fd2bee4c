package leadership

import (
	"math"

	"turnstile/nodes"
)

// An Ending is whom the nodes that were up and ran took for the leader when the run was told to stop.
type Ending struct {
	Leading []nodes.ID // those that led
	// Without are those that did not take the only one that led for the leader: all, unless one led.
	Without []nodes.ID
	Stirs   bool // a node declared something after that
}

// ending returns whom the nodes that are up and run take for the leader.
func (f *Fold) ending() (e Ending) {
	e.Leading = f.voters.Leaders()
	for i := range f.voters {
		v := &f.voters[i]
		if v.Runs() && (len(e.Leading) != 1 || v.Leader != e.Leading[0] && v.Leader != nodes.Somebody) {
			e.Without = append(e.Without, nodes.ID(i))
		}
	}
	return e
}

// Asked reports whether somebody was up at the end who had been told to campaign, or had said something.
func (f *Fold) Asked() bool {
	last := len(f.Unasked) - 1
	return last < 0 || f.Unasked[last].To < math.MaxInt64
}

// ask follows when nobody that is up has a reason to elect a leader.
func (f *Fold) ask(now int64) {
	switch asked, was := f.voters.Asked(), f.Asked(); {
	case asked && !was:
		f.Unasked[len(f.Unasked)-1].To = now
	case !asked && was:
		f.Unasked = append(f.Unasked, Span{now, math.MaxInt64})
	}
}
