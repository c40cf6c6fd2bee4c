package study

import (
	"fmt"

	"turnstile/internal/english"
	"turnstile/nodes/algorithm"
)

// A Tally counts the results of one algorithm.
type Tally struct {
	Spec    *algorithm.Algorithm
	Plans   int
	Inside  int // plans whose run stayed inside the model of the algorithm
	Entries uint64
	Elected uint64 // completed elections
	Caught  int    // plans that show the known flaw of the algorithm
	Missed  int    // faults that hit nothing
	Of      [classes]int
}

// Tallied counts the results of each algorithm, in the order of algos.
func Tallied(algos []*algorithm.Algorithm, results []*Result) (all []Tally) {
	for _, algo := range algos {
		t := Tally{Spec: algo}
		for _, r := range results {
			if r.Spec != algo {
				continue
			}
			t.Plans++
			t.Of[r.Class()]++
			t.Entries += r.Verdict.Entries
			t.Elected += r.Elected
			t.Missed += len(r.Verdict.Misses)
			if r.Inside() {
				t.Inside++
			}
			if algo.Flaw != nil && r.Caught() {
				t.Caught++
			}
		}
		all = append(all, t)
	}
	return all
}

// With 20 plans of an algorithm (enough) or more, Lacks demands that a third of them stay inside its model,
// and that one shows its known flaw; if the flaw is rare, one of 60 plans (rarely) must show it. Of 200 plans
// (many) or more, at most a tenth may be inconclusive.
const (
	enough = 20
	rarely = 60
	many   = 200
)

// fewest is the least number of plans of a campaign, by default.
const fewest = 2520

// UsualPlans returns the default number of simulated plans for so many algorithms: enough to demand that each
// flawed one is caught.
func UsualPlans(algos int) int { return max(fewest, algos*rarely) }

// enoughOf returns how many plans a flawed algorithm must have before one of them must show the flaw.
func enoughOf(algo *algorithm.Algorithm) int {
	if algo.Broken().Rare {
		return rarely
	}
	return enough
}

// Lacks returns an error text if fewer than a third of an algorithm's plans stayed inside the model, if no
// plan showed a known flaw, or if too many plans are inconclusive. Otherwise it returns "".
func (t *Tally) Lacks() string {
	switch {
	case t.Plans >= enough && 3*t.Inside < t.Plans:
		return fmt.Sprintf("%s: %d of %s stayed inside its model, less than a third", t.Spec.Name, t.Inside,
			english.Count(t.Plans, "plan", "plans"))
	case t.Spec.Flaw != nil && t.Plans >= enoughOf(t.Spec) && t.Caught == 0:
		return fmt.Sprintf("%s: it is known to be broken (%s), and %s did not show it", t.Spec.Name,
			t.Spec.Broken().Check, english.Count(t.Plans, "plan", "plans"))
	case t.Plans >= many && 10*t.Of[Inconclusive] > t.Plans:
		return fmt.Sprintf("%s: %d of %d plans are inconclusive, more than a tenth", t.Spec.Name,
			t.Of[Inconclusive], t.Plans)
	}
	return ""
}

// A Shown counts the plans of a campaign by outcome, and lists the flawed algorithms that it caught or
// missed.
type Shown struct {
	Plans   int // plans that were carried out
	Of      [classes]int
	Caught  []string // flawed algorithms that some plan caught
	Escaped []string // flawed algorithms that no plan caught
}

// ShownBy counts the results of algorithms by outcome, and lists the flawed ones that were caught or missed.
func ShownBy(algos []*algorithm.Algorithm, results []*Result) (s Shown) {
	for _, t := range Tallied(algos, results) {
		s.Plans += t.Plans
		for class, count := range t.Of {
			s.Of[class] += count
		}
		switch {
		case t.Spec.Flaw == nil || t.Plans == 0:
		case t.Caught > 0:
			s.Caught = append(s.Caught, t.Spec.Name)
		default:
			s.Escaped = append(s.Escaped, t.Spec.Name)
		}
	}
	return s
}

// Nothing reports whether no run shows anything.
func (s *Shown) Nothing() bool {
	return s.Of[Inconclusive]+s.Of[failed] == s.Plans && s.Plans > 0
}

// String describes the counts.
func (s *Shown) String() string {
	count := func(n int) string { return english.Thousands(float64(n)) }
	says := fmt.Sprintf("%s of %s valid, %s stalled or unfair as the model "+
		"allows, %s violated outside the model, %s violated inside", count(s.Of[Valid]),
		english.Count(s.Plans, "plan", "plans"), count(s.Of[Expected]), count(s.Of[ViolatedOutside]),
		count(s.Of[ViolatedInside]))
	if broken := len(s.Caught) + len(s.Escaped); broken > 0 {
		says += fmt.Sprintf("; %d of %d algorithms known to be broken were caught", len(s.Caught), broken)
	}
	says += fmt.Sprintf("; %s inconclusive (%.1f%%)",
		count(int(s.Of[Inconclusive])),
		100*float64(s.Of[Inconclusive])/float64(max(1, s.Plans)))
	if len(s.Escaped) > 0 {
		says += "; not caught: " + english.List(s.Escaped)
	}
	return says
}
