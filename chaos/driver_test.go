package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/port"
)

// A fake is a cluster that notes what is done to it, with the time in milliseconds.
type fake struct {
	now   int64
	down  map[nodes.ID]bool
	did   []string
	began []port.FaultEvent
}

func (c *fake) note(format string, args ...any) error {
	c.did = append(c.did, fmt.Sprintf("%d ", c.now/1e6)+fmt.Sprintf(format, args...))
	return nil
}

func (c *fake) Now() int64                                 { return c.now }
func (c *fake) Up(m port.Member) bool                      { return !c.down[m.ID()] }
func (c *fake) Stop(m port.Member) error                   { return c.note("pause %d", m.I) }
func (c *fake) Continue(m port.Member) error               { return c.note("resume %d", m.I) }
func (c *fake) Promote(port.Member) error                  { return errNotHere }
func (c *fake) Leave(m port.Member, _ time.Duration) error { return c.Kill(m) }
func (c *fake) Delete(port.Member, bool) error             { return errNotHere }
func (c *fake) Expire(port.Member) error                   { return errNotHere }
func (c *fake) Strain(int, port.Strain) error              { return errNotHere }
func (c *fake) Relieve(int) error                          { return errNotHere }
func (c *fake) Lost(int) (port.Lost, error)                { return port.Lost{}, errNotHere }

// errNotHere says that a fake has nodes alone.
var errNotHere = errors.New("there are nodes alone")

func (c *fake) Find(port.Relation, port.Member) ([]port.Member, error) { return nil, errNotHere }

func (c *fake) Kill(m port.Member) error {
	c.down[m.ID()] = true
	return c.note("kill %d", m.I)
}

func (c *fake) Start(m port.Member, forget bool) error {
	c.down[m.ID()] = false
	return c.note("restart %d %v", m.I, forget)
}

func (c *fake) SetClock(m port.Member, jump time.Duration, rate float64) error {
	return c.note("clock %d %v %v", m.I, jump, rate)
}

func (c *fake) Record(e port.FaultEvent) error {
	if e.Healed {
		return c.note("healed %d", e.Number)
	}
	c.began = append(c.began, e)
	return c.note("began %d", e.Number)
}

// driven has faults carried out on a fake cluster, whose measured time begins at zero.
func driven(t *testing.T, texts ...string) (*Driver, *fake) {
	t.Helper()
	c := &fake{down: map[nodes.ID]bool{}}
	return begun(t, scene(t, "suzuki-kasami"), c, 0, texts...), c
}

