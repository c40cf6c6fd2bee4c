package algorithm

import "testing"

// outcomes are written by their letters.
func TestOutcomesAreWritten(t *testing.T) {
	for o, text := range map[Outcome]string{
		Recovers: "L", Starves: "P", Blocks: "B", Breaks: "X", Recovers | Blocks: "L|B",
		Recovers | Starves | Blocks | Breaks: "L|P|B|X", Unhit: "-",
	} {
		if o.String() != text {
			t.Errorf("%d is %v, want %s", o, o, text)
		}
	}
	if s := Outcome(0).String(); s != "?" {
		t.Errorf("no outcome is %s", s)
	}
}

func TestFaultCellsAreFound(t *testing.T) {
	algo := &Algorithm{Faults: []FaultCell{{Fault: "lost", May: Blocks}, {Fault: "late", May: Recovers}}}
	if c, known := algo.FaultCell("late"); !known || c.May != Recovers {
		t.Errorf("the cell is %v %v", c, known)
	}
	if c, known := algo.FaultCell("dead"); known {
		t.Errorf("there is a cell %v", c)
	}
}
