package page

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"turnstile/algorithms/catalog"
	"turnstile/internal/figure"
	"turnstile/judge/leadership"
	"turnstile/judge/measure"
	"turnstile/results"
)

// n returns x as a known figure.
func n(x float64) figure.Figure { return figure.Number(x) }

// rowOf returns the row of a trial of real processes. Its figures follow from nodes, trial and speed.
func rowOf(algorithm string, nodes, trial int, speed float64) results.Row {
	r := results.Row{Trial: trial, Version: "v1", Seed: uint64(trial), Verdict: "valid"}
	r.Kind, r.Algorithm, r.Nodes = "bench", algorithm, nodes
	r.Cells = map[string]any{"load": "saturated", "latency": "1ms", "hold": "100µs"}
	at := speed * (1 + float64(trial)/1000)
	r.EntriesPerS, r.Entries = n(at), n(at)
	r.MessagesPerEntry, r.PublishedMin = n(2*float64(nodes-1)), n(float64(nodes))
	r.PublishedMax = n(3 * float64(nodes))
	r.WaitUSP50, r.WaitUSP90, r.WaitUSP99 = n(1e6/at), n(2e6/at), n(4e6/at)
	r.SynchronizationDelayUSP50, r.LatencyUS = n(1e6/at), n(1000)
	r.WaitUSP999, r.JainIndex, r.OvertakenMax = n(5e6/at), n(0.99), n(float64(trial%3))
	r.Complete()
	return r
}

// store puts the rows of a run into a set.
func store(t *testing.T, set, run string, tables ...results.Table) {
	t.Helper()
	f := &results.Folder{Path: filepath.Join(set, run)}
	if err := os.MkdirAll(f.Path, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if _, err := f.Write(table); err != nil {
			t.Fatal(err)
		}
	}
}

// sizes stores runs of three algorithms at three sizes. The trials of central are CPU-bound.
func sizes(t *testing.T, set string) {
	for i, algorithm := range []string{"ricart-agrawala", "suzuki-kasami", "central"} {
		for _, nodes := range []int{4, 8, 16} {
			var rows []results.Row
			for trial := 1; trial <= 6; trial++ {
				r := rowOf(algorithm, nodes, trial, []float64{500, 500.2, 900}[i])
				if algorithm == "central" {
					r.CPUBusy = n(0.97)
				}
				rows = append(rows, r)
			}
			rows[5].Verdict = map[bool]string{true: "violated", false: "valid"}[nodes == 16 && i == 0]
			store(t, set, fmt.Sprint(algorithm, nodes), results.TableOf(results.RowsFile, rows))
		}
	}
}

