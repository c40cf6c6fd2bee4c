package report

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"turnstile/bench"
	"turnstile/chaos/effect"
	"turnstile/internal/english"
	"turnstile/internal/format"
	"turnstile/judge/measure"
	"turnstile/nodes"
	"turnstile/results"
)

// Faults that were asked for in the same words, with what they did.
type alike struct {
	text    string
	numbers effect.Group
	rows    faultTable
}

// alikeFaults returns faults by their words, in the order in which these first come.
func alikeFaults(faults []results.FaultRow) (all []*alike) {
	for _, f := range faults {
		at := slices.IndexFunc(all, func(a *alike) bool { return a.text == f.Fault })
		if at < 0 {
			at = len(all)
			all = append(all, &alike{text: f.Fault})
		}
		a := all[at]
		a.rows = append(a.rows, f)
		if id := nodes.ID(f.Number); !slices.Contains(a.numbers, id) {
			a.numbers = append(a.numbers, id)
		}
	}
	return all
}

// listedAlike is how many kinds of faults are listed with what they did to leaders.
const listedAlike = 6

const leaderFaultFormat = "%-15s %-6s %7s %8s %8s %9s %8s %5s %8s\n"

// leaderFaults lists who was elected before, during and after the faults, and for how long nobody led, or
// several did: of faults in the same words, medians, and of what took longest, the greatest.
func (p *Report) leaderFaults(s *bench.Summary) {
	faults := alikeFaults(s.Faults)
	if !faultTable(s.Faults).known(results.ElectionsDuring) {
		return // nobody was to lead, or none began
	}
	p.printf("%-22s %25s\n", "", "time to elect")
	p.printf(leaderFaultFormat, "fault", "phase", "elected", "p50", "max", "no leader", "two lead", "flaps",
		"messages")
	for _, a := range faults[:min(listedAlike, len(faults))] {
		p.leaderFault(a)
	}
	if more := len(faults) - listedAlike; more > 0 {
		p.printf("%s has %s\n", results.FaultsFile, english.Count(more, "more kind of fault",
			"more kinds of faults"))
	}
	if slices.ContainsFunc(s.Faults, func(r results.FaultRow) bool {
		return slices.ContainsFunc(r.ElectUS[:], func(of measure.OfElections) bool { return !of.P50.Known() })
	}) {
		p.printf("%s: no election went on in that phase, or it had no length\n", format.Missing)
	}
	if slices.ContainsFunc(faults, func(a *alike) bool { return len(a.rows) > 1 }) {
		p.printf("of several, medians, and the longest time to elect; %s has each\n", results.FaultsFile)
	}
	p.printf("\n")
}

// leaderFault lists what faults in the same words did.
func (p *Report) leaderFault(a *alike) {
	name := fmt.Sprintf("%s %s", a.numbers.Short(), a.text)
	if utf8.RuneCountInString(name) > 15 {
		p.printf("%s\n", name)
		name = ""
	}
	for _, phase := range measure.Phases {
		of := func(form string) spread { return a.rows.of(results.Column(fmt.Sprintf(form, phase))) }
		p.printf(leaderFaultFormat, name, phase, format.Plain(of("elections_%s").median, 0),
			format.Micros(of("elect_%s_us_p50").median), format.Micros(of("elect_%s_us_max").most),
			format.Micros(of("leaderless_%s_us").median), format.Micros(of("two_leaders_%s_us").median),
			format.Plain(of("flaps_%s").median, 0), format.Whole(of("messages_%s").median))
		name = ""
	}
	again := a.rows.of(results.HealedAgreedS)
	if again.known > 0 {
		p.printf("%-15s healed all agreed after %s\n", "", again.text(format.Seconds))
	}
}
