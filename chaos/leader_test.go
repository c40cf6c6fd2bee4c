package chaos

import (
	"math"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/election"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// electors returns the scene of five nodes that elect a leader.
func electors(t *testing.T) *Scene {
	t.Helper()
	spec, err := election.Find("bully")
	if err != nil {
		t.Fatal(err)
	}
	return &Scene{Spec: spec, Config: nodes.Config{N: 5}, Measured: 3 * time.Second}
}

// Among nodes that are up and have not given way, the one with the highest term leads, and within a term the
// one that declared itself last.
func TestLeaderIsWhoLeadsNow(t *testing.T) {
	const follows = math.MaxUint64
	b, down := NewSharedState(5), map[nodes.ID]bool{}
	up := func(id nodes.ID) bool { return !down[id] }
	for _, x := range []struct {
		id   nodes.ID
		term uint64
		want nodes.ID
	}{
		{3, 5, 3}, {1, 4, 3}, {2, 5, 2}, {0, 6, 0}, {0, follows, 2}, {2, follows, 3}, {4, follows, 3},
		{3, follows, 1}, {1, follows, nodes.None}, {0, 1, 0}, {4, 1, 4}, {0, 1, 0},
	} {
		if x.term == follows {
			b.follow(x.id)
		} else {
			b.lead(x.id, x.term, 0)
		}
		if got := b.leads(up); got != x.want {
			t.Errorf("after %v node %d leads", x, got)
		}
	}
	if down[0] = true; b.leads(up) != 4 {
		t.Errorf("node %d leads, and 0 is down", b.leads(up))
	}
	if b.follow(7); b.leads(up) != 4 { // a server
		t.Errorf("node %d leads", b.leads(up))
	}
	if b.clear(); b.leads(up) != nodes.None {
		t.Errorf("node %d leads", b.leads(up))
	}
}

// A fault of the leader hits the node that leads at its time, and none that has given way, is down, or has
// restarted. If no node leads, it hits the next leader.
func TestFaultOfTheLeaderHitsWhoLeads(t *testing.T) {
	s := electors(t)
	for what, x := range map[string]struct {
		faults []string
		tell   []port.Hook // at 5, 6 ... ms
		dies   []nodes.ID  // at 9 ms
		want   nodes.ID
	}{
		"a follower that led for a moment": {
			tell: []port.Hook{{Node: 4, What: port.OnLead}, {Node: 2, What: port.OnLead},
				{Node: 2, What: port.OnFollow}},
			want: 4,
		},
		"a lower term": {
			tell: []port.Hook{{Node: 4, What: port.OnLead, Term: 2}, {Node: 3, What: port.OnLead, Term: 1}},
			want: 4,
		},
		"a leader that died": {
			tell: []port.Hook{{Node: 3, What: port.OnLead}, {Node: 4, What: port.OnLead}},
			dies: []nodes.ID{4}, want: 3,
		},
		"all leaders died": {
			tell: []port.Hook{{Node: 3, What: port.OnLead}, {Node: 4, What: port.OnLead}},
			dies: []nodes.ID{3, 4}, want: nodes.None,
		},
		"a leader that came up again": {
			faults: []string{"kill: 4, at: 7ms, for: 1ms"},
			tell:   []port.Hook{{Node: 3, What: port.OnLead}, {Node: 4, What: port.OnLead}},
			want:   3,
		},
	} {
		c := &fake{down: map[nodes.ID]bool{}}
		d := begun(t, s, c, 0, append(x.faults, "pause: leader, at: 10ms, for: 5ms")...)
		for i := range x.tell {
			c.until(t, d, int64(5+i))
			d.Watch(&x.tell[i])
		}
		c.until(t, d, 9)
		for _, id := range x.dies {
			c.down[id] = true
		}
		c.until(t, d, 11)
		victim := nodes.None
		if last := len(c.began) - 1; last >= len(x.faults) {
			victim = c.began[last].Victim
		}
		if victim != x.want {
			t.Errorf("%s: %d is hit, not %d: %v", what, victim, x.want, c.did)
		}
		if x.want == nodes.None { // the next
			d.Watch(&port.Hook{At: 12e6, Node: 1, What: port.OnFollow})
			d.Watch(&port.Hook{At: 12e6, Node: 0, What: port.OnLead})
			if c.until(t, d, 13); len(c.began) != 1 || c.began[0].Victim != 0 {
				t.Errorf("%s: %v", what, c.did)
			}
		}
	}
}

// Electors have no critical section: faults of a holder, or when one enters, are refused.
func TestElectorsHaveNoCriticalSection(t *testing.T) {
	for text, want := range map[string]string{
		"kill: holder": "take leader", "cut: waiter, for: 1s": "take leader", "pause: successor": "take leader",
		"kill: token":               "take leader",
		"kill: 1, when: 0 enters":   "as in when: any leads",
		"pause: 1, when: any exits": "as in when: any leads", "kill: 1, when: 2 requests": "as in when: any leads",
		"kill: leader": "", "kill: 1, when: any leads": "", "kill: 1, when: any receives": "",
	} {
		f, err := ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		switch err := f.Check(electors(t)); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, which does not say %q", text, err, want)
		}
	}
}

// Where hosts share no memory, a fault of the leader looks for it. It begins once there is a leader, and then
// lasts as long as planned. If it looks in vain for long, it does not count as pending.
func TestFaultOfTheLeaderLooksForIt(t *testing.T) {
	c := &fake{down: map[nodes.ID]bool{}}
	d := begun(t, electors(t), c, 0, "pause: leader, at: 10ms, for: 500ms")
	d.Apart()
	at := func(ms int64) {
		t.Helper()
		c.now = ms * 1e6
		if err := d.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if at(11); !d.Pending(false) {
		t.Error("a fault that looks for the leader is not pending")
	}
	at(800)
	d.Watch(&port.Hook{At: c.now, Node: 2, What: port.OnLead})
	at(801)
	at(803)
	if len(c.began) != 1 || c.began[0].Victim != 2 || c.began[0].At < 800e6 {
		t.Errorf("it began as %+v", c.began)
	}
	if at(1300); len(d.InForce()) != 1 {
		t.Errorf("in force is %v: %v", d.InForce(), c.did)
	}
	if at(1310); len(d.InForce()) > 0 {
		t.Errorf("in force is %v: %v", d.InForce(), c.did)
	}

	c = &fake{down: map[nodes.ID]bool{}}
	d = begun(t, electors(t), c, 0, "pause: leader, at: 10ms, for: 500ms")
	d.Apart()
	at(11)
	if at(31_000); d.Pending(false) || !d.Pending(true) {
		t.Error("a fault that has looked for a leader for 31 s keeps the run waiting")
	}
}

// Hosts without shared memory refuse a fault of the nth message: they share no counter.
func TestFaultsOfHostsApart(t *testing.T) {
	for text, want := range map[string]string{
		"loss: 100%, nth: 3":         "cannot count messages together",
		"pause: 1, when: any enters": "cannot tell each other that the moment has come",
		"pause: leader, for: 1s":     "",
		"loss: 10%, at: 1s, for: 1s": "",
		"kill: 1, at: 1s":            "",
	} {
		f, err := ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckApart([]Fault{f}); want == "" && err != nil ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
