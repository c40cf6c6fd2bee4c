package commands

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"turnstile/algorithms/election"
	"turnstile/algorithms/mutex"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/internal/stats"
	"turnstile/nodes/row"
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

// TestChoiceTable wants the tables "which do I take?" to say what rows and published sets say.
func TestChoiceTable(t *testing.T) {
	runs := records(t, published+"/simulated/runs.csv")
	var table strings.Builder
	table.WriteString("| you need | take | measured or shown by |\n|---|---|---|\n")
	line := func(need, take, by string) { fmt.Fprintf(&table, "| %s | %s | %s |\n", need, take, by) }
	line("fewest messages per entry, clients always request",
		best(runs, "saturated", "messages_per_entry", false), "messages per entry, 64 nodes, saturated")
	line("fewest messages per entry, clients seldom request", best(runs, "open", "messages_per_entry", false),
		"messages per entry, 64 nodes, 100 requests/s in all")
	line("most entries per second over a network", best(runs, "saturated", "entries_per_s", true),
		"entries/s, 64 nodes, latency 0.8 to 1.2 ms, hold 100 µs")
	line("shortest wait, clients seldom request", best(runs, "open", "wait_us_p50", false),
		"median wait, 64 nodes, 100 requests/s in all")
	for _, n := range survivals {
		line(n.says, survivors(mutex.Table, n.plans), "plans "+inCode(n.plans))
	}
	line("safe under any loss, duplication, crash or delay", sound(mutex.Table, func(r *row.Row) bool {
		return r.Safe == 0
	}), "`list NAME`")
	line("a resource with several units, as for readers and writers", sound(mutex.Table, func(r *row.Row) bool {
		return r.Units.Most > 1
	}), "`list NAME`")
	line("entries carry fence numbers", sound(mutex.Table, func(r *row.Row) bool { return r.Fenced }),
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

// best returns the three algorithms with the best median of a figure, of 64 nodes under a load. Algorithms
// that serve several units are left out, since they let several clients in at once.
func best(runs []map[string]string, load, column string, most bool) string {
	figures := map[string][]float64{}
	for _, r := range runs {
		x, err := strconv.ParseFloat(r[column], 64)
		if r["load"] == load && r["nodes"] == "64" && r["units"] == "1" && r["verdict"] == "valid" && err == nil {
			figures[r["algorithm"]] = append(figures[r["algorithm"]], x)
		}
	}
	type ranked struct {
		name   string
		median float64
	}
	var all []ranked
	for name, of := range figures {
		all = append(all, ranked{name, stats.Median(of).Value})
	}
	slices.SortFunc(all, func(a, b ranked) int {
		if most {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a.median, b.median), strings.Compare(a.name, b.name))
	})
	var words []string
	for _, r := range all[:3] {
		text := format.Rate(figure.Number(r.median))
		if strings.HasSuffix(column, "_us_p50") {
			text = format.Micros(figure.Number(r.median))
		}
		words = append(words, fmt.Sprintf("`%s` (%s)", r.name, text))
	}
	return strings.Join(words, ", ")
}

// survivors returns the sound rows that recover from all plans that hit them, if any plan hits them.
func survivors(rows []*row.Row, plans []string) string {
	return sound(rows, func(r *row.Row) bool {
		hit := false
		for _, plan := range plans {
			cell, is := r.FaultCell(plan)
			if is && cell.May != row.Recovers {
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
	return sound(election.Table, func(r *row.Row) bool {
		leads := func(says string) bool { return says == "the majority only" || says == "one leader" }
		of := says[r.Name]
		two := func(says string) bool { return !leads(says) && says != "blocks" }
		return slices.ContainsFunc(of, leads) && !slices.ContainsFunc(of, two)
	})
}

// sound returns the names of the rows that are not known to be broken and for which is returns true.
func sound(rows []*row.Row, is func(*row.Row) bool) string {
	var names []string
	for _, r := range rows {
		if r.Flaw == nil && is(r) {
			names = append(names, r.Name)
		}
	}
	return inCode(names)
}

// inCode lists words as code.
func inCode(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }
