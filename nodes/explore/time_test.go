package explore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/replay"
	"turnstile/nodes/row"
)

const ms = time.Millisecond

// timing is one of messages that take from least to most, in ticks of a millisecond.
func timing(least, most time.Duration) *replay.Timing {
	latency, err := chance.ParseDistribution(fmt.Sprintf("uniform:%v,%v", least, most))
	if err != nil {
		panic(err)
	}
	return &replay.Timing{Tick: ms, Latency: latency}
}

// A fisher takes the lock by Fischer's timed algorithm, with the shared variable at a server. It reads
// until the variable is free, writes its own name, waits, and is in if the name still stands there. That
// rests on nothing but time: it waits longer than the write of anyone who has found it free can take.
//
// Source: L. Lamport, "A Fast Mutual Exclusion Algorithm", ACM TOCS 5(1), 1987, which tells of Fischer's.
type fisher struct {
	wait    time.Duration
	written bool
}

type (
	fiRead  struct{}
	fiWrite struct{ Owner nodes.ID }
	fiValue struct{ Owner nodes.ID }
)

func (f *fisher) Request(env *nodes.Env) { f.read(env) }
func (f *fisher) Release(env *nodes.Env) { env.Send(nodes.ID(env.N()), fiWrite{nodes.None}) }
func (f *fisher) read(env *nodes.Env)    { env.Send(nodes.ID(env.N()), fiRead{}) }

func (f *fisher) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch owner := m.(fiValue).Owner; {
	case f.written && owner == env.Self():
		f.written = false
		env.Grant()
	case owner == nodes.None:
		f.written = true
		env.Send(nodes.ID(env.N()), fiWrite{env.Self()})
		env.SetTimer(nodes.Timer{Kind: 1}, f.wait, f.wait+ms)
	default:
		f.written = false
		f.read(env)
	}
}

func (f *fisher) Timeout(env *nodes.Env, _ nodes.Timer) { f.read(env) }

// A variable is the server of fishers.
type variable struct{ owner nodes.ID }

func (v *variable) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case fiRead:
		env.Send(from, fiValue{v.owner})
	case fiWrite:
		v.owner = m.Owner
	}
}

func fishers(wait time.Duration) *row.Row {
	return &row.Row{Spec: nodes.Spec{
		Name:      "fischer",
		Safe:      nodes.Timing,
		Messages:  []nodes.MessageKind{{Zero: fiRead{}}, {Zero: fiWrite{}}, {Zero: fiValue{}}},
		New:       func(nodes.Config) nodes.Machine { return &fisher{wait: wait} },
		Servers:   func(nodes.Config) int { return 1 },
		NewServer: func(nodes.Config, nodes.ID) nodes.Machine { return &variable{nodes.None} },
	}}
}

// Who has found the variable free has written its name at most three messages after the first to do so
// wrote its own. So who reads again later than that, in one message at least, sees the last of all.
func TestTimingDecidesWhetherFischerIsSafe(t *testing.T) {
	for _, c := range []struct {
		least, most, wait time.Duration
		safe              bool
	}{
		{0, ms, 3 * ms, false}, // the two may come in one tick, in either order
		{0, ms, 4 * ms, true},
		{ms, ms, 2 * ms, false},
		{ms, ms, 3 * ms, true},
		{ms, 2 * ms, 5 * ms, false},
		{ms, 2 * ms, 6 * ms, true},
	} {
		o := Options{Spec: fishers(c.wait), Config: nodes.Config{N: 2}, Entries: 2, Workers: 2,
			Timing: timing(c.least, c.most)}
		x := explore(t, o)
		switch v := x.Violation; {
		case c.safe && (v != nil || !x.Exhausted || x.Excused > 0):
			t.Errorf("messages of %v to %v, a wait of %v: %+v", c.least, c.most, c.wait, x)
		case !c.safe && (v == nil || v.Check != replay.CheckExclusion || v.OutsideModel != 0):
			t.Errorf("messages of %v to %v, a wait of %v: %+v", c.least, c.most, c.wait, x)
		}
	}
	o := Options{Spec: fishers(time.Hour), Config: nodes.Config{N: 2}, Entries: 1}
	if x := explore(t, o); x.Violation != nil || x.FirstExcused == nil ||
		x.FirstExcused.Check != replay.CheckExclusion || x.FirstExcused.OutsideModel != nodes.Timing {
		t.Errorf("without bounds on time: %+v", x)
	}
}