// fabricated returns the page of a set that has something of everything.
func fabricated(t *testing.T) *Page {
	t.Helper()
	set := filepath.Join(t.TempDir(), "made-up")
	sizes(t, set)
	faulty := rowOf("ricart-agrawala", 5, 1, 300)
	faulty.Cells["plan"], faulty.Cells["faults"] = "split-brain", "cut 0,1 at 1s for 1s"
	fault := results.FaultRow{Trial: 1, OfFault: measure.OfFault{Number: 1, Fault: "cut 0,1/2-4", FromS: n(1),
		ToS: n(2), Healed: true}}
	var line []results.IntervalRow
	for i := range 30 {
		line = append(line, results.IntervalRow{Trial: 1, OfInterval: measure.OfInterval{FromS: n(float64(i) / 10),
			ToS: n(float64(i+1) / 10), Entries: n(float64(30 * (1 - i/10%2))), WaitUSMax: n(float64(i))}})
	}
	store(t, set, "faulty", results.TableOf(results.RowsFile, []results.Row{faulty}),
		results.FaultsTable([]results.FaultRow{fault}), results.TableOf(results.TimelineFile, line))
	elected := results.Row{Trial: 1, Version: "v1", Verdict: "valid"}
	elected.Kind, elected.Algorithm, elected.Nodes = "bench", "bully", 3
	elected.Cells = map[string]any{"load": "campaign"}
	elected.Elections, elected.ElectUSP50, elected.MessagesPerElection = n(1), n(1000), n(6)
	var beliefs []results.BeliefRow
	for node := range 3 {
		b := results.BeliefRow{Trial: 1, Node: node, State: leadership.Follows, Leader: n(2), FromS: n(0),
			ToS: n(1)}
		if node == 2 {
			b.State = leadership.Leads
		}
		beliefs = append(beliefs, b)
	}
	store(t, set, "elected", results.TableOf(results.RowsFile, []results.Row{elected}),
		results.TableOf(results.BeliefsFile, beliefs))
	for _, rate := range []float64{1, 2, 4, 8} {
		r := rowOf("ricart-agrawala", 8, 1, 8*rate)
		r.Cells["load"], r.Cells["rate_per_s"] = "open", n(rate)
		store(t, set, fmt.Sprint("open", rate), results.TableOf(results.RowsFile, []results.Row{r}))
	}
	matrix := []results.MatrixRow{{Algorithm: "ricart-agrawala", Fault: "lost-request", Shown: "B"},
		{Algorithm: "central", Fault: "lost-request", Shown: "L|P", Differs: true},
		{Algorithm: "redis px=2s", Line: "9", Fault: "pause holder at 1s for 6s", Shown: "X",
			Fenced: "X 1 of 3, L 2 of 3"}}
	if _, err := results.WriteSetTable(filepath.Dir(set), "made-up", results.MatrixFile, matrix); err != nil {
		t.Fatal(err)
	}
	failovers := []results.FailoverRow{
		{Service: "redis", Line: "redis", AskedS: n(1), GrantedS: n(1), Fault: "kill", Runs: 10, Missed: 1,
			LeftOut: 2, MedianS: n(0.9), LowS: n(0.8), HighS: figure.AtLeast(4), LeastS: n(0.7),
			MostS: figure.AtLeast(4)},
		{Service: "postgres", Line: "postgres", Fault: "pause", Runs: 3, Missed: 3, MedianS: figure.AtLeast(7),
			LowS: n(6.9), HighS: figure.AtLeast(7), LeastS: figure.AtLeast(6.9), MostS: figure.AtLeast(7)},
		{Service: "redis", Line: "redis", AskedS: n(1), Fault: "kill-server", Reason: "one server"},
		{Service: "redis", Line: "redis", AskedS: n(2), Fault: "kill-server", Reason: "one server"},
		{Service: "etcd", Line: "etcd members=3", AskedS: n(1), Fault: "kill-server", LeftOut: 3,
			Reason: "3: late"}}
	_, err := results.WriteSetTable(filepath.Dir(set), "made-up", results.FailoverFile, failovers)
	if err != nil {
		t.Fatal(err)
	}
	return made(t, set)
}

// Failovers have a table for each fault, in which a reason is said once for all times to live.
func TestFailovers(t *testing.T) {
	p := fabricated(t)
	for caption, want := range map[string]string{
		"is killed: time":   "redis|1.00 s|1.00 s|900 ms|800 ms to >4.00 s|700 ms..>4.00 s|10|1|2",
		"stands still":      "postgres|-|-|>7.00 s|-|-|3|3|0",
		"server that leads": "redis|-|-|one server|||||\netcd members=3|1.00 s|-|3: late|||||",
	} {
		if got := strings.Join(linesOf(t, p, caption), "\n"); got != want {
			t.Errorf("%s:\n%s\nnot\n%s", caption, got, want)
		}
	}
}

// made returns the page of the set in a folder.
func made(t *testing.T, path string) *Page {
	t.Helper()
	name := filepath.Base(path)
	p, err := Make(catalog.Table{}, results.OpenSet("", path), name,
		Calls{Command: "orchestrator report " + name, Program: "orchestrator", Runs: name}, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// linesOf returns the rows of the first table whose caption has the given words, with | between cells.
func linesOf(t *testing.T, p *Page, words string) (lines []string) {
	t.Helper()
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			if b.Table != nil && strings.Contains(b.Table.Caption, words) {
				for _, row := range b.Table.Rows {
					lines = append(lines, strings.Join(row, "|"))
				}
				return lines
			}
		}
	}
	t.Fatalf("no table is about %s", words)
	return nil
}

