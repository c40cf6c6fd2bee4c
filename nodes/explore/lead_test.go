package explore

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/replay"
	"turnstile/nodes/row"
)

// Whatever can be wrong with leaders is found, by a shortest schedule, which shows it when it is played.
func TestWrongLeadersAreFound(t *testing.T) {
	single, terms := row.Leadership{}, row.Leadership{Terms: true}
	overlapping := row.Leadership{Overlap: func(nodes.Config) time.Duration { return 2 * time.Millisecond }}
	for name, test := range map[string]struct {
		row   *row.Row
		o     Options
		want  string // the check
		steps int
	}{
		"two at once":     {votes(votesWell, single), Options{}, replay.CheckLeaders, 2},
		"alone":           {votes(votesWell, single), Options{Campaigns: 1}, "", 0},
		"two in a term":   {votes(votesWell, terms), Options{}, replay.CheckTerms, 2},
		"in two lives":    {votes(votesAnew, terms), Options{Campaigns: 1}, "", 0},
		"a lower term":    {votes(votesBackward, terms), Options{Campaigns: 1}, replay.CheckTerms, 1},
		"after a restart": {votes(votesAnew, terms), anew, replay.CheckTerms, 5},
		"nobody is told":  {votes(votesLoudly, terms), Options{Campaigns: 1}, replay.CheckAgreement, 1},
		"a message is lost": {votes(votesWell, terms), Options{Campaigns: 1, Losses: 1},
			replay.CheckAgreement, 2},
		"the leader crashes": {votes(votesWell, terms), Options{Campaigns: 1, Crashes: 1},
			replay.CheckAgreement, 3},
		"never":                    {votes(votesForEver, terms), Options{Campaigns: 1}, replay.CheckAgreement, 1},
		"both when all is silent":  {votes(votesWell, overlapping), Options{}, replay.CheckLeaders, 4},
		"both for too many ticks":  {votes(votesWell, overlapping), slow(3), replay.CheckLeaders, 5},
		"both for a few ticks":     {votes(votesYields, overlapping), slow(2), "", 0},
		"both, and one gives way":  {votes(votesYields, overlapping), Options{}, "", 0},
		"both, where none may":     {votes(votesYields, single), Options{}, replay.CheckLeaders, 2},
		"one gives way too slowly": {votes(votesYields, overlapping), slow(3), replay.CheckLeaders, 5},
	} {
		o := test.o
		o.Spec, o.Config.N, o.Entries = test.row, cmp.Or(o.Config.N, 2), max(1, o.Entries)
		x := agree(t, o)
		got, steps := "", 0
		if v := x.Violation; v != nil {
			got, steps = v.Check, len(v.Schedule.Steps)
			if name != "never" {
				replays(t, test.row, v)
			}
		}
		if got != test.want || steps != test.steps {
			t.Errorf("%s: %q in %d steps, want %q in %d: %+v", name, got, steps, test.want, test.steps, x)
		}
		if got == "" && (!x.Exhausted || !x.Progress || x.Entries == 0) {
			t.Errorf("%s: %+v", name, x)
		}
	}
}

// anew lets a single node lead twice, and forget it.
var anew = Options{Config: nodes.Config{N: 1}, Entries: 3, Crashes: 1, Restarts: true}

// slow has each message take so many ticks of a millisecond.
func slow(ticks time.Duration) Options {
	return Options{Timing: timing(ticks*time.Millisecond, ticks*time.Millisecond)}
}

// What was not tried is never taken for what is not there: timers that may run out only so often bound a
// search.
func TestTimeoutsBound(t *testing.T) {
	spec, err := catalog.Find("bully")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Spec: spec, Config: nodes.Config{N: 2}, Entries: 1, Timeouts: 1, Losses: 1}
	if x := explore(t, o); x.Exhausted || x.Bound != "timeouts" || x.Progress || x.Violation != nil {
		t.Errorf("%+v", x)
	}
	o.Losses, o.Timeouts = 0, 9
	if x := explore(t, o); !x.Exhausted || !x.Progress {
		t.Errorf("timers that cannot run out so often: %+v", x)
	}
}

func TestElectionsRefuse(t *testing.T) {
	chang, err := catalog.Find("chang-roberts")
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]Options{
		"elects no leaders, so nobody campaigns": {Spec: rowOf(t, "lamport"), Campaigns: 1},
		"elects no leaders: look for something": {Spec: rowOf(t, "lamport"),
			Checks: []string{replay.CheckLeaders}},
		"has no timers that could run out":     {Spec: chang, Timeouts: 1},
		"elects leaders, and has no clients":   {Spec: chang, Checks: []string{replay.CheckExclusion}},
		"the leaders of chang-roberts have no": {Spec: chang, Checks: []string{replay.CheckTerms}},
		"so two may lead at once: look for terms": {Spec: votes(votesWell, row.Leadership{Terms: true}),
			Checks: []string{replay.CheckLeaders}},
		"-1 campaigns: there can be 0 to 100": {Spec: chang, Campaigns: -1},
	} {
		o.Config, o.Entries = nodes.Config{N: 2}, 1
		if _, err := Run(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
