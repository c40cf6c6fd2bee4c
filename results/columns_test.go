package results

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rowTypes are the rows of each table that has descriptions.
var rowTypes = map[string]reflect.Type{
	RowsFile: reflect.TypeFor[Row](), MessagesFile: reflect.TypeFor[MessageRow](),
	SizesFile:     reflect.TypeFor[SizeRow](),
	ResourcesFile: reflect.TypeFor[ResourceRow](),
	FaultsFile:    reflect.TypeFor[PhaseRow](), TimelineFile: reflect.TypeFor[IntervalRow](),
	BeliefsFile: reflect.TypeFor[BeliefRow](), MatrixFile: reflect.TypeFor[MatrixRow](),
	SplitBrainFile: reflect.TypeFor[SplitBrainRow](),
	FailoverFile:   reflect.TypeFor[FailoverRow](),
}

// Each column of each table has one description, in the order of the table, and no others are described.
// docs/columns.md has them all.
func TestColumnsAreDescribed(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Columns of result files\n\nMade from [results/columns.yaml](../results/columns.yaml) by " +
		"`go test ./results -run TestColumnsAreDescribed -rewrite`. What the figures mean as a whole is in\n" +
		"[measures](measures.md). A table lacks columns of `leaders` if no run in it has leaders, those of " +
		"`exclusion` if none has\ncritical sections. An option of an algorithm is a column of " +
		"`runs.csv` named by both, as `raymond_tree`.\n")
	for _, file := range Tables() {
		var names, has []string
		var columns []column
		for _, c := range withBounds(columnsOf(rowTypes[file])) {
			if !c.options {
				names, columns = append(names, c.header), append(columns, c)
			}
		}
		fmt.Fprintf(&b, "\n## %s\n\n| column | of | unit | is | empty: |\n|---|---|---|---|---|\n", file)
		for i, d := range Descriptions(file) {
			has = append(has, d.Name)
			if i >= len(columns) {
				break
			}
			if d.Is == "" || d.Unit == "" || strings.ContainsAny(d.Name+d.Unit+d.Is+d.Empty, "|\n") {
				t.Errorf("%s: %+v", file, d)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", d.Name, columns[i].audience, d.Unit, d.Is, d.Empty)
		}
		if diff := cmp.Diff(names, has); diff != "" {
			t.Errorf("columns of %s (-there are, +described):\n%s", file, diff)
		}
	}
	goldenFile(t, "../docs/columns.md", b.String())
	if len(rowTypes) != len(described()) || len(rowTypes) != len(Tables()) {
		t.Errorf("there are %d tables, and %d are described", len(rowTypes), len(described()))
	}
}
