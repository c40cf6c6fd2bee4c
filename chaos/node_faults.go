package chaos

import (
	"encoding/json"
	"fmt"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/port"
)

// NodeFaults tells a node process about its links and the faults.
type NodeFaults struct {
	Network     Network `json:"network"`
	Faults      []Fault `json:"faults,omitempty"`
	SharedState string  `json:"board,omitempty"` // file with the state of the faults
}

// openFaults carries out the NodeFaults of a node process, and takes faults that are added later. Without
// faults it does nothing, except that in a run about leaders it notes which node leads. So a fault of the
// leader that is added later hits the node that leads already.
type openFaults struct {
	Shaper  nodes.Shaper // decides when messages to the node arrive; nil: at once
	Watcher port.Watcher // sees the events at the node; nil: no fault waits for an event

	given   *NodeFaults
	stack   *algorithm.Stack
	dice    chance.Dice
	state   *SharedState // shared state of the faults; nil: not opened yet
	rules   *Rules
	watcher *Watcher
}

var _ port.FaultTaker = (*openFaults)(nil)

// Open opens the faults of a node with the instances of stack, in a run with a seed.
func (s *NodeFaults) Open(stack *algorithm.Stack, seed uint64) (*openFaults, error) {
	x := &openFaults{given: s, stack: stack, dice: chance.Dice(seed)}
	var err error
	if x.Shaper, err = s.Network.Shaper(x.dice, nil, nil, stack.Codec()); err != nil {
		return nil, err
	}
	if stack.Elector() != nil {
		if err := x.watch(); err != nil {
			return nil, err
		}
	}
	for i := range s.Faults {
		if err := x.add(i+1, &s.Faults[i]); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// TakeFault implements port.FaultTaker.
func (x *openFaults) TakeFault(number int, text []byte) (nodes.Shaper, port.Watcher, error) {
	f := new(Fault)
	err := json.Unmarshal(text, f)
	if err == nil {
		err = x.add(number, f)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("taking fault %d: %w", number, err)
	}
	return x.Shaper, x.Watcher, nil
}

// add adds the fault with a number, if nodes carry out part of it.
func (x *openFaults) add(number int, f *Fault) error {
	switch {
	case f.Effect == nil:
		return fmt.Errorf("it has no effect")
	case number < 1 || number > mostShared:
		return fmt.Errorf("there is no fault %d: they count from 1 to %d", number, mostShared)
	case !f.OfNodes():
		return nil
	}
	if err := x.open(); err != nil {
		return err
	}
	s := &x.state.faults[number-1]
	if f.OfLinks() {
		if x.rules == nil {
			x.rules = &Rules{base: undisturbed{&x.given.Network, x.dice}}
			x.Shaper = x.rules
		}
		if err := x.rules.add(f, s, x.stack.Codec()); err != nil {
			return err
		}
	}
	if f.Timed() {
		return nil
	}
	if err := x.watch(); err != nil {
		return err
	}
	return x.watcher.add(f, s, x.stack.Codec())
}

// open opens the shared state, unless it is open.
func (x *openFaults) open() (err error) {
	if x.state == nil {
		x.state, err = openSharedState(x.given.SharedState)
	}
	return err
}

// watch makes the watcher, unless there is one.
func (x *openFaults) watch() error {
	if err := x.open(); err != nil || x.watcher != nil {
		return err
	}
	x.watcher = &Watcher{state: x.state, total: nodes.ID(x.stack.N())}
	x.Watcher = x.watcher
	return nil
}

// OfNodes reports whether nodes carry out the fault or part of it, and must know it.
func (f *Fault) OfNodes() bool { return f.OfLinks() || !f.Timed() }
