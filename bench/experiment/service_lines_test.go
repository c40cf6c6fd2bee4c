package experiment

import (
	"errors"
	"strings"
	"testing"

	"turnstile/nodes/row"
)

// Each line has all that it takes, no two are the same, and a slip is an error that names the line.
func TestServiceLines(t *testing.T) {
	all, err := readServiceLines(serviceLines)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, l := range all {
		text := l.Text() + " under " + strings.Join(l.FaultTexts(), ", ")
		if seen[text] {
			t.Errorf("number %d: there are two of %s", l.Number, text)
		}
		seen[text] = true
	}
	for _, x := range [][3]string{
		{"strict: X", "strict: XL", "is no outcome"},
		{"    link: https://", "    link: http://", "a link to it"},
		{"    service: etcd\n", "    servant: etcd\n", "servant"},
		{"      - pause: holder", "      - pose: holder", "pose"},
		{"    duration: 9s\n", "", "a duration"},
	} {
		broken := strings.Replace(string(serviceLines), x[0], x[1], 1)
		if _, err := readServiceLines([]byte(broken)); err == nil || !strings.Contains(err.Error(), x[2]) {
			t.Errorf("%q instead of %q: %v, want %q", x[1], x[0], err, x[2])
		}
	}
}

// A case that shows nothing is no pass, and one that shows something else differs.
func TestServiceCase(t *testing.T) {
	line := func(strict, fenced string) *ServiceLine { return &ServiceLine{Strict: strict, Fenced: fenced} }
	for _, x := range []struct {
		name             string
		c                ServiceCase
		nothing, differs bool
	}{
		{"as expected", ServiceCase{Line: line("X", "L"), Strict: row.Breaks, Fenced: row.Recovers,
			HasFences: true}, false, false},
		{"one of several", ServiceCase{Line: line("L|B", ""), Strict: row.Blocks}, false, false},
		{"strict differs", ServiceCase{Line: line("L", ""), Strict: row.Breaks}, false, true},
		{"fenced differs", ServiceCase{Line: line("X", "L"), Strict: row.Breaks, Fenced: row.Breaks,
			HasFences: true}, false, true},
		{"no fences", ServiceCase{Line: line("X", "L"), Strict: row.Breaks}, false, true},
		{"inconclusive", ServiceCase{Line: line("X", "")}, true, false},
		{"fenced unknown", ServiceCase{Line: line("X", "L"), Strict: row.Breaks, HasFences: true}, true, false},
		{"not run", ServiceCase{Line: line("X", ""), Err: errors.New("no server"), Strict: row.Breaks},
			true, false},
	} {
		if x.c.ShowsNothing() != x.nothing || x.c.Differs() != x.differs {
			t.Errorf("%s: shows nothing %v, differs %v", x.name, x.c.ShowsNothing(), x.c.Differs())
		}
	}
}
