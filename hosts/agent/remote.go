package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"turnstile/internal/jsonseq"
	"turnstile/internal/proc"
	"turnstile/nodes/history"
)

// A remote is a process on another host: a cluster.Node.
type remote struct {
	host     *Machine
	number   int
	name     string
	onOutput func([]byte) []byte

	turns     atomic.Uint32
	dismissed atomic.Bool
	counting  sync.Mutex                      // guards writes to counts
	counts    atomic.Pointer[history.Watched] // nil: not known yet
	counted   bool                            // counts is final
	uses      atomic.Pointer[uses]
	ended     chan struct{}
	once      sync.Once
	fate      proc.Fate
	ending    ending
}

// Name, Turns, Ended and Fate implement cluster.Process.
func (p *remote) Name() string           { return p.name }
func (p *remote) Turns() uint32          { return p.turns.Load() }
func (p *remote) Ended() <-chan struct{} { return p.ended }
func (p *remote) Fate() proc.Fate        { return p.fate }

// take handles an event of the process.
func (p *remote) take(e *event) {
	if len(e.Counts) > 0 {
		p.count(e.Counts, e.Ended != nil)
	}
	switch {
	case e.Said != nil:
		if b, err := jsonseq.Encode(json.RawMessage(e.Said)); err == nil && p.onOutput != nil {
			p.onOutput(b)
		}
	case e.Ended != nil:
		e.Ended.Dismissed = p.dismissed.Load() // false if the agent itself ended the process: a failure
		p.uses.Store(&e.Ended.Uses)
		p.end(e.Ended)
	case e.Failed != "": // the order is lost: the state of the run is unknown
		p.host.Lose(fmt.Errorf("%s did not receive an order: %s", p.name, e.Failed))
	case e.Turns > 0:
		p.turns.Store(e.Turns)
		p.host.stops.Add(1)
	}
}

// end notes that the process has ended.
func (p *remote) end(e *ending) {
	p.once.Do(func() {
		p.fate, p.ending = e.Fate, *e
		close(p.ended)
	})
}

// count sets the counters to the snapshot at the beginning of b, and returns the rest of b. It ignores
// snapshots that come after the last one of an ended process.
func (p *remote) count(b []byte, last bool) (rest []byte, err error) {
	p.counting.Lock()
	defer p.counting.Unlock()
	w := p.counts.Load()
	if w == nil || p.counted {
		instances, err := history.InstancesIn(b)
		if err != nil {
			return nil, err
		}
		w = history.NewShadow(instances)
	}
	rest, err = w.Set(b)
	if err == nil && !p.counted {
		p.counts.Store(w)
	}
	p.counted = p.counted || last
	return rest, err
}

// Signal implements cluster.Process.
func (p *remote) Signal(s syscall.Signal) error {
	select {
	case <-p.ended:
		return os.ErrProcessDone
	default:
	}
	o := order{Do: doSignal, Process: p.number, Signal: int(s)}
	a, err := p.host.ask(context.Background(), answerLimit, o)
	switch {
	case err != nil && p.host.Gone() != nil:
		return os.ErrProcessDone
	case errors.Is(err, ErrLate):
		p.host.Lose(err)
		return os.ErrProcessDone
	case err != nil:
		return fmt.Errorf("sending %v to %s: %w", s, p.name, err)
	case a.Gone:
		return os.ErrProcessDone
	}
	return nil
}

// Dismiss implements cluster.Process.
func (p *remote) Dismiss() {
	p.dismissed.Store(true)
	p.Signal(0)
}

// Tell implements cluster.Node. If the agent cannot pass the order on, its host is declared gone.
func (p *remote) Tell(b []byte) error {
	return p.host.send(order{Do: doTell, Process: p.number, Text: b}, nil)
}

// Counters implements cluster.Node. The counters are as old as the last Host.Refresh.
func (p *remote) Counters() (*history.Watched, error) { return p.counts.Load(), nil }

// LastSeen implements cluster.Node.
func (p *remote) LastSeen() (int64, error) {
	switch {
	case p.fate.Gone:
		return 0, errors.New("its log is on a host that is gone")
	case p.ending.NotSeen != "":
		return 0, errors.New(p.ending.NotSeen)
	}
	if correct := p.host.Correct; correct != nil {
		return correct(p.ending.Seen), nil
	}
	return p.ending.Seen, nil
}

// CPUTime implements cluster.Process. The value is as old as the last Host.Use.
func (p *remote) CPUTime() (time.Duration, bool) {
	if u := p.uses.Load(); u != nil {
		return u.CPU, u.CPUKnown
	}
	return 0, false
}

// PeakResidentKB implements cluster.Node. The value is as old as the last Host.Use.
func (p *remote) PeakResidentKB() (int64, bool) {
	if u := p.uses.Load(); u != nil {
		return u.ResidentKB, u.ResidentKB > 0
	}
	return 0, false
}
