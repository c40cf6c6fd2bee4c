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
		"kill: broker 1":         {{0, 1}: lost, {4, 2}: lost, {1, 4}: lost, {0, 2}: 0, {0, 3}: 0},
		"cut: broker 0/broker 1": {{0, 1}: lost, {4, 3}: lost, {0, 3}: 0, {0, 2}: 0, {2, 1}: 0},
		"pause: broker 1":        {{0, 1}: 600 * time.Millisecond, {0, 2}: 0},
		"reset: 1":               {{0, 1}: lost, {1, 4}: lost, {0, 4}: 0},
		"stall: 1":               {{0, 1}: 600 * time.Millisecond, {1, 4}: 600 * time.Millisecond, {0, 4}: 0},
		"lag: 0-1, by: 1s":       {{0, 1}: 2 * time.Second, {1, 2}: time.Second, {3, 0}: time.Second, {2, 3}: 0},
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
		"kill: broker 0": {nil, "line 3: no run comes to rest without a broker"},
		"kill: broker 1\nfor: 1s": {nil,
			"line 3: kill broker 1: there is no broker 1: there is one, and it is 0"},
		"pause: broker 3": {func(s *Scene) { s.Brokers = 3 },
			"line 3: pause broker 3: there is no broker 3: they are 0 to 2"},
		"pause: broker 1,1": {func(s *Scene) { s.Brokers = 3 },
			`"broker 1,1" names no brokers: write broker 0, broker 0-1 or broker 0,2, each once`},
		"pause: broker some": {nil,
			`"broker some" names no brokers: write broker 0, broker 0-1 or broker 0,2`},
		"cut: broker 0/broker 1-2": {nil, "there is one broker, and so no route: take --brokers 3"},
		"cut: broker 0>1":          {nil, "since connections are cut both ways"},
		"cut-routes: bridge":       {nil, `"broker bridge" is not a cut of servers or brokers`},
		"lag: 1":                   {nil, "lag takes how much later everything comes, as in by: 50ms"},
		"lag: 1\nby: -1ms":         {nil, "line 4: lag takes how much later"},
		"throttle: 1":              {nil, "throttle takes how many bytes pass in a second, as in to: 100KB"},
		"stall: 1\nto: 1KB":        {nil, "line 4: stall takes no to"},
		"stall: 7":                 {nil, "line 3: stall 7: there is no node 7: they are 0 to 5"},
		"stall: 2": {func(s *Scene) { s.Foreign = true }, "line 3: stall 2: the broker is not " +
			"one of the run's"},
		"kill: broker 0\nfor: 1ms": {func(s *Scene) { s.Foreign = true },
			"the broker is not one of the run's own: leave out --nats"},
		"pause: broker 0": {func(s *Scene) { s.Measured = 0 },
			"line 3: pause broker 0: this run ends by entries, and might never have them: say how long"},
		"reset: 1": {func(s *Scene) { s.Simulated = true }, "a simulation has no connections " +
			"that could be closed"},
		"stall: 1\nat: 1s": {func(s *Scene) { s.Simulated = true }, "line 3: stall 1: a simulation must " +
			"know how long"},
		"reset: 1\nevery: 1s": {nil, ""},
	})
	if _, err := ReadPlan("p", []byte("about: x\nbrokers: 2\nfaults:\n  - kill: 0\n")); err == nil ||
		err.Error() != "p: line 2: 2 brokers: a run has 1 or 3" {
		t.Errorf("the error is %v", err)
	}
}

// A broker that is down or stands still suffers nothing else.
func TestFaultsOfOneBrokerHoldOneAtATime(t *testing.T) {
	s := scene(t, "central")
	s.Brokers = 3
	const down = "kill: broker 0-1, at: 1s, for: 500ms"
	for text, refused := range map[string]bool{
		"kill: broker 1, at: 1200ms, for: 1s":          true,
		"pause: broker 1, at: 500ms, for: 1s":          true,
		"cut: broker 1/broker 2, at: 500ms, for: 1s":   true,
		"kill: broker 2, at: 1200ms, for: 1s":          false,
		"kill: broker 1, at: 1600ms, for: 1s":          false,
		"stall: 1, at: 1200ms, for: 1s":                false,
		"kill: 1, at: 1200ms, for: 100ms":              false,
		"cut: broker 1/broker 2, at: 1600ms, for: 1ms": false,
	} {
		_, err := Resolve(read(t, down, text), s, 1)
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(),
			"broker 1 is down or stands") {
			t.Errorf("%s beside %s: %v", text, down, err)
		}
	}
	const cut = "cut: broker 0/broker 1-2, at: 1s, for: 1s"
	if _, err := Resolve(read(t, cut, cut), s, 1); err != nil {
		t.Error(err) // several faults may cut one route, each until its own heal
	}
}