// Timers, and messages of all ages, are told apart as in a search that shares nothing.
func TestTimedExploreSeesWhatAPlainSearchSees(t *testing.T) {
	for i, change := range []func(*Options){
		func(*Options) {},
		func(o *Options) { o.Losses = 1 },
		func(o *Options) { o.Reordering = true },
		func(o *Options) { o.Timing, o.Entries = timing(0, 3*ms), 2 },
	} {
		o := Options{Spec: fishers(10 * ms), Config: nodes.Config{N: 2}, Entries: 1,
			Timing: timing(ms, 2*ms)}
		change(&o)
		o.Spec.Safe |= nodes.NoLoss | nodes.FIFO
		if x := agree(t, o); x.Violation != nil {
			t.Errorf("space %d: %+v", i, x)
		}
	}
}

// A story with ticks can be read, written and played, and nothing in it can be moved out of its window.
func TestTimedSchedule(t *testing.T) {
	spec := fishers(5 * ms)
	v := explore(t, Options{Spec: spec, Config: nodes.Config{N: 2}, Entries: 1,
		Timing: timing(ms, 2*ms)}).Violation
	if v == nil {
		t.Fatal("nothing is found")
	}
	read, err := replay.Parse(strings.NewReader(v.Schedule.String()), alone(spec))
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.Play(read)
	if check, broken := failed(r, err); check != v.Check || broken != 0 {
		t.Fatalf("%v\nplayed again: %+v, %v", v.Schedule, r, err)
	}
	if less, err := minimise(read); err != nil || len(less.Steps) != len(read.Steps) {
		t.Errorf("minimised: %v, %v", less, err)
	}
	end := strings.Join(r.Story[len(r.Story)-3:], "\n")
	if end != "time goes on to 13ms\nnode 1 gets value from server 2\nnode 1 enters: INSIDE TOGETHER WITH 0" {
		t.Errorf("the story is %q", r.Story)
	}

	head := "turnstile schedule 1\nalgorithm fischer\nn 2\n"
	timed := head + "timing 1ms uniform:1ms,2ms\nreq 0\n"
	there := "tick\n0>2 read\ntick\n2>0 value\n"
	late := there + "tick\n0>2 write" + strings.Repeat("\ntick", 6)
	for text, want := range map[string]string{
		head + "tick":                        "line 4, tick: time does not count here: add a line such as timing",
		timed + "0>2 read":                   "line 6, 0>2 read: it is not due yet: the earliest is 1 tick later",
		timed + "tick\ntick\ntick":           "line 8, tick: a read from node 0 to server 2 has to arrive first",
		timed + there + "timeout 0 1 0":      "it does not run out yet: the earliest is 5 ticks later",
		timed + "tick 2":                     "tick takes no arguments",
		head + "timing 1ms":                  "timing takes a tick and a latency, such as timing 1ms",
		head + "timing one 1ms":              `"one" is no tick: write a time`,
		head + "timing 1ms exponential:1ms":  "a latency of exponential:1ms has no bounds",
		head + "timing 2ms uniform:1ms,4ms":  "is no whole number of ticks of 2ms: take a shorter tick",
		head + "timing 1ms 101ms":            "is 101 ticks of 1ms, and can be up to 100: take a longer tick",
		head + "timing 0s 1ms":               "a tick of 0s: time goes on by ticks, such as 1ms",
		head + "timing 1ms uniform:-1ms,1ms": "is negative",
		timed + late:                         "timer 1 for 0 of node 0 has to run out first",
	} {
		s, err := replay.Parse(strings.NewReader(text), alone(spec))
		if err == nil {
			_, err = replay.Play(s)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
