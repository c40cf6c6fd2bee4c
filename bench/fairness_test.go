package bench

import (
	"fmt"
	"testing"
	"time"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/mutex"
	"turnstile/nodes/row"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// An unfairServer passes a request of the last node to the coordinator only when nobody else waits.
type unfairServer struct {
	nodes.Machine
	others int // their requests that are not over
	kept   nodes.Message
}

func (u *unfairServer) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	last := nodes.ID(env.N() - 1)
	asks := fmt.Sprintf("%T", m) == "mutex.centralRequest"
	switch {
	case from == last && asks && u.others > 0:
		u.kept = m
		return
	case from != last && asks:
		u.others++
	case from != last:
		u.others--
	}
	u.Machine.Receive(env, from, m)
	if u.kept != nil && u.others == 0 {
		u.Machine.Receive(env, last, u.kept)
		u.kept = nil
	}
}

// unfairCentral is the central algorithm with such a server.
func unfairCentral(t *testing.T) *row.Row {
	row, err := mutex.Find("central")
	if err != nil {
		t.Fatal(err)
	}
	unfair := *row
	unfair.NewServer = func(c nodes.Config, id nodes.ID) nodes.Machine {
		return &unfairServer{Machine: row.NewServer(c, id)}
	}
	return &unfair
}

// judged makes a simulated run and returns what the check of fairness says of it: as of a simulated run, and
// as of one of real processes.
func judged(t *testing.T, o Options, row *row.Row) (virtual, real check.Finding) {
	t.Helper()
	as := func(simulated bool) judgement {
		j := drafted(t, row, o, simulated)
		return j.judgementOf(history.Header{}, j.setting(nil))
	}
	a, b := as(true), as(false)
	if _, err := sim.Run(*simulated(t, o, row), a, b); err != nil {
		t.Fatal(err)
	}
	fairness := func(j judgement) (f check.Finding) {
		for _, f = range j.checks.Verdict().Findings {
			if f.Check == "fairness" {
				break
			}
		}
		return f
	}
	return fairness(a), fairness(b)
}

// loads returns runs of three seconds of virtual time.
func loads() map[string]Options {
	o := option.Defaults()
	o.Config.N = 5
	o.Latency, o.Workload.Hold = chance.Constant(time.Millisecond), chance.Constant(time.Millisecond)
	closed := o
	closed.Workload.Load, closed.Workload.Think = workload.Closed, chance.Constant(3*time.Millisecond)
	return map[string]Options{"saturated": o, "closed": closed}
}

// A coordinator that always puts the last node last is unfair, whoever looks.
func TestOneThatIsAlwaysLastIsNoticed(t *testing.T) {
	row := unfairCentral(t)
	for name, o := range loads() {
		simulated, real := judged(t, o, row)
		if simulated.Outcome != check.Violated || real.Outcome != check.Violated {
			t.Errorf("%s: simulated %v: %s\nreal %v: %s", name, simulated.Outcome, simulated.Says,
				real.Outcome, real.Says)
		}
	}
	o := loads()["saturated"] // a window that is too short to blame the algorithm
	o.Duration, o.WarmupLimit = 500*time.Millisecond, 0
	if _, real := judged(t, o, row); real.Outcome != check.Inconclusive {
		t.Errorf("in half a second: %v: %s", real.Outcome, real.Says)
	}
}

// Whatever the load and the network, no sound row is called unfair.
func TestNoRowIsCalledUnfair(t *testing.T) {
	t.Parallel()
	distribution := func(text string) (d chance.Distribution) {
		if err := d.Set(text); err != nil {
			t.Fatal(err)
		}
		return d
	}
	cases := loads()
	change := func(name string, f func(o *Options)) {
		o := option.Defaults()
		o.Latency, o.Workload.Hold = chance.Constant(time.Millisecond), distribution("50us")
		f(&o)
		cases[name] = o
	}
	change("short holds", func(*Options) {})
	change("no latency", func(o *Options) {
		o.Latency, o.Duration, o.Workload.Hold = chance.Distribution{}, time.Millisecond,
			distribution("200ns")
		o.Warmup = 0
	})
	change("one", func(o *Options) { o.Workload.Load = workload.One })
	change("sequential", func(o *Options) { o.Workload.Load = workload.Sequential })
	change("open, few clients", func(o *Options) {
		o.Config.N, o.Workload.Load, o.Workload.Rate = 2, workload.Open, 200
	})
	change("uneven latency", func(o *Options) { o.Latency = distribution("log-normal:1ms,40ms") })
	change("long latency", func(o *Options) { o.Latency = chance.Constant(400 * time.Millisecond) })
	change("regions", func(o *Options) {
		near, far := chance.Constant(time.Millisecond), distribution("exponential:90ms")
		o.Regions = chaos.Regions{Names: []string{"a", "b", "c"},
			Latency: [][]chance.Distribution{{near, near, far}, {near, near, far}, {far, far, near}}}
	})
	every, at := soak.Pick(3, 2, 1), 0
	for name, o := range cases {
		for _, row := range mutex.Table {
			if at++; row.Flaw != nil || at%every > 0 {
				continue
			}
			if simulated, real := judged(t, o, row); simulated.Outcome+real.Outcome != check.Valid {
				t.Errorf("%s, %s: simulated %v: %s\nreal %v: %s", row.Name, name, simulated.Outcome,
					simulated.Says, real.Outcome, real.Says)
			}
		}
	}
}