// A stageOf is a cluster that writes down what is done to it.
type stageOf struct {
	broke []nodes.Assumption // by the faults that began
	ended []port.FaultEvent
	now   int64
	away  bool
	down  map[port.Member]bool
	did   []string

	leader int       // of servers; -1: none
	silent error     // error of the search for the leading server
	lost   port.Lost // but at which times, and not how long ago

	without nodes.ID // has neither a lock nor a session that could be taken away; 0: all have
}

func (s *stageOf) do(format string, args ...any) error {
	s.did = append(s.did, fmt.Sprintf(format, args...))
	return nil
}

func (s *stageOf) Now() int64 { return s.now }

// called names a member as what is done to it is written down.
func called(m port.Member) string {
	if m.Role == port.Node {
		return fmt.Sprint(m.I)
	}
	return m.String()
}

func (s *stageOf) Up(m port.Member) bool { return !s.down[m] }
func (s *stageOf) Kill(m port.Member) error {
	s.down[m] = true
	return s.do("kill %s", called(m))
}
func (s *stageOf) Start(m port.Member, forget bool) error {
	if m.Role == port.Node && s.away {
		return fmt.Errorf("starting it: %w", port.ErrLater)
	}
	s.down[m] = false
	if m.Role == port.Server {
		return s.do("restart %s %v", called(m), forget)
	}
	return s.do("restart %s", called(m))
}
func (s *stageOf) Stop(m port.Member) error                   { return s.do("pause %s", called(m)) }
func (s *stageOf) Continue(m port.Member) error               { return s.do("resume %s", called(m)) }
func (s *stageOf) Promote(m port.Member) error                { return s.do("promote %s", called(m)) }
func (s *stageOf) Leave(m port.Member, _ time.Duration) error { return s.take("stop in order", m) }
func (s *stageOf) Delete(m port.Member, _ bool) error         { return s.take("delete the lock of", m) }
func (s *stageOf) Expire(m port.Member) error                 { return s.take("end the session of", m) }

func (s *stageOf) take(what string, m port.Member) error {
	if s.without == m.ID() {
		return port.ErrNothing
	}
	return s.do("%s %d", what, m.I)
}

func (s *stageOf) SetClock(m port.Member, by time.Duration, rate float64) error {
	if m.Role == port.Node {
		return nil
	}
	return s.do("set clock of %s by %v", called(m), by)
}

// Strain writes down the links of a strain, and what else it says.
func (s *stageOf) Strain(number int, x port.Strain) error {
	var links []string
	for _, l := range x.Links {
		if l.B == (port.Member{Role: port.Broker}) {
			links = append(links, fmt.Sprint(l.A.I))
		} else {
			links = append(links, fmt.Sprintf("%s-%s", called(l.A), called(l.B)))
		}
	}
	text := fmt.Sprintf("strain %d on %s", number, strings.Join(links, ", "))
	for _, also := range []struct {
		is   bool
		says string
	}{{x.Latency > 0, fmt.Sprint(": ", x.Latency)}, {x.Bandwidth > 0, fmt.Sprint(": ", x.Bandwidth)},
		{x.Stall, ": stall"}, {x.Close, ": close"}, {x.Answer > 0, fmt.Sprint(": answer ", x.Answer)},
		{x.Hold > 0, fmt.Sprint(": held ", x.Hold)}} {
		if also.is {
			text += also.says
		}
	}
	return s.do("%s", text)
}

func (s *stageOf) Relieve(number int) error { return s.do("relieve %d", number) }

func (s *stageOf) Lost(int) (port.Lost, error) {
	return port.Lost{Answers: s.lost.Answers, First: time.Duration(s.now) - s.lost.First,
		Last: time.Duration(s.now) - s.lost.Last}, nil
}

func (s *stageOf) Find(r port.Relation, to port.Member) ([]port.Member, error) {
	switch {
	case r == port.Connected:
		return make([]port.Member, 2), nil
	case r == port.Answered:
		return []port.Member{{Role: port.Server, I: 1}}, nil
	case s.silent != nil || s.leader < 0:
		return nil, s.silent
	}
	return []port.Member{{Role: port.Server, I: s.leader}}, nil
}

