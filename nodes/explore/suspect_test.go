package explore

import (
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/mutex"
	"turnstile/nodes/replay"
	"turnstile/nodes/row"
)

// An heir is one of two nodes. Node 0 lends the permission, and node 1 asks it, as long as each takes the
// other for alive: whoever is alone needs no permission. With a perfect detector that is safe.
type heir struct {
	wants, alone bool // the client waits; the other node is down
	lent, asked  bool // of node 0: node 1 has the permission, or waits for it
	inside       bool
}

type (
	heAsk  struct{}
	heLend struct{}
	heBack struct{}
)

func (h *heir) Request(env *nodes.Env) {
	h.wants = true
	if env.Self() == 1 && !h.alone {
		env.Send(0, heAsk{})
	}
	h.serve(env)
}

func (h *heir) Release(env *nodes.Env) {
	h.inside = false
	if env.Self() == 1 && !h.alone {
		env.Send(0, heBack{})
	}
	h.serve(env)
}

func (h *heir) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m.(type) {
	case heAsk:
		h.asked = true
	case heBack:
		h.lent = false
	case heLend:
		h.enter(env)
	}
	h.serve(env)
}

func (h *heir) enter(env *nodes.Env) {
	if h.wants {
		h.wants, h.inside = false, true
		env.Grant()
	}
}

// serve lets the client in if nobody else can be inside, or else lends the permission.
func (h *heir) serve(env *nodes.Env) {
	if !h.inside && (h.alone || env.Self() == 0 && !h.lent) {
		h.enter(env)
	}
	if h.asked && !h.inside && !h.lent {
		h.lent, h.asked = true, false
		env.Send(1, heLend{})
	}
}

func (h *heir) Suspect(env *nodes.Env, _ nodes.ID) {
	h.alone, h.lent, h.asked = true, false, false
	h.serve(env)
}

// A shy node lets nobody in while it suspects anybody.
type shy struct{ wants, suspects bool }

func (s *shy) Request(env *nodes.Env)                      { s.wants = true; s.serve(env) }
func (s *shy) Release(*nodes.Env)                          {}
func (s *shy) Receive(*nodes.Env, nodes.ID, nodes.Message) {}
func (s *shy) Suspect(*nodes.Env, nodes.ID)                { s.suspects = true }
func (s *shy) serve(env *nodes.Env) {
	if s.wants && !s.suspects {
		s.wants = false
		env.Grant()
	}
}

// A trusting one goes on when the suspicion is taken back.
type trusting struct{ shy }

func (s *trusting) Trust(env *nodes.Env, _ nodes.ID) { s.suspects = false; s.serve(env) }

// listeners returns options that explore two machines that listen to a failure detector.
func listeners(machine func() nodes.Machine, safe, live nodes.Assumption) Options {
	spec := &row.Row{Spec: nodes.Spec{
		Name:     "listener",
		Safe:     safe,
		Live:     live,
		Messages: []nodes.MessageKind{{Zero: heAsk{}}, {Zero: heLend{}}, {Zero: heBack{}}},
		New:      func(nodes.Config) nodes.Machine { return machine() },
	}}
	return Options{Spec: spec, Config: nodes.Config{N: 2}, Entries: 2}
}

func heirs() Options {
	return listeners(func() nodes.Machine { return &heir{} }, nodes.PerfectDetector, nodes.NoLoss)
}

func shyOnes() Options {
	return listeners(func() nodes.Machine { return &shy{} }, 0, 0)
}

func trustingOnes() Options {
	return listeners(func() nodes.Machine { return &trusting{} }, 0, 0)
}

// After a crash each node hears of it at some time, and until then no state is a deadlock.
func TestPerfectDetectorIsPlayed(t *testing.T) {
	o := heirs()
	o.Crashes = 2
	x := agree(t, o)
	if !x.Exhausted || !x.Progress || x.Violation != nil || x.Excused > 0 {
		t.Errorf("%+v", x)
	}
}

