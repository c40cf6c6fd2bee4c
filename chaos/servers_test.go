package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

func TestDriverHasServersSufferIt(t *testing.T) {
	for text, want := range map[string][]string{
		"kill: server 0, for: 500ms": {"kill server 0", "began 1 at 0 nodes, servers [0]", "restart server 0 false",
			"healed 1"},
		"kill: server 0-1, for: 500ms, forget: true": {"kill server 0", "kill server 1",
			"began 1 at 0 nodes, servers [0 1]", "restart server 0 true", "restart server 1 true", "healed 1"},
		"kill: server leader": {"kill server 2", "began 1 at 0 nodes, servers [2]"},
		"pause: server leader, for: 500ms": {"pause server 2", "began 1 at 0 nodes, servers [2]",
			"resume server 2", "healed 1"},
		"clock: server leader, by: 3s": {"set clock of server 2 by 3s", "began 1 at 0 nodes, servers [2]"},
		"clock: server 0, by: -1s":     {"set clock of server 0 by -1s", "began 1 at 0 nodes, servers [0]"},
		"pause: server 1, for: 500ms": {"pause server 1", "began 1 at 0 nodes, servers [1]",
			"resume server 1", "healed 1"},
		"promote: server 1":   {"promote server 1", "began 1 at 0 nodes, servers [1]"},
		"delete: lock of 1-2": {"delete the lock of 1", "delete the lock of 2", "began 1 at 2 nodes"},
		"cut: server 0/server 1-2, for: 500ms": {"strain 1 on server 0-server 1, server 0-server 2",
			"began 1 at 0 nodes, servers [0 1 2]", "relieve 1", "healed 1"},
		"cut: server 0/server 1/server 2, for: 500ms, close: true": {
			"strain 1 on server 0-server 1, server 0-server 2, server 1-server 2: close",
			"began 1 at 0 nodes, servers [0 1 2]", "relieve 1", "healed 1"},
		"cut: server leader/servers, for: 500ms": {"strain 1 on server 0-server 2, server 1-server 2",
			"began 1 at 0 nodes, servers [0 1 2]", "relieve 1", "healed 1"},
		"cut: 3/servers, for: 500ms": {"strain 1 on 3-server 0, 3-server 1, 3-server 2",
			"began 1 at 1 nodes, servers [0 1 2]", "relieve 1", "healed 1"},
		"cut: 0-1/server 1, for: 500ms": {"strain 1 on 0-server 1, 1-server 1",
			"began 1 at 2 nodes, servers [1]", "relieve 1", "healed 1"},
		"cut: host 0/server leader, for: 500ms": {"strain 1 on 0-server 2, 2-server 2, 4-server 2",
			"began 1 at 3 nodes, servers [2]", "relieve 1", "healed 1"},
		"drop-answer: 1, nth: 3, close: true": {
			"strain 1 on 1-server 0, 1-server 1, 1-server 2: close: answer 3", "began 1 at 1 nodes",
			"healed 1 with 2, the first at 1.01s", "relieve 1"},
		"hold-request: 1, nth: 3, by: 2s": {
			"strain 1 on 1-server 0, 1-server 1, 1-server 2: answer 3: held 2s", "began 1 at 1 nodes",
			"healed 1 with 2, the first at 1.01s", "relieve 1"},
	} {
		d, c := staged(t, text+", at: 1s")
		if c.leader = 2; strings.Contains(text, "nth") {
			c.lost = port.Lost{Answers: 2, First: 1010 * time.Millisecond, Last: 1020 * time.Millisecond}
		}
		if got := c.until(t, d, 999*time.Millisecond); len(got) > 0 {
			t.Errorf("%s: before its time: %q", text, got)
		}
		got, servers := c.until(t, d, 1200*time.Millisecond), d.Progress()[0].Servers
		if named := strings.Contains(text, "leader"); named != (d.CameTo()[0].HitServers != nil) {
			t.Errorf("%s: it came to %v", text, d.CameTo()[0].HitServers)
		}
		if strings.Contains(text, "erver") && len(servers) == 0 {
			t.Errorf("%s: the servers that it hit are not known", text)
		}
		got = append(got, c.until(t, d, 2*time.Second)...)
		if err := d.End(); err != nil {
			t.Fatal(err)
		}
		if got = append(got, c.told()...); !slices.Equal(got, want) {
			t.Errorf("%s: it did %q, and not %q", text, got, want)
		}
		if len(d.InForce()) > 0 || d.Pending(true) {
			t.Errorf("%s: in force are %q at the end", text, d.InForce())
		}
	}
}

