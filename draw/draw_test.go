package draw

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"turnstile/internal/figure"
	"turnstile/judge/leadership"
	"turnstile/judge/measure"
	"turnstile/results"
)

// beliefs parses rows, one in each line: node, state, leader, term, begin and end; - stands for an unknown
// value.
func beliefs(t *testing.T, text string) (rows []results.BeliefRow) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(text)) {
		b := results.BeliefRow{Trial: 1}
		var leader, term string
		var from, to float64
		if _, err := fmt.Sscan(line, &b.Node, &b.State, &leader, &term, &from, &to); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		b.Leader.UnmarshalText([]byte(strings.Trim(leader, "-")))
		b.Term.UnmarshalText([]byte(strings.Trim(term, "-")))
		b.FromS, b.ToS = figure.Number(from), figure.Number(to)
		rows = append(rows, b)
	}
	return rows
}

// fault returns the row of a fault of trial 1.
func fault(number int, text string, from, to float64) results.FaultRow {
	return results.FaultRow{Trial: 1, OfFault: measure.OfFault{Number: number, Fault: text,
		FromS: figure.Number(from), ToS: figure.Number(to)}}
}

// ledgerOf returns the picture of one trial.
func ledgerOf(rows []results.BeliefRow, faults ...results.FaultRow) *Picture {
	return Ledger("set/run", []*results.Ledger{results.LedgerOf(rows, faults, 1)})
}

// pictures returns pictures of all kinds by name, with contents that are hard to draw.
func pictures(t *testing.T) map[string]*Picture {
	var many []Series
	for i, n := range []string{"ricart-agrawala", "suzuki-kasami", "maekawa, quorums cyclic", "central",
		"raymond", "lamport & <co>", "naimi-trehel"} {
		s := Series{Name: n, Kind: []Kind{{"permission", 0}, {"token", 1}}[i%2], Nth: i / 2}
		for _, x := range []float64{2, 3, 4, 8, 16, 32} {
			y := (x + 2) * float64(i+1)
			s.Points = append(s.Points, Point{x, y, y * 0.9, y * 1.1, i == 2})
			s.Band = append(s.Band, Point{X: x, Low: y * 0.8, High: y * (0.8 + 0.4*float64(i%2))})
		}
		many = append(many, s)
	}
	ns := []Tick{{2, "2"}, {3, "3"}, {4, "4"}, {8, "8"}, {16, "16"}, {32, "32"}}
	all := map[string]*Picture{
		"curves": (&Curves{Title: "curves & <more>", X: Axis{Label: "nodes", Log: true, At: ns},
			Y: Axis{Label: "messages per entry", Log: true}, Series: many}).Draw(),
		"steps": (&Curves{Title: "steps", X: Axis{Label: "time (s)"}, Y: Axis{Label: "entries per second"},
			Steps: true, Windows: []Band{
				{From: 1, To: 1.4, Names: []string{"1 cut"}, Color: Fault},
				{From: 1.5, To: 2, Names: []string{"2 kill"}, Color: Fault}}, Series: []Series{{
				Points: []Point{{X: 0, Y: 500}, {X: 1, Y: 0}, {X: 2, Y: 480}, {X: 3, Y: 510}}}}}).Draw(),
		"one point": (&Curves{Title: "one", X: Axis{Label: "nodes"}, Y: Axis{Label: "share"}, Series: []Series{{
			Points: []Point{{X: 4, Y: 0}}, Band: []Point{{X: 4, Low: 1, High: math.NaN()}}}}}).Draw(),
		"bars": (&Bars{Title: "bars", Unit: "entries per second", Bars: []Bar{
			{"ricart-agrawala", Kind{"permission", 0}, 1234.5, 1200, 1300, false},
			{"central", Kind{"centralized", 3}, 300, 0, 0, true},
			{Name: "zookeeper, durable off, members 1, recipe library"}}}).Draw(),
		"heat": (&Heat{Title: "heat", Columns: []string{"ricart-agrawala", "suzuki-kasami", "central"},
			Rows:   []string{"lost-token", "split-brain"},
			Cells:  [][]Cell{{{"L", 1, ""}, {"B", 3, ""}, {}}, {{"L|P|B", 4, ""}, {"-", 0, ""}, {"P", 2, ""}}},
			Legend: []Cell{{"L", 1, "recovers"}, {"B", 3, "all wait for ever"}}}).Draw(),
		"scatter": scatter().Draw(),
		"ledger": ledgerOf(beliefs(t, "0 follows 2 - 0 1\n0 leads 0 - 1 3\n1 follows 2 - 0 2\n"+
			"1 stopped 2 - 2 2.5\n1 down - - 2.5 3\n2 leads 2 - 0 2\n2 no_leader - - 2 3"),
			fault(1, `cut 0/1>2 & "more"`, 1, 2)),
		"terms": ledgerOf(beliefs(t, "0 leads 0 1 0 2\n0 follows 1 2 2 3\n1 follows 0 1 0 1\n1 leads 1 2 1 3")),
		"one term": ledgerOf(beliefs(t, "0 leads 0 1 0 2\n0 follows 1 1 2 3\n1 follows 0 1 0 1\n1 leads 1 1 1 3"),
			fault(3, "kill leader", 2, 2.01), fault(2, "kill leader", 1, 1.01)),
	}
	for i, c := range [][2]Axis{{{Max: 1}, {Max: 1}}, {{Min: 3, Max: 4}, {Min: 3, Max: 5, Log: true}},
		{{Min: -2, Max: 5e6}, {Min: 0.002, Max: 9000, Log: true}}, {{Min: 7, Max: 7}, {Min: 1e-9, Max: 2e-9}},
		{{At: []Tick{{1, "one"}, {1.01, "1.01"}, {9, "9"}}}, {Min: 1e9, Max: 3e12, Log: true}}} {
		all[fmt.Sprintf("axes %d", i)] = (&Curves{X: c[0], Y: c[1], Series: []Series{{Points: []Point{
			{X: c[0].Min, Y: max(c[1].Min, 0)}, {X: c[0].Max, Y: c[1].Max}}}}}).Draw()
	}
	return all
}

