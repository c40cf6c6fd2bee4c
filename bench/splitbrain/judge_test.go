package splitbrain

import (
	"strings"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/results"
)

// A believed says whom a node took for the leader until a time, since the belief before.
type believed struct {
	leader int
	term   float64
	to     float64
}

// ledger returns the ledger of a run whose cut lasted from 1 s to 3 s, of five seconds.
func ledger(lanes ...[]believed) *results.Ledger {
	l := &results.Ledger{Trial: 1, End: 5,
		Faults: []results.FaultRow{{FromS: results.Number(1), ToS: results.Number(3)}}}
	for id, beliefs := range lanes {
		from, lane := 0.0, []results.BeliefRow(nil)
		for _, b := range beliefs {
			state := results.Follows
			if b.leader == id {
				state = results.Leads
			}
			lane = append(lane, results.BeliefRow{Node: id, State: state, Leader: results.Number(float64(b.leader)),
				Term: results.Number(b.term), FromS: results.Number(from), ToS: results.Number(b.to)})
			from = b.to
		}
		l.Lanes = append(l.Lanes, lane)
	}
	return l
}

// What became of the leaders is read off the ledger: for how long somebody led a minority, whether that ended
// before the heal, and how long after the heal all agreed.
func TestJudged(t *testing.T) {
	majority := []believed{{4, 1, 1.5}, {2, 2, 5}}
	stays := []believed{{4, 1, 3.4}, {2, 2, 5}}
	down := []believed{{4, 1, 1.8}, {2, 2, 5}} // from 1.8 s on it leads no more
	half := []believed{{0, 1, 5}}
	for _, test := range []struct {
		name        string
		cut         string
		does        nodes.Parted
		ledger      *results.Ledger
		inTermUS    float64 // for how long two led in one term
		led, agreed results.Figure
		stepped     bool
		leaders     string
		differs     string // part of it
	}{
		{name: "it leads until after the heal", cut: "0-2/3-4", does: nodes.PerSide,
			ledger: ledger(majority, majority, majority, stays, stays),
			led:    results.Number(2), agreed: results.Number(0.4), leaders: "2 | 4"},
		{name: "it steps down", cut: "0-2/3-4", does: nodes.MajorityLeads,
			ledger: ledger(majority, majority, majority, stays, down),
			led:    results.Number(0.8), agreed: results.Number(0.4), stepped: true, leaders: "2 | none"},
		{name: "it was to step down", cut: "0-2/3-4", does: nodes.MajorityLeads,
			ledger: ledger(majority, majority, majority, stays, stays), led: results.Number(2),
			agreed: results.Number(0.4), leaders: "2 | 4", differs: "node 4 led on the side of 3-4"},
		{name: "all agreed before the heal", cut: "0-2/3-4", does: nodes.OneLeads,
			ledger: ledger(half, half, half, half, half), agreed: results.Number(0), leaders: "0 | none"},
		{name: "not all agreed", cut: "0-2/3-4", does: nodes.PerSide,
			ledger: ledger(majority, majority, majority, []believed{{4, 1, 5}}, []believed{{4, 1, 5}}),
			led:    results.Number(2), leaders: "2 | 4", differs: "not all agreed on a leader at the end"},
		{name: "half of the nodes are no majority", cut: "0-1/2-3", does: nodes.OneLeads,
			ledger: ledger(half, half, half, half), led: results.Number(2), agreed: results.Number(0),
			leaders: "0 | none"},
		{name: "two led in one term", cut: "0-2/3-4", does: nodes.PerSide, inTermUS: 5000,
			ledger: ledger(majority, majority, majority, stays, stays), led: results.Number(2),
			agreed: results.Number(0.4), leaders: "2 | 4", differs: inOneTerm},
	} {
		t.Run(test.name, func(t *testing.T) {
			cut, err := chaos.ParseCut(test.cut)
			if err != nil {
				t.Fatal(err)
			}
			row := *scheme(t, "raft-election")
			leads := *row.Leads
			leads.Partitions = []nodes.Partition{{Does: test.does}}
			row.Leads = &leads
			c := &Comparison{N: len(test.ledger.Lanes), Rows: []*nodes.Spec{&row}, Cuts: []chaos.Cut{cut}}
			if err := c.Check(); err != nil {
				t.Fatal(err)
			}
			x := c.Cases()[0]
			x.needs, x.left, x.leader = 0, Usual, leadersAt(test.ledger, 1)[0]
			of := &results.Row{TwoLeadersInTermUS: results.Number(test.inTermUS)}
			got := x.judged(test.ledger, of)
			if !near(got.MinorityLedS, test.led) || !near(got.AgreedS, test.agreed) ||
				got.SteppedDown != test.stepped || got.Leaders != test.leaders {
				t.Errorf("a minority was led for %v s, stepped down: %v; agreed after %v s; leaders %s",
					got.MinorityLedS, got.SteppedDown, got.AgreedS, got.Leaders)
			}
			if test.differs == "" && got.Differs != "" || !strings.Contains(got.Differs, test.differs) {
				t.Errorf("it differs %q, and not %q", got.Differs, test.differs)
			}
			if got.Inconclusive != "" {
				t.Errorf("inconclusive: %s", got.Inconclusive)
			}
		})
	}
}

