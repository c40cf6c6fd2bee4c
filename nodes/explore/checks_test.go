package explore

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

// Every violation of the checks of leaders is found, with a shortest schedule, which shows it when played.
func TestWrongLeadersAreFound(t *testing.T) {
	single, terms := algorithm.Leadership{}, algorithm.Leadership{Terms: true}
	overlapping := algorithm.Leadership{
		Overlap: func(nodes.Config) time.Duration { return 2 * time.Millisecond }}
	for name, test := range map[string]struct {
		algorithm *algorithm.Algorithm
		o         Space
		want      string // the check
		steps     int
	}{
		"two at once":     {votes(votesWell, single), Space{}, replay.CheckLeaders, 2},
		"alone":           {votes(votesWell, single), Space{Campaigns: 1}, "", 0},
		"two in a term":   {votes(votesWell, terms), Space{}, replay.CheckTerms, 2},
		"in two lives":    {votes(votesAnew, terms), Space{Campaigns: 1}, "", 0},
		"a lower term":    {votes(votesBackward, terms), Space{Campaigns: 1}, replay.CheckTerms, 1},
		"after a restart": {votes(votesAnew, terms), anew, replay.CheckTerms, 5},
		"nobody is told":  {votes(votesLoudly, terms), Space{Campaigns: 1}, replay.CheckAgreement, 1},
		"a message is lost": {votes(votesWell, terms), Space{Campaigns: 1, Losses: 1},
			replay.CheckAgreement, 2},
		"the leader crashes": {votes(votesWell, terms), Space{Campaigns: 1, Crashes: 1},
			replay.CheckAgreement, 3},
		"never":                    {votes(votesForEver, terms), Space{Campaigns: 1}, replay.CheckAgreement, 1},
		"both when all is silent":  {votes(votesWell, overlapping), Space{}, replay.CheckLeaders, 4},
		"both for too many ticks":  {votes(votesWell, overlapping), slow(3), replay.CheckLeaders, 5},
		"both for a few ticks":     {votes(votesYields, overlapping), slow(2), "", 0},
		"both, and one gives way":  {votes(votesYields, overlapping), Space{}, "", 0},
		"both, where none may":     {votes(votesYields, single), Space{}, replay.CheckLeaders, 2},
		"one gives way too slowly": {votes(votesYields, overlapping), slow(3), replay.CheckLeaders, 5},
	} {
		o := test.o
		o.Spec, o.Config.N, o.Entries = test.algorithm, cmp.Or(o.Config.N, 2), max(1, o.Entries)
		x := agree(t, o)
		got, steps := "", 0
		if v := x.Violation; v != nil {
			got, steps = v.Check, len(v.Schedule.Steps)
			if name != "never" {
				replays(t, test.algorithm, v)
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

// anew are options under which a single node leads, crashes, comes up again and leads again.
var anew = Space{Config: nodes.Config{N: 1}, Entries: 3, Crashes: 1, Restarts: true}

// slow has each message take so many ticks of a millisecond.
func slow(ticks time.Duration) Space {
	return Space{Timing: timing(ticks*time.Millisecond, ticks*time.Millisecond)}
}

// A search whose number of timeouts is limited counts as bounded, not as exhausted, if a timer would have run
// out once more.
func TestTimeoutsBound(t *testing.T) {
	spec, err := (catalog.Table{}).Find("bully")
	if err != nil {
		t.Fatal(err)
	}
	o := Space{Spec: spec, Config: nodes.Config{N: 2}, Entries: 1, Timeouts: 1, Losses: 1}
	if x := explore(t, o); x.Exhausted || x.Bound != "timeouts" || x.Progress || x.Violation != nil {
		t.Errorf("%+v", x)
	}
	o.Losses, o.Timeouts = 0, 9
	if x := explore(t, o); !x.Exhausted || !x.Progress {
		t.Errorf("timers that cannot run out so often: %+v", x)
	}
}

// A dispensing machine lets its client in at once, under fence numbers.
type dispensing struct {
	kind   int
	grants uint64
}

const (
	dispenseApart = iota // each node gives other numbers
	dispenseAlike        // all nodes give the same numbers
	dispenseNone
)

func (d *dispensing) Request(env *nodes.Env) {
	d.grants++
	switch d.kind {
	case dispenseApart:
		env.GrantFenced(2*d.grants + uint64(env.Self()))
	case dispenseAlike:
		env.GrantFenced(d.grants)
	default:
		env.Grant()
	}
}

func (d *dispensing) Release(*nodes.Env)                          {}
func (d *dispensing) Receive(*nodes.Env, nodes.ID, nodes.Message) {}

func dispensers(kind int) Space {
	spec := &algorithm.Algorithm{Spec: nodes.Spec{
		Name:      "dispenser",
		Fenced:    true,
		Effective: nodes.PerfectDetector,
		New:       func(nodes.Config) nodes.Machine { return &dispensing{kind: kind} },
	}}
	return Space{Spec: spec, Config: nodes.Config{N: 2, Fenced: true}, Entries: 2}
}

// Where the resource demands numbers, two may be inside, but not under the same number or without one.
func TestFenceNumbersAreExplored(t *testing.T) {
	strict := dispensers(dispenseApart)
	strict.Config.Fenced = false
	for _, c := range []struct {
		o         Space
		ends, say string
	}{
		{dispensers(dispenseApart), "", ""},
		{strict, "req 0; req 1", "node 1 enters while node 0 is inside"},
		{dispensers(dispenseAlike), "req 0; req 1", "node 1 enters under the fence number 1, as somebody has"},
		{dispensers(dispenseNone), "req 0", "node 0 enters without the fence number that the resource demands"},
	} {
		x := agree(t, c.o)
		ends, says := "", ""
		if v := x.Violation; v != nil {
			replays(t, c.o.Spec, v)
			ends, says = strings.Trim(strings.ReplaceAll(fmt.Sprint(v.Schedule.Steps), " req", "; req"), "[]"), v.Says
		}
		if ends != c.ends || !strings.HasPrefix(says, c.say) || (x.Violation == nil) != x.Progress {
			t.Errorf("%q: %s, want %q: %s", ends, says, c.ends, c.say)
		}
	}
}

// The checks of histories find a violation exactly if a replay does, in any order of exits.
func TestFencesAreJudgedAsInHistories(t *testing.T) {
	const head = "turnstile schedule 1\nalgorithm dispenser\nn 2\nfenced\n"
	for _, steps := range []string{"req 0; req 1; exit 0; exit 1", "req 0; req 1; exit 1; exit 0",
		"req 1; req 0; exit 0; exit 1", "req 0; exit 0; req 1; exit 1", "req 1; exit 1; req 0; exit 0"} {
		for kind, ends := range []struct {
			found   bool
			outcome check.Outcome
		}{{false, check.Valid}, {true, check.Violated}} {
			spec := dispensers(kind).Spec
			s, err := replay.Parse(strings.NewReader(head+steps), alone(spec))
			if err != nil {
				t.Fatal(err)
			}
			r, err := replay.Play(s)
			if err != nil || (r.Violation != nil) != ends.found {
				t.Errorf("%s, numbers of kind %d: %+v, %v", steps, kind, r, err)
			}
			stack := stackOf(t, Space{Spec: spec, Config: s.Config})
			stage := replay.NewStage(stack, s, func(string) bool { return false })
			stage.Start()
			for _, step := range s.Steps {
				if err := stage.Play(step); err != nil {
					t.Fatal(err)
				}
			}
			if v := check.Judge(stage.End().History, check.SettingOf(stack)); v.Outcome != ends.outcome {
				t.Errorf("%s, numbers of kind %d: %+v", steps, kind, v)
			}
		}
	}
}

// A late write is refused, and the story tells it.
func TestReplayOfRefusals(t *testing.T) {
	const story = `node 1 asks
node 1 enters under the fence number 3
node 0 asks
node 0 enters under the fence number 2: INSIDE TOGETHER WITH 1
node 0 leaves, and what it wrote is refused
node 1 leaves`
	s, err := replay.Parse(strings.NewReader("turnstile schedule 1\nalgorithm dispenser\nn 2\nfenced\n"+
		"req 1; req 0; exit 0; exit 1"), alone(dispensers(dispenseApart).Spec))
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.Play(s)
	if err != nil || strings.Join(r.Story, "\n") != story || !strings.Contains(s.String(), "\nfenced\n") {
		t.Errorf("%+v, %v\n%v", r, err, s)
	}
}
