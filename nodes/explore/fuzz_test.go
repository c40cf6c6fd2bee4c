package explore

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/mutex"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/replay"
)

// A toy reacts as a random table says for its state and its input. Its behaviour has no purpose, so it
// reaches situations that no algorithm reaches. The table is not stored: a hash gives its entries.
type toy struct {
	seed   uint64
	temper temper
	state  uint8
	left   uint8 // messages that it may still send, so that its states have an end

	servers int
	fenced  bool
	grants  uint8
	wants   bool
}

// A temper says how often in 32 a toy does what.
type temper struct {
	send, grant, timer, save, choose, fail uint8

	restless bool // it always has a timer running
}

type (
	tyPing struct{ N uint8 }
	tyPong struct{ N uint8 }
)

// luck is what a reaction is drawn from.
type luck uint64

func (l *luck) below(n int) int {
	*l = luck(fold(uint64(*l)+oddTwo, oddOne))
	return int(uint64(*l) >> 33 % uint64(n))
}

func (l *luck) often(n uint8) bool { return l.below(32) < int(n) }

func (y *toy) react(env *nodes.Env, input ...uint64) {
	l := luck(y.seed ^ uint64(env.Self())<<8 ^ uint64(y.state))
	for _, x := range input {
		l.below(2)
		l ^= luck(x)
	}
	for l.often(y.temper.choose) {
		l ^= luck(env.Choose(1 + l.below(3)))
	}
	y.state = uint8(l.below(3))
	if l.often(y.temper.fail) && (input[0] != tyStart || env.Incarnation() > 0) {
		panic("as the table says")
	}
	if y.wants && l.often(y.temper.grant) {
		y.wants = false
		y.grant(env, &l)
	}
	if l.often(y.temper.save) {
		env.Save(y.message(&l))
	}
	y.time(env, &l)
	for y.left > 0 && l.often(y.temper.send) {
		y.left--
		y.send(env, &l)
	}
}

// grant lets the client in under one of a few fence numbers, if it hands out any.
func (y *toy) grant(env *nodes.Env, l *luck) {
	if !y.fenced {
		env.Grant()
		return
	}
	y.grants++
	env.GrantFenced(uint64(int(y.grants)*(1+l.below(2))*l.below(8)) << 31)
}

// time sets or stops timers.
func (y *toy) time(env *nodes.Env, l *luck) {
	if y.temper.restless {
		env.SetTimer(nodes.Timer{Kind: 3}, ms, 2*ms)
	}
	for l.often(y.temper.timer) {
		timer := nodes.Timer{Kind: nodes.TimerKind(1 + l.below(2)), Peer: nodes.ID(l.below(2))}
		least := time.Duration(l.below(4)) * ms / 2
		if l.below(4) == 0 {
			env.StopTimer(timer)
		} else {
			env.SetTimer(timer, least, least+time.Duration(l.below(4))*ms/2)
		}
	}
}

// message returns one of four messages, so that equal messages often meet on a link.
func (y *toy) message(l *luck) nodes.Message {
	n := uint8(l.below(3) / 2)
	if l.below(3) > 0 {
		return tyPing{n}
	}
	return tyPong{n}
}

func (y *toy) send(env *nodes.Env, l *luck) {
	m := y.message(l)
	if l.below(4) == 0 {
		env.Broadcast(m)
		return
	}
	env.Send(nodes.ID(l.below(env.N()+y.servers)), m)
}

const (
	tyStart = 10 + iota
	tyRecover
	tyRequest
	tyRelease
	tyTimeout
	tySuspect
	tyTrust
)

func (y *toy) Start(env *nodes.Env)   { y.react(env, tyStart, uint64(env.Incarnation())) }
func (y *toy) Request(env *nodes.Env) { y.wants = true; y.react(env, tyRequest) }
func (y *toy) Release(env *nodes.Env) { y.react(env, tyRelease) }
func (y *toy) Timeout(env *nodes.Env, t nodes.Timer) {
	y.react(env, tyTimeout, uint64(t.Kind), uint64(t.Peer))
}
func (y *toy) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case tyPing:
		y.react(env, uint64(from), 1, uint64(m.N))
	case tyPong:
		y.react(env, uint64(from), 2, uint64(m.N))
	}
}

// A mindful toy remembers what it saved.
type mindfulToy struct{ toy }

func (y *mindfulToy) Recover(env *nodes.Env, saved nodes.Message) {
	switch m := saved.(type) {
	case tyPing:
		y.react(env, tyRecover, 1, uint64(m.N))
	case tyPong:
		y.react(env, tyRecover, 2, uint64(m.N), uint64(env.Incarnation()))
	}
}

// Heedful toys listen to a failure detector.
type (
	heedfulToy        struct{ toy }
	heedfulMindfulToy struct{ mindfulToy }
)