// Who leads where it was not to be shows nothing of the place where it was to be, and is put there.
func TestALeaderElsewhereIsNoEvidence(t *testing.T) {
	c := &Comparison{N: 5, Rows: []*nodes.Spec{scheme(t, "raft-election")}}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	x := c.Cases()[0] // its leader is to be in the minority, which is 3-4
	x.needs, x.left = 0, Usual
	stays := []believed{{2, 1, 5}}
	row := x.judged(ledger(stays, stays, stays, stays, stays), &results.Row{})
	const elsewhere = "node 2 led when the cut began, which is not where it was to be"
	if row.LeaderIn != InMinority || row.Inconclusive != elsewhere {
		t.Errorf("leader in the %s: %q", row.LeaderIn, row.Inconclusive)
	}
	if !x.misplaced(row) || x.Cut() != "0-1,4/2-3" || x.leader != 2 {
		t.Errorf("the leader, node %d, is cut off by %s", x.leader, x.Cut())
	}
	if x.misplaced(row) {
		t.Error("it is moved again, though it is where it was to be")
	}
}

// A leader that is to stay differs if another comes to lead later than the scheme may take, or if none leads
// though a node reaches a majority.
func TestLeadersThatAreToStay(t *testing.T) {
	follow := func(terms ...believed) []believed { return terms }
	for _, test := range []struct {
		name    string
		ledger  *results.Ledger
		differs string
	}{
		{"it stays", ledger(follow(believed{0, 1, 5}), follow(believed{0, 1, 5}), follow(believed{0, 1, 5})), ""},
		{"another replaces it in time", ledger(follow(believed{0, 1, 1.4}, believed{1, 2, 5}),
			follow(believed{0, 1, 1.4}, believed{1, 2, 5}), follow(believed{0, 1, 1.4}, believed{1, 2, 5})), ""},
		{"another replaces it later", ledger(follow(believed{0, 1, 2.4}, believed{1, 2, 5}),
			follow(believed{0, 1, 2.4}, believed{1, 2, 5}), follow(believed{0, 1, 2.4}, believed{1, 2, 5})),
			"1 node came to lead, later than 1s after the cut began: the leader was to stay"},
		{"it is the same in another term", ledger(follow(believed{0, 1, 2.4}, believed{0, 2, 5}),
			follow(believed{0, 2, 5}), follow(believed{0, 2, 5})), "1 node came to lead"},
		{"nobody leads", ledger(follow(believed{0, 1, 1.4}, believed{1, 1, 3.1}, believed{0, 2, 5}),
			follow(believed{0, 1, 3.1}, believed{0, 2, 5}), follow(believed{0, 1, 3.1}, believed{0, 2, 5})),
			"nobody led when the cut was healed and reached a majority"},
	} {
		cut, err := chaos.ParseCut("0/2")
		if err != nil {
			t.Fatal(err)
		}
		c := &Comparison{N: 3, Rows: []*nodes.Spec{scheme(t, "raft-election")}, Cuts: []chaos.Cut{cut},
			Given: map[string]string{"pre-vote": "on"}}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		x := c.Cases()[0]
		x.needs, x.left, x.leader = time.Second, Usual, 0
		if row := x.judged(test.ledger, &results.Row{}); test.differs == "" && row.Differs != "" ||
			!strings.Contains(row.Differs, test.differs) || row.Inconclusive != "" || row.LeaderIn != "node 0" {
			t.Errorf("%s: it differs %q, and not %q; inconclusive %q", test.name, row.Differs, test.differs,
				row.Inconclusive)
		}
	}
}

// near reports whether two figures are equal but for rounding, or both unknown.
func near(a, b results.Figure) bool {
	x, is := a.Value()
	y, wants := b.Value()
	return is == wants && x-y < 1e-9 && y-x < 1e-9
}
