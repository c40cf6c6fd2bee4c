package results

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strconv"
	"testing"
	"time"

	"turnstile/internal/figure"
	"turnstile/judge/measure"
	"turnstile/option"
)

func TestCellsOfColumns(t *testing.T) {
	r := Row{Version: "v1", Asked: Asked{Nodes: 3, Algorithm: "token-ring",
		Cells: map[string]any{"fenced": true}, Options: map[string]string{"tree": "star"}},
		Figures: measure.Figures{WaitUSP99: figure.Number(12.5), CPUBusy: figure.Number(0.91)}}
	for column, want := range map[string]string{"version": "v1", "nodes": "3", "fenced": "true", "tree": "star",
		"token_ring_tree": "star", "raymond_tree": "",
		"wait_us_p99": "12.5", "wait_us_p50": "", "quorums": "", "colour": ""} {
		if got := r.Text(column); got != want {
			t.Errorf("the cell of %s is %q, not %q", column, got, want)
		}
	}
	if got := r.Figure("wait_us_p99"); got != figure.Number(12.5) {
		t.Errorf("wait_us_p99 is %v", got)
	}
	if r.Figure("colour").Known() || r.Figure("version").Known() {
		t.Error("what is no figure is known as one")
	}
	if !r.CPUBound() || (&Row{}).CPUBound() {
		t.Error("a trial that used 91% of the CPU time is bound by it, and one with an unknown share is not")
	}
}

func TestUnitsOfTimes(t *testing.T) {
	for column, want := range map[Column]time.Duration{
		"wait_us_p99": time.Microsecond, "overlap_us": time.Microsecond, "ready_ms": time.Millisecond,
		"steady_s": time.Second, "pause_s_max": time.Second, "entries_per_s": 0,
		"suspicions_wrong_per_h": 0, "messages": 0, "s": 0, option.DurationColumn: time.Second} {
		if got := TimeUnit(column); got != want {
			t.Errorf("the unit of %s is %v, not %v", column, got, want)
		}
	}
}

// Each constant of type Column names a column of a table.
func TestColumnsThatCodeNames(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "columns.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	are := map[string]bool{}
	for _, name := range headersOf(reflect.TypeFor[FaultRow](), nil) { // from which PhaseRows are made
		are[name] = true
	}
	for _, file := range Tables() {
		for _, d := range Descriptions(file) {
			are[d.Name] = true
		}
	}
	named := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if c, is := n.(*ast.ValueSpec); is && fmt.Sprint(c.Type) == "Column" {
			named++
			if name, err := strconv.Unquote(c.Values[0].(*ast.BasicLit).Value); err != nil || !are[name] {
				t.Errorf("%v is %s, which is no column", c.Names[0], name)
			}
		}
		return true
	})
	if named == 0 {
		t.Error("no columns are named")
	}
}
