package publish

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"turnstile/bench"
	"turnstile/bench/page"
	"turnstile/internal/english"
	"turnstile/results"
)

// contents say what the files of a published set are, in the order of README.md.
var contents = []struct{ name, says string }{
	{page.HTMLFile, "a report of the set, which any browser shows without a network; `" + page.MarkdownFile +
		"` is the same"},
	{page.FiguresDir, "its pictures, each with its data"},
	{results.RowsFile, "a row per trial: what was asked for, what was measured, the verdict"},
	{results.MessagesFile, "a row per trial, phase and kind of message"},
	{results.SizesFile, "a row per trial and number of units that requests took, of runs with several units"},
	{results.ResourcesFile, "a row per trial and resource, of runs with several resources"},
	{results.FaultsFile, "a row per trial, fault and phase: before, during and after it, and since its heal"},
	{results.TimelineFile, "a row per trial with faults and interval of time"},
	{results.BeliefsFile, "a row per trial about leaders, node and stretch of time"},
	{results.MatrixFile, "a row per algorithm and plan of faults"},
	{results.SplitBrainFile, "a row per scheme and partition"},
	{results.RatesFile, "a row per configuration: the highest rate that it serves"},
	{results.FailoverFile, "a row per service, ttl and fault: the time to the next entry or leader"},
	{results.PipeFile, "a row per lock service: the price of the pipe to its client"},
	{results.PublishedRuns, "a folder per run: `run.yaml`, all that makes it again; `verdict.yaml`, what each " +
		"check found; its part of the tables; `latency.hlog`, its histograms in nanoseconds"},
	{PlansDir, "what went wrong in runs, as files for `--plan`"},
	{results.SetFile, "the commands that made the runs, with versions and machine"},
	{CitationFile, "how to cite this"},
	{results.SumsFile, "the SHA-256 of every other file"},
	{HistorySums, "the same of the histories, which are not here: every event of every trial"},
}

// readme returns README.md. It is written last but for the digests.
func (m *maker) readme() string {
	var b strings.Builder
	trials, verdicts := 0, map[string]int{}
	for _, s := range m.runs {
		for _, t := range s.record.Trials {
			verdicts[cmp.Or(t.Verdict, "not judged")]++
			trials++
		}
	}
	var found []string
	for _, verdict := range slices.Sorted(maps.Keys(verdicts)) {
		found = append(found, fmt.Sprintf("%d %s", verdicts[verdict], verdict))
	}
	fmt.Fprintf(&b, "# %s\n"+results.ReadmeBegins+"a benchmark and fault-injection testbed for distributed "+
		"mutual exclusion and leader election: %s with %s (%s), the last of %s.\n", m.Name,
		english.Count(len(m.runs), "run", "runs"), english.Count(trials, "trial", "trials"),
		strings.Join(found, ", "), m.last.Format("2 January 2006"))
	b.WriteString("\n## What is here\n\n| file | holds |\n|---|---|\n")
	for _, c := range contents {
		if exists(filepath.Join(m.folder, c.name)) || c.name == results.SumsFile {
			fmt.Fprintf(&b, "| `%s` | %s |\n", c.name, c.says)
		}
	}
	b.WriteString("\nA row is found in all tables by the columns `run`, which names a folder of `" +
		results.PublishedRuns + "`, and `trial`. An empty cell was not measured. The column `" +
		results.BoundsColumn + "` names the figures of its row that are lower bounds only.\n")
	b.WriteString("\n## How to check it\n\n```sh\nsha256sum -c " + results.SumsFile + "\n" + bench.Program +
		" verify .\n```\n\n`verify` compares the tables of the set with those of its runs too. ")
	if m.Histories {
		b.WriteString("The histories are here, so it judges and measures every trial again.\n")
	} else {
		b.WriteString("Without the histories it cannot compute verdicts and figures again.\n")
	}
	m.again(&b)
	m.circumstances(&b)
	m.columns(&b)
	b.WriteString("\n## What was left out\n\n")
	if !m.Histories && len(m.history) > 0 {
		fmt.Fprintf(&b, "- The histories of %s, whose digests are in `%s`.\n",
			english.Count(len(m.history), "trial", "trials"), HistorySums)
	}
	for _, what := range m.LeftOut {
		fmt.Fprintf(&b, "- Not readable as it should be: %s.\n", what)
	}
	if (m.Histories || len(m.history) == 0) && len(m.LeftOut) == 0 {
		b.WriteString("Nothing.\n")
	}
	return b.String() + licensed
}