// scatter returns a chart of two panels, in the first of which many dots lie close together.
func scatter() *Scatter {
	s := &Scatter{Title: "both", X: Axis{Label: "delay", Log: true},
		Y:      Axis{Label: "messages per entry", Log: true},
		Panels: []Panel{{Name: "idle"}, {Name: "saturated", Dots: []Dot{dotOf("central", 2, 3)}}}}
	for i := range 25 {
		d := dotOf(fmt.Sprint("algorithm ", i), 1+float64(i%5)/50, 100+float64(i))
		s.Panels[0].Dots = append(s.Panels[0].Dots, d)
	}
	broken, bound := dotOf("broken", 0.1, 1), dotOf("naimi-trehel", 0.5, 1)
	broken.Broken, bound.Hollow = true, true
	s.Panels[1].Dots = append(s.Panels[1].Dots, broken, bound, dotOf("suzuki-kasami", 1, 100),
		dotOf("ft", 1.01, 100), dotOf("queued", 2, 4), dotOf("ring", 6, 9))
	s.Panels[1].Dots[4].X = Measured{1.01, 0.99, 1.2}
	for i := range s.Panels {
		s.Panels[i].Frontier()
	}
	return s
}

// dotOf returns a dot without intervals.
func dotOf(name string, x, y float64) Dot {
	return Dot{Name: name, X: Measured{x, x, x}, Y: Measured{y, y, y}}
}