// One wrong suspicion, and two are inside: outside the model of who needs a perfect detector, but not of who
// needs one that is right in the end.
func TestWrongSuspicion(t *testing.T) {
	const story = `node 0 asks
node 0 enters
node 1 asks and sends ask to node 0
node 1 suspects node 0, which is up
node 1 enters: INSIDE TOGETHER WITH 0
broken: exclusion`
	o := heirs()
	o.Suspicions = 1
	x := agree(t, o)
	if v := x.FirstExcused; x.Violation != nil || v == nil || v.OutsideModel != nodes.PerfectDetector {
		t.Fatalf("%+v", x)
	}
	o.Spec.Safe = nodes.EventualDetector
	x = agree(t, o)
	if x.Violation == nil || strings.TrimSpace(replay.Told(x.Violation.Story, x.Violation.Check, 0)) != story {
		t.Errorf("%+v", x.Violation)
	}
	replays(t, o.Spec, x.Violation)
}

// A state is a deadlock when the detector has told all that it has to tell, and not before.
func TestDetectorTellsAllBeforeADeadlock(t *testing.T) {
	o := shyOnes()
	o.Checks = []string{replay.CheckDeadlock, replay.CheckStarvation}
	for _, c := range []struct {
		o                   Options
		crashes, suspicions int
		restarts            bool
		ends                string
	}{
		{trustingOnes(), 0, 2, false, ""},
		{shyOnes(), 0, 1, false, "suspect 0>1; req 0; trust 0>1"},
		{trustingOnes(), 1, 0, false, "crash 0; suspect 1>0; req 1"},
		{shyOnes(), 1, 0, true, "crash 0; suspect 1>0; req 1"},
	} {
		c.o.Entries, c.o.Checks = 1, o.Checks
		c.o.Crashes, c.o.Suspicions, c.o.Restarts = c.crashes, c.suspicions, c.restarts
		x := agree(t, c.o)
		got := ""
		if x.Violation != nil {
			replays(t, c.o.Spec, x.Violation)
			var steps []string
			for _, s := range x.Violation.Schedule.Steps {
				steps = append(steps, s.String())
			}
			got = strings.Join(steps, "; ")
		}
		if got != c.ends {
			t.Errorf("%+v\nends with %q, want %q", c, got, c.ends)
		}
	}
}

// Who comes up again suspects nobody, and hears of who is down then. Who is up again is trusted again.
func TestReplayOfSuspicions(t *testing.T) {
	const head = "turnstile schedule 1\nalgorithm listener\nn 2\n"
	for steps, want := range map[string]string{
		"crash 1; suspect 0>1; restart 1; trust 0>1; req 0": "node 1 crashes\nnode 0 suspects node 1\n" +
			"node 1 comes up again, having forgotten everything\nnode 0 trusts node 1 again\nnode 0 asks",
		"suspect 0>1; crash 0; restart 0; suspect 0>1; rest": "node 0 suspects node 1, which is up\n" +
			"node 0 crashes\nnode 0 comes up again, having forgotten everything\n" +
			"node 0 suspects node 1, which is up\nnode 0 trusts node 1 again",
		"req 0; suspect 0>1; trust 1>0":   "line 4, trust 1>0: node 1 does not suspect node 0",
		"suspect 0>1; suspect 0>1":        "node 0 suspects node 1 already",
		"suspect 0>0":                     "no node suspects itself",
		"suspect 0>2":                     "there is no node 2: they are 0 to 1",
		"suspect 0>1; crash 1; trust 0>1": "node 1 is down, and stays suspected",
		"crash 0; suspect 0>1":            "it is down",
		"suspect 0":                       "line 4: say which node and whom, such as suspect 0>1",
		"req 0; crash 1; rest; try trust 0>1": "node 1 crashes\nnode 0 leaves\n" +
			"node 0 suspects node 1",
	} {
		s, err := replay.Parse(strings.NewReader(head+steps), alone(trustingOnes().Spec))
		got := ""
		if err == nil {
			var r *replay.Played
			if r, err = replay.Play(s); err == nil {
				got = strings.Join(r.Story, "\n")
			}
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s\nwant %s", steps, got, want)
		}
	}
}

func TestSuspicionsThatNobodyHears(t *testing.T) {
	const want = "central listens to no failure detector: allow no suspicions"
	_, err := Run(Options{Spec: rowOf(t, "central"), Config: nodes.Config{N: 2}, Entries: 1, Suspicions: 1})
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	const naive = "turnstile schedule 1\nalgorithm naive-broadcast\nn 2\n"
	s, err := replay.Parse(strings.NewReader(naive+"suspect 0>1"), mutex.Find)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = replay.Play(s); err == nil || !strings.Contains(err.Error(), "node 0 listens to no failure") {
		t.Error(err)
	}
}
