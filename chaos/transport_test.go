package chaos

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// In a simulation, links do what faults of connections and brokers do to processes.
func TestLinksStandInForConnections(t *testing.T) {
	const from, to = int64(time.Second), int64(2 * time.Second)
	lost := time.Duration(-1)
	for text, want := range map[string]map[[2]nodes.ID]time.Duration{
		"kill-broker: 1":   {{0, 1}: lost, {4, 2}: lost, {1, 4}: lost, {0, 2}: 0, {0, 3}: 0},
		"cut-routes: 0/1":  {{0, 1}: lost, {4, 3}: lost, {0, 3}: 0, {0, 2}: 0, {2, 1}: 0},
		"pause-broker: 1":  {{0, 1}: 600 * time.Millisecond, {0, 2}: 0},
		"reset: 1":         {{0, 1}: lost, {1, 4}: lost, {0, 4}: 0},
		"stall: 1":         {{0, 1}: 600 * time.Millisecond, {1, 4}: 600 * time.Millisecond, {0, 4}: 0},
		"lag: 0-1, by: 1s": {{0, 1}: 2 * time.Second, {1, 2}: time.Second, {3, 0}: time.Second, {2, 3}: 0},
		// 100 bytes at 1 KB/s
		"throttle: 1, to: 1KB": {{0, 1}: 100 * time.Millisecond, {1, 2}: 100 * time.Millisecond, {0, 2}: 0},
	} {
		s := scene(t, "suzuki-kasami")
		s.Simulated, s.Brokers = true, 3
		all, err := Resolve(read(t, text+", at: 1s, for: 1s"), s, 1)
		if err != nil {
			t.Fatal(err)
		}
		if f := &all[0]; !f.OfLinks() || !strings.Contains(f.String(), " (simulated as ") {
			t.Errorf("%v is one of links: %v", f, f.OfLinks())
		}
		b := NewSharedState(5)
		b.faults[0].begin(from, to)
		n := Network{}
		shaper, err := n.Shaper(1, all, b, s.codec())
		if err != nil {
			t.Fatal(err)
		}
		if w, is := shaper.(nodes.Weigher); !is || w.NeedsBytes() != strings.HasPrefix(text, "throttle") {
			t.Errorf("%s: it needs bytes: %v", text, is && w.NeedsBytes())
		}
		for link, later := range want {
			p := nodes.Packet{From: link[0], To: link[1], Number: 1, Bytes: 100, At: from + 4e8}
			if !strings.HasPrefix(text, "throttle") {
				p.Bytes = 0
			}
			got := shaper.Shape(&p, nil)
			if is := len(got) == 1 && got[0] == later; later == lost && len(got) > 0 || later != lost && !is {
				t.Errorf("%s: on %v the fate is %v, and should be %v", text, link, got, later)
			}
			p.At = to
			if got := shaper.Shape(&p, nil); !slices.Equal(got, nodes.Fate{0}) {
				t.Errorf("%s: once it is healed, on %v the fate is %v", text, link, got)
			}
		}
	}
}

// All links of one throttled connection share its bandwidth.
func TestThrottledLinksShareAConnection(t *testing.T) {
	s := scene(t, "suzuki-kasami")
	s.Simulated = true
	all, err := Resolve(read(t, "throttle: 1, to: 1KB"), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := NewSharedState(5)
	b.faults[0].begin(1, never)
	n := Network{}
	shaper, err := n.Shaper(1, all, b, s.codec())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond} {
		p := nodes.Packet{From: 1, To: nodes.ID(2 + i), Number: 1, Bytes: 100, At: 5}
		if got := shaper.Shape(&p, nil); !slices.Equal(got, nodes.Fate{want}) {
			t.Errorf("packet %d comes %v later", i, got)
		}
	}
}