// A dot is on the frontier if no other dot is lower in one figure and not higher in the other. Figures whose
// intervals overlap count as equal. A broken or hollow dot beats no other dot.
func TestFrontier(t *testing.T) {
	s := scatter()
	if got := s.Panels[1].Frontier(); !slices.Equal(got, []string{"central", "suzuki-kasami", "ft"}) {
		t.Errorf("on the frontier are %v", got)
	}
	s.Panels[1].Dots[4].X = Measured{1.2, 1.1, 1.3}
	if got := s.Panels[1].Frontier(); !slices.Equal(got, []string{"central", "suzuki-kasami"}) {
		t.Errorf("where ft is slower, on the frontier are %v", got)
	}
	tie := Panel{Dots: []Dot{dotOf("one", 1, 1), dotOf("two", 1, 1)}}
	if got := tie.Frontier(); len(got) != 2 {
		t.Errorf("of two that are equal, on the frontier are %v", got)
	}
}

// No dot of a chart is without a name, unless the chart says so.
func TestDotsHaveNames(t *testing.T) {
	p := scatter().Draw()
	texts, _ := read(t, "scatter", p)
	named := 0
	for _, x := range texts {
		if strings.HasPrefix(x.string, "algorithm ") {
			named++
		}
	}
	if says := strings.Contains(p.File(), "without a name, for want of room"); named+p.Missing != 25 ||
		says != (p.Missing > 0) || named == 0 {
		t.Errorf("%d of 25 dots have names, %d are missing, and the chart says so: %t", named, p.Missing, says)
	}
}

// All markers of a chart of curves stand exactly at their numbers, whatever series they are of.
func TestMarkersStandAtTheirNumbers(t *testing.T) {
	file := pictures(t)["curves"].File()
	ticks := map[string]bool{}
	lines := regexp.MustCompile(`<line x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)"`)
	for _, at := range lines.FindAllStringSubmatch(file, -1) {
		if at[1] == at[3] {
			ticks[at[1]] = true
		}
	}
	all := 0
	for _, at := range regexp.MustCompile(`translate\(([\d.]+) `).FindAllStringSubmatch(file, -1) {
		if all++; !ticks[at[1]] {
			t.Errorf("a marker stands at %s, where no number of nodes is", at[1])
		}
	}
	if all < 20 {
		t.Errorf("the chart has %d markers", all)
	}
}

// A text is a text in a picture, with the box that it fills.
type text struct {
	string
	Box
}