// begun returns a driver of faults that has begun on a cluster at a time.
func begun(t *testing.T, s *Scene, c port.Cluster, at int64, texts ...string) *Driver {
	t.Helper()
	all, err := Resolve(read(t, texts...), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDriver(all, NewSharedState(s.Config.N), s.Config.N, s.codec())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Begin(c, at); err != nil {
		t.Fatal(err)
	}
	return d
}

// until has the driver do what is due up to a time.
func (c *fake) until(t *testing.T, d *Driver, ms int64) {
	t.Helper()
	for next := d.Next(); next <= ms*1e6; next = d.Next() {
		c.now = max(c.now, next)
		if err := d.Step(); err != nil {
			t.Fatal(err)
		}
	}
	c.now = ms * 1e6
}

// moment tells the driver what happens at a node now.
func (c *fake) moment(d *Driver, what port.HookKind, id nodes.ID) port.Action {
	return d.Watch(&port.Hook{At: c.now, Node: id, What: what})
}

// A slowFake takes 50 ms to start a node.
type slowFake struct{ *fake }

func (c slowFake) Start(m port.Member, forget bool) error {
	c.now += 50e6
	return c.fake.Start(m, forget)
}

// If a node restarts later than planned, the next fault of the node waits for it.
func TestFaultsWaitForALateRestart(t *testing.T) {
	for texts, want := range map[string][]int{
		"kill: 1, at: 2ms, for: 1ms, every: 20ms, repeat: 4":       {1, 1, 1, 1},
		"kill: 1, at: 2ms, for: 1ms; pause: 1, at: 20ms, for: 9ms": {1, 1},
	} {
		c := slowFake{&fake{down: map[nodes.ID]bool{}}}
		d := begun(t, scene(t, "suzuki-kasami"), c, 0, strings.Split(texts, "; ")...)
		c.now = 4e6 // the first steps come late
		for next := d.Next(); next <= 1e9; next = d.Next() {
			c.now = max(c.now, next)
			if err := d.Step(); err != nil {
				t.Fatal(err)
			}
		}
		var got []int
		for _, e := range c.began {
			got = append(got, e.Nodes)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the faults hit %v nodes, not %v", texts, got, want)
		}
	}
}

// A leavingFake takes its time to leave: it has left once it was resumed.
type leavingFake struct{ *fake }

func (c leavingFake) Leave(m port.Member, _ time.Duration) error { return c.note("leave %d", m.I) }

func (c leavingFake) Continue(m port.Member) error {
	c.down[m.ID()] = true
	return c.fake.Continue(m)
}

func (c leavingFake) Start(m port.Member, forget bool) error {
	if c.Up(m) {
		return port.ErrLater
	}
	return c.fake.Start(m, forget)
}

// A node that stands still while it leaves is resumed, and started again once it has left.
func TestALeavingNodeIsResumed(t *testing.T) {
	c, s := leavingFake{&fake{down: map[nodes.ID]bool{}}}, scene(t, "suzuki-kasami")
	spec := *s.Spec
	spec.Leaves, s.Spec = true, &spec
	d := begun(t, s, c, 0, "leave: holder, at: 1ms, for: 2ms", "pause: 1-2, at: 3ms, for: 3ms")
	for ; c.now <= 10e6; c.now += 1e6 {
		if err := d.Step(); err != nil {
			t.Fatal(err)
		}
		if c.now == 1e6 {
			c.moment(d, port.OnEnter, 1)
		}
	}
	const want = "2 leave 1, 2 began 1, 3 pause 1, 3 pause 2, 3 began 2, 6 resume 1, 6 resume 2, 6 healed 2, " +
		"7 restart 1 false, 7 healed 1"
	if got := strings.Join(c.did, ", "); got != want {
		t.Errorf("%s, not\n%s", got, want)
	}
}

func TestDriverCarriesOutPlans(t *testing.T) {
	for _, test := range []struct {
		texts []string
		want  string
	}{
		{[]string{"kill: 1, at: 10ms, for: 5ms"}, "10 kill 1, 10 began 1, 15 restart 1 false, 15 healed 1"},
		{[]string{"kill: 1-2, at: 10ms, for: 5ms, forget: true"},
			"10 kill 1, 10 kill 2, 10 began 1, 15 restart 1 true, 15 restart 2 true, 15 healed 1"},
		{[]string{"kill: 1, at: 10ms"}, "10 kill 1, 10 began 1"},
		{[]string{"pause: 1, at: 10ms, for: 20ms", "pause: 1, at: 20ms, for: 20ms"},
			"10 pause 1, 10 began 1, 20 began 2, 30 healed 1, 40 resume 1, 40 healed 2"},
		{[]string{"pause: 1, at: 10ms, for: 20ms", "kill: 1, at: 15ms, for: 5ms"},
			"10 pause 1, 10 began 1, 15 kill 1, 15 began 2, 20 restart 1 false, 20 healed 2, 30 healed 1"},
		{[]string{"pause: 1, at: 10ms"}, "10 pause 1, 10 began 1, 100 resume 1, 100 healed 1"},
		{[]string{"slow: 1, share: 25%, at: 10ms, for: 30ms"},
			"10 began 1, 10 pause 1, 15 resume 1, 30 pause 1, 35 resume 1, 40 healed 1"},
		{[]string{"slow: 1, share: 25%, at: 10ms, for: 24ms", "pause: 1, at: 12ms, for: 10ms"},
			"10 began 1, 10 pause 1, 12 began 2, 22 resume 1, 22 healed 2, " +
				"30 pause 1, 34 resume 1, 34 healed 1"},
		{[]string{"clock: 1, rate: 2, at: 10ms, for: 5ms"},
			"10 clock 1 0s 2, 10 began 1, 15 clock 1 0s 1, 15 healed 1"},
		{[]string{"clock: 1, by: 3s, at: 10ms"}, "10 clock 1 3s 1, 10 began 1"},
		{[]string{"cut: 0/1, at: 10ms, for: 5ms"}, "10 began 1, 15 healed 1"},
		{[]string{"loss: 1%, at: 10ms"}, "10 began 1, 100 healed 1"},
		{[]string{"pause: holder, at: 10ms, for: 5ms"}, ""},
		{[]string{"kill: 1, at: 200ms"}, ""}, // the end comes first
	} {
		d, c := driven(t, test.texts...)
		c.until(t, d, 100)
		for range 2 { // the second time nothing is left
			if err := d.End(); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(c.did, ", "); got != test.want {
			t.Errorf("%q:\n%s, not\n%s", test.texts, got, test.want)
		}
		if left := d.InForce(); len(left) > 0 || d.Pending(true) || d.Pending(false) {
			t.Errorf("%q: at the end there is %q", test.texts, left)
		}
		if c.moment(d, port.OnEnter, 3) != port.NoAction {
			t.Errorf("%q: it is fired after the end", test.texts)
		}
	}
}

// After a clock is set back, old timers may still run for as long as it was set back, and no longer.
func TestTimersThatWereSetBackLinger(t *testing.T) {
	d, c := driven(t, "clock: 1, by: -20ms, at: 10ms", "clock: 2, by: 50ms, at: 10ms",
		"pause: 3, at: 10ms, for: 1ms")
	for _, x := range []struct {
		ms   int64
		want bool
	}{{5, false}, {11, true}, {29, true}, {30, false}} {
		if c.until(t, d, x.ms); d.Lingers(x.ms*1e6) != x.want {
			t.Errorf("after %d ms timers linger: %v", x.ms, !x.want)
		}
	}
}

// A fault has no effect on a node that is down. If another fault has killed a node for good, the heal of a
// fault that could not kill it does not restart it.
func TestDriverUndoesOnlyWhatItDid(t *testing.T) {
	d, c := driven(t, "kill: 1, at: 10ms, when: 3 enters", "kill: waiter, at: 10ms, for: 10ms",
		"pause: 1, at: 10ms, when: 3 exits, for: 10ms")
	c.until(t, d, 10)
	c.moment(d, port.OnEnter, 3)
	c.moment(d, port.OnRequest, 1) // both kills are due at once: fault 1 kills node 1
	c.moment(d, port.OnExit, 3)
	c.until(t, d, 50)
	want := []int{1, 0, 0}
	for i, b := range c.began {
		if b.Nodes != want[i] && b.Number != 2 {
			t.Errorf("%+v", b)
		}
	}
	if err := d.End(); err != nil || slices.ContainsFunc(c.did, func(s string) bool {
		return strings.Contains(s, "pause") || strings.Contains(s, "resume")
	}) {
		t.Errorf("%v %v", c.did, err)
	}
}

// A node that kills itself at a moment is recorded as killed at this moment, even if it is noticed later.
func TestDriverRecordsWhoStruckItself(t *testing.T) {
	d, c := driven(t, "kill: holder, at: 10ms, for: 20ms")
	c.until(t, d, 9)
	if c.moment(d, port.OnEnter, 2) != port.NoAction || d.Pending(true) != true {
		t.Error("it is fired before its time")
	}
	c.until(t, d, 12)
	if !d.Waits() || d.Struck(2) || d.Pending(false) || !d.Pending(true) {
		t.Error("it does not wait")
	}
	if action := c.moment(d, port.OnEnter, 2); action != port.KillNode || !d.Struck(2) || d.Struck(1) {
		t.Errorf("%v, %v", action, d.Struck(2))
	}
	c.now, c.down[2] = 15e6, true
	c.until(t, d, 40)
	if got, want := strings.Join(c.did, ", "), "15 began 1, 32 restart 2 false, 32 healed 1"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if b := c.began[0]; b.At != 12e6 || b.Victim != 2 || b.Nodes != 1 || b.Breaks != nodes.NoCrash {
		t.Errorf("%+v", b)
	}
	if came := d.CameTo(); came[0].Hit == nil || *came[0].Hit != 2 {
		t.Errorf("it came to %v", came)
	}
}

// While the process of a node that has killed itself is ending, the driver may kill it too. Until this kill,
// Struck reports that the node may have killed itself.
func TestStruckUntilItIsBuried(t *testing.T) {
	d, c := driven(t, "kill: holder, at: 10ms")
	c.until(t, d, 12)
	c.moment(d, port.OnEnter, 2)
	asked := false
	d.cluster = &asking{c, func() { asked = d.Struck(2) }}
	if err := d.Step(); err != nil || !asked || d.Struck(2) {
		t.Errorf("%v: a node that has killed itself counts as lost to something else: %v", err, !asked)
	}
}

// asking is a cluster that asks something when it is to kill.
type asking struct {
	*fake
	ask func()
}

func (c *asking) Kill(m port.Member) error {
	c.ask()
	return c.fake.Kill(m)
}

// A fault that is fired just before the end still begins, is recorded, and is healed.
func TestDriverEndsWhatWasJustFired(t *testing.T) {
	d, c := driven(t, "kill: holder, at: 10ms, for: 20ms", "cut: waiter, at: 10ms")
	c.until(t, d, 12)
	c.moment(d, port.OnEnter, 2)
	c.moment(d, port.OnRequest, 3)
	if err := d.End(); err != nil {
		t.Fatal(err)
	}
	want := "12 began 1, 12 kill 2, 12 began 2, 12 restart 2 false, 12 healed 1, 12 healed 2"
	if got := strings.Join(c.did, ", "); got != want || len(d.InForce()) > 0 {
		t.Errorf("%s, not %s", got, want)
	}
}

// A moment counts events by node, kind and message, and exactly one of many watchers fires.
func TestWatcherFiresOnce(t *testing.T) {
	s := scene(t, "suzuki-kasami")
	codec := s.codec()
	faults, err := Resolve(read(t, "kill: 2, when: '0-2 sends token #3', at: 10ms"), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := NewSharedState(5)
	w, err := newWatcher(faults, b, 5, codec)
	if err != nil {
		t.Fatal(err)
	}
	b.faults[0].armed.Store(10e6)
	token := uint8(slices.IndexFunc(codec.Names(), func(name string) bool {
		return strings.Contains(name, "oken")
	}))
	tell := func(at int64, id nodes.ID, what port.HookKind, kind uint8) port.Action {
		return w.Watch(&port.Hook{At: at, Node: id, What: what, Kind: kind})
	}
	for _, x := range []struct {
		at   int64
		id   nodes.ID
		what port.HookKind
		kind uint8
		want port.Action
	}{
		{9e6, 2, port.OnSend, token, port.NoAction}, {11e6, 3, port.OnSend, token, port.NoAction},
		{11e6, 2, port.OnReceive, token, port.NoAction}, {11e6, 2, port.OnSend, 1 - token, port.NoAction},
		{11e6, 2, port.OnSend, token, port.NoAction}, {12e6, 0, port.OnSend, token, port.NoAction},
		{13e6, 2, port.OnSend, token, port.KillNode}, {14e6, 2, port.OnSend, token, port.NoAction},
	} {
		if got := tell(x.at, x.id, x.what, x.kind); got != x.want {
			t.Errorf("%+v: %v", x, got)
		}
	}

	faults, err = Resolve(read(t, "kill: successor", "pause: holder", "cut: holder, for: 1s"), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	b = NewSharedState(5)
	for i := range faults {
		b.faults[i].armed.Store(1)
	}
	var all sync.WaitGroup
	blows := make([]port.Action, 64)
	for i := range blows {
		w, err := newWatcher(faults, b, 5, codec)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for range 100 {
				m := port.Hook{At: 5, Node: nodes.ID(i % 5), What: port.OnEnter}
				blows[i] = max(blows[i], w.Watch(&m))
			}
		})
	}
	all.Wait()
	count := map[port.Action]int{}
	for _, b := range blows {
		count[b]++
	}
	if count[port.PauseNode] != 1 || count[port.KillNode] != 0 {
		t.Errorf("fired: %v", count)
	}
}

func liveScene(t *testing.T) *Scene {
	t.Helper()
	s := scene(t, "ricart-agrawala")
	s.Config.N, s.Measured = 4, 10*time.Second
	return s
}

// An injected fault gets a seed by its number, takes no random victim that an earlier fault keeps down, and
// stays the same when it is resolved again, as by verify.
func TestResolveMore(t *testing.T) {
	s := liveScene(t)
	first, err := Resolve(read(t, "kill: 0-2, at: 1s", "loss: 10%, at: 1s, for: 1s"), s, 7)
	if err != nil {
		t.Fatal(err)
	}
	random := read(t, "pause: random, at: 2s, for: 1s", "loss: 10%, at: 2s, for: 1s")
	more, err := ResolveMore(first, random, s, 7)
	if err != nil {
		t.Fatal(err)
	}
	if got := more[0].target().String(); got != "3" {
		t.Errorf("the only node that is up is 3, and it hits %s", got)
	}
	if first[1].Seed == more[1].Seed {
		t.Error("two faults have one seed")
	}
	all := append(first, more...)
	again, err := ResolveMore(nil, all, s, 99)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if got, want := again[i].String(), all[i].String(); got != want || again[i].Seed != all[i].Seed {
			t.Errorf("fault %d is %s again (seed %d), and was %s (seed %d)", i+1, got, again[i].Seed, want,
				all[i].Seed)
		}
	}
	if _, err := ResolveMore(all, read(t, "kill: 1, at: 3s"), s, 7); err == nil ||
		!strings.Contains(err.Error(), "node 1 is down then") {
		t.Errorf("a node that is down is killed: %v", err)
	}
	if _, err := ResolveMore(make([]Fault, 0, mostShared),
		read(t, "pause: 1, at: 1ms, for: 1ms, every: 10ms"), s,
		7); err == nil || !strings.Contains(err.Error(), "more than 800 faults") {
		t.Errorf("too many: %v", err)
	}
}

// A node has nothing to do with faults until one is added that it carries out.
func TestSiteTakesFaults(t *testing.T) {
	s, path := liveScene(t), filepath.Join(t.TempDir(), "board")
	state, err := CreateSharedState(path, 4)
	if err != nil {
		t.Fatal(err)
	}
	station := NodeFaults{SharedState: path}
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: s.Spec, Config: s.Config})
	if err != nil {
		t.Fatal(err)
	}
	site, err := station.Open(stack, 1)
	if err != nil {
		t.Fatal(err)
	}
	if site.Shaper != nil || site.Watcher != nil || site.state != nil {
		t.Fatal("a run without faults has a shaper, a watcher or a shared state")
	}
	take := func(number int, text string) (nodes.Shaper, port.Watcher) {
		faults, err := ResolveMore(nil, read(t, text), s, 1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(faults[0])
		if err != nil {
			t.Fatal(err)
		}
		shaper, watcher, err := site.TakeFault(number, b)
		if err != nil {
			t.Fatal(err)
		}
		return shaper, watcher
	}
	if shaper, watcher := take(1, "pause: 1, for: 1s"); shaper != nil || watcher != nil {
		t.Error("the orchestrator alone pauses a node")
	}
	shaper, watcher := take(2, "cut: 0/1-3, for: 1s")
	if shaper == nil || watcher != nil {
		t.Fatal("a cut takes a shaper alone")
	}
	p := nodes.Packet{From: 1, To: 0, At: 5}
	if fate := shaper.Shape(&p, nil); len(fate) != 1 {
		t.Errorf("before it is in force, the fate is %v", fate)
	}
	state.faults[1].begin(1, never)
	if fate := shaper.Shape(&p, nil); len(fate) != 0 {
		t.Errorf("while it is in force, the fate is %v", fate)
	}
	if _, watcher = take(3, "kill: holder"); watcher == nil {
		t.Fatal("who kills the holder must watch")
	}
	state.faults[2].armed.Store(1)
	if action := watcher.Watch(&port.Hook{At: 9, Node: 2, What: port.OnEnter}); action != port.KillNode ||
		state.faults[2].victim() != 2 {
		t.Errorf("the holder gets action %d, and the victim is %d", action, state.faults[2].victim())
	}
	for _, bad := range []string{`{}`, `{"cut":"0"}`, `[`} {
		if _, _, err := site.TakeFault(4, []byte(bad)); err == nil {
			t.Errorf("it takes %s", bad)
		}
	}
	if _, _, err := site.TakeFault(mostShared+1, []byte(`{"cut":"0/1"}`)); err == nil {
		t.Error("it takes more faults than there is room for")
	}
}

