package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"turnstile/bench"
	"turnstile/bench/compare"
	"turnstile/bench/option"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/nodes/foreign"
	"turnstile/results"
)

// about says what was run, on what, and by which commands.
func (m *maker) about(trials []compare.Trial) {
	verdicts, versions, machines := map[string]int{}, map[string]int{}, map[string]int{}
	services := map[string]int{}
	bound, disturbed := 0, map[string]bool{}
	for i := range trials {
		t := &trials[i]
		verdicts[t.VerdictText()]++
		versions[t.Version]++
		if name := t.Options[foreign.ServiceOption]; name != "" {
			services[fmt.Sprintf("%s (server %s, client %s)", name,
				cmp.Or(t.Options[bench.ServerVersionOption], "unknown"),
				cmp.Or(t.Options[bench.ClientVersionOption], "unknown"))]++
		}
		machine := t.Machine
		if t.Kind == "simulate" {
			machine = "simulated, so that it says nothing of a machine; made on " + machine
		}
		machines[machine]++
		if t.CPUBound() {
			bound++
		}
		if t.Disturbed() {
			disturbed[t.Run] = true
		}
	}
	facts := &table{Caption: "The set", Head: []string{"", ""}, Words: 2, Rows: [][]string{
		{"Runs", fmt.Sprintf("%s, with %s", english.Count(len(m.set.Runs), "run", "runs"),
			english.Count(len(trials), "trial", "trials"))},
		{"Verdicts", counted(verdicts)},
		{"Version", counted(versions)},
		{"Machine", counted(machines)},
	}}
	if len(services) > 0 {
		facts.Rows = append(facts.Rows, []string{"Services", counted(services)})
	}
	if bound > 0 {
		facts.Rows = append(facts.Rows, []string{"CPU-bound", fmt.Sprintf("%d trials: their delays tell what "+
			"algorithms cost the processors. They are marked, and not ranked", bound)})
	}
	if n := len(disturbed); n > 0 {
		facts.Rows = append(facts.Rows, []string{"Disturbed", fmt.Sprintf("in %s, others took more than %.0f%% of "+
			"the machine (others_cpu)", english.Count(n, "run", "runs"), results.OthersAbove*100)})
	}
	blocks := []block{{Table: facts}}
	if m.Valid == 0 {
		blocks = append(blocks, block{Text: "No trial is valid, so there is nothing to be compared or drawn. " +
			"The verdict of each run says why."})
	}
	blocks = append(blocks, block{Text: "Only valid trials enter medians, curves and ranks. Intervals are of " +
		"95% and take six trials. Of simulated trials with one seed, one counts."}, block{Table: m.asked()},
		block{Table: m.commands()})
	m.Sections = append(m.Sections, section{"What was run", blocks})
}

// counted lists words, with how many trials each is of if there are several.
func counted(words map[string]int) string {
	var list []string
	for _, w := range slices.Sorted(maps.Keys(words)) {
		name := w
		if name == "" {
			name = "unknown"
		}
		if len(words) > 1 {
			name = fmt.Sprintf("%s: %s", name, english.Count(words[w], "trial", "trials"))
		}
		list = append(list, name)
	}
	return strings.Join(list, "; ")
}

// asked lists the experiments, a row for each series of a setting.
func (m *maker) asked() *table {
	t := &table{Caption: "What was asked for", Words: 7,
		Head: []string{"Algorithm", "Nodes", "Load", "Hold", "Latency", "Faults", "Differs in", "Valid",
			"Other trials"}}
	for _, s := range m.settings {
		for _, its := range s.bySeries() {
			var sizes []string
			valid, others := 0, map[string]int{}
			for _, e := range its {
				sizes = append(sizes, strconv.Itoa(e.nodes))
				valid += e.Valid
				for verdict, n := range e.Others {
					others[verdict] += n
				}
			}
			first := &its[0].trials[0]
			latency := first.Text(option.LatencyColumn)
			if first.Text(option.RegionsColumn) != "" {
				latency = "regions"
			}
			var rest []string
			for _, verdict := range slices.Sorted(maps.Keys(others)) {
				rest = append(rest, fmt.Sprintf("%d %s", others[verdict], verdict))
			}
			t.Rows = append(t.Rows, []string{its[0].series, strings.Join(sizes, ", "), first.Text(option.LoadColumn),
				first.Text(option.HoldColumn),
				latency, s.faults(), s.also, strconv.Itoa(valid), strings.Join(rest, ", ")})
		}
	}
	return t
}

// bySeries returns the experiments of each series.
func (s *setting) bySeries() (all [][]*experiment) {
	for i, e := range s.all {
		if i == 0 || e.series != s.all[i-1].series {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], e)
	}
	return all
}

// mostCommands is how many commands are listed.
const mostCommands = 40

// commands lists what makes the runs again, one for each experiment.
func (m *maker) commands() *table {
	t := &table{Caption: "Commands that make a run of each experiment again", Words: 3, Folded: true,
		Head: []string{"Algorithm", "Nodes", "Command"}}
	for _, e := range m.all[:min(mostCommands, len(m.all))] {
		folder := m.Runs + "/" + e.trials[0].Run
		t.Rows = append(t.Rows, []string{e.series, strconv.Itoa(e.nodes),
			m.Program + " rerun " + terminal.ShellQuoted(folder) + m.Flags})
	}
	if more := len(m.all) - mostCommands; more > 0 {
		t.Caption += fmt.Sprintf(" (%d more are not listed)", more)
	}
	return t
}
