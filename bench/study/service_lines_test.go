package study

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"turnstile/internal/figure"
	"turnstile/nodes/algorithm"
)

// Each line is complete, no two are equal, and an error names the line.
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
		{"strict: X", "strict: XL", "is not an outcome"},
		{"    link: https://", "    link: http://", "a link to https"},
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

// A case that shows nothing does not pass, and one with another outcome differs.
func TestServiceCase(t *testing.T) {
	line := func(strict, fenced string) *ServiceLine { return &ServiceLine{Strict: strict, Fenced: fenced} }
	of := func(l *ServiceLine, runs ...ServiceRun) ServiceCase {
		c := ServiceCase{Line: l}
		for _, r := range runs {
			c.Runs = append(c.Runs, &r)
		}
		return c
	}
	saved := ServiceRun{Strict: algorithm.Breaks, Fenced: algorithm.Recovers, HasFences: true,
		SilenceS: figure.Number(2)}
	lost := ServiceRun{Strict: algorithm.Breaks, Fenced: algorithm.Breaks, HasFences: true,
		SilenceS: figure.Number(3)}
	unknown := ServiceRun{Strict: algorithm.Breaks, HasFences: true}
	bare := ServiceRun{Strict: algorithm.Breaks}
	served := func(silence float64) ServiceRun {
		return ServiceRun{Strict: algorithm.Recovers, Fenced: algorithm.Recovers, SilenceS: figure.Number(silence)}
	}
	silent := line("L", "")
	silent.Silence = 2500 * time.Millisecond
	unmade := of(line("X", ""), bare)
	unmade.Err = errors.New("no server")
	for _, x := range []struct {
		name             string
		c                ServiceCase
		nothing, differs bool
		strict, fenced   string
	}{
		{"as expected", of(line("X", "L"), saved), false, false, "X", "L"},
		{"one of several", of(line("L|B", ""), ServiceRun{Strict: algorithm.Blocks}), false, false, "B", "-"},
		{"strict differs", of(line("L", ""), bare), false, true, "X", "-"},
		{"fenced differs", of(line("X", "L"), lost), false, true, "X", "X"},
		{"no fences", of(line("X", "L"), bare), false, true, "X", "-"},
		{"inconclusive", of(line("X", ""), ServiceRun{}), true, false, "?", "-"},
		{"fenced unknown", of(line("X", "L"), unknown), true, false, "X", "?"},
		{"strict differs, fenced unknown", of(line("L", "L"), unknown), true, true, "X", "?"},
		{"too short a silence", of(silent, served(2)), false, true, "L", "-"},
		{"a silence", of(silent, served(3)), false, false, "L", "-"},
		{"not run", unmade, true, false, "X", "-"},
		{"no runs", of(line("X", "")), true, false, "", "-"},
		{"one run of three differs", of(line("X", "L"), saved, lost, saved), false, true, "X",
			"X 1 of 3, L 2 of 3"},
		{"one run of two shows nothing", of(line("X", "L"), saved, unknown), true, false, "X",
			"L 1 of 2, ? 1 of 2"},
	} {
		if strict, fenced := x.c.Strict(), x.c.Fenced(); strict != x.strict || fenced != x.fenced {
			t.Errorf("%s: strict %q, fenced %q", x.name, strict, fenced)
		}
		if x.c.ShowsNothing() != x.nothing || x.c.Differs() != x.differs {
			t.Errorf("%s: shows nothing %v, differs %v", x.name, x.c.ShowsNothing(), x.c.Differs())
		}
	}
}

// The row of a case has the figures of all its runs, and the reason of the run that is not as expected.
func TestServiceCaseRow(t *testing.T) {
	run := func(fenced algorithm.Outcome, accepted, silence float64) *ServiceRun {
		r := &ServiceRun{Strict: algorithm.Breaks, Fenced: fenced, HasFences: true,
			SilenceS: figure.Number(silence),
			Folder:   fmt.Sprint(silence)}
		r.Row.Violations, r.Row.ViolationsFenced = figure.Number(4), figure.Number(accepted)
		return r
	}
	c := ServiceCase{Line: &ServiceLine{Number: 9, Service: "redis", With: []string{"px=2s"}, Strict: "X",
		Fenced: "L"}}
	c.Runs = []*ServiceRun{run(algorithm.Recovers, 0, 2), run(algorithm.Breaks, 3, 1.5),
		run(algorithm.Recovers, 0, 4)}
	r := c.TableRow()
	if r.Line != "9" || r.Algorithm != "redis px=2s" || r.Fault != "none" || r.Shown != "X" || r.Broke != 3 ||
		r.Fenced != "X 1 of 3, L 2 of 3" || !r.Differs || r.Run != "1.5" {
		t.Errorf("%+v", r)
	}
	for name, x := range map[string]struct {
		f    figure.Figure
		want float64
	}{"violations": {r.Violations, 4}, "fenced": {r.ViolationsFenced, 3}, "least": {r.SilenceMinS, 1.5},
		"most": {r.SilenceMaxS, 4}} {
		if got, known := x.f.Value(); !known || got != x.want {
			t.Errorf("%s: %v, not %v", name, got, x.want)
		}
	}
}
