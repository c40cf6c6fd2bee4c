package commands

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/election"
	"turnstile/algorithms/mutex"
	"turnstile/bench/compare"
	"turnstile/bench/runs"
	"turnstile/internal/format"
	"turnstile/nodes/algorithm"
	"turnstile/results"
)

const algorithmsPage = "../docs/algorithms.md"

// A need is a line of the table "which do I take?": what somebody needs, and the plans through which an
// algorithm then has to recover.
type need struct {
	says  string
	plans []string
}

var (
	survivals = []need{
		{"goes on after any client crashes", []string{"dead-idle", "dead-waiter", "dead-holder"}},
		{"goes on after any client or the coordinator crashes", []string{"dead-idle", "dead-waiter", "dead-holder",
			"dead-coordinator"}},
		{"goes on after messages are lost", []string{"lossy-links", "lost-token", "lost-request", "lost-reply"}},
		{"goes on after a partition is healed", []string{"split-brain", "half-cut", "holder-in-minority",
			"holder-in-majority"}},
	}
	elections = []need{
		{"a new leader after a crash", []string{"dead-leader", "leader-crashes"}},
		{"agreement after messages are lost in an election", []string{"lossy-election"}},
	}
)

// TestChoiceTable wants the tables "which do I take?" to say what algorithms and published sets say.
func TestChoiceTable(t *testing.T) {
	simulated, err := results.OpenJoined(filepath.Join(published, "simulated"))
	if err != nil {
		t.Fatal(err)
	}
	trials := runs.StoredTrials(catalog.Table{}, simulated.Runs, func(f *results.Folder, err error) {
		t.Errorf("%s: %v", f.Name(), err)
	})
	var table strings.Builder
	table.WriteString("| you need | take | measured or shown by |\n|---|---|---|\n")
	line := func(need, take, by string) { fmt.Fprintf(&table, "| %s | %s | %s |\n", need, take, by) }
	line("fewest messages per entry, clients always request",
		best(trials, "saturated", results.AllMessagesPerEntry),
		"messages per entry with heartbeats, 64 nodes, saturated")
	line("fewest messages per entry, clients seldom request", best(trials, "open", results.AllMessagesPerEntry),
		"messages per entry with heartbeats, 64 nodes, 100 requests/s in all")
	line("most entries per second over a network", best(trials, "saturated", results.EntriesPerS),
		"entries/s, 64 nodes, latency 0.8 to 1.2 ms, hold 100 µs")
	line("shortest wait, clients seldom request", best(trials, "open", results.WaitUSP50),
		"median wait, 64 nodes, 100 requests/s in all")
	for _, n := range survivals {
		line(n.says, survivors(mutex.Table, n.plans), "plans "+inCode(n.plans))
	}
	line("safe under any loss, duplication, crash or delay",
		sound(mutex.Table, func(algo *algorithm.Algorithm) bool {
			return algo.Safe == 0
		}), "`list NAME`")
	line("a resource with several units, as for readers and writers",
		sound(mutex.Table, func(algo *algorithm.Algorithm) bool {
			return algo.Units.Most > 1
		}), "`list NAME`")
	line("entries carry fence numbers",
		sound(mutex.Table, func(algo *algorithm.Algorithm) bool { return algo.Fenced }),
		"`list NAME`")
	wantTable(t, algorithmsPage, "which do I take", table.String())

	table.Reset()
	table.WriteString("| you need of a leader | take | shown by |\n|---|---|---|\n")
	line("one leader in a partition", oneLeader(t),
		"the set [split-brain](../results/published/split-brain/README.md)")
	for _, n := range elections {
		line(n.says, survivors(election.Table, n.plans), "plans "+inCode(n.plans))
	}
	wantTable(t, algorithmsPage, "which scheme", table.String())
}

// best returns the algorithms in the first three places by the median of a figure, and the medians, with 64
// nodes under a load. Algorithms that no test tells apart share a place. Algorithms that serve several units
// are left out, since they let several clients in at once.
func best(trials []compare.Observation, load string, by results.Column) string {
	of := map[string][]compare.Observation{}
	for _, t := range trials {
		if t.Text("load") == load && t.Nodes == 64 && t.Text("units") == "1" {
			of[t.Algorithm] = append(of[t.Algorithm], t)
		}
	}
	var groups []*compare.Group
	for _, name := range slices.Sorted(maps.Keys(of)) {
		groups = append(groups, compare.GroupOf(name, of[name]))
	}
	text := format.Hundredths
	if results.TimeUnit(by) > 0 {
		text = format.Micros
	} else if by == results.EntriesPerS {
		text = format.Rate
	}
	places, words := compare.Rank(by, groups), []string{}
	for from := 0; from < 3; {
		to := from
		var names []string
		for ; to < len(places) && places[to].Rank == places[from].Rank; to++ {
			names = append(names, places[to].Name)
		}
		least, most := text(places[from].Median), text(places[to-1].Median)
		if least != most {
			least += " to " + most
		}
		words = append(words, fmt.Sprintf("%s (%s)", inCode(names), least))
		from = to
	}
	return strings.Join(words, "; ")
}

// survivors returns the sound algorithms that recover from all plans that hit them, if any plan hits them.
func survivors(algos []*algorithm.Algorithm, plans []string) string {
	return sound(algos, func(algo *algorithm.Algorithm) bool {
		hit := false
		for _, plan := range plans {
			cell, is := algo.FaultCell(plan)
			if is && cell.May != algorithm.Recovers {
				return false
			}
			hit = hit || is
		}
		return hit
	})
}

// oneLeader returns the schemes that have at most one leader in each partition, and one leader in some.
func oneLeader(t *testing.T) string {
	says := map[string][]string{} // of each scheme
	for _, r := range records(t, published+"/split-brain/split-brain.csv") {
		says[r["algorithm"]] = append(says[r["algorithm"]], r["says"])
	}
	return sound(election.Table, func(algo *algorithm.Algorithm) bool {
		leads := func(says string) bool { return says == "the majority only" || says == "one leader" }
		of := says[algo.Name]
		two := func(says string) bool { return !leads(says) && says != "blocks" }
		return slices.ContainsFunc(of, leads) && !slices.ContainsFunc(of, two)
	})
}

// sound returns the names of the algorithms that are not known to be broken and for which is returns true.
func sound(algos []*algorithm.Algorithm, is func(*algorithm.Algorithm) bool) string {
	var names []string
	for _, algo := range algos {
		if algo.Flaw == nil && is(algo) {
			names = append(names, algo.Name)
		}
	}
	return inCode(names)
}

// inCode lists words as code.
func inCode(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }
