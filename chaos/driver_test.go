package chaos

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// A fake is a cluster that notes what is done to it, in milliseconds.
type fake struct {
	now   int64
	down  map[nodes.ID]bool
	did   []string
	began []port.FaultBeginning
}

func (c *fake) note(format string, args ...any) error {
	c.did = append(c.did, fmt.Sprintf("%d ", c.now/1e6)+fmt.Sprintf(format, args...))
	return nil
}

func (c *fake) Now() int64               { return c.now }
func (c *fake) Up(id nodes.ID) bool      { return !c.down[id] }
func (c *fake) Pause(id nodes.ID) error  { return c.note("pause %d", id) }
func (c *fake) Resume(id nodes.ID) error { return c.note("resume %d", id) }

func (c *fake) Kill(id nodes.ID) error {
	c.down[id] = true
	return c.note("kill %d", id)
}

func (c *fake) Restart(id nodes.ID, forget bool) error {
	c.down[id] = false
	return c.note("restart %d %v", id, forget)
}

func (c *fake) SetClock(id nodes.ID, jump time.Duration, rate float64) error {
	return c.note("clock %d %v %v", id, jump, rate)
}

func (c *fake) FaultBegan(b port.FaultBeginning) error {
	c.began = append(c.began, b)
	return c.note("began %d", b.Number)
}

func (c *fake) FaultHealed(at int64, number int, hits uint64) error {
	return c.note("healed %d", number)
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

// A clock that is set back has timers run out that much later, and the next in time again.
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

// Who is down feels nothing, and whom another fault has killed for good is not brought up by the heal of one
// that could not kill it.
func TestDriverUndoesOnlyWhatItDid(t *testing.T) {
	d, c := driven(t, "kill: 1, at: 10ms, when: 3 enters", "kill: waiter, at: 10ms, for: 10ms",
		"pause: 1, at: 10ms, when: 3 exits, for: 10ms")
	c.until(t, d, 10)
	c.moment(d, port.OnEnter, 3)
	c.moment(d, port.OnRequest, 1) // both at one time: whoever comes first kills it
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

// Who kills itself where the moment has come is on record as killed then, though it is noticed only later.
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

// While its process is on its way to the grave, the driver may kill it too: until that is done it is known
// that the node may end by itself.
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

func (c *asking) Kill(id nodes.ID) error {
	c.ask()
	return c.fake.Kill(id)
}

// What is fired just before the end has begun, is on record, and is healed.
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

// A moment counts who does what with which message, and of many that see it one fires.
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
