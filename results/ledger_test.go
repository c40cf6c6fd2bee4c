package results

import (
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turnstile/internal/figure"
	"turnstile/judge/leadership"
	"turnstile/judge/measure"
)

// beliefsOf reads rows, a line for each: the node, its state, the leader or -, with / and its term if it has
// one, and from when to when.
func beliefsOf(t *testing.T, text string) (rows []BeliefRow) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(text)) {
		b := BeliefRow{Trial: 1}
		var leader string
		var from, to float64
		if _, err := fmt.Sscan(line, &b.Node, &b.State, &leader, &from, &to); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		leader, term, terms := strings.Cut(leader, "/")
		if leader != "-" {
			b.Leader.UnmarshalText([]byte(leader))
		}
		if terms {
			b.Term.UnmarshalText([]byte(term))
		}
		b.FromS, b.ToS = figure.Number(from), figure.Number(to)
		rows = append(rows, b)
	}
	return rows
}

func TestWhoLedTogether(t *testing.T) {
	for _, test := range []struct {
		name, rows string
		leaders    []int
		two        []Together
	}{
		{"one after the other", "0 leads 0 0 1\n1 leads 1 1 2", []int{0, 1}, nil},
		{"two, while a fault begins", "0 leads 0 0 1\n0 leads 0 1 2\n1 leads 1 0.5 3", []int{0, 1},
			[]Together{{Span{0.5, 2}, false}}},
		{"three in turn", "2 leads 2 0 2\n1 leads 1 1 4\n0 leads 0 2 3\n0 follows 1 3 4", []int{2, 1, 0},
			[]Together{{Span{1, 3}, false}}},
		{"one stands still", "0 leads 0 0 1\n0 stopped 0 1 2\n0 leads 0 2 3\n1 leads 1 0.5 3", []int{0, 1},
			[]Together{{Span{0.5, 1}, false}, {Span{2, 3}, false}}},
		{"in different terms", "0 leads 0/1 0 2\n1 leads 1/2 1 3", []int{0, 1}, []Together{{Span{1, 2}, true}}},
		{"in one term", "0 leads 0/2 0 2\n1 leads 1/2 1 3", []int{0, 1}, []Together{{Span{1, 2}, false}}},
		{"first in different terms, and then in one", "0 leads 0/1 0 2\n0 leads 0/2 2 3\n1 leads 1/2 1 3",
			[]int{0, 1}, []Together{{Span{1, 2}, true}, {Span{2, 3}, false}}},
		{"three, of which two in one term", "0 leads 0/1 0 3\n1 leads 1/2 1 4\n2 leads 2/1 2 5", []int{0, 1, 2},
			[]Together{{Span{1, 2}, true}, {Span{2, 3}, false}, {Span{3, 4}, true}}},
		{"nobody", "0 no_leader - 0 1\n1 down - 0 1", nil, nil},
	} {
		l := LedgerOf(beliefsOf(t, test.rows), nil, 1)
		if diff := cmp.Diff(test.leaders, l.Leaders) + cmp.Diff(test.two, l.TwoLead); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestOfManyNodesTheLeadersAreShown(t *testing.T) {
	var text strings.Builder
	for id := range 100 {
		fmt.Fprintf(&text, "%d follows 97 0 1\n", id)
	}
	text.WriteString("97 leads 97 1 2\n50 leads 50 2 3\n")
	l := LedgerOf(beliefsOf(t, text.String()), nil, 1)
	if got := l.Shown(4); !slices.Equal(got, []int{0, 1, 50, 97}) {
		t.Errorf("%v", got)
	}
	if got := l.Shown(1); !slices.Equal(got, []int{97}) {
		t.Errorf("%v", got)
	}
	if got := l.Shown(200); len(got) != 100 {
		t.Errorf("%d of 100 are shown", len(got))
	}
}

// elementsOf reads a picture, and returns how many elements of each name it has, and its texts.
func elementsOf(t *testing.T, picture string) (count map[string]int, texts string) {
	t.Helper()
	count = map[string]int{}
	var text strings.Builder
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return count, text.String()
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
		switch token := token.(type) {
		case xml.StartElement:
			count[token.Name.Local]++
		case xml.CharData:
			text.WriteString(strings.TrimSpace(string(token)) + "\n")
		}
	}
}

func TestTheLedgerIsAPicture(t *testing.T) {
	rows := beliefsOf(t, "0 follows 2 0 1\n0 leads 0 1 3\n1 follows 2 0 2\n1 stopped 2 2 2.5\n1 down - 2.5 3\n"+
		"2 leads 2 0 2\n2 no_leader - 2 3")
	fault := FaultRow{Trial: 1, OfFault: measure.OfFault{Number: 1, Fault: "cut 0/1>2 & \"more\"",
		FromS: figure.Number(1), ToS: figure.Number(2)}}
	picture := LedgerPicture("set/run", []*Ledger{LedgerOf(rows, []FaultRow{fault}, 1)})
	_, texts := elementsOf(t, picture)
	for _, want := range []string{"Who led: set/run\n", "node 0\n", "node 2\n", "two lead: 1 s to 2 s\n",
		"fault 1: cut 0/1>2 & \"more\", 1 s to 2 s\n", "1 cut 0/1>2 & \"more\"\n", "node 0 leads: 1 s to 3 s\n",
		"node 1 stands still: 2 s to 2.5 s\n", "node 1 is down: 2.5 s to 3 s\n",
		"node 1 follows node 2: 0 s to 2 s\n",
		"node 2 knows of no leader: 2 s to 3 s\n", "node 2 leads\n", "0.4\n", "3\n", "seconds\n"} {
		if !strings.Contains(texts, want) {
			t.Errorf("the picture does not say %q:\n%s", want, texts)
		}
	}
}

// Two leaders of different terms are amber, those of one term red, and the bars have the terms.
func TestTheLedgerTellsTermsApart(t *testing.T) {
	for term, want := range map[string][]string{
		"1": {`fill="` + twoColor + `"`, "two lead in one term: 1 s to 2 s", ">two lead in one term<"},
		"2": {`fill="` + apartColor + `"`, "two lead in different terms: 1 s to 2 s",
			">two lead in different terms<", ">1, term 2<"},
	} {
		rows := beliefsOf(t, "0 leads 0/1 0 2\n0 follows 1/"+term+" 2 3\n1 follows 0/1 0 1\n1 leads 1/"+term+" 1 3")
		picture := LedgerPicture("set/run", []*Ledger{LedgerOf(rows, nil, 1)})
		for _, text := range append(want, ">0, term 1<") {
			if !strings.Contains(picture, text) {
				t.Errorf("with term %s the picture lacks %s:\n%s", term, text, picture)
			}
		}
		if apart := strings.Contains(picture, "different terms"); apart != (term == "2") {
			t.Errorf("with term %s the picture speaks of different terms: %v", term, apart)
		}
	}
}

// Colors are not all that tells leaders apart, and the legend has what the picture has.
func TestTheLedgerIsReadWithoutColors(t *testing.T) {
	rows := beliefsOf(t, "0 follows 17 0 2\n0 follows 17 2 3\n17 leads 17 0 3\n17 no_leader - 3 3.01")
	brief := func(number int, at float64) FaultRow {
		return FaultRow{Trial: 1, OfFault: measure.OfFault{Number: number, Fault: "kill leader",
			FromS: figure.Number(at), ToS: figure.Number(at + 0.01)}}
	}
	faults := []FaultRow{brief(3, 2), brief(2, 1), brief(1, 0.5), brief(7, 2.5)}
	count, texts := elementsOf(t, LedgerPicture("set/run", []*Ledger{LedgerOf(rows, faults, 1)}))
	if n := strings.Count("\n"+texts, "\n17\n"); n != 2 { // on each of the two stretches
		t.Errorf("the number of the leader is there %d times:\n%s", n, texts)
	}
	for want, is := range map[string]bool{"\nfault 1-3, 7: kill leader\n": true, "\nnever\n": true,
		"\nnode 17 leads\n": true, "\nfollows that leader\n": true, "\nknows of no leader\n": true,
		"\na fault\n": true, "\nstands still\n": false, "\ndown\n": false} {
		if strings.Contains(texts, want) != is {
			t.Errorf("the picture says %q: %v:\n%s", want, !is, texts)
		}
	}
	if count["text"] > 40 {
		t.Errorf("%d texts", count["text"])
	}
	faults = nil
	for i := range 400 {
		faults = append(faults, brief(i+1, 3*float64(i)/400))
	}
	count, texts = elementsOf(t, LedgerPicture("set/run", []*Ledger{LedgerOf(rows, faults, 1)}))
	if count["text"] > 110 || !strings.Contains(texts, "\nfault 1-400: kill leader\n") {
		t.Errorf("numbers of faults stand on one another: %d texts", count["text"])
	}
}

// Whatever the rows are, the picture is well-formed, and it does not grow with what cannot be seen.
func TestPicturesOfAnything(t *testing.T) {
	states := []leadership.State{leadership.Leads, leadership.Follows, leadership.KnowsNone,
		leadership.Stopped, leadership.Down, "?"}
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		var rows []BeliefRow
		for node := range 1 + r.IntN(400) {
			at := 0.0
			for range r.IntN(20) {
				next := at + r.ExpFloat64()
				rows = append(rows, BeliefRow{Trial: 1, Node: node, State: states[r.IntN(6)],
					Leader: figure.Count(r.Uint64N(400)), FromS: figure.Number(at), ToS: figure.Number(next)})
				at = next
			}
		}
		var faults []FaultRow
		for i := range r.IntN(50) {
			faults = append(faults, FaultRow{Trial: 1,
				OfFault: measure.OfFault{Number: i + 1, FromS: figure.Number(20 * r.Float64())}})
		}
		elementsOf(t, LedgerPicture("set/run", []*Ledger{LedgerOf(rows, faults, 1), {Trial: 2}}))
	}
	var rows []BeliefRow
	for i := range 60000 {
		rows = append(rows, BeliefRow{Trial: 1, State: leadership.Follows, Leader: figure.Count(uint64(i % 2)),
			FromS: figure.Number(float64(i)), ToS: figure.Number(float64(i + 1))})
	}
	if n, _ := elementsOf(t, LedgerPicture("set/run", []*Ledger{LedgerOf(rows, nil, 1)})); n["rect"] > 10000 {
		t.Errorf("the picture has %d rectangles", n["rect"])
	}
}
