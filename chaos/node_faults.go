package chaos

import (
	"encoding/json"
	"fmt"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/port"
	"turnstile/nodes/row"
)

// NodeFaults are what a node process is told of its links and of faults.
type NodeFaults struct {
	Network     Network `json:"network"`
	Faults      []Fault `json:"faults,omitempty"`
	SharedState string  `json:"board,omitempty"` // the file of their state
}

// openFaults are what a node process makes of its NodeFaults. It takes the faults that are added to the
// run later. As long as there are none, it costs nothing, but where leaders are elected it keeps who
// leads: a fault of the leader that is added later hits who leads already.
type openFaults struct {
	Shaper  nodes.Shaper // of what the node receives; nil: each message is delivered at once
	Watcher port.Watcher // is told what happens at the node; nil: nothing waits for that

	told    *NodeFaults
	stack   *row.Stack
	dice    chance.Dice
	state   *SharedState // nil: it was not needed yet
	rules   *Rules
	watcher *Watcher
}

var _ port.FaultTaker = (*openFaults)(nil)

// Open opens the faults of a node that is made of stack, in a run under a seed.
func (s *NodeFaults) Open(stack *row.Stack, seed uint64) (*openFaults, error) {
	x := &openFaults{told: s, stack: stack, dice: chance.Dice(seed)}
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

// add adds the fault with a number, if nodes have anything to do with it.
func (x *openFaults) add(number int, f *Fault) error {
	switch {
	case f.Effect == nil:
		return fmt.Errorf("it is none")
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
			x.rules = &Rules{of: undisturbed{&x.told.Network, x.dice}}
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
		x.state, err = openSharedState(x.told.SharedState)
	}
	return err
}

// watch has what happens at the node watched, if it is not.
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
