package explore

import (
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/mutex"
)

// fairSpaces are those in which the fairness of a row is explored.
func fairSpaces(spec *nodes.Spec) (all []Options) {
	type size struct{ nodes, entries int }
	usual := []size{{2, 2}, {2, 3}, {3, 1}, {3, 2}}
	for _, size := range soak.Pick(usual, usual, append(usual, size{3, 3}, size{4, 1}, size{4, 2})) {
		o := Options{Spec: spec, Config: nodes.Config{N: size.nodes}, Entries: size.entries,
			Checks: []string{CheckFairness}}
		if _, timed := spec.Machine(o.Config, 0).(nodes.Timed); timed { // or late messages would excuse it
			o.Timing = &Timing{Latency: chance.Constant(time.Millisecond), Tick: time.Millisecond}
		}
		all = append(all, o)
	}
	return all
}

// No row is less fair than it promises, whatever the order of events. Spaces of three nodes are explored so
// far, and to their end by make soak.
func TestRowsAreFairInAnyOrder(t *testing.T) {
	for _, spec := range mutex.Table {
		if spec.Bypass == nil {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			for _, o := range fairSpaces(spec) {
				o.States, o.Memory = soak.Pick[uint64](2000, 20_000, 5_000_000), 1<<30
				if spec.Circulates {
					o.Depth = 60
				}
				if x := explore(t, o); x.Violation != nil {
					t.Errorf("%+v, %d entries: %s\n%s", o.Config, o.Entries, x.Violation.Says,
						strings.Join(x.Violation.Story, "\n"))
				}
			}
		})
	}
}

// Of three nodes that want in, one is passed over by another: that is seen of every row.
func TestWhoIsPassedOverIsSeen(t *testing.T) {
	for _, spec := range mutex.Table {
		if spec.Bypass == nil {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			fairer := *spec
			fairer.Bypass = func(nodes.Config) int { return 0 }
			o := Options{Spec: &fairer, Config: nodes.Config{N: 3}, Entries: 1,
				Checks: []string{CheckFairness}, States: 100_000}
			if _, timed := spec.Machine(o.Config, 0).(nodes.Timed); timed { // else it tries again and again
				o.Timing = &Timing{Latency: chance.Constant(time.Millisecond), Tick: time.Millisecond}
			}
			x := explore(t, o)
			if x.Violation == nil || x.Violation.Check != CheckFairness || len(x.Violation.Story) == 0 {
				t.Fatalf("%+v", x)
			}
			if r, err := Replay(x.Violation.Schedule); err != nil || r.Violation == nil ||
				r.Violation.Check != CheckFairness || r.Violation.Says != x.Violation.Says {
				t.Errorf("replayed, there is %+v, %v", r, err)
			}
		})
	}
}

// A plain search finds the same, whatever is looked for.
func TestChecksFindWhatAPlainSearchFinds(t *testing.T) {
	for name, checks := range map[string][]string{
		"central":          {CheckFairness},
		"ricart-agrawala":  {CheckFairness, CheckExclusion},
		"raymond":          ofClients,
		"naive-broadcast":  {CheckStarvation},
		"maekawa-textbook": {CheckExclusion},
	} {
		for _, o := range columns(row(t, name)) {
			o.Checks = checks
			if o.Config.N > 2 || o.Crashes > 0 {
				continue
			}
			agree(t, o)
			if o.Spec.Bypass != nil && slices.Contains(checks, CheckFairness) {
				fairer := *o.Spec
				fairer.Bypass = func(nodes.Config) int { return 0 }
				o.Spec = &fairer
				agree(t, o)
			}
		}
	}
}

// A deadlock that takes fewer steps does not hide what else is wrong.
func TestOnlyWhatIsLookedForIsFound(t *testing.T) {
	naive := Options{Spec: row(t, "naive-broadcast"), Config: nodes.Config{N: 2}, Entries: 1}
	for check, found := range map[string]bool{CheckExclusion: true, CheckDeadlock: false, CheckStarvation: false,
		CheckPanic: false} {
		naive.Checks = []string{check}
		x := explore(t, naive)
		if (x.Violation != nil) != found || x.Exhausted == found || x.Progress != (check == CheckStarvation) {
			t.Errorf("%s of naive-broadcast: %+v", check, x)
		}
	}
	textbook := Options{Spec: row(t, "maekawa-textbook"), Config: nodes.Config{N: 4}, Entries: 1,
		States: 500_000}
	for check, want := range map[string]string{CheckExclusion: "", CheckDeadlock: CheckDeadlock} {
		textbook.Checks = []string{check}
		x := explore(t, textbook)
		got := ""
		if x.Violation != nil {
			got = x.Violation.Check
		}
		if got != want {
			t.Errorf("%s of maekawa-textbook: %+v", check, x)
		}
	}
}

// ofClients are the checks of algorithms of mutual exclusion.
var ofClients = []string{CheckExclusion, CheckPanic, CheckDeadlock, CheckStarvation, CheckFairness}

func TestChecksThatCannotBeLookedFor(t *testing.T) {
	for want, o := range map[string]Options{
		"did you mean exclusion?":        {Spec: row(t, "central"), Checks: []string{"exclusoin"}},
		"It is one of exclusion, panic,": {Spec: row(t, "central"), Checks: []string{"x"}},
		"maekawa does not promise":       {Spec: row(t, "maekawa"), Checks: []string{CheckFairness}},
		"7 entries may pass over a request": {Spec: row(t, "ricart-agrawala"), Checks: ofClients,
			Config: nodes.Config{N: 8}},
		"2 resources: whether requests are passed": {Spec: row(t, "central-inside"), Checks: ofClients,
			Beside: []nodes.Instance{{Spec: row(t, "central-inside"), Config: nodes.Config{N: 2}}}},
	} {
		if o.Config.N == 0 {
			o.Config.N = 2
		}
		o.Entries = 1
		if _, err := Run(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