// A page has every section that its set has data for.
func TestPageHasAllSections(t *testing.T) {
	p := fabricated(t)
	var titles []string
	for _, s := range p.Sections {
		titles = append(titles, s.Title)
	}
	want := "Messages against delay; Messages per entry; Throughput and waits; Throughput and waits against " +
		"the load; Percentiles of the waits; Fairness; The fault matrix; Who led; Elections; Before, during and " +
		"after each fault; Leaderboards; Failovers; What was run"
	if got := strings.Join(titles, "; "); got != want {
		t.Errorf("the sections are\n%s, not\n%s", got, want)
	}
	if len(p.LeftOut) > 0 {
		t.Errorf("left out: %v", p.LeftOut)
	}
	if len(p.Damaged) != 15 { // no run.yaml describes them
		t.Errorf("%d runs are damaged", len(p.Damaged))
	}
}

// The page begins with what was run in a few words, and has its first picture before its first table.
func TestPicturesComeFirst(t *testing.T) {
	p := fabricated(t)
	var html bytes.Buffer
	if err := p.HTML(&html); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{html.String(), "<svg", "<table"}, {p.Markdown(), "\n![", "\n|"}} {
		if picture, table := strings.Index(words[0], words[1]), strings.Index(words[0], words[2]); picture < 0 ||
			picture > table {
			t.Errorf("%s is at %d, and %s at %d", words[1], picture, words[2], table)
		}
		if head := words[0][:strings.Index(words[0], words[1])]; !strings.Contains(head,
			"15 runs with 60 trials: 59 valid, 1 violated.") {
			t.Errorf("the head does not count runs and verdicts:\n%s", head)
		}
	}
}

// The caption of messages against delay names the algorithms on the frontier of each load, and the page names
// the algorithms without a mark. An algorithm that is known to be broken is on no frontier.
func TestTradeoff(t *testing.T) {
	set := filepath.Join(t.TempDir(), "both")
	for _, r := range []struct {
		algorithm, load string
		delay, messages float64
	}{{"token-ring", "saturated", 1000, 1}, {"central", "saturated", 2000, 3},
		{"token-ring-regenerating", "saturated", 1500, 0.5}, // with its heartbeats 90.5
		{"lamport", "saturated", 1000, 21}, {"naive-broadcast", "saturated", 100, 0.5},
		{"token-ring", "open", 7000, 10}, {"central", "open", 2000, 3}, {"lamport", "open", 0, 21},
		{"suzuki-kasami", "open", 1100, 7}, {"redis", "saturated", 500, 0}} {
		row := rowOf(r.algorithm, 8, 1, 100)
		row.SynchronizationDelayUSP50, row.MessagesPerEntry = n(r.delay), n(r.messages)
		if r.algorithm == "token-ring-regenerating" {
			row.Heartbeats, row.EntriesAccepted = n(9000), n(100)
		}
		row.Complete()
		if row.Cells["load"] = r.load; r.load == "open" {
			row.Cells["rate_per_s"] = n(12.5)
		}
		store(t, set, r.algorithm+r.load, results.TableOf(results.RowsFile, []results.Row{row}))
	}
	text := made(t, set).Markdown()
	for _, words := range []string{"Messages per entry, heartbeats included, against synchronization " +
		"delay, 8 nodes; on the frontier idle: central and suzuki-kasami; on the frontier saturated: token-ring; " +
		"on both: no algorithm.",
		"Not in the picture: Under the idle load, since it has no run of this size: naive-broadcast; redis; " +
			"token-ring-regenerating. Under the idle load, since no synchronization delay was measured: lamport. " +
			"Under the saturated load, since it has no run of this size: suzuki-kasami. Under the saturated load, " +
			"since no messages between nodes are counted: redis."} {
		if !strings.Contains(text, words) {
			t.Errorf("the page does not say %s:\n%s", words, text)
		}
	}
}

// Only valid trials count, neighbours have the same rank if no test tells them apart, and the waits of
// CPU-bound trials have no rank.
func TestLeaderboard(t *testing.T) {
	lines := linesOf(t, fabricated(t), "16 nodes")
	for i, want := range []string{"1|central|903", "2|suzuki-kasami|502", "2|ricart-agrawala|50"} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %s, not %s", i+1, lines[i], want)
		}
	}
	for _, words := range []string{"|-|", "6, 6 CPU-bound", "wait CPU-bound in 6 of 6 trials of central"} {
		if !strings.Contains(lines[0], words) {
			t.Errorf("%s lacks %s", lines[0], words)
		}
	}
	if cells := strings.Split(lines[2], "|"); cells[11] != "5" || cells[7] != "at most 2" || cells[8] != "0.99" {
		t.Errorf("%s: not of the 5 that are valid, or without overtaking and Jain's index", lines[2])
	}
	if text := fabricated(t).Markdown(); !strings.Contains(text,
		"16 nodes (load saturated); hold 100µs; trials of each: 5 to 6") {
		t.Error("the table does not say what hold and how many trials it is of")
	}
}