func (s *stageOf) Record(e port.FaultEvent) error {
	if e.Healed {
		s.ended = append(s.ended, e)
	}
	switch {
	case e.Healed && e.Hits > 0:
		return s.do("healed %d with %d, the first at %v", e.Number, e.Hits, time.Duration(e.HitAt))
	case e.Healed:
		return s.do("healed %d", e.Number)
	}
	s.broke = append(s.broke, e.Breaks)
	text := fmt.Sprintf("began %d at %d nodes", e.Number, e.Nodes)
	if len(e.Servers) > 0 {
		text += fmt.Sprintf(", servers %v", e.Servers)
	}
	return s.do("%s", text)
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

// stagedFor is staged for a run that is measured for so long; 0: the default of tests.
func stagedFor(t *testing.T, measured time.Duration, texts ...string) (*Driver, *stageOf) {
	t.Helper()
	s := scene(t, "central")
	s.Measured = cmp.Or(measured, s.Measured)
	s.Brokers, s.Placement = 3, placed(t, "", s.total(), 2)
	s.Servers = Servers{Service: "etcd", Count: 3, Leads: true, Promotes: true, Peers: true,
		Deletes: true, Queues: true, Expires: true}
	c := &stageOf{now: 1, down: map[port.Member]bool{}}
	return begun(t, s, c, 1, texts...), c
}

// until has the driver step at each due time up to at, and returns what was done.
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
		"lag: 1-2, by: 5ms": {"strain 1 on 1, 2: 5ms", "began 1 at 2 nodes",
			"relieve 1"},
		"throttle: 1, to: 1KB": {"strain 1 on 1: 1000", "began 1 at 1 nodes",
			"relieve 1"},
		"stall: 1": {"strain 1 on 1: stall", "began 1 at 1 nodes", "relieve 1"},
		"reset: 1": {"strain 1 on 1: close", "began 1 at 1 nodes", "relieve 1"},
		"kill: broker 0-1": {"kill broker 0", "kill broker 1", "began 1 at 4 nodes", "restart broker 0",
			"restart broker 1"},
		"pause: broker 1": {"pause broker 1", "began 1 at 2 nodes", "resume broker 1"},
		"cut: broker 0/broker 1-2": {"strain 1 on broker 0-broker 1, broker 0-broker 2", "began 1 at 6 nodes",
			"relieve 1"},
		"cut: host 1, kernel: true": {"strain 1 on host 1-host 0", "began 1 at 3 nodes", "relieve 1"},
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
	want := []string{"strain 1 on 1: close", "relieve 1", "began 1 at 1 nodes"}
	if got := c.until(t, d, 2*time.Second); !slices.Equal(got, want) || d.Pending(true) {
		t.Errorf("it did %q", got)
	}
	if err := d.Heal(1); err == nil ||
		!strings.Contains(err.Error(), "has closed connections, once and for good") {
		t.Errorf("healing it: %v", err)
	}
}

// A killed node restarts once it can connect to a broker, even if the fault or the run is over by then.
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
		if err := d.Step(); err != nil || !c.down[port.NodeOf(0)] || !d.Pending(true) || d.Next() > c.now {
			t.Errorf("%s, while it cannot connect: %q, %v", says, c.did, err)
		}
		c.away = false
		if err := d.Step(); err != nil || c.down[port.NodeOf(0)] || d.Pending(true) {
			t.Errorf("%s, once it can: %q, %v", says, c.did, err)
		}
	}
}

// When a trial ends early, the faults of brokers and connections that last are healed before the next trial.
func TestMendHealsTheTransport(t *testing.T) {
	d, c := staged(t, "kill: broker 0, at: 1s, for: 1s", "stall: 1, at: 1s", "pause: 2, at: 1s",
		"pause: broker 1, at: 1500ms, for: 1s", "cut: broker 1/broker 2, at: 100ms, for: 10ms")
	c.until(t, d, 1200*time.Millisecond)
	if err := d.Mend(); err != nil ||
		!slices.Equal(c.did, []string{"restart broker 0", "relieve 2"}) {
		t.Errorf("it did %q, %v", c.did, err)
	}
	if err := d.Mend(); err != nil || len(c.did) > 2 {
		t.Errorf("it did %q again, %v", c.did, err)
	}
}

// A broker that one fault has stopped is left alone by others whose moment has come.
func TestAStoppedBrokerIsLeftAlone(t *testing.T) {
	d, c := staged(t, "kill: broker 0, at: 1s, for: 500ms", "pause: broker 0, when: any enters, for: 1s")
	c.until(t, d, 1100*time.Millisecond)
	d.Watch(&port.Hook{At: c.now, Node: 1, What: port.OnEnter})
	got := c.until(t, d, 3*time.Second)
	if want := []string{"began 2 at 0 nodes", "restart broker 0", "healed 1", "healed 2"}; !slices.Equal(got,
		want) {
		t.Errorf("it did %q", got)
	}
}
