package terminal

import (
	"strings"
	"testing"
)

// A table in a pipe has 100 columns at most: some are left out, and then cells take several lines. Numbers
// are aligned on the right.
func TestTable(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 30))
	wide := Table{Head: []string{"NAME", "SAYS", "NOTE", "RUN"}, Drops: []string{"RUN", "NOTE"}}
	wide.Add("a", long, "b", strings.Repeat("r", 40))
	wide.Add("no cells")
	wide.Add("c", "d", "", strings.Repeat("f", 30))
	narrow := Table{Head: []string{"NAME", "RUN", "TOOK", ""}, Drops: []string{"RUN"}}
	narrow.Add("longer", "r", "12.5 ms", "x")
	narrow.Add("y", "1", "-", "")
	narrow.Add("z", "2", "1,000 ms", "")
	for _, c := range []struct {
		table *Table
		want  string
		left  string
	}{
		{&wide, "NAME  SAYS\n" +
			"a     " + strings.TrimSpace(strings.Repeat("word ", 19)) + "\n" +
			"      " + strings.TrimSpace(strings.Repeat("word ", 11)) + "\n" +
			"no cells\n" +
			"c     d\n", "RUN, NOTE"},
		{&narrow, "NAME    RUN      TOOK\n" +
			"longer  r     12.5 ms  x\n" +
			"y       1           -\n" +
			"z       2    1,000 ms\n", ""},
	} {
		var b strings.Builder
		if err := c.table.Print(&b); err != nil || b.String() != c.want {
			t.Errorf("%v, it is\n%s, not\n%s", err, b.String(), c.want)
		}
		if got := strings.Join(c.table.Left, ", "); got != c.left {
			t.Errorf("left out: %s", got)
		}
	}
}