// Defaults of options that follow from the number of nodes make no series of their own, and options that were
// asked for do.
func TestSeries(t *testing.T) {
	set := filepath.Join(t.TempDir(), "options")
	for i, retry := range []string{"1s", "2s", "9s"} {
		r := rowOf("agrawal-el-abbadi", []int{4, 8, 8}[i], 1, 100)
		r.Options = map[string]string{"retry": retry}
		store(t, set, retry, results.TableOf(results.RowsFile, []results.Row{r}))
		want := []string{"agrawal-el-abbadi", "agrawal-el-abbadi", "agrawal-el-abbadi, retry 9s"}[i]
		if text := made(t, set).Markdown(); !strings.Contains(text, "| "+want+" |") || i < 2 &&
			strings.Contains(text, "retry") {
			t.Errorf("after %s there is no series %s:\n%s", retry, want, text)
		}
	}
}

// Each picture is written with its data, and the page holds all that it shows.
func TestWrite(t *testing.T) {
	p, out := fabricated(t), filepath.Join(t.TempDir(), "new", "folder")
	if err := p.Write(out); err != nil {
		t.Fatal(err)
	}
	html, err := os.ReadFile(filepath.Join(out, HTMLFile))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, MarkdownFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, remote := range []string{"<script", "http:", "https:", "@import", "<img"} {
		if strings.Contains(strings.ReplaceAll(string(html), "http://www.w3.org/2000/svg", ""), remote) {
			t.Errorf("%s has %s", HTMLFile, remote)
		}
	}
	if got := bytes.Count(html, []byte("<svg")); got != p.Figures() {
		t.Errorf("%d of %d pictures are in %s", got, p.Figures(), HTMLFile)
	}
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			if b.Figure == nil {
				continue
			}
			again := "orchestrator report made-up --picture " + b.Figure.Name
			if !bytes.Contains(html, []byte("<code>"+again+"</code>")) ||
				!bytes.Contains(text, []byte("`"+again+"`")) {
				t.Errorf("a page does not say that %s makes a picture again", again)
			}
			files := []string{b.Figure.Name + ".svg", b.Figure.Name + ".csv"}
			if !b.Figure.Beside {
				files = files[:1]
			}
			for _, name := range files {
				info, err := os.Stat(filepath.Join(out, FiguresDir, name))
				if err != nil || info.Size() < 40 {
					t.Errorf("%s: %v", name, err)
				}
				if !bytes.Contains(html, []byte(name)) || !bytes.Contains(text, []byte(name)) {
					t.Errorf("a page does not name %s", name)
				}
			}
		}
	}
}

// A page replaces an earlier one with all its pictures, and touches nothing else.
func TestWriteAgain(t *testing.T) {
	p, out := fabricated(t), t.TempDir()
	if err := p.Write(out); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(filepath.Join(out, FiguresDir)); len(files) <= p.Figures() {
		t.Errorf("%d pictures have %d files", p.Figures(), len(files))
	}
	own := filepath.Join(out, FiguresDir, "own.csv")
	if err := os.WriteFile(own, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	p.Sections = p.Sections[:2]
	if err := p.Write(out); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Join(out, FiguresDir))
	if err != nil || len(files) != 2*p.Figures()+1 {
		t.Errorf("%v, %v: there are %d pictures", files, err, p.Figures())
	}
}