func TestFaultsOfTransportAreChecked(t *testing.T) {
	checkRefused(t, map[string]refusedFault{
		"kill-broker: 0": {nil, "line 3: no run comes to rest without a broker"},
		"kill-broker: 1\nfor: 1s": {nil,
			"line 3: kill-broker 1: there is no broker 1: there is one, and it is 0"},
		"pause-broker: 3": {func(s *Scene) { s.Brokers = 3 },
			"line 3: pause-broker 3: there is no broker 3: they are 0 to 2"},
		"pause-broker: 1,1": {func(s *Scene) { s.Brokers = 3 },
			`"1,1" names no brokers: write 0, 0-1 or 0,2, each once`},
		"pause-broker: some": {nil, `"some" names no brokers: write 0, 0-1 or 0,2`},
		"cut-routes: 0/1-2":  {nil, "there is one broker, and so no route: take --brokers 3"},
		"cut-routes: 0>1":    {nil, `"0>1" names no routes: write groups of brokers`},
		"cut-routes: bridge": {nil, `"bridge" names no routes`},
		"lag: 1":             {nil, "lag takes how much later everything comes, as in by: 50ms"},
		"lag: 1\nby: -1ms":   {nil, "line 4: lag takes how much later"},
		"throttle: 1":        {nil, "throttle takes how many bytes pass in a second, as in to: 100KB"},
		"stall: 1\nto: 1KB":  {nil, "line 4: stall takes no to"},
		"stall: 7":           {nil, "line 3: stall 7: there is no node 7: they are 0 to 5"},
		"stall: 2": {func(s *Scene) { s.Foreign = true }, "line 3: stall 2: the broker is not " +
			"one of the run's"},
		"kill-broker: 0\nfor: 1ms": {func(s *Scene) { s.Foreign = true },
			"the broker is not one of the run's own: leave out --nats"},
		"pause-broker: 0": {func(s *Scene) { s.Measured = 0 },
			"line 3: pause-broker 0: this run ends by entries, and might never have them: say how long"},
		"reset: 1": {func(s *Scene) { s.Simulated = true }, "a simulation has no connections " +
			"that could be closed"},
		"stall: 1\nat: 1s": {func(s *Scene) { s.Simulated = true }, "line 3: stall 1: a simulation must " +
			"know how long"},
		"reset: 1\nevery: 1s": {nil, ""},
	})
	if _, err := ReadPlan("p", []byte("about: x\nbrokers: 2\nfaults:\n  - cut-routes: 0/1\n")); err == nil ||
		err.Error() != "p: line 2: 2 brokers: a run has 1 or 3" {
		t.Errorf("the error is %v", err)
	}
}

// A broker that is down or stands still suffers nothing else.
func TestFaultsOfOneBrokerHoldOneAtATime(t *testing.T) {
	s := scene(t, "central")
	s.Brokers = 3
	const down = "kill-broker: 0-1, at: 1s, for: 500ms"
	for text, refused := range map[string]bool{
		"kill-broker: 1, at: 1200ms, for: 1s":   true,
		"pause-broker: 1, at: 500ms, for: 1s":   true,
		"cut-routes: 1/2, at: 500ms, for: 1s":   true,
		"kill-broker: 2, at: 1200ms, for: 1s":   false,
		"kill-broker: 1, at: 1600ms, for: 1s":   false,
		"stall: 1, at: 1200ms, for: 1s":         false,
		"kill: 1, at: 1200ms, for: 100ms":       false,
		"cut-routes: 1/2, at: 1600ms, for: 1ms": false,
	} {
		_, err := Resolve(read(t, down, text), s, 1)
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(),
			"broker 1 is down or stands") {
			t.Errorf("%s beside %s: %v", text, down, err)
		}
	}
	const cut = "cut-routes: 0/1-2, at: 1s, for: 1s"
	if _, err := Resolve(read(t, cut, cut), s, 1); err != nil {
		t.Error(err) // routes may be cut by several, and each is healed by its own
	}
}

// A stageOf is a cluster that writes down what is done to it.
type stageOf struct {
	broke []nodes.Assumption // by the faults that began
	now   int64
	away  bool
	down  map[int]bool // brokers
	dead  map[nodes.ID]bool
	did   []string
	fakeServers
}

func (s *stageOf) do(format string, args ...any) error {
	s.did = append(s.did, fmt.Sprintf(format, args...))
	return nil
}

