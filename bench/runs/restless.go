package runs

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"turnstile/chaos"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/results"
)

// Restless returns a sentence if the leader changed more than once in the time that the scheme may take to
// elect one, though nothing happened that may change the leader; otherwise "". The sentence names an option
// that prevents this, if there is one. It is about the trial with the most changes per second.
func (s *Summary) Restless() string {
	worst := results.Row{}
	most := 0.0
	for _, row := range s.Rows {
		if rate, _ := row.LeaderChangesPerS.Value(); rate > most {
			worst, most = row, rate
		}
	}
	steady, _ := worst.SteadyS.Value()
	grace := s.Stack.Grace()
	changes := math.Round(most * steady)
	if changes < 2 || most*grace.Seconds() <= 1 {
		return ""
	}
	settles := grace.Round(time.Millisecond)
	says := fmt.Sprintf("the leader changed %.0f times in %v, always more than %v after a fault, crash or "+
		"restart: this scheme should settle on a leader within %v", changes,
		time.Duration(steady*float64(time.Second)).Round(10*time.Millisecond), settles, settles)
	if mend := s.mend(); mend != "" {
		says += "; " + mend
	}
	return says
}

// Unled names the nodes that followed nobody while others had a leader, for longer than the scheme may take
// to elect one; "" if there is no such node. Unled is about the trial in which this lasted longest.
func (s *Summary) Unled() (says string) {
	grace := s.Stack.Grace()
	if grace == 0 {
		return "" // a scheme without timeouts elects only when told to
	}
	most := 0.0
	for _, l := range s.Ledgers() {
		ids, longest := l.Unled(grace.Seconds())
		if longest <= most {
			continue
		}
		most = longest
		label := "node "
		if len(ids) > 1 {
			label = "nodes "
		}
		var group nodes.Group
		for _, id := range ids {
			group = append(group, nodes.ID(id))
		}
		says = fmt.Sprintf("%s followed nobody for up to %v while others had a leader (%s%s)",
			english.Count(len(ids), "node", "nodes"),
			time.Duration(longest*float64(time.Second)).Round(10*time.Millisecond), label, group.Short())
	}
	return says
}

// TwoLed returns a sentence about the longest time for which two nodes led at once in different terms. It
// returns "" if two nodes never did, or if the algorithm has a published bound, which a check judges.
func (s *Summary) TwoLed() string {
	elector := s.Stack.Elector()
	if elector == nil || !elector.Elector.InTerms() || elector.Elector.Overlap != nil {
		return ""
	}
	most := 0.0
	for i := range s.Rows {
		us, _ := s.Rows[i].TwoLeadersUS.Value()
		most = max(most, us)
	}
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("two nodes or more led at once for %v, in different terms; no bound on that is published",
		time.Duration(most*float64(time.Microsecond)).Round(time.Millisecond))
}

// mend suggests an option that keeps the leader in place when some links are cut, if the run cut any;
// otherwise "".
func (s *Summary) mend() string {
	o := &s.Record.Options
	parts := func(f chaos.Fault) bool { return f.Parts() != nil }
	if !slices.ContainsFunc(s.cuts(), parts) {
		return ""
	}
	for _, p := range s.Spec.Leadership().PartitionsIn(o.Config, true) {
		name, value, _ := strings.Cut(p.Mend, " ")
		if option := s.Spec.Option(name); option != nil && o.Config.Value(*option) != value {
			return fmt.Sprintf("--%s mends that: %s", p.Mend, option.Usage)
		}
	}
	return ""
}

// cuts returns the faults of all trials.
func (s *Summary) cuts() (all []chaos.Fault) {
	p := s.Placement()
	for i := range s.Record.Trials {
		all = append(all, chaos.OnHosts(s.Record.Trials[i].Faults, &p)...)
	}
	return all
}
