package chaos

import (
	"encoding/json"
	"fmt"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// A Station is what a node process is told of its links and of faults.
type Station struct {
	Network Network `json:"network"`
	Faults  []Fault `json:"faults,omitempty"`
	Board   string  `json:"board,omitempty"` // the file of their state
}

// A Site is what a node process makes of its Station. It takes the faults that are added to the run later. As
// long as there are none, it costs nothing, but where leaders are elected it keeps who leads: a fault of the
// leader that is added later hits who leads already.
type Site struct {
	Shaper  nodes.Shaper  // of what the node receives; nil: each message is delivered at once
	Watcher nodes.Watcher // is told what happens at the node; nil: nothing waits for that

	station *Station
	clients int
	codec   *nodes.Codec
	dice    chance.Dice
	board   *Board // nil: it was not needed yet
	rules   *Rules
	watcher *Watcher
}

var _ nodes.FaultTaker = (*Site)(nil)

// Open makes the site of a node that is made of stack, in a run under a seed.
func (s *Station) Open(stack *nodes.Stack, seed uint64) (*Site, error) {
	x := &Site{station: s, clients: stack.N(), codec: stack.Codec(), dice: chance.Dice(seed)}
	var err error
	if x.Shaper, err = s.Network.Shaper(x.dice, nil, nil, x.codec); err != nil {
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

// TakeFault implements nodes.FaultTaker.
func (x *Site) TakeFault(number int, text []byte) (nodes.Shaper, nodes.Watcher, error) {
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
func (x *Site) add(number int, f *Fault) error {
	switch {
	case f.kind() == nil:
		return fmt.Errorf("it is none")
	case number < 1 || number > Slots:
		return fmt.Errorf("there is no fault %d: they count from 1 to %d", number, Slots)
	case !f.OfNodes():
		return nil
	}
	if err := x.open(); err != nil {
		return err
	}
	s := &x.board.slots[number-1]
	if f.OfLinks() {
		if x.rules == nil {
			x.rules = &Rules{of: x.station.Network.undisturbed(x.dice)}
			x.Shaper = x.rules
		}
		if err := x.rules.add(f, s, x.codec); err != nil {
			return err
		}
	}
	if f.Timed() {
		return nil
	}
	if err := x.watch(); err != nil {
		return err
	}
	return x.watcher.add(f, s, x.codec)
}

// open opens the board, unless it is open.
func (x *Site) open() (err error) {
	if x.board == nil {
		x.board, err = OpenBoard(x.station.Board)
	}
	return err
}

// watch has what happens at the node watched, if it is not.
func (x *Site) watch() error {
	if err := x.open(); err != nil || x.watcher != nil {
		return err
	}
	x.watcher = &Watcher{board: x.board, total: nodes.ID(x.clients)}
	x.Watcher = x.watcher
	return nil
}

// OfNodes reports whether nodes carry out the fault or part of it, and must know it.
func (f *Fault) OfNodes() bool { return f.OfLinks() || !f.Timed() }