func (y *toy) suspect(env *nodes.Env, peer nodes.ID) { y.react(env, tySuspect, uint64(peer)) }
func (y *toy) trust(env *nodes.Env, peer nodes.ID)   { y.react(env, tyTrust, uint64(peer)) }

func (y *heedfulToy) Suspect(env *nodes.Env, peer nodes.ID)        { y.suspect(env, peer) }
func (y *heedfulToy) Trust(env *nodes.Env, peer nodes.ID)          { y.trust(env, peer) }
func (y *heedfulMindfulToy) Suspect(env *nodes.Env, peer nodes.ID) { y.suspect(env, peer) }

// toys returns a random algorithm.
func toys(r *rand.Rand) *algorithm.Algorithm {
	upTo := func(n int) uint8 { return uint8(max(0, r.IntN(n+8)-7)) } // often 0
	mindful, heedful, servers := r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(4)/3
	t := toy{seed: r.Uint64(), fenced: r.IntN(3) == 0, left: uint8(1 + r.IntN(3)), servers: servers}
	t.temper = temper{send: 8 + upTo(16),
		grant: 2 + upTo(20), timer: upTo(12), save: upTo(12), choose: upTo(8), fail: upTo(2),
		restless: r.IntN(2) == 0}
	needs := func() nodes.Assumption { return nodes.Assumption(r.Uint32() & r.Uint32() & (1<<10 - 1)) }
	spec := &algorithm.Algorithm{Spec: nodes.Spec{
		Name:     "toy",
		Messages: []nodes.MessageKind{{Zero: tyPing{}}, {Zero: tyPong{}}},
		Safe:     needs(), Effective: needs(), Live: needs(), Fenced: t.fenced,
		Servers: func(nodes.Config) int { return servers },
	}}
	spec.New = func(nodes.Config) nodes.Machine {
		switch {
		case mindful && heedful:
			return &heedfulMindfulToy{mindfulToy{t}}
		case mindful:
			return &mindfulToy{t}
		case heedful:
			return &heedfulToy{t}
		}
		fresh := t
		return &fresh
	}
	spec.NewServer = func(c nodes.Config, _ nodes.ID) nodes.Machine { return spec.New(c) }
	return spec
}

// randomOptions returns options to explore with.
func randomOptions(r *rand.Rand) Space {
	o := Space{Spec: toys(r), Config: nodes.Config{N: 1 + r.IntN(3)}, Entries: 1 + r.IntN(2),
		Workers: 1, Reordering: r.IntN(2) == 0, Demand: r.IntN(4) == 0}
	if r.IntN(4) == 0 {
		o.Spec, o.Config.N = mutex.Table[r.IntN(len(mutex.Table))], 2
	}
	for _, fault := range []*int{&o.Crashes, &o.Losses, &o.Duplicates} {
		*fault = max(0, r.IntN(4)-1)
	}
	o.Config.Fenced = o.Spec.Fenced && r.IntN(2) == 0
	o.Copies, o.Suspicions = r.IntN(3), r.IntN(3)
	if stack, err := o.stack(); err == nil {
		if o.validateSuspicions(stack) != nil {
			o.Suspicions = 0
		}
		if o.validateCopies(stack) != nil {
			o.Copies = 0
		}
	}
	o.Restarts, o.Amnesia = o.Crashes > 0 && r.IntN(2) == 0, o.Crashes > 0 && r.IntN(3) == 0
	if r.IntN(2) == 0 {
		least := time.Duration(r.IntN(3)) * ms
		o.Timing = timing(least, least+time.Duration(r.IntN(3))*ms)
	}
	return o
}

// FuzzExplore explores random spaces of random machines, also by a plain search, and plays all violations.
func FuzzExplore(f *testing.F) {
	for seed := range soak.Pick[uint64](5, 40, 1000) {
		f.Add(seed)
	}
	f.Fuzz(exploreAtRandom)
}

// exploreAtRandom explores the space of a seed in all available ways, and checks that all results are equal.
func exploreAtRandom(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	o := randomOptions(r)
	o.WholeInputs = o.Crashes > 0 && seed%3 == 0
	if err := o.Validate(); err != nil {
		t.Skip(err)
	}
	const most = 400 // states, since a plain search is slow
	o.States = most
	switch x, err := Run(o); {
	case err != nil && strings.Contains(err.Error(), "panics when it starts"):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	case x.Bound == "states":
		o.Depth = max(1, x.Depth-1)
	}
	o.States = 0
	x := agree(t, o)
	if o.Losses+o.Duplicates > 0 && !o.Reordering {
		everywhere := newPlain(t, &o)
		everywhere.anywhere = true
		anywhere := everywhere.run()
		if !slices.Contains(anywhere.worst.checks, replay.CheckStarvation) { // this may come a few steps earlier
			anywhere.worst.is(t, x.Violation)
		}
	}
	x.Bytes, x.NodeStates = 0, 0
	o.Workers = 2 + r.IntN(7)
	other := explore(t, o)
	other.Bytes, other.NodeStates = 0, 0
	if !reflect.DeepEqual(x, other) {
		t.Errorf("%d workers find\n%+v\nand one finds\n%+v", o.Workers, other, x)
	}
	if x.States < 200 { // since the stage is slow
		staged(t, o)
	}
	for _, v := range []*Violation{x.Violation, x.FirstOutside} {
		if v != nil {
			replays(t, o.Spec, v)
		}
	}
}

