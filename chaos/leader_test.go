package chaos

import (
	"math"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/election"
)

// Of those that are up and have not given way since, the one of the highest term leads, and of one term the
// one that declared itself last.
func TestLeaderIsWhoLeadsNow(t *testing.T) {
	const follows = math.MaxUint64
	b, down := NewBoard(5), map[nodes.ID]bool{}
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
			b.lead(x.id, x.term)
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

// A fault of the leader hits who leads at its time: nobody who has given way, is down, or has come up again.
// If nobody leads, it hits the next who does.
func TestFaultOfTheLeaderHitsWhoLeads(t *testing.T) {
	spec, err := election.Find("bully")
	if err != nil {
		t.Fatal(err)
	}
	s := &Scene{Spec: spec, Config: nodes.Config{N: 5}, Measured: 3 * time.Second}
	for what, x := range map[string]struct {
		faults []string
		tell   []nodes.Moment // at 5, 6 ... ms
		dies   []nodes.ID     // at 9 ms
		want   nodes.ID
	}{
		"a follower that led for a moment": {
			tell: []nodes.Moment{{Node: 4, What: nodes.OnLead}, {Node: 2, What: nodes.OnLead},
				{Node: 2, What: nodes.OnFollow}},
			want: 4,
		},
		"a lower term": {
			tell: []nodes.Moment{{Node: 4, What: nodes.OnLead, Term: 2}, {Node: 3, What: nodes.OnLead, Term: 1}},
			want: 4,
		},
		"a leader that died": {
			tell: []nodes.Moment{{Node: 3, What: nodes.OnLead}, {Node: 4, What: nodes.OnLead}},
			dies: []nodes.ID{4}, want: 3,
		},
		"all leaders died": {
			tell: []nodes.Moment{{Node: 3, What: nodes.OnLead}, {Node: 4, What: nodes.OnLead}},
			dies: []nodes.ID{3, 4}, want: nodes.None,
		},
		"a leader that came up again": {
			faults: []string{"kill: 4, at: 7ms, for: 1ms"},
			tell:   []nodes.Moment{{Node: 3, What: nodes.OnLead}, {Node: 4, What: nodes.OnLead}},
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
			d.Watch(&nodes.Moment{At: 12e6, Node: 1, What: nodes.OnFollow})
			d.Watch(&nodes.Moment{At: 12e6, Node: 0, What: nodes.OnLead})
			if c.until(t, d, 13); len(c.began) != 1 || c.began[0].Victim != 0 {
				t.Errorf("%s: %v", what, c.did)
			}
		}
	}
}