// A fault that loses answers is over when each client has lost its answer, and the clients may reconnect
// then. If a client loses none, the fault lasts to the end of the run. Connections stay silent until then.
func TestAFaultOfAnswersEndsWithTheLast(t *testing.T) {
	for _, all := range []bool{true, false} {
		d, c := staged(t, "drop-answer: 0-1, nth: 2, at: 1s")
		c.lost = port.Lost{Answers: 1, First: 1200 * time.Millisecond, Last: 1200 * time.Millisecond}
		if c.until(t, d, 1300*time.Millisecond); len(c.ended) > 0 || !d.Pending(true) {
			t.Fatal("it is over before both have lost an answer")
		}
		want := port.FaultEvent{Number: 1, At: 2_500_000_000, Healed: true, Hits: 1, HitAt: 1_200_000_000,
			Until: 11_200_000_000}
		if all {
			c.lost.Answers, c.lost.Last = 2, 1400*time.Millisecond
			want.At, want.Hits, want.Until = 1_400_000_000, 2, 11_400_000_000
		}
		c.until(t, d, 2500*time.Millisecond)
		if over := len(c.ended) > 0; over != all || d.Pending(true) == all || len(d.InForce()) != 1 {
			t.Errorf("both have lost an answer: %v; it is over: %v, in force is %v", all, over, d.InForce())
		}
		if err := d.End(); err != nil || !slices.Equal(c.told(), []string{"relieve 1"}) == all {
			t.Errorf("at the end, %v", err)
		}
		if !reflect.DeepEqual(c.ended, []port.FaultEvent{want}) || len(d.InForce()) > 0 {
			t.Errorf("it ends as %+v, and not as %+v", c.ended, want)
		}
	}
}

// A fault of connections that waits for a holder or a waiter hits that client's connections to servers.
func TestTheHolderIsCutOffFromServers(t *testing.T) {
	d, c := staged(t, "cut: holder/servers, close: true, at: 1s, for: 1s", "drop-answer: waiter, nth: 2, at: 1s")
	c.until(t, d, 1100*time.Millisecond)
	d.Watch(&port.Hook{At: c.now, Node: 4, What: port.OnEnter})
	d.Watch(&port.Hook{At: c.now, Node: 3, What: port.OnRequest})
	got := c.until(t, d, 1200*time.Millisecond)
	want := []string{"strain 1 on 4-server 0, 4-server 1, 4-server 2: close",
		"began 1 at 1 nodes, servers [0 1 2]",
		"strain 2 on 3-server 0, 3-server 1, 3-server 2: answer 2", "began 2 at 1 nodes"}
	if !slices.Equal(got, want) {
		t.Errorf("it did %q", got)
	}
}

// The target all means all nodes: clients and servers of an algorithm, but not servers of a service.
func TestAllAreAllNodes(t *testing.T) {
	for text, does := range map[string]string{"pause: all": "pause", "kill: all": "kill"} {
		var want []string
		d, c := staged(t, text+", at: 1s, for: 500ms")
		for id := range len(d.state.leaders) + 1 { // the clients, and the server of their algorithm
			want = append(want, fmt.Sprint(does, " ", id))
		}
		want = append(want, fmt.Sprintf("began 1 at %d nodes", len(want)))
		if got := c.until(t, d, 1100*time.Millisecond); !slices.Equal(got, want) {
			t.Errorf("%s: it did %q, and not %q", text, got, want)
		}
	}
}

// A fault of the server of the holder hits the one that has answered the next client to enter.
func TestTheServerOfTheHolderSuffersIt(t *testing.T) {
	for text, want := range map[string][]string{
		"kill: server of holder, for: 100ms": {"kill server 1", "began 1 at 0 nodes, servers [1]"},
		"pause: server of holder, for: 1s":   {"pause server 1", "began 1 at 0 nodes, servers [1]"},
		"cut: server of holder/servers, for: 1s": {"strain 1 on server 0-server 1, server 1-server 2",
			"began 1 at 0 nodes, servers [0 1 2]"},
		"cut: holder/server of holder, for: 1s": {"strain 1 on 4-server 1",
			"began 1 at 1 nodes, servers [1]"},
	} {
		d, c := staged(t, text+", at: 1s")
		if got := c.until(t, d, 1100*time.Millisecond); len(got) > 0 {
			t.Errorf("%s: before anybody entered: %q", text, got)
		}
		d.Watch(&port.Hook{At: c.now, Node: 4, What: port.OnEnter})
		if got := c.until(t, d, 1150*time.Millisecond); !slices.Equal(got, want) {
			t.Errorf("%s: it did %q, and not %q", text, got, want)
		}
		if d.CameTo()[0].HitServers == nil {
			t.Errorf("%s: which server it was is not known", text)
		}
		if hit := d.CameTo()[0].Hit != nil; hit != strings.HasPrefix(text, "cut: holder") {
			t.Errorf("%s: it says of the holder that it was hit: %v", text, hit)
		}
	}
	if _, err := ParseFault("cut: 0/server of holder, for: 1s"); err == nil ||
		!strings.Contains(err.Error(), "name the server by its number") {
		t.Errorf("clients that are not the holder are cut off from its server: %v", err)
	}
}

