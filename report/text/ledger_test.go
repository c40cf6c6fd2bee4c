package text

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"turnstile/internal/figure"
	"turnstile/judge/leadership"
	"turnstile/judge/measure"
	"turnstile/results"
)

// believed returns a row of beliefs.csv; a negative leader stands for none.
func believed(node int, state leadership.State, leader int, from, to float64) results.BeliefRow {
	b := results.BeliefRow{Trial: 1, Node: node, State: state, FromS: figure.Number(from),
		ToS: figure.Number(to)}
	if leader >= 0 {
		b.Leader = figure.Count(uint64(leader))
	}
	return b
}

func drawn(l *results.Ledger, width int) string {
	windows, two, lanes, below := newLedgerPicture(l, width).lines()
	all := windows
	if two != "" {
		all = append(all, two)
	}
	return "\n" + strings.Join(append(append(all, lanes...), below...), "\n")
}

func TestLedgerPictures(t *testing.T) {
	rows := []results.BeliefRow{
		believed(0, leadership.KnowsNone, -1, 0, 0.2), believed(0, leadership.Follows, 2, 0.2, 2),
		believed(0, leadership.Leads, 0, 2, 4),
		believed(1, leadership.Follows, 12, 0, 1.9), believed(1, leadership.Leads, 1, 1.9, 1.91),
		believed(1, leadership.Follows, 12, 1.91, 3), believed(1, leadership.Down, -1, 3, 4),
		believed(2, leadership.Leads, 2, 0, 3), believed(2, leadership.Stopped, 2, 3, 3.5),
		believed(2, leadership.Follows, -1, 3.5, 4),
		believed(12, leadership.Leads, 12, 0, 0.5), believed(12, leadership.Follows, 11, 0.5, 4),
	}
	cut := results.FaultRow{Trial: 1, OfFault: measure.OfFault{Number: 1, Fault: "cut 0/1-2, and many words",
		FromS: figure.Number(1), ToS: figure.Number(3), Healed: true}}
	got := drawn(results.LedgerOf(rows, []results.FaultRow{cut}, 1), 52)
	got = strings.ReplaceAll(got, "\n", "\n|")
	want := `
|                      ├─────── 1 ────────┤
|   two lead !!!!!              !!!!!!!!!!!
|     node 0 ··222222222222222222████████████████████
|     node 1 aaaaaaaaaaaaaaaaaaa█aaaaaaaaaa××××××××××
|     node 2 ██████████████████████████████‖‖‖‖‖+++++
|     node 3                                         ` + `
|     node 4                                         `
	if !strings.HasPrefix(got, want) {
		t.Errorf("%s\n%s", got, cmp.Diff(want, got))
	}
	want = `
|    node 12 █████***********************************
|            ┬─────────┬─────────┬─────────┬─────────
|    seconds 0         1         2         3
|            █ leads, a digit: follows that node,
|            a follows node 12,
|            * follows another node,
|            + follows somebody,
|            · knows of no leader, ‖ stands still,
|            × down
|            fault 1: cut 0/1-2, and many words`
	if !strings.HasSuffix(got, want) {
		t.Errorf("%s\n%s", got, cmp.Diff(want, got))
	}
}

// No line is too wide. If there are too many nodes, drawnNodes of them are drawn, and the others counted.
func TestLedgersAreAsWideAsTheyMayBe(t *testing.T) {
	var rows []results.BeliefRow
	for id := range 200 {
		rows = append(rows, believed(id, leadership.Follows, 150, -3, 1e-9),
			believed(id, leadership.Leads, id, 2, 2),
			believed(id, "?", 7, 1, 1e18))
	}
	for width := 40; width <= 160; width += 13 {
		got := drawn(results.LedgerOf(rows, nil, 1), width)
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Fatalf("%q has %d columns, more than %d", line, n, width)
			}
		}
		if n := strings.Count(got, " node "); n != drawnNodes || !strings.Contains(got,
			fmt.Sprintf("and %d more nodes\n", 200-drawnNodes)) {
			t.Errorf("%d nodes are drawn:\n%s", n, got)
		}
	}
	if got := drawn(results.LedgerOf(nil, nil, 1), 80); got != "\n" {
		t.Errorf("of nothing is drawn %q", got)
	}
}