// liveRun returns a driver of a run that is on, at 3 s, with faults that were added after 2 measured seconds.
func liveRun(t *testing.T, s *Scene) (*Driver, *fake) {
	t.Helper()
	c := &fake{down: map[nodes.ID]bool{}}
	d, err := NewDriver(nil, NewSharedState(4), 4, s.codec())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Begin(c, 1e9); err != nil {
		t.Fatal(err)
	}
	c.now = 3e9
	faults, err := ResolveMore(nil, read(t, "pause: 1, at: 2s, for: 3s", "kill: 2, at: 2s",
		"cut: 0/1-3, at: 2s, for: 7s", "kill: holder, at: 2s", "clock: 0, by: 1s, at: 2s",
		"pause: 3, at: 9s, for: 1s"), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range faults {
		if number, err := d.Add(f); number != i+1 || err != nil {
			t.Fatalf("fault %d has number %d: %v", i+1, number, err)
		}
	}
	return d, c
}

// wantStates fails the test unless the faults have come so far.
func wantStates(t *testing.T, d *Driver, want ...string) {
	t.Helper()
	var got []string
	for _, p := range d.Progress() {
		got = append(got, p.State)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the states are %q, want %q", got, want)
	}
}

// Faults that are added begin when all nodes know them, and are healed when they are told to.
func TestDriverOfARunThatIsOn(t *testing.T) {
	s := liveScene(t)
	d, c := liveRun(t, s)
	step := func(at int64) {
		t.Helper()
		if c.now = at; d.Step() != nil {
			t.Fatal("a step failed")
		}
	}
	if step(3_500_000_000); len(c.did) > 0 || !d.Announced() || !d.Pending(true) || !d.Waits() {
		t.Errorf("before all nodes know them, it did %v", c.did)
	}
	d.Known(s.Measured)
	step(3_600_000_000)
	if want := "3600 pause 1, 3600 began 1, 3600 kill 2, 3600 began 2, 3600 began 3, " +
		"3600 clock 0 1s 1, 3600 began 5"; strings.Join(c.did, ", ") != want {
		t.Errorf("when all nodes know them, it did %v, want %s", c.did, want)
	}
	if got := d.Faults()[2]; got.At != 2501*time.Millisecond || got.For != 7*time.Second {
		t.Errorf("the cut is on record as %v", &got)
	}
	wantStates(t, d, nowInForce, doneForGood, nowInForce, waitingForMoment, doneForGood, ToCome)
	c.did, c.now = nil, 4e9
	for _, number := range []int{1, 2, 3, 4, 6} {
		if err := d.Heal(number); err != nil {
			t.Errorf("healing fault %d: %v", number, err)
		}
	}
	step(4_100_000_000)
	if want := "4000 resume 1, 4000 healed 1, 4000 restart 2 false, 4000 healed 2, " +
		"4100 healed 3"; strings.Join(c.did, ", ") != want {
		t.Errorf("the heals did %v, want %s", c.did, want)
	}
	wantStates(t, d, Healed, Healed, Healed, NeverBegan, doneForGood, NeverBegan)
	for i, ms := range []time.Duration{400, 400, 500} {
		want := ms * time.Millisecond
		if got := d.Faults()[i].For; got < want || got > want+2*time.Millisecond {
			t.Errorf("fault %d is on record for %v, want %v", i+1, got, want)
		}
	}
	for number, why := range []string{"count from 1 to 6", "is healed already", "is healed already",
		"is healed already", "never began", "has set a clock", "never began", "count from 1 to 6"} {
		err := d.Heal(number)
		if !errors.As(err, new(*Unhealable)) || !strings.Contains(err.Error(), why) {
			t.Errorf("healing fault %d again: %v, want %q", number, err, why)
		}
	}
	if err := errors.Join(d.End(), d.Step()); err != nil || d.InForce() != nil {
		t.Errorf("at the end: %v, %v", err, d.InForce())
	}
	if _, err := ResolveMore(nil, d.Faults(), s, 1); err != nil {
		t.Errorf("what is on record cannot be repeated: %v", err)
	}
}