// A fault of the leading server waits until a server leads.
func TestAFaultWaitsForAServerToLead(t *testing.T) {
	d, c := staged(t, "kill: server leader, at: 1s, for: 500ms")
	c.leader = -1
	if got := c.until(t, d, 1300*time.Millisecond); len(got) > 0 || d.Progress()[0].State != ToCome {
		t.Fatalf("while none leads it did %q: %s", got, d.Progress()[0].State)
	}
	if !d.Pending(false) {
		t.Error("a fault that looks for the leading server is not pending")
	}
	c.silent = errors.New("nobody answers")
	if got := c.until(t, d, 1400*time.Millisecond); len(got) > 0 || d.Progress()[0].State != ToCome {
		t.Fatalf("while no server answers it did %q: %s", got, d.Progress()[0].State)
	}
	c.leader, c.silent = 1, nil
	if got := c.until(t, d, 1700*time.Millisecond); !slices.Equal(got,
		[]string{"kill server 1", "began 1 at 0 nodes, servers [1]"}) {
		t.Errorf("it did %q", got)
	}
	if got := c.until(t, d, 2000*time.Millisecond); !slices.Equal(got,
		[]string{"restart server 1 false", "healed 1"}) {
		t.Errorf("it did %q later", got)
	}
	d, c = staged(t, "kill: server leader, at: 1s, for: 500ms")
	c.leader = -1
	c.until(t, d, 40*time.Second)
	if d.Pending(false) {
		t.Error("a fault that has looked for the leading server for 39 s keeps the run waiting")
	}
	if err := d.End(); err != nil || len(c.did) > 0 || d.Progress()[0].State != NeverBegan || d.Pending(true) {
		t.Errorf("with no leader to the end it did %q, %v: %s", c.did, err, d.Progress()[0].State)
	}
}

// A server that is down for good comes up if the fault is healed by hand, and not because the run ends.
func TestAServerThatIsDownForGoodCanBeHealed(t *testing.T) {
	d, c := staged(t, "kill: server 1, at: 1s", "promote: 0, at: 1s")
	c.until(t, d, 1100*time.Millisecond)
	if err := d.Heal(2); err == nil || !strings.Contains(err.Error(), "promoted a server, once and for good") {
		t.Errorf("a promotion that is healed: %v", err)
	}
	if err := d.Mend(); err != nil || len(c.did) > 0 {
		t.Errorf("the end of a run did %q, %v", c.did, err)
	}
	if err := d.Heal(1); err != nil || !slices.Equal(c.told(), []string{"restart server 1 false", "healed 1"}) {
		t.Errorf("%v", err)
	}
}

// An operator deletes the key, or ends the session, of the client that holds, waits or leads. The fault does
// not hit a client that has no key or session.
func TestWhatIsTakenAwayByHand(t *testing.T) {
	d, c := staged(t, "delete: lock of holder, at: 1s", "expire: session of waiter, at: 1s",
		"delete: lock of holder, at: 1500ms", "expire: session of 2-3, at: 1600ms")
	c.without = 3
	c.until(t, d, 1100*time.Millisecond)
	d.Watch(&port.Hook{At: c.now, Node: 4, What: port.OnEnter})
	d.Watch(&port.Hook{At: c.now, Node: 2, What: port.OnRequest})
	got := c.until(t, d, 1550*time.Millisecond)
	d.Watch(&port.Hook{At: c.now, Node: 3, What: port.OnEnter})
	got = append(got, c.until(t, d, 2*time.Second)...)
	want := []string{"delete the lock of 4", "began 1 at 1 nodes", "end the session of 2", "began 2 at 1 nodes",
		"began 3 at 0 nodes", "end the session of 2", "began 4 at 1 nodes"}
	if !slices.Equal(got, want) {
		t.Errorf("it did %q", got)
	}
	if hit := d.CameTo()[0].Hit; hit == nil || *hit != 4 {
		t.Errorf("whose lock was deleted is %v", hit)
	}
	if err := d.Heal(1); err == nil || !strings.Contains(err.Error(), "deleted a lock, once and for good") {
		t.Errorf("a deletion that is healed: %v", err)
	}
}

