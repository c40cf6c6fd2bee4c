package workload

import (
	"testing"
	"time"
)

// do does steps of stints on shared words. order has, for each step, the number of the stint that does it.
func do(words *Words, stints []Stint, order []int) {
	for _, i := range order {
		word, value := stints[i].Next()
		stints[i].Swapped(words[word])
		words[word] = value
	}
}

// Two clients one after the other spoil nothing; two that are inside together mix lines and lose updates.
func TestStintsOfTwo(t *testing.T) {
	after := []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}
	turns := []int{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}
	within := []int{0, 0, 1, 1, 1, 1, 1, 0, 0, 0}
	for _, c := range []struct {
		work  Work
		order []int
		want  [2]int
	}{{Printer, after, [2]int{}}, {Printer, turns, [2]int{4, 4}}, {Printer, within, [2]int{1, 0}},
		{File, turns, [2]int{0, 5}}, {File, within, [2]int{3, 2}}} {
		var words Words
		stints := []Stint{c.work.Begin(0, 1, words), c.work.Begin(1, 1, words)}
		do(&words, stints, c.order)
		for i, s := range stints {
			if !s.Over() || s.Done != Steps || s.Spoilt != c.want[i] {
				t.Errorf("%v in the order %v: %+v, want %v", c.work, c.order, s, c.want)
			}
		}
	}
	var words Words
	for entry := range uint64(3) { // each stint reads what the stint before wrote
		stints := []Stint{File.Begin(0, entry, words)}
		do(&words, stints, after[:Steps])
		if stints[0].Spoilt != 0 {
			t.Errorf("%+v", stints)
		}
	}
}

// Steps are spread over the hold, and the exit comes at its end. A work without steps has the exit alone.
func TestStepsAreSpreadOverTheHold(t *testing.T) {
	s := Printer.Begin(0, 1, Words{})
	var at []time.Duration
	for ; !s.Over(); s.Swapped(s.mark) {
		at = append(at, s.After(time.Millisecond))
	}
	if at[0] != 0 || at[4] != 800*time.Microsecond || s.After(time.Millisecond) != time.Millisecond {
		t.Errorf("%v", at)
	}
	for _, w := range []Work{Account, Shares} {
		if s := w.Begin(0, 1, Words{}); !s.Over() || s.After(time.Second) != time.Second {
			t.Errorf("%v has steps", w)
		}
	}
}

func TestWorksHaveNames(t *testing.T) {
	for _, name := range Works {
		var w Work
		if err := w.Set(name); err != nil || w.String() != name || w.Says(2, 1) == w.Says(2, 0) {
			t.Errorf("%s: %v, %v, %s", name, w, err, w.Says(2, 1))
		}
	}
	const says = `there is no work "printr": did you mean printer?`
	if err := new(Work).Set("printr"); err == nil || err.Error() != says {
		t.Error(err)
	}
}
