package main

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/results"
)

// Faults that were asked for in the same words, with what they did.
type alike struct {
	text    string
	numbers chaos.Group
	rows    []results.FaultRow
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
func (p *report) leaderFaults(s *bench.Summary) {
	faults := alikeFaults(s.Faults)
	if !slices.ContainsFunc(faults, func(a *alike) bool {
		return a.spread(func(r *results.FaultRow) results.Figure { return r.ElectionsDuring }).known > 0
	}) {
		return // nobody was to lead, none began, or an older Turnstile made the run
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
		return !r.ElectBeforeUSP50.Known() || !r.ElectDuringUSP50.Known() || !r.ElectAfterUSP50.Known()
	}) {
		p.printf("%s: no election went on in that phase, or it had no length\n", missing)
	}
	if slices.ContainsFunc(faults, func(a *alike) bool { return len(a.rows) > 1 }) {
		p.printf("of several, medians, and the longest time to elect; %s has each\n", results.FaultsFile)
	}
	p.printf("\n")
}

// spread returns a figure of the faults.
func (a *alike) spread(of func(*results.FaultRow) results.Figure) spread {
	return overTrials(a.rows, of)
}

// leaderFault lists what faults in the same words did.
func (p *report) leaderFault(a *alike) {
	name := fmt.Sprintf("%s %s", a.numbers.Short(), a.text)
	if utf8.RuneCountInString(name) > 15 {
		p.printf("%s\n", name)
		name = ""
	}
	type figures [7]results.Figure
	for _, phase := range []struct {
		name string
		of   func(*results.FaultRow) figures
	}{
		{"before", func(r *results.FaultRow) figures {
			return figures{r.ElectionsBefore, r.ElectBeforeUSP50, r.ElectBeforeUSMax, r.LeaderlessBeforeUS,
				r.TwoLeadersBeforeUS, r.FlapsBefore, r.MessagesBefore}
		}},
		{"during", func(r *results.FaultRow) figures {
			return figures{r.ElectionsDuring, r.ElectDuringUSP50, r.ElectDuringUSMax, r.LeaderlessDuringUS,
				r.TwoLeadersDuringUS, r.FlapsDuring, r.MessagesDuring}
		}},
		{"after", func(r *results.FaultRow) figures {
			return figures{r.ElectionsAfter, r.ElectAfterUSP50, r.ElectAfterUSMax, r.LeaderlessAfterUS,
				r.TwoLeadersAfterUS, r.FlapsAfter, r.MessagesAfter}
		}},
	} {
		at := func(i int) spread {
			return a.spread(func(r *results.FaultRow) results.Figure { return phase.of(r)[i] })
		}
		p.printf(leaderFaultFormat, name, phase.name, plain(at(0).median, 0), micros(at(1).median),
			micros(at(2).most), micros(at(3).median), micros(at(4).median), plain(at(5).median, 0),
			whole(at(6).median))
		name = ""
	}
	again := a.spread(func(r *results.FaultRow) results.Figure { return r.HealedAgreedS })
	if again.known > 0 {
		p.printf("%-15s healed all agreed after %s\n", "", again.text(seconds))
	}
}