// licensed ends README.md.
const licensed = "\n## License\n\nApache License 2.0 (" + License + "), as Turnstile: " +
	"https://www.apache.org/licenses/LICENSE-2.0\n"

// again says by which command the set is made again.
func (m *maker) again(b *strings.Builder) {
	b.WriteString("\n## How to make it again\n\nWith Turnstile at the commit below, built with `make " +
		"build`:\n\n" +
		"```sh\n")
	for _, made := range m.made {
		b.WriteString(made.Command + "\n")
	}
	if len(m.made) > 0 {
		b.WriteString("```\n\nOr each run from its `run.yaml`:\n\n" +
			"```sh\n")
	}
	if len(m.runs) == 1 {
		fmt.Fprintf(b, "%s rerun %s/%s%s\n", bench.Program, results.PublishedRuns,
			m.runs[0].folder.Name(), elsewhere)
	} else {
		fmt.Fprintf(b, "for run in %s/*; do %s rerun \"$run\"%s; done\n", results.PublishedRuns,
			bench.Program, elsewhere)
	}
	b.WriteString("```\n")
}

// circumstances says with what and on what the runs were made.
func (m *maker) circumstances(b *strings.Builder) {
	versions, machines := map[string]int{}, map[string]int{}
	var loads []float64
	unknown, changed := 0, 0
	for _, s := range m.runs {
		v := s.record.Versions
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name+" "+v[name])
		}
		versions[strings.Join(parts, ", ")]++
		machine := bench.MachineText(s.record.Machine)
		if s.record.Simulated {
			machine += " (simulated runs, which do not depend on it)"
		}
		machines[machine]++
		if v["revision"] == "" {
			unknown++
		} else if strings.Contains(v["revision"], "modified") {
			changed++
		}
		if l := s.record.Before; l != nil && l.Average != nil {
			loads = append(loads, *l.Average)
		}
	}
	b.WriteString("\n## With what and on what it was made\n\n")
	for _, all := range []map[string]int{versions, machines} {
		for _, text := range slices.Sorted(maps.Keys(all)) {
			fmt.Fprintf(b, "- %s: %s\n", text, english.Count(all[text], "run", "runs"))
		}
	}
	if len(loads) > 0 {
		fmt.Fprintf(b, "- Load of the machine before the runs of processes, over a minute: %s to %s\n",
			number(slices.Min(loads)), number(slices.Max(loads)))
	}
	for _, w := range []struct {
		runs int
		says string
	}{{unknown, "made by a program that does not know its commit"},
		{changed, "made from a tree that had been changed since its commit, so that nobody can build it again"},
		{m.disturbed(), fmt.Sprintf("in which others took more than %.0f%% of the machine (`others_cpu`)",
			results.OthersAbove*100)}} {
		if w.runs > 0 {
			fmt.Fprintf(b, "- %s %s\n", english.Count(w.runs, "run was", "runs were"), w.says)
		}
	}
	if unknown > 0 {
		m.Warnings = append(m.Warnings, fmt.Sprintf("%s made by a program that does not know its commit",
			english.Count(unknown, "run was", "runs were")))
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// disturbed returns in how many runs others took much of the machine.
func (m *maker) disturbed() (runs int) {
	for _, folder := range having(m.runs, results.RowsFile) {
		rows, _ := folder.Rows()
		if slices.ContainsFunc(rows, func(r results.Row) bool { return r.Disturbed() }) {
			runs++
		}
	}
	return runs
}

// columns says what the columns of each table are.
func (m *maker) columns(b *strings.Builder) {
	b.WriteString("\n## The columns of the tables\n")
	for _, name := range slices.Concat(results.SetTables, results.StudyTables) {
		text, err := os.ReadFile(filepath.Join(m.folder, name))
		if err != nil {
			continue
		}
		all, err := results.Describe(name, results.Header(text))
		if err != nil {
			m.Warnings = append(m.Warnings, fmt.Sprintf("%v, so its columns are not explained", err))
			continue
		}
		fmt.Fprintf(b, "\n### %s\n\n| column | unit | is | empty: |\n|---|---|---|---|\n", name)
		for _, d := range all {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", d.Name, d.Unit, d.Is, d.Empty)
		}
	}
}