// A set without a valid trial has a page that says so, without pictures; a set without rows has no page.
func TestNothingValid(t *testing.T) {
	set := filepath.Join(t.TempDir(), "bad")
	r := rowOf("central", 4, 1, 10)
	r.Verdict = "violated"
	store(t, set, "one", results.TableOf(results.RowsFile, []results.Row{r}))
	p := made(t, set)
	if p.Valid != 0 || p.Figures() != 0 || !strings.Contains(p.Markdown(), "No trial is valid") {
		t.Errorf("%d valid, %d pictures:\n%s", p.Valid, p.Figures(), p.Markdown())
	}
	if err := os.WriteFile(filepath.Join(set, "one", results.RowsFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := Make(catalog.Table{}, results.OpenSet("", set), "bad", Calls{}, Choice{})
	if err != ErrNoTrials || len(p.Damaged) != 1 {
		t.Errorf("%v, %v", err, p.Damaged)
	}
}

// Trials that differ in more than algorithm and size are never taken together.
func TestSettingsAreApart(t *testing.T) {
	set := filepath.Join(t.TempDir(), "mixed")
	for i, version := range []string{"v1", "v2"} {
		r := rowOf("central", 4, 1, float64(100*(i+1)))
		r.Version = version
		store(t, set, version, results.TableOf(results.RowsFile, []results.Row{r}))
	}
	text := made(t, set).Markdown()
	for _, words := range []string{"version v1", "version v2", "v1: 1 trial; v2: 1 trial"} {
		if !strings.Contains(text, words) {
			t.Errorf("the page does not say %s:\n%s", words, text)
		}
	}
}

// A service with one option and with another are two rows of every table.
func TestServicesWithDifferentOptionsAreDifferentSeries(t *testing.T) {
	set := filepath.Join(t.TempDir(), "services")
	for _, members := range []string{"1", "3"} {
		r := rowOf("nats-kv", 8, 1, 500)
		r.Options = map[string]string{"service": "nats-kv", "members": members, "promises": "safe=" + members,
			"server-version": "2.15.2"}
		r.ServerBytesPerEntry = n(1234)
		store(t, set, "m"+members, results.TableOf(results.RowsFile, []results.Row{r}))
	}
	text := made(t, set).Markdown()
	for _, series := range []string{"| nats-kv, members 1 |", "| nats-kv, members 3 |", "Bytes per entry",
		"1234", "nats-kv (server 2.15.2, client unknown)"} {
		if !strings.Contains(text, series) {
			t.Errorf("the page has no %s:\n%s", series, text)
		}
	}
}

// svgOf returns the picture of a page with the given name.
func svgOf(t *testing.T, p *Page, name string) string {
	t.Helper()
	svg, _, found := p.Picture(name, "")
	if !found {
		t.Fatalf("there is no %s in %v", name, p.Pictures())
	}
	return svg
}

// All series of a setting are in one picture, in the colors of their families; series of one family differ in
// dashes and markers.
func TestFamiliesHaveColors(t *testing.T) {
	set := filepath.Join(t.TempDir(), "families")
	of := map[string][]string{"permission": {"ricart-agrawala", "lamport"},
		"token": {"suzuki-kasami", "raymond"}, "quorum": {"maekawa", "grid-quorum"},
		"centralized": {"central"}, "registers": {"bakery"},
		"redis": {"redis"}, "etcd": {"etcd"}}
	for _, algorithms := range of {
		for _, algorithm := range algorithms {
			store(t, set, algorithm, results.TableOf(results.RowsFile, []results.Row{
				rowOf(algorithm, 4, 1, 100), rowOf(algorithm, 8, 1, 200)}))
		}
	}
	svg := svgOf(t, made(t, set), "throughput")
	looks, colors := map[string]bool{}, map[string]string{}
	for family, algorithms := range of {
		for _, algorithm := range algorithms {
			curve := regexp.MustCompile(`<title>` + algorithm + `</title>\n<path d="[^"]*" fill="none" ` +
				`(stroke="#\w+") stroke-width="1.6"( stroke-dasharray="[^"]*")?`).FindStringSubmatch(svg)
			if curve == nil || looks[curve[1]+curve[2]] || colors[family] != "" && colors[family] != curve[1] {
				t.Errorf("%s is drawn as %q; its family has %s", algorithm, curve, colors[family])
				continue
			}
			looks[curve[1]+curve[2]], colors[family] = true, curve[1]
			if !strings.Contains(svg, ">"+family+"</text>") {
				t.Errorf("the legend lacks %s", family)
			}
		}
	}
	if different := map[string]bool{}; len(colors) == 7 {
		for _, color := range colors {
			different[color] = true
		}
		if len(different) != 7 {
			t.Errorf("families share colors: %v", colors)
		}
	}
}

// A choice restricts what a page shows, makes series of another column, or axes logarithmic.
func TestChoice(t *testing.T) {
	set := filepath.Join(t.TempDir(), "choice")
	for i, algorithm := range []string{"central", "maekawa"} {
		for j, hold := range []string{"1ms", "5ms"} {
			var rows []results.Row
			for _, nodes := range []int{4, 8} {
				r := rowOf(algorithm, nodes, 1, float64(100+i*10+j*nodes))
				r.Cells["hold"] = hold
				rows = append(rows, r)
			}
			store(t, set, algorithm+hold, results.TableOf(results.RowsFile, rows))
		}
	}
	choose := func(c Choice) (*Page, error) {
		return Make(catalog.Table{}, results.OpenSet("", set), "choice", Calls{}, c)
	}
	for _, test := range []struct {
		Choice
		has, lacks string
	}{
		{Choice{}, ">central</text>", ">1ms</text>"},
		{Choice{Algorithms: []string{"sanders"}}, ">maekawa</text>", ">central</text>"},
		{Choice{By: "hold", Algorithms: []string{"central"}}, ">5ms</text>", ">central</text>"},
		{Choice{Log: true}, ">100</text>", ">0</text>"},
	} {
		p, err := choose(test.Choice)
		if err != nil {
			t.Fatal(err)
		}
		svg := svgOf(t, p, "throughput-1")
		if !strings.Contains(svg, test.has) || strings.Contains(svg, test.lacks) {
			t.Errorf("%+v: the picture has no %s, or %s:\n%s", test.Choice, test.has, test.lacks, svg)
		}
	}
	for want, c := range map[string]Choice{
		"--algo: the set has no trial of lamport; it has central, maekawa": {Algorithms: []string{"lamport"}},
		`--by: there is no column "holt"`:                                  {By: "holt"},
		"--by: the number of nodes is an x axis":                           {By: "nodes"},
	} {
		if _, err := choose(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, not %s", c, err, want)
		}
	}
}

// A picture of a trial with faults has its entries, its waits and its faults, whatever its verdict is.
func TestTimeline(t *testing.T) {
	svg := svgOf(t, fabricated(t), "timeline")
	for _, words := range []string{">1 cut 0,1/2-4</text>", ">entries per second</text>",
		">longest wait of these entries (µs)</text>", ">fault in force</text>"} {
		if !strings.Contains(svg, words) {
			t.Errorf("the picture lacks %s:\n%s", words, svg)
		}
	}
}

// Percentiles are medians of columns of runs.csv: a page needs no more than the tables of a set.
func TestPercentilesAreOfColumns(t *testing.T) {
	_, data, _ := fabricated(t).Picture("percentiles", "")
	for _, line := range []string{"suzuki-kasami,16,,,wait_us_p50,6,0,1992.",
		"suzuki-kasami,16,,,wait_us_p999,6,0,9961."} {
		if !strings.Contains(data, line) {
			t.Errorf("the data lack %s:\n%s", line, data)
		}
	}
}

// A caption names only what tells settings apart: no defaults, and nothing that follows from another column.
func TestCaptionsAreShort(t *testing.T) {
	set := filepath.Join(t.TempDir(), "captions")
	for i, load := range []string{"saturated", "open"} {
		r := rowOf("central", 4, 1, 100)
		r.Cells["load"], r.Cells["warmup_limit_s"], r.Cells["units"] = load, n(float64(10*i)), n(1)
		store(t, set, load, results.TableOf(results.RowsFile, []results.Row{r}))
	}
	r := rowOf("central", 4, 1, 100)
	r.Cells["load"], r.Cells["warmup_limit_s"], r.Cells["units"] = "open", n(20), n(2)
	store(t, set, "units", results.TableOf(results.RowsFile, []results.Row{r}))
	text := made(t, set).Markdown()
	for _, caption := range []string{"![Throughput (load saturated), 4", "![Throughput (load open), 4",
		"![Throughput (units 2, load open), 4"} {
		if !strings.Contains(text, caption) {
			t.Errorf("no caption is %s:\n%s", caption, text)
		}
	}
}
