package explore

import (
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/mutex"
	"turnstile/nodes/replay"
	"turnstile/nodes/row"
)

// fairSpaces are those in which the fairness of a row is explored.
func fairSpaces(spec *row.Row) (all []Options) {
	type size struct{ nodes, entries int }
	usual := []size{{2, 2}, {2, 3}, {3, 1}, {3, 2}}
	for _, size := range soak.Pick(usual, usual, append(usual, size{3, 3}, size{4, 1}, size{4, 2})) {
		o := Options{Spec: spec, Config: nodes.Config{N: size.nodes}, Entries: size.entries,
			Checks: []string{replay.CheckFairness}}
		if _, timed := spec.Machine(o.Config, 0).(nodes.Timed); timed { // or late messages would excuse it
			o.Timing = &replay.Timing{Latency: chance.Constant(time.Millisecond), Tick: time.Millisecond}
		}
		all = append(all, o)
	}
	return all
}

// No row is less fair than it promises, whatever the order of events. Spaces of three nodes are explored so
// far, and to their end by make soak.
func TestRowsAreFairInAnyOrder(t *testing.T) {
	for _, spec := range mutex.Table {
		if spec.Exclusion().Bypass == nil {
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
		if spec.Exclusion().Bypass == nil {
			continue
		}
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			fairer := fairest(spec)
			o := Options{Spec: fairer, Config: nodes.Config{N: 3}, Entries: 1,
				Checks: []string{replay.CheckFairness}, States: 100_000}
			if _, timed := spec.Machine(o.Config, 0).(nodes.Timed); timed { // else it tries again and again
				o.Timing = &replay.Timing{Latency: chance.Constant(time.Millisecond), Tick: time.Millisecond}
			}
			x := explore(t, o)
			if x.Violation == nil || x.Violation.Check != replay.CheckFairness || len(x.Violation.Story) == 0 {
				t.Fatalf("%+v", x)
			}
			r, err := replay.Play(x.Violation.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			if v := check.Judge(r.History, check.SettingOfReplay(r.Stack)); !v.Violates("fairness") {
				t.Errorf("replayed, there is %+v", v)
			}
		})
	}
}

// A plain search finds the same, whatever is looked for.
func TestChecksFindWhatAPlainSearchFinds(t *testing.T) {
	for name, checks := range map[string][]string{
		"central":          {replay.CheckFairness},
		"ricart-agrawala":  {replay.CheckFairness, replay.CheckExclusion},
		"raymond":          ofClients,
		"naive-broadcast":  {replay.CheckStarvation},
		"maekawa-textbook": {replay.CheckExclusion},
	} {
		for _, o := range columns(rowOf(t, name)) {
			o.Checks = checks
			if o.Config.N > 2 || o.Crashes > 0 {
				continue
			}
			agree(t, o)
			if o.Spec.Exclusion().Bypass != nil && slices.Contains(checks, replay.CheckFairness) {
				o.Spec = fairest(o.Spec)
				agree(t, o)
			}
		}
	}
}

// A deadlock that takes fewer steps does not hide what else is wrong.
func TestOnlyWhatIsLookedForIsFound(t *testing.T) {
	naive := Options{Spec: rowOf(t, "naive-broadcast"), Config: nodes.Config{N: 2}, Entries: 1}
	for check, found := range map[string]bool{replay.CheckExclusion: true, replay.CheckDeadlock: false,
		replay.CheckStarvation: false, replay.CheckPanic: false} {
		naive.Checks = []string{check}
		x := explore(t, naive)
		if (x.Violation != nil) != found || x.Exhausted == found ||
			x.Progress != (check == replay.CheckStarvation) {
			t.Errorf("%s of naive-broadcast: %+v", check, x)
		}
	}
	textbook := Options{Spec: rowOf(t, "maekawa-textbook"), Config: nodes.Config{N: 4}, Entries: 1,
		States: 500_000}
	for check, want := range map[string]string{replay.CheckExclusion: "",
		replay.CheckDeadlock: replay.CheckDeadlock} {
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
var ofClients = []string{replay.CheckExclusion, replay.CheckPanic, replay.CheckDeadlock,
	replay.CheckStarvation, replay.CheckFairness}

func TestChecksThatCannotBeLookedFor(t *testing.T) {
	for want, o := range map[string]Options{
		"did you mean exclusion?":        {Spec: rowOf(t, "central"), Checks: []string{"exclusoin"}},
		"It is one of exclusion, panic,": {Spec: rowOf(t, "central"), Checks: []string{"x"}},
		"maekawa does not promise":       {Spec: rowOf(t, "maekawa"), Checks: []string{replay.CheckFairness}},
		"7 entries may pass over a request": {Spec: rowOf(t, "ricart-agrawala"), Checks: ofClients,
			Config: nodes.Config{N: 8}},
		"2 resources: whether requests are passed": {Spec: rowOf(t, "central-inside"), Checks: ofClients,
			Beside: []row.Instance{{Row: rowOf(t, "central-inside"), Config: nodes.Config{N: 2}}}},
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

// fairest is a row that promises that nobody is ever passed over.
func fairest(spec *row.Row) *row.Row {
	fairer, promised := *spec, *spec.Exclusion()
	promised.Bypass = func(nodes.Config) int { return 0 }
	fairer.Mutex = &promised
	return &fairer
}