func (s *stageOf) Now() int64          { return s.now }
func (s *stageOf) Up(id nodes.ID) bool { return !s.dead[id] }
func (s *stageOf) Kill(id nodes.ID) error {
	s.dead[id] = true
	return s.do("kill %d", id)
}
func (s *stageOf) Pause(id nodes.ID) error  { return s.do("pause %d", id) }
func (s *stageOf) Resume(id nodes.ID) error { return s.do("resume %d", id) }
func (s *stageOf) Connected() bool          { return !s.away }
func (s *stageOf) BrokerUp(i int) bool      { return !s.down[i] }
func (s *stageOf) NodesAt(int) int          { return 2 }
func (s *stageOf) KillBroker(i int) error {
	s.down[i] = true
	return s.do("kill broker %d", i)
}
func (s *stageOf) RestartBroker(i int) error {
	s.down[i] = false
	return s.do("restart broker %d", i)
}
func (s *stageOf) PauseBroker(i int) error                         { return s.do("pause broker %d", i) }
func (s *stageOf) ResumeBroker(i int) error                        { return s.do("resume broker %d", i) }
func (s *stageOf) HealRoutes(n int) error                          { return s.do("heal routes %d", n) }
func (s *stageOf) HealConnection(n int) error                      { return s.do("heal connection %d", n) }
func (s *stageOf) CutRoutes(n int, g [][]int) error                { return s.do("cut routes %d %v", n, g) }
func (s *stageOf) CutNetwork(n int, h []int) error                 { return s.do("cut network %d %v", n, h) }
func (s *stageOf) HealNetwork(n int) error                         { return s.do("heal network %d", n) }
func (s *stageOf) SetClock(nodes.ID, time.Duration, float64) error { return nil }
func (s *stageOf) Restart(id nodes.ID, _ bool) error {
	s.dead[id] = false
	return s.do("restart %d", id)
}
func (s *stageOf) BeginConnection(n int, of []nodes.ID, x port.Strain) error {
	return s.do("connection %d of %v %v %d %v %v", n, of, x.Latency, x.Bandwidth, x.Stall, x.Reset)
}
func (s *stageOf) FaultBegan(b port.FaultBeginning) error {
	s.broke = append(s.broke, b.Breaks)
	text := fmt.Sprintf("began %d at %d nodes", b.Number, b.Nodes)
	if len(b.Servers) > 0 {
		text += fmt.Sprintf(", servers %v", b.Servers)
	}
	return s.do("%s", text)
}
func (s *stageOf) FaultHealed(_ int64, n int, hits uint64) error {
	if hits > 0 {
		return s.do("healed %d with %d", n, hits)
	}
	return s.do("healed %d", n)
}

// told returns what was done since it was asked before.
func (s *stageOf) told() (did []string) {
	did, s.did = s.did, nil
	return did
}

// staged returns a driver of faults that has begun on a cluster at the time 1.
func staged(t *testing.T, texts ...string) (*Driver, *stageOf) {
	t.Helper()
	return stagedFor(t, 0, texts...)
}

// stagedFor is staged of a run that is measured for so long; 0: for as long as those of tests are.
func stagedFor(t *testing.T, measured time.Duration, texts ...string) (*Driver, *stageOf) {
	t.Helper()
	s := scene(t, "central")
	s.Measured = cmp.Or(measured, s.Measured)
	s.Brokers, s.Placement = 3, placed(t, "", s.total(), 2)
	s.Servers = Servers{Service: "etcd", Count: 3, Leads: true, Promotes: true, Peers: true}
	c := &stageOf{now: 1, down: map[int]bool{}, dead: map[nodes.ID]bool{}}
	c.fakeServers = fakeServers{stageOf: c, downed: map[int]bool{}}
	return begun(t, s, c, 1, texts...), c
}

// until steps at each time that is due up to one, and returns what was done.
func (s *stageOf) until(t *testing.T, d *Driver, at time.Duration) (did []string) {
	t.Helper()
	for d.Next() <= int64(at) && s.now < int64(at) {
		s.now = max(s.now+1, d.Next())
		if err := d.Step(); err != nil {
			t.Fatal(err)
		}
	}
	s.now = int64(at)
	return s.told()
}

func TestDriverHasTheTransportDoIt(t *testing.T) {
	for text, want := range map[string][]string{
		"lag: 1-2, by: 5ms": {"connection 1 of [1 2] 5ms 0 false false", "began 1 at 2 nodes",
			"heal connection 1"},
		"throttle: 1, to: 1KB": {"connection 1 of [1] 0s 1000 false false", "began 1 at 1 nodes",
			"heal connection 1"},
		"stall: 1": {"connection 1 of [1] 0s 0 true false", "began 1 at 1 nodes", "heal connection 1"},
		"reset: 1": {"connection 1 of [1] 0s 0 false true", "began 1 at 1 nodes", "heal connection 1"},
		"kill-broker: 0-1": {"kill broker 0", "kill broker 1", "began 1 at 4 nodes", "restart broker 0",
			"restart broker 1"},
		"pause-broker: 1":     {"pause broker 1", "began 1 at 2 nodes", "resume broker 1"},
		"cut-routes: 0/1-2":   {"cut routes 1 [[0] [1 2]]", "began 1 at 6 nodes", "heal routes 1"},
		"cut-network: host 1": {"cut network 1 [1]", "began 1 at 3 nodes", "heal network 1"},
	} {
		d, c := staged(t, text+", at: 1s, for: 500ms")
		if got := c.until(t, d, 999*time.Millisecond); len(got) > 0 || len(d.InForce()) > 0 {
			t.Errorf("%s: before its time: %q", text, got)
		}
		got := c.until(t, d, 1200*time.Millisecond)
		if len(d.InForce()) != 1 {
			t.Errorf("%s: in force are %q", text, d.InForce())
		}
		if got = append(got, c.until(t, d, 2*time.Second)...); !slices.Equal(got, append(want, "healed 1")) {
			t.Errorf("%s: it did %q, and not %q", text, got, want)
		}
		if len(d.InForce()) > 0 || d.Pending(true) || d.Next() != math.MaxInt64 {
			t.Errorf("%s: in force are %q at the end", text, d.InForce())
		}
	}
}

