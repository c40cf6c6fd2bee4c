package chaos

import (
	"fmt"
	"time"

	"turnstile/nodes"
)

// A Fault is what goes wrong for some time, and is healed then. It is one of the first two.
type Fault struct {
	Cut   Cut           `yaml:"cut,omitempty" json:"cut,omitzero"`
	Pause Group         `yaml:"pause,omitempty" json:"pause,omitempty"` // nodes that stand still
	At    time.Duration `yaml:"at" json:"at"`                           // from the beginning of what is measured
	For   time.Duration `yaml:"for" json:"for"`                         // how long
}

// Breaks returns the assumptions about the system that the fault breaks.
func (f *Fault) Breaks() nodes.Assumption {
	if f.Cut.None() {
		return nodes.NoPause | nodes.Timing
	}
	return nodes.NoLoss
}

// What says what goes wrong.
func (f *Fault) What() string {
	if f.Cut.None() {
		return fmt.Sprintf("pause %v", f.Pause)
	}
	return fmt.Sprintf("cut %v", f.Cut)
}

// String says what goes wrong, and when.
func (f *Fault) String() string { return fmt.Sprintf("%s at %v for %v", f.What(), f.At, f.For) }

// Check says what is wrong with the fault in a run of so many nodes that is measured for a time, if anything
// is.
func (f *Fault) Check(total int, measured time.Duration) error {
	switch {
	case measured == 0:
		return fmt.Errorf("%s: faults take a run for a --duration, and this one ends by entries", f.What())
	case f.At < 0 || f.For <= 0:
		return fmt.Errorf("%v: a fault begins at 0s or later, and lasts for some time", f)
	case f.At+f.For > measured:
		return fmt.Errorf("%v: the run is measured for %v: let the fault end by then, or measure for %v",
			f, measured, f.At+f.For)
	}
	err := f.Cut.Check(total)
	if err == nil {
		err = f.Pause.Check(total)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.What(), err)
	}
	return nil
}

// Cuts loses what faults cut off while they last, and leaves the rest to another shaper.
type Cuts struct {
	Faults []Fault // at times from Begin
	Of     nodes.Shaper
	begin  int64
	on     bool
}

// Begin implements nodes.Beginner.
func (c *Cuts) Begin(at int64) { c.begin, c.on = at, true }

// Shape implements nodes.Shaper.
func (c *Cuts) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	for i := range c.Faults {
		f := &c.Faults[i]
		since := time.Duration(p.At - c.begin)
		if c.on && since >= f.At && since < f.At+f.For && f.Cut.Separates(p.From, p.To) {
			return fate
		}
	}
	return c.Of.Shape(p, fate)
}
