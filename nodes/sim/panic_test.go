package sim

import (
	"errors"
	"strings"
	"testing"

	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// A quitter does something that it must not when its client asks.
type quitter struct{ slip func(*nodes.Env) }

type nothing struct{}

func (q *quitter) Request(env *nodes.Env)                      { q.slip(env) }
func (q *quitter) Release(*nodes.Env)                          {}
func (q *quitter) Receive(*nodes.Env, nodes.ID, nodes.Message) {}

func quitters(slip func(*nodes.Env)) *row.Row {
	return &row.Row{
		Spec: nodes.Spec{Name: "quitter", Messages: []nodes.MessageKind{{Zero: nothing{}}},
			New: func(nodes.Config) nodes.Machine { return &quitter{slip} }},
		Mutex: &row.Exclusion{Cost: func(nodes.Config) row.Cost { return row.Cost{} }},
	}
}

// A machine that gives up ends the run, which says where and keeps what came before.
func TestPanicEndsTheRun(t *testing.T) {
	unlisted := *options(t, "ricart-agrawala", 2).Stack.Instances()[0].Row
	unlisted.Messages = unlisted.Messages[:1]
	for want, spec := range map[string]*row.Row{
		": out of luck":          quitters(func(*nodes.Env) { panic("out of luck") }),
		"(ricart_agrawala.go:":   &unlisted,
		"node 7, which does not": quitters(func(env *nodes.Env) { env.Send(7, nothing{}) }),
		"chooses one of 0":       quitters(func(env *nodes.Env) { env.Choose(0) }),
	} {
		o := options(t, "lamport", 2, func(o *Options) {
			o.Stack, o.Entries, o.Workload.Load = stackOf(spec, nodes.Config{N: 2}), 100, workload.Sequential
		})
		r := mustRun(t, o)
		var p *Panic
		if !errors.As(r.Cut, &p) || !strings.Contains(p.Error(), " panicked after ") ||
			!strings.Contains(p.Error(), want) {
			t.Errorf("%v, want %s", r.Cut, want)
		}
		if v := verdict(o, r); v.Outcome != check.Inconclusive {
			t.Errorf("%s: judged %v: %s", want, v.Outcome, v.Reason)
		}
	}
}