// A reset that takes no time has nodes connect again at once.
func TestAResetIsOver(t *testing.T) {
	d, c := staged(t, "reset: 1, at: 1s")
	want := []string{"connection 1 of [1] 0s 0 false true", "heal connection 1", "began 1 at 1 nodes"}
	if got := c.until(t, d, 2*time.Second); !slices.Equal(got, want) || d.Pending(true) {
		t.Errorf("it did %q", got)
	}
	if err := d.Heal(1); err == nil ||
		!strings.Contains(err.Error(), "has closed connections, once and for good") {
		t.Errorf("healing it: %v", err)
	}
}

// A node that was killed comes up again once there is a broker to connect to, even if issuing is over.
func TestRestartsWaitForConnections(t *testing.T) {
	for says, do := range map[string]func(*Driver) error{
		"its time is over": func(*Driver) error { return nil },
		"the run is":       (*Driver).End,
		"it is healed":     func(d *Driver) error { return d.Heal(1) },
	} {
		d, c := staged(t, "kill: 0, at: 1s, for: 100ms")
		c.until(t, d, 1050*time.Millisecond)
		c.away = true
		if err := do(d); err != nil {
			t.Fatal(err)
		}
		c.now = int64(1200 * time.Millisecond)
		if err := d.Step(); err != nil || !c.dead[0] || !d.Pending(true) || d.Next() > c.now {
			t.Errorf("%s, while it cannot connect: %q, %v", says, c.did, err)
		}
		c.away = false
		if err := d.Step(); err != nil || c.dead[0] || d.Pending(true) {
			t.Errorf("%s, once it can: %q, %v", says, c.did, err)
		}
	}
}

// When a trial ends early, the faults of brokers and connections that last are healed before the next trial.
func TestMendHealsTheTransport(t *testing.T) {
	d, c := staged(t, "kill-broker: 0, at: 1s, for: 1s", "stall: 1, at: 1s", "pause: 2, at: 1s",
		"pause-broker: 1, at: 1500ms, for: 1s", "cut-routes: 1/2, at: 100ms, for: 10ms")
	c.until(t, d, 1200*time.Millisecond)
	if err := d.Mend(); err != nil ||
		!slices.Equal(c.did, []string{"restart broker 0", "heal connection 2"}) {
		t.Errorf("it did %q, %v", c.did, err)
	}
	if err := d.Mend(); err != nil || len(c.did) > 2 {
		t.Errorf("it did %q again, %v", c.did, err)
	}
}

// A broker that one fault has stopped is left alone by others whose moment has come.
func TestAStoppedBrokerIsLeftAlone(t *testing.T) {
	d, c := staged(t, "kill-broker: 0, at: 1s, for: 500ms", "pause-broker: 0, when: any enters, for: 1s")
	c.until(t, d, 1100*time.Millisecond)
	d.Watch(&port.Hook{At: c.now, Node: 1, What: port.OnEnter})
	got := c.until(t, d, 3*time.Second)
	if want := []string{"began 2 at 0 nodes", "restart broker 0", "healed 1", "healed 2"}; !slices.Equal(got,
		want) {
		t.Errorf("it did %q", got)
	}
}

// A cluster that has no transport cannot carry out its faults.
func TestTransportIsNeeded(t *testing.T) {
	all, err := Resolve(read(t, "stall: 1"), scene(t, "central"), 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDriver(all, NewSharedState(5), 5, scene(t, "central").codec())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Begin(bare{}, 1); err == nil || !strings.Contains(err.Error(), errNoTransport.Error()) {
		t.Errorf("the error is %v", err)
	}
}

// bare is a cluster that has nothing but nodes.
type bare struct{ port.Cluster }

func (bare) Now() int64 { return 1 }
