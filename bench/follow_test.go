package bench

import (
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/election"
	"turnstile/nodes/history"
	"turnstile/nodes/mutex"
	"turnstile/nodes/row"
	"turnstile/nodes/sim"
)

// A row that follows a leader is safe and serves all, whatever elects: a manager that is elected grants only
// after a majority has answered its census. When the leader crashes the next one takes over, if the scheme
// outlasts that; if it does not, the run may stall, outside its model.
func TestRowsFollowAnyElector(t *testing.T) {
	for _, row := range mutex.Table {
		if !row.Follows {
			continue
		}
		for _, scheme := range election.Table {
			outlasts := (scheme.Live|scheme.Safe)&nodes.NoCrash == 0
			if scheme.Flaw != nil || !outlasts && testing.Short() {
				continue
			}
			t.Run(row.Name+"/"+scheme.Name, func(t *testing.T) {
				t.Parallel()
				o := crowded(t, row.Name)
				o.Config.Elect, o.Detector = scheme.Name, "heartbeat:period=50ms,timeout=250ms"
				if v := followed(t, row, o); v.Outcome != check.Valid {
					t.Fatalf("without faults: %v, %s", v.Outcome, v.Reason)
				}
				o.Faults = []chaos.Fault{{Effect: &effect.Kill{Who: effect.Target{Word: "leader"}},
					Schedule: chaos.Schedule{At: time.Second}}}
				v := followed(t, row, o)
				switch {
				case v.Outcome == check.Valid: // a scheme may outlast some crashes though it does not promise that
				case v.Outcome == check.Inconclusive && v.OutsideModel && !outlasts:
				default:
					t.Errorf("the leader dies: %v, outside its model %v: %s", v.Outcome, v.OutsideModel, v.Reason)
				}
			})
		}
	}
}

// followed simulates a run and judges it.
func followed(t *testing.T, row *row.Row, o Options) check.Verdict {
	t.Helper()
	v, err := tryRun(t, row, o)
	if err != nil {
		t.Fatal(err)
	}
	return v.Verdict
}

// Nobody enters while an election goes on at its node, as where the manager's status is ELECTION or
// REORGANIZATION: Temple University, CIS 307, Mutual Exclusion and Elections in Distributed Systems (T22).
func TestNobodyEntersDuringAnElection(t *testing.T) {
	row, err := mutex.Find("central-failover")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(10) {
		o := crowded(t, row.Name)
		o.Config.Elect, o.Detector, o.Seed = "bully-four-phase", "heartbeat:period=50ms,timeout=250ms", seed+1
		o.Faults = []chaos.Fault{{Effect: &effect.Kill{Who: effect.Target{Word: "leader"}},
			Schedule: chaos.Schedule{At: time.Second, For: time.Second}}}
		asked, _, err := drafted(t, row, o, true).simulation(0, o.Seed)
		if err != nil {
			t.Fatal(err)
		}
		f := &electing{leader: map[nodes.ID]uint32{}}
		if _, err := sim.Run(*asked, f); err != nil {
			t.Fatal(err)
		}
		if f.during > 0 || f.entries == 0 || f.elections < 3*uint64(o.Config.N-1) {
			t.Errorf("seed %d: of %d entries %d were made during one of %d elections of single nodes", seed+1,
				f.entries, f.during, f.elections)
		}
	}
}

// electing counts entries at nodes that know of no leader.
type electing struct {
	leader                     map[nodes.ID]uint32
	entries, during, elections uint64
}

func (f *electing) Add(e history.Event) {
	switch e.Kind {
	case history.Elected:
		f.leader[e.Node] = e.Count
		f.elections++
	case history.Crashed:
		delete(f.leader, e.Node)
	case history.Entered:
		f.entries++
		if leader, known := f.leader[e.Node]; !known || leader == history.NoLeader {
			f.during++
		}
	}
}

func (*electing) Close([]*history.NodeLog) {}