// A server that one fault has killed or stopped is left alone by others whose moment has come.
func TestAStoppedServerIsLeftAlone(t *testing.T) {
	killed, on := staged(t, "kill: server 2, at: 1s", "pause: server 1-2, when: any enters, for: 100ms")
	on.until(t, killed, 1100*time.Millisecond)
	killed.Watch(&port.Hook{At: on.now, Node: 1, What: port.OnEnter})
	if got := on.until(t, killed, 2*time.Second); !slices.Equal(got,
		[]string{"pause server 1", "began 2 at 0 nodes, servers [1]", "resume server 1", "healed 2"}) {
		t.Errorf("beside a server that is down it did %q", got)
	}
	d, c := staged(t, "pause: server 0, at: 1s, for: 500ms", "kill: server 0-1, when: any enters, for: 1s",
		"promote: 0, when: 'any enters #2'")
	c.until(t, d, 1100*time.Millisecond)
	d.Watch(&port.Hook{At: c.now, Node: 1, What: port.OnEnter})
	d.Watch(&port.Hook{At: c.now, Node: 1, What: port.OnEnter})
	want := []string{"kill server 1", "began 2 at 0 nodes, servers [1]", "began 3 at 0 nodes", "resume server 0",
		"healed 1", "restart server 1 false", "healed 2"}
	if got := c.until(t, d, 3*time.Second); !slices.Equal(got, want) {
		t.Errorf("it did %q", got)
	}
}

// A server that is down or stands still is neither killed, nor paused nor promoted.
func TestFaultsOfOneServerHoldOneAtATime(t *testing.T) {
	s := scene(t, "central")
	s.Servers = Servers{Service: "redis", Count: 2, Leads: true, Promotes: true, Peers: true}
	const down = "kill: server 0, at: 1s, for: 500ms"
	for text, refused := range map[string]bool{
		"kill: server 0-1, at: 1200ms, for: 1s":  true,
		"pause: server 0, at: 500ms, for: 1s":    true,
		"promote: 0, at: 1200ms":                 true,
		"promote: 0, at: 900ms":                  false,
		"promote: 1, at: 1200ms":                 false,
		"clock: server 0, by: 1s, at: 1200ms":    true,
		"clock: server 1, by: 1s, at: 1200ms":    false,
		"kill: server 0, at: 1600ms":             false,
		"pause: server 1, at: 1s, for: 1s":       false,
		"pause: server leader, at: 1s, for: 1s":  false,
		"cut: 0/servers, at: 1s, for: 1s":        false,
		"cut: server 0/servers, at: 1s, for: 1s": false,
	} {
		_, err := Resolve(read(t, down, text), s, 1)
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "server 0 is down or stands") {
			t.Errorf("%s beside %s: %v", text, down, err)
		}
	}
	const promoted = "promote: 0, at: 1s"
	if _, err := Resolve(read(t, promoted, promoted), s, 1); err != nil {
		t.Error(err) // the second one changes nothing
	}
}

// A fault of servers stays the same when it is written and read again, in a plan and by a node.
func TestFaultsOfServersAreWritten(t *testing.T) {
	const servers = nodes.ServersUp | nodes.ServerMajority // unless a majority is left
	for text, want := range map[string]struct {
		says   string
		breaks nodes.Assumption
	}{
		"cut: servers/holder": {"cut holder/servers", nodes.NoLoss | nodes.Timing},
		"cut: 0-2/server 0,2, close: true": {
			"cut 0-2/server 0,2 with connections closed", nodes.NoLoss | nodes.Timing},
		"cut: server 0/server 1-2":     {"cut server 0/server 1-2", servers},
		"kill: server 0-1":             {"kill server 0-1", servers},
		"kill: server leader, for: 1s": {"kill server leader", servers},
		"kill: server 0, for: 1s, forget: true": {
			"kill server 0 with amnesia", servers | nodes.NoAmnesia},
		"promote: 1":                      {"promote server 1", nodes.NoAmnesia},
		"delete: lock of waiter":          {"delete lock of waiter", nodes.NoAmnesia},
		"expire: session of 0-1":          {"expire session of 0-1", nodes.NoAmnesia},
		"drop-answer: holder, nth: 2":     {"drop-answer holder #2", nodes.NoLoss | nodes.Timing},
		"pause: server leader, for: 1s":   {"pause server leader", servers},
		"hold-request: 0, nth: 2, by: 1s": {"hold-request 0 #2 by 1s", nodes.Timing},
		"drop-answer: 0, nth: 2, close: true": {
			"drop-answer 0 #2 with the connection closed", nodes.NoLoss | nodes.Timing},
		"cut: server leader/servers, at: 1s": {"cut server leader/servers", servers},
	} {
		f := read(t, text)[0]
		if f.What() != want.says || f.Breaks() != want.breaks {
			t.Errorf("%s: %s breaks %v", text, f.What(), f.Breaks())
		}
		line, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var again Fault
		if err := json.Unmarshal(line, &again); err != nil || again.String() != f.String() {
			t.Errorf("%s is written %s and read as %v: %v", text, line, &again, err)
		}
		if through := strings.Contains(text, "/") || f.OfMessages(); NeedsProxies([]Fault{f}) != through {
			t.Errorf("%s needs proxies: %v", text, !through)
		}
		if f.OfMessages() != strings.Contains(text, "nth") {
			t.Errorf("%s hits messages: %v", text, f.OfMessages())
		}
		if f.OfLinks() || Disconnects([]Fault{f}) || !OfServers([]Fault{f}) ||
			effect.KindOf(f.Effect).StandIn != "" {
			t.Errorf("%s is taken for a fault of messages, connections or brokers", text)
		}
	}
}

