package results

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turnstile/internal/figure"
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
		{"three, two of them in one term", "0 leads 0/1 0 3\n1 leads 1/2 1 4\n2 leads 2/1 2 5", []int{0, 1, 2},
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
