package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"turnstile/chaos"
	"turnstile/results"
)

// Restless says that the leader changed more than once in each grace of the scheme, in the time in which
// nothing happened by which another may come to lead, and by which option that is mended; empty: it did not.
// Of several trials, it is about the one with the most changes in a second.
func (s *Summary) Restless() string {
	worst := results.Row{}
	most := 0.0
	for _, row := range s.Rows {
		if rate, _ := row.LeaderChangesPerS.Value(); rate > most {
			worst, most = row, rate
		}
	}
	steady, _ := worst.SteadyS.Value()
	grace := s.Record.Options.stack(s.Spec).Grace()
	changes := math.Round(most * steady)
	if changes < 2 || most*grace.Seconds() <= 1 {
		return ""
	}
	says := fmt.Sprintf("the leader changed %.0f times in %v in which no fault began or ended: more than once "+
		"in %v, within which this scheme is to have one", changes,
		time.Duration(steady*float64(time.Second)).Round(10*time.Millisecond), grace.Round(time.Millisecond))
	if mend := s.mend(); mend != "" {
		says += "; " + mend
	}
	return says
}

// mend says which option keeps the leader where some links are cut, if any were in the run; empty: none does.
func (s *Summary) mend() string {
	o := &s.Record.Options
	if !slices.ContainsFunc(s.cuts(), func(f chaos.Fault) bool { return f.Parts() }) || s.Spec.Leads == nil {
		return ""
	}
	for _, p := range s.Spec.Leads.PartitionsIn(o.Config, true) {
		name, value, _ := strings.Cut(p.Mend, " ")
		if option := s.Spec.Option(name); option != nil && o.Config.Value(*option) != value {
			return fmt.Sprintf("--%s mends that: %s", p.Mend, option.Usage)
		}
	}
	return ""
}

// cuts returns the faults of the trials.
func (s *Summary) cuts() (all []chaos.Fault) {
	for i := range s.Record.Trials {
		all = append(all, s.Record.Trials[i].Faults...)
	}
	return all
}