// replays checks that the schedule of a violation shows it when played, and that no step can be dropped.
func replays(t *testing.T, spec *algorithm.Algorithm, v *Violation) {
	t.Helper()
	read, err := replay.Parse(strings.NewReader(v.Schedule.String()), alone(spec))
	if err != nil {
		t.Fatal(err)
	}
	less, err := minimise(read)
	if err != nil {
		t.Fatal(err)
	}
	if less := (&Violation{Schedule: less}); less.moves() != v.moves() {
		t.Errorf("%v\nis minimised to\n%v", v.Schedule, less.Schedule)
	}
	for _, s := range []*replay.Schedule{read, less} {
		r, err := replay.Play(s)
		switch {
		case err != nil:
			t.Errorf("%v\n%v", s, err)
		case v.Check == replay.CheckStarvation:
			if r.Violation != nil {
				t.Errorf("%v\nshows the %s, and not that node starves", s, r.Violation.Check)
			}
		case r.Violation == nil || r.Violation.Check != v.Check:
			t.Errorf("%v\nplayed again: %+v, want %s", s, r.Violation, v.Check)
		}
	}
}

// staged checks that the schedules of all states lead, on the stage, to all states that a plain search sees.
func staged(t *testing.T, o Space) {
	t.Helper()
	p := newPlain(t, &o)
	left := p.run().number
	s, err := newSearch(o)
	if err != nil {
		t.Fatal(err)
	}
	s.run()
	for state := range s.seen.count {
		schedule, stage, at, err := s.play(&lead{state: uint32(state)})
		if err != nil || !s.same(stage, at) {
			t.Fatalf("%v\nis as explored: %v", schedule, err)
		}
		g := replay.NewStage(p.stack, schedule, o.looksFor)
		for _, step := range schedule.Steps {
			if step.What != replay.StepStart {
				g.Start()
			}
			if err := g.Play(step); err != nil {
				t.Fatal(err)
			}
		}
		g.Start()
		key := p.write(plainOf(g, schedule, p.stack))
		if _, there := left[key]; !there {
			t.Errorf("%v\nleads to\n%s", schedule, key)
		}
		delete(left, key)
	}
	if len(left) > 0 {
		t.Errorf("no way leads to %d states of %d", len(left), s.seen.count)
	}
}

// plainOf returns what is on the stage as a plain state.
func plainOf(g *replay.Stage, schedule *replay.Schedule, stack *algorithm.Stack) *plainState {
	s := &plainState{forgot: g.Lab.Broken&nodes.NoAmnesia != 0, fence: g.Lab.Resources[0].Fence}
	for id := range g.Nodes {
		a := &g.Nodes[id]
		p := &a.Process
		n := plainNode{incarnation: p.Incarnation(), saved: p.Saved(0)}
		if id < stack.N() { // a server has no client
			n.asked = int(g.Lab.Client(nodes.ID(id), 0).Count)
		}
		if p.Up() {
			n.up = &p.Node
		}
		for peer := range a.Suspects.All() {
			n.suspects[peer] = true
		}
		for _, b := range a.Timers {
			n.timers = append(n.timers, plainTimer{b.Timer, b.Gen, int(b.Opens), int(b.Closes)})
		}
		s.nodes = append(s.nodes, n)
	}
	needs := stack.Safe() | stack.Live()
	s.behind = needs&nodes.NoLoss != 0 && strings.Contains(strings.Join(g.Story, ""), "since an equal message")
	down := map[nodes.ID]bool{}
	for _, e := range g.Events {
		switch {
		case e.Kind == history.Crashed || e.Kind == history.Restarted:
			down[e.Node] = e.Kind == history.Crashed
		case e.Kind == history.Suspected && !down[nodes.ID(e.Count)]:
			s.wrong++
		}
	}
	for _, f := range g.Flying {
		s.flying = append(s.flying, plainFlight{f.From, f.To, f.Kind, f.Message, int(f.Opens), int(f.Closes)})
	}
	for _, step := range schedule.Steps {
		for what, count := range map[replay.StepKind]*int{replay.StepDrop: &s.lost, replay.StepDuplicate: &s.copied,
			replay.StepCrash: &s.crashes} {
			if step.What == what {
				*count++
			}
		}
		if step.Crashing > 0 {
			s.crashes++
		}
	}
	return s
}