// A fault of servers can be injected into a run. Nodes must know it only if it waits for an event at a node.
func TestFaultsOfServersAreInjected(t *testing.T) {
	s := scene(t, "central")
	s.Servers = Servers{Service: "etcd", Count: 3, Leads: true}
	d, c := staged(t)
	c.now = int64(time.Second)
	faults := read(t, "kill: server 1, at: 1s, for: 100ms", "cut: holder/servers, at: 1s")
	more, err := ResolveMore(nil, faults, s, 1)
	if err != nil {
		t.Fatal(err)
	}
	if more[0].OfNodes() || !more[1].OfNodes() {
		t.Errorf("nodes are to know %v: %v, and %v: %v", &more[0], more[0].OfNodes(), &more[1], more[1].OfNodes())
	}
	if _, err := d.Add(more[0]); err != nil {
		t.Fatal(err)
	}
	d.Known(3 * time.Second)
	want := []string{"kill server 1", "began 1 at 0 nodes, servers [1]", "restart server 1 false", "healed 1"}
	if got := c.until(t, d, 2*time.Second); !slices.Equal(got, want) {
		t.Errorf("it did %q", got)
	}
	if _, err := ResolveMore(nil, read(t, "kill: server 3"), s, 1); err == nil ||
		!strings.Contains(err.Error(), "there is no server 3") {
		t.Errorf("the error is %v", err)
	}
}

// A fault of servers breaks their majority unless more than half are up and reach each other. Other faults,
// and faults that were over just before, count too.
func TestAMajorityOfServers(t *testing.T) {
	for _, c := range []struct {
		faults []string
		broken []bool // by the order in which they begin
	}{
		{[]string{"kill: server 0, at: 1s, for: 1s"}, []bool{false}},
		{[]string{"kill: server 0-1, at: 1s, for: 1s"}, []bool{true}},
		{[]string{"pause: server leader, at: 1s, for: 1s"}, []bool{false}},
		{[]string{"cut: server leader/servers, at: 1s, for: 1s"}, []bool{false}},
		{[]string{"cut: server 0/server 1/server 2, at: 1s, for: 1s"}, []bool{true}},
		{[]string{"cut: server 0/server 2, at: 1s, for: 1s"}, []bool{false}},
		{[]string{"cut: server 0/server 1-2, at: 1s, for: 2s", "kill: server 1, at: 2s, for: 1s"},
			[]bool{false, true}},
		{[]string{"kill: server 0, at: 1s", "pause: server 1, at: 30s, for: 1s"}, []bool{false, true}},
		{[]string{"kill: server 0, at: 1s, for: 1s", "pause: server 1, at: 5s, for: 1s"}, []bool{false, true}},
		{[]string{"kill: server 0, at: 1s, for: 1s", "pause: server 1, at: 30s, for: 1s"}, []bool{false, false}},
	} {
		d, on := stagedFor(t, time.Minute, c.faults...)
		on.until(t, d, time.Minute)
		var broken []bool
		for _, b := range on.broke {
			broken = append(broken, b&nodes.ServerMajority != 0)
		}
		if !slices.Equal(broken, c.broken) {
			t.Errorf("%q: their majority is broken: %v", c.faults, broken)
		}
	}
}
