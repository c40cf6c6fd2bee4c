package election

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
)

// exploredPage is the page with the results of explorations of electors. This test expects the same results.
const exploredPage = "../../docs/explored.md"

// An explored is a cell of a table of that page: a call of explore, and what came of it.
type explored struct {
	words       []string // the scheme, and flags of explore
	says        string
	line, place int // of the cell, on the page and in its line
}

// calls returns the cells of the tables of a page. A call is in the head of its column and in the first cell
// of its algorithm.
func calls(lines []string) (all []explored) {
	var head []string
	for i, line := range lines {
		cells := strings.Split(line, "|")
		switch {
		case len(cells) < 4:
			head = nil
		case head == nil:
			head = cells
		case !strings.HasPrefix(line, "|---"):
			for place := 2; place < len(cells)-1; place++ {
				says, words := strings.TrimSpace(cells[place]), append(code(head[place]), code(cells[1])...)
				if says != "" && len(words) > 0 {
					all = append(all, explored{words, says, i, place})
				}
			}
		}
	}
	return all
}

// code returns the words between backquotes.
func code(cell string) []string {
	if parts := strings.Split(cell, "`"); len(parts) > 1 {
		return strings.Fields(parts[1])
	}
	return nil
}

// options returns what a call explores.
func (e *explored) options(t *testing.T) explore.Space {
	t.Helper()
	algo, err := Find(e.words[0])
	if err != nil {
		t.Fatal(err)
	}
	o := explore.Space{Spec: algo, Entries: 1, Workers: 2, Memory: 2 << 30}
	f := flag.NewFlagSet("explore", flag.ContinueOnError)
	for name, to := range map[string]*int{"n": &o.Config.N, "entries": &o.Entries, "campaigns": &o.Campaigns,
		"losses": &o.Losses, "duplicates": &o.Duplicates, "crashes": &o.Crashes, "suspicions": &o.Suspicions,
		"timeouts": &o.Timeouts, "depth": &o.Depth} {
		f.IntVar(to, name, *to, "")
	}
	for name, to := range map[string]*bool{"restarts": &o.Restarts, "amnesia": &o.Amnesia,
		"reordering": &o.Reordering, "demand": &o.Demand} {
		f.BoolVar(to, name, false, "")
	}
	f.Func("check", "", func(value string) error { o.Checks = strings.Split(value, ","); return nil })
	timing := replay.Timing{Tick: time.Millisecond}
	f.DurationVar(&timing.Tick, "tick", timing.Tick, "")
	f.Func("timing", "", func(value string) error {
		o.Timing = &timing
		return timing.Latency.Set(value)
	})
	for _, option := range algo.Options {
		f.Func(option.Name, "", func(value string) error {
			o.Config = o.Config.With(option.Name, value)
			return nil
		})
	}
	if err := f.Parse(e.words[1:]); err != nil || f.NArg() > 0 {
		t.Fatalf("%v: %v, %v", e.words, err, f.Args())
	}
	o.Config = algo.Explicit(o.Config)
	return o
}

// states returns how many states a call finds according to the page. Zero: the page has no number, as for a
// call that finds a violation, which takes few states.
func (e *explored) states() uint64 {
	number, _, _ := strings.Cut(strings.ReplaceAll(e.says, ",", ""), " ")
	states, _ := strconv.ParseUint(number, 10, 64)
	return states
}

// found says what came of an exploration: the check that fails and in how many steps, or how many states
// there are and what bounds them, if anything does.
func found(x *explore.Result) string {
	v := x.Violation
	switch {
	case v != nil && v.Shortest:
		return fmt.Sprintf("%s, %d steps", v.Check, len(v.Schedule.Steps))
	case v != nil, x.Exhausted && !x.Progress, x.Bound == "memory":
		return "unclear"
	case !x.Exhausted:
		return fmt.Sprintf("%s (%s)", thousands(x.States), x.Bound)
	}
	return thousands(x.States)
}

// thousands writes a number with commas.
func thousands(x uint64) string {
	if x < 1000 {
		return fmt.Sprint(x)
	}
	return fmt.Sprintf("%s,%03d", thousands(x/1000), x%1000)
}

// Explorations find what the page says. With -rewrite, the test writes into the page what they find.
func TestExplorationsOfElections(t *testing.T) {
	text, err := os.ReadFile(exploredPage)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	most := soak.Pick[uint64](10_000, 50_000, 1<<40)
	for _, e := range calls(lines) {
		t.Run(strings.Join(e.words, " "), func(t *testing.T) {
			if e.states() > most {
				t.Skip("make soak explores it")
			}
			x := algotest.Explore(t, e.options(t))
			switch got := found(x); {
			case got == e.says:
			case *algotest.Rewrite && got != "unclear":
				cells := strings.Split(lines[e.line], "|")
				cells[e.place] = " " + got + " "
				lines[e.line] = strings.Join(cells, "|")
			default:
				t.Errorf("%s, not %s: %+v", got, e.says, x)
			}
		})
	}
	if *algotest.Rewrite {
		if err := os.WriteFile(exploredPage, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The page has every scheme: a sound scheme with two nodes and with three, and a broken scheme with the check
// that it is known to fail.
func TestEverySchemeIsExplored(t *testing.T) {
	text, err := os.ReadFile(exploredPage)
	if err != nil {
		t.Fatal(err)
	}
	all := calls(strings.Split(string(text), "\n"))
	for _, algo := range Table {
		has := func(shows func(o explore.Space, says string) bool) bool {
			return slices.ContainsFunc(all, func(e explored) bool {
				return e.words[0] == algo.Name && shows(e.options(t), e.says)
			})
		}
		if algo.Flaw != nil {
			if !has(func(o explore.Space, says string) bool {
				return !o.Demand && strings.HasPrefix(says, algo.Broken().Check+", ")
			}) {
				t.Errorf("no exploration shows that %s lacks %s", algo.Name, algo.Broken().Check)
			}
			continue
		}
		for n := 2; n <= 3; n++ {
			if !has(func(o explore.Space, says string) bool {
				return o.Config.N == n && !o.Demand && says[0] >= '0' && says[0] <= '9'
			}) {
				t.Errorf("%s of %d nodes is not explored", algo.Name, n)
			}
		}
	}
}
