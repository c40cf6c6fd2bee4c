package chaos

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
	"turnstile/nodes/row"
)

func liveScene(t *testing.T) *Scene {
	t.Helper()
	s := scene(t, "ricart-agrawala")
	s.Config.N, s.Measured = 4, 10*time.Second
	return s
}

// What is injected has a seed by its number, knows who is down because of the faults before it, and stays the
// same when it is resolved again, as when the run is made again.
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
		t.Errorf("who is down is killed: %v", err)
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
	stack, err := row.Assemble(row.Instance{Row: s.Spec, Config: s.Config})
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

// A stubCluster is one whose nodes do as they are told, and remember it.
type stubCluster struct {
	now    int64
	did    []string
	downed map[nodes.ID]bool
}

func (c *stubCluster) Now() int64          { return c.now }
func (c *stubCluster) Up(id nodes.ID) bool { return !c.downed[id] }
func (c *stubCluster) Kill(id nodes.ID) error {
	c.downed[id] = true
	return c.do("kill")
}
func (c *stubCluster) Restart(id nodes.ID, _ bool) error {
	delete(c.downed, id)
	return c.do("restart")
}
func (c *stubCluster) Pause(nodes.ID) error                            { return c.do("pause") }
func (c *stubCluster) Resume(nodes.ID) error                           { return c.do("resume") }
func (c *stubCluster) SetClock(nodes.ID, time.Duration, float64) error { return c.do("clock") }
func (c *stubCluster) FaultBegan(port.FaultBeginning) error            { return c.do("began") }
func (c *stubCluster) FaultHealed(int64, int, uint64) error            { return c.do("healed") }
func (c *stubCluster) do(what string) error {
	c.did = append(c.did, what)
	return nil
}

// liveRun returns a driver of a run that is on, at 3 s, with faults that were added after 2 measured seconds.
func liveRun(t *testing.T, s *Scene) (*Driver, *stubCluster) {
	t.Helper()
	c := &stubCluster{downed: map[nodes.ID]bool{}}
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
	if want := "pause began kill began began clock began"; strings.Join(c.did, " ") != want {
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
	if want := "resume healed restart healed healed"; strings.Join(c.did, " ") != want {
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
