package results

import (
	"os"
	"path"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestColumnsAreExplained wants each column in the tables of docs/measures.md, and no others there.
func TestColumnsAreExplained(t *testing.T) {
	b, err := os.ReadFile("../docs/measures.md")
	if err != nil {
		t.Fatal(err)
	}
	for file, row := range map[string]reflect.Type{
		RowsFile: reflect.TypeFor[Row](), MessagesFile: reflect.TypeFor[MessageRow](),
		MatrixFile: reflect.TypeFor[MatrixRow](), BeliefsFile: reflect.TypeFor[BeliefRow](),
		SplitBrainFile: reflect.TypeFor[SplitBrainRow](),
		FaultsFile:     reflect.TypeFor[PhaseRow](), TimelineFile: reflect.TypeFor[IntervalRow](),
	} {
		_, section, found := strings.Cut(string(b), "\n## Columns of "+file+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !found {
			t.Errorf("there is no section about the columns of %s", file)
		}
		explained := map[string]bool{} // a name or a pattern, and whether a column has it
		for _, line := range regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(section, -1) {
			for _, name := range strings.Split(line[1], ", ") {
				explained[strings.Trim(name, "`")] = false
			}
		}
		for _, c := range withBounds(columnsOf(row)) {
			if c.options {
				continue
			}
			times := 0
			for pattern := range explained {
				if ok, _ := path.Match(pattern, c.header); ok {
					times, explained[pattern] = times+1, true
				}
			}
			if times != 1 {
				t.Errorf("the column %s of %s is explained %d times", c.header, file, times)
			}
		}
		for pattern, has := range explained {
			if !has {
				t.Errorf("%s has no column %s", file, pattern)
			}
		}
	}
}