// read reads a picture, and returns its texts and how many elements of each name it has. It fails the test if
// a rectangle or a text is not inside the picture, or if two texts overlap; it ignores rotated texts.
func read(t *testing.T, name string, p *Picture) (all []text, count map[string]int) {
	t.Helper()
	count = map[string]int{}
	within := func(b Box) bool {
		return b.Left >= -0.1 && b.Top >= -0.1 && b.Right <= p.Width+0.1 && b.Bottom <= p.Height+0.1
	}
	var of xml.StartElement
	for d := xml.NewDecoder(strings.NewReader(p.File())); ; {
		token, err := d.Token()
		if err == io.EOF {
			return all, count
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		at := func(key string) float64 {
			for _, a := range of.Attr {
				if x, err := strconv.ParseFloat(a.Value, 64); err == nil && a.Name.Local == key {
					return x
				}
			}
			return 0
		}
		has := func(key, value string) bool {
			return slices.ContainsFunc(of.Attr, func(a xml.Attr) bool {
				return a.Name.Local == key && strings.HasPrefix(a.Value, value)
			})
		}
		switch token := token.(type) {
		case xml.StartElement:
			of = token.Copy()
			count[of.Name.Local]++
			b := Box{at("x"), at("y"), at("x") + at("width"), at("y") + at("height")}
			if of.Name.Local == "rect" && !within(b) {
				t.Errorf("%s: %v is not in %v x %v", name, of, p.Width, p.Height)
			}
		case xml.CharData:
			if of.Name.Local != "text" || strings.TrimSpace(string(token)) == "" {
				continue
			}
			size := TextSize
			if has("font-size", "") {
				size = at("font-size")
			}
			wide := TextWidth(string(token), size)
			b := text{string(token), Box{at("x"), at("y") - 0.8*size, at("x") + wide, at("y") + 0.1*size}}
			if has("text-anchor", "middle") {
				b.Left, b.Right = b.Left-wide/2, b.Right-wide/2
			} else if has("text-anchor", "end") {
				b.Left, b.Right = b.Left-wide, b.Right-wide
			}
			if has("transform", "rotate") {
				b.Box = Box{}
			}
			if !within(b.Box) {
				t.Errorf("%s: %q is not in the picture: %v", name, b.string, b.Box)
			}
			for _, other := range all {
				if b.touches(other.Box) {
					t.Errorf("%s: %q is on %q", name, b.string, other.string)
				}
			}
			all = append(all, b)
			of = xml.StartElement{}
		}
	}
}

// Pictures are well-formed, contain the expected words, have a dark color for each light one, and equal data
// makes equal bytes. The pictures are written to the folder DRAW_DIR, if this variable is set.
func TestPictures(t *testing.T) {
	all, again := pictures(t), pictures(t)
	words := map[string][]string{
		"curves": {"lamport &amp; &lt;co&gt;", "naimi-trehel", "messages per entry", ">32<",
			">the published range<", ">permission<", ">token<",
			"<title>lamport &amp; &lt;co&gt;: the published range<",
			"<title>suzuki-kasami; nodes: 16; messages per entry: 36 (32.4 to 39.6)<"},
		"steps": {"1 cut", "2 kill", "time (s)", "fault in force"},
		"bars":  {"ricart-agrawala", "1,235", "entries per second"},
		"heat":  {"lost-token", "L|P|B", "all wait for ever"},
		"scatter": {">idle<", ">saturated<", ">naimi-trehel<", ">known to be broken<",
			">CPU-bound, or a lower bound<", ">others<",
			"messages per entry against delay", "<title>central: 2, 3<"},
		"ledger": {"<title>Who led: set/run<", ">node 0<", ">two lead: 1 s to 2 s<",
			"<title>fault 1: cut 0/1&gt;2 ", ">1 cut 0/1&gt;2 &amp; ", ">node 0 leads: 1 s to 3 s<",
			">node 1 stands still: 2 s to 2.5 s<",
			">node 1 is down: 2.5 s to 3 s<", ">node 1 follows node 2: 0 s to 2 s<", ">3.0<", ">seconds<",
			">node 2 knows of no leader: 2 s to 3 s<", ">node 2 leads<", ">follows a leader<", ">a fault<"},
		"terms": {">two lead in different terms: 1 s to 2 s<", ">two lead in different terms<", ">1, term 2<"},
		"one term": {`fill="` + Wrong, ">two lead in one term: 1 s to 2 s<", ">2 kill leader<", ">3 kill leader<",
			">0, term 1<"},
	}
	light := map[string]bool{}
	for _, c := range dark() {
		light[c[0]] = true
	}
	for name, p := range all {
		file := p.File()
		read(t, name, p)
		for _, c := range regexp.MustCompile(`="(#\w+)"`).FindAllStringSubmatch(file, -1) {
			if !light[c[1]] {
				t.Errorf("%s: %s has no dark color", name, c[1])
			}
		}
		if file != again[name].File() {
			t.Errorf("%s is not the same again", name)
		}
		if !strings.Contains(file, "@media screen and (prefers-color-scheme:dark){") ||
			regexp.MustCompile(`NaN|Inf|<script`).MatchString(file) {
			t.Errorf("%s has no dark rules, or what it should not have", name)
		}
		for _, word := range words[name] {
			if !strings.Contains(file, word) {
				t.Errorf("%s does not say %s", name, word)
			}
		}
		inline := p.Inline("chart", "one")
		if strings.Contains(inline, "<style") || strings.Contains(inline, "url(#hatch") {
			t.Errorf("%s in a page has a style, or a name, of its own", name)
		}
		if dir := os.Getenv("DRAW_DIR"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, name+".svg"), []byte(file), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Leaders can be told apart without colors, and the legend explains only what the picture shows. If many
// faults leave no room for their names, a line below the picture explains their numbers.
func TestLedgersAreReadWithoutColors(t *testing.T) {
	rows := beliefs(t, "0 follows 17 - 0 2\n0 follows 17 - 2 3\n17 leads 17 - 0 3\n17 no_leader - - 3 3.01")
	var faults []results.FaultRow
	for i := range 400 {
		faults = append(faults, fault(i+1, "kill leader", 3*float64(i)/400, 3*float64(i)/400+0.01))
	}
	texts, count := read(t, "ledger", ledgerOf(rows, faults...))
	said := map[string]int{}
	for _, x := range texts {
		said[x.string]++
	}
	for want, times := range map[string]int{"17": 2, "never": 1, "node 17 leads": 1, "follows a leader": 1,
		"knows of no leader": 1, "a fault": 1, "stands still": 0, "is down": 0, "1 kill leader": 1} {
		if said[want] != times {
			t.Errorf("%q is there %d times, and not %d", want, said[want], times)
		}
	}
	file := ledgerOf(rows, faults...).File()
	if !strings.Contains(file, "400: kill leader<") || count["text"] > 200 {
		t.Errorf("%d texts, or none that says what faults are", count["text"])
	}
}

// Whatever the rows are, the picture is well-formed, and it does not grow with what cannot be seen.
func TestLedgersOfAnything(t *testing.T) {
	states := []leadership.State{leadership.Leads, leadership.Follows, leadership.KnowsNone,
		leadership.Stopped, leadership.Down, "?"}
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		var rows []results.BeliefRow
		for node := range 1 + r.IntN(400) {
			at := 0.0
			for range r.IntN(20) {
				next := at + r.ExpFloat64()
				rows = append(rows, results.BeliefRow{Trial: 1, Node: node, State: states[r.IntN(6)],
					Leader: figure.Count(r.Uint64N(400)), FromS: figure.Number(at), ToS: figure.Number(next)})
				at = next
			}
		}
		var faults []results.FaultRow
		for i := range r.IntN(50) {
			faults = append(faults, fault(i+1, "", 20*r.Float64(), 30))
		}
		read(t, "any ledger", Ledger("set/run", []*results.Ledger{results.LedgerOf(rows, faults, 1), {Trial: 2}}))
	}
	var rows []results.BeliefRow
	for i := range 60000 {
		rows = append(rows, results.BeliefRow{Trial: 1, State: leadership.Follows,
			Leader: figure.Count(uint64(i % 2)), FromS: figure.Number(float64(i)), ToS: figure.Number(float64(i + 1))})
	}
	read(t, "long ledger", ledgerOf(rows))
}

// What is too narrow to be seen is merged, so that no ledger is larger than 300 KB. A leader is never lost.
func TestLedgersAreSmall(t *testing.T) {
	for _, nodes := range []int{1, 5, 256} {
		var rows []results.BeliefRow
		for node := range nodes {
			for i := range 100000 / nodes {
				b := results.BeliefRow{Trial: 1, Node: node, State: leadership.Follows, Side: "0-2,17",
					Leader: figure.Count(uint64(i % 2)), Term: figure.Count(uint64(i)), FromS: figure.Number(float64(i)),
					ToS: figure.Number(float64(i + 1))}
				if i == 77 && node == 0 {
					b.State, b.ToS = leadership.Leads, figure.Number(77.001)
				}
				rows = append(rows, b)
			}
		}
		file := ledgerOf(rows).File()
		if len(file) > 300_000 || !strings.Contains(file, " times, and leads in term 77") ||
			len(regexp.MustCompile("<rect").FindAllString(file, -1)) < 200 {
			t.Errorf("of %d nodes the picture has %d bytes, or no leader:\n%.3000s", nodes, len(file), file)
		}
	}
}

// Names of curves that end at one place are moved apart, no further than needed, and stay in the picture.
func TestNamesAreMovedApart(t *testing.T) {
	for _, c := range []struct{ at, want []float64 }{
		{[]float64{10, 50, 90}, []float64{10, 50, 90}},
		{[]float64{50, 50, 50}, []float64{40, 50, 60}},
		{[]float64{0, 0, 45}, []float64{5, 15, 45}},
		{[]float64{92, 94, 99}, []float64{75, 85, 95}},
		{[]float64{40, 44, 60, 61}, []float64{37, 47, 57, 67}}} {
		got := apart(c.at, 10, 5, 95)
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1.01 {
				t.Errorf("%v become %v, not %v", c.at, got, c.want)
				break
			}
		}
	}
	l := &Curves{X: Axis{Label: "nodes"}, Y: Axis{Label: "share"}}
	for i := range 40 {
		l.Series = append(l.Series, Series{Name: fmt.Sprint("series ", i), Points: []Point{{X: 1, Y: 0.5},
			{X: 9, Y: 0.5}}})
	}
	if texts, _ := read(t, "names", l.Draw()); len(texts) < 40 {
		t.Errorf("%d texts", len(texts))
	}
}

// A title stands above the picture, which has room for it.
func TestEntitle(t *testing.T) {
	p := pictures(t)["bars"]
	high := p.Height
	p.Entitle("Ricart & Agrawala")
	if file := p.File(); p.Height <= high ||
		!strings.Contains(file, `font-size="24">Ricart &amp; Agrawala</text>`) ||
		strings.Count(file, "<g ") != strings.Count(file, "</g>") {
		t.Errorf("%v pixels high, and %v before:\n%s", p.Height, high, file)
	}
}

// Kinds of messages can be told apart by color and dash, on a dark background too.
func TestKindsOfMessagesDiffer(t *testing.T) {
	seen := map[[2]string]int{}
	for kind := range len(Looks) * len(Looks) {
		l := LookOfMessage(kind)
		if other, twice := seen[[2]string{l.Color, l.Dash}]; twice {
			t.Errorf("kinds %d and %d look the same", other, kind)
		}
		if seen[[2]string{l.Color, l.Dash}] = kind; l.Dark != Looks[kind%len(Looks)].Dark {
			t.Errorf("kind %d is %s on a dark background, not %s", kind, l.Dark, Looks[kind%len(Looks)].Dark)
		}
	}
}

// A title is as large as two lines of it can be, and is never smaller than a usual title.
func TestTitlesOfSlidesFit(t *testing.T) {
	for words, want := range map[int]string{3: `font-size="24"`, 18: `font-size="18"`, 90: `font-size="14"`} {
		p := &Picture{Width: 640, Height: 100}
		title := strings.TrimSpace(strings.Repeat("leader ", words))
		end := p.SlideHeading(8, 0, title)
		if texts, _ := read(t, "title", p); end > 2*Row*slideSize/headingSize || len(texts) > 2 ||
			!strings.Contains(p.File(), want) {
			t.Errorf("%d words end at %v, in %d lines, and are not of %s:\n%s", words, end, len(texts), want, p.File())
		}
	}
}

// A remark that is too long for a line takes several, and loses no word.
func TestRemarksAreWrapped(t *testing.T) {
	p := &Picture{Width: 300, Height: 200}
	const remark = "Dashed: from a waiting node to the holder of the permission that it needs, which it keeps " +
		"until then."
	end := p.Remarks(12, 0, []string{remark, "Red: a cycle."})
	texts, _ := read(t, "remarks", p)
	if end != float64(len(texts))*Row || len(texts) < 3 || !strings.Contains(p.File(), ">Red: a cycle.<") {
		t.Errorf("%d lines end at %v:\n%s", len(texts), end, p.File())
	}
	if lines := Wrapped(remark, 276, TextSize); strings.Join(lines, " ") != remark || len(lines) > 3 {
		t.Errorf("the lines are %q", lines)
	}
}

func TestNoLabelLiesOnAnother(t *testing.T) {
	p := &Picture{Width: 200, Height: 100, Within: Box{0, 0, 200, 100}}
	for range 40 {
		p.Label("label", 10, [2]float64{50, 50}, [2]float64{60, 52}, [2]float64{120, 50}, [2]float64{50, 80},
			[2]float64{198, 50})
	}
	if texts, _ := read(t, "labels", p); len(texts) != 3 || p.Missing != 37 {
		t.Errorf("%d labels, %d left out", len(texts), p.Missing)
	}
}
