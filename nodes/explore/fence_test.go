package explore

import (
	"fmt"
	"strings"
	"testing"

	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/replay"
	"turnstile/nodes/row"
)

// A dispensing machine lets its client in at once, under numbers that are to say who may write.
type dispensing struct {
	kind   int
	grants uint64
}

const (
	dispenseApart = iota // numbers that no other node gives
	dispenseAlike        // the numbers that every node gives
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

func dispensers(kind int) Options {
	spec := &row.Row{Spec: nodes.Spec{
		Name:      "dispenser",
		Fenced:    true,
		Effective: nodes.PerfectDetector,
		New:       func(nodes.Config) nodes.Machine { return &dispensing{kind: kind} },
	}}
	return Options{Spec: spec, Config: nodes.Config{N: 2, Fenced: true}, Entries: 2}
}

// Where the resource demands numbers, two may be inside, but not under the same number or without one.
func TestFenceNumbersAreExplored(t *testing.T) {
	strict := dispensers(dispenseApart)
	strict.Config.Fenced = false
	for _, c := range []struct {
		o         Options
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

// The checks of histories say the same of what is accepted at the resource, whoever leaves first.
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
			stack := stackOf(t, Options{Spec: spec, Config: s.Config})
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

// Who writes late is refused, and that is told.
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
