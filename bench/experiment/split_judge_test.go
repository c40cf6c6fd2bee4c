package experiment

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/bench"
	"turnstile/chaos/effect"
	"turnstile/internal/figure"
	"turnstile/judge/leadership"
	"turnstile/judge/measure"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
	"turnstile/results"
)

// A believed says whom a node took for the leader until a time, since the belief before.
type believed struct {
	leader int
	term   float64
	to     float64
}

// trial returns a run of five seconds whose cut lasted from 1 s to 3 s. Two led in one term for as long as is
// given.
func trial(inTermUS float64, lanes ...[]believed) *bench.Trial {
	n := len(lanes)
	events := []history.Event{{Kind: history.Marked, Node: nodes.None, Count: history.Began},
		{At: 5e9, Kind: history.Marked, Node: nodes.None, Count: history.Stopped}}
	for id, beliefs := range lanes {
		from := 0.0
		for _, b := range beliefs {
			events = append(events, history.Event{At: int64(from * 1e9), Kind: history.Elected, Node: nodes.ID(id),
				Count: uint32(b.leader), Value: int64(b.term)})
			from = b.to
		}
	}
	slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	f := leadership.New(nodes.Config{N: n}, &row.Leadership{Terms: true})
	for _, e := range events {
		f.Add(e)
	}
	f.Close(nil)
	return &bench.Trial{
		Measures: &measure.Measures{Leaders: measure.NewLeaders(f), Window: section.Window{From: 0, To: 5e9}},
		Row:      results.Row{Figures: measure.Figures{TwoLeadersInTermUS: figure.Number(inTermUS)}},
		Faults:   []results.FaultRow{{OfFault: measure.OfFault{FromS: figure.Number(1), ToS: figure.Number(3)}}},
	}
}

// What became of the leaders is read off the fold of the history: for how long somebody led a minority,
// whether that ended before the heal, and how long after the heal all agreed.
func TestJudged(t *testing.T) {
	majority := []believed{{4, 1, 1.5}, {2, 2, 5}}
	stays := []believed{{4, 1, 3.4}, {2, 2, 5}}
	down := []believed{{4, 1, 1.8}, {2, 2, 5}} // from 1.8 s on it leads no more
	half := []believed{{0, 1, 5}}
	for _, test := range []struct {
		name        string
		cut         string
		does        row.Parted
		trial       *bench.Trial
		led, agreed figure.Figure
		stepped     bool
		leaders     string
		differs     string // part of it
	}{
		{name: "it leads until after the heal", cut: "0-2/3-4", does: row.PerSide,
			trial: trial(0, majority, majority, majority, stays, stays),
			led:   figure.Number(2), agreed: figure.Number(0.4), leaders: "2 | 4"},
		{name: "it steps down", cut: "0-2/3-4", does: row.MajorityLeads,
			trial: trial(0, majority, majority, majority, stays, down),
			led:   figure.Number(0.8), agreed: figure.Number(0.4), stepped: true, leaders: "2 | none"},
		{name: "it was to step down", cut: "0-2/3-4", does: row.MajorityLeads,
			trial: trial(0, majority, majority, majority, stays, stays), led: figure.Number(2),
			agreed: figure.Number(0.4), leaders: "2 | 4", differs: "node 4 led on the side of 3-4"},
		{name: "all agreed before the heal", cut: "0-2/3-4", does: row.OneLeads,
			trial: trial(0, half, half, half, half, half), agreed: figure.Number(0), leaders: "0 | none"},
		{name: "not all agreed", cut: "0-2/3-4", does: row.PerSide,
			trial: trial(0, majority, majority, majority, []believed{{4, 1, 5}}, []believed{{4, 1, 5}}),
			led:   figure.Number(2), leaders: "2 | 4", differs: "not all agreed on a leader at the end"},
		{name: "half of the nodes are no majority", cut: "0-1/2-3", does: row.OneLeads,
			trial: trial(0, half, half, half, half), led: figure.Number(2), agreed: figure.Number(0),
			leaders: "0 | none"},
		{name: "two led in one term", cut: "0-2/3-4", does: row.PerSide,
			trial: trial(5000, majority, majority, majority, stays, stays), led: figure.Number(2),
			agreed: figure.Number(0.4), leaders: "2 | 4", differs: inOneTerm},
	} {
		t.Run(test.name, func(t *testing.T) {
			cut, err := effect.ParseCut(test.cut)
			if err != nil {
				t.Fatal(err)
			}
			spec := *scheme(t, "raft-election")
			leads := *spec.Elector
			leads.Partitions = []row.Partition{{Does: test.does}}
			spec.Elector = &leads
			c := &SplitBrain{Experiment: of(&spec), N: len(cut.Named()), Cuts: []effect.Cut{cut}}
			if err := c.Check(); err != nil {
				t.Fatal(err)
			}
			x := c.cases()[0]
			x.needs, x.left, x.leader = 0, Usual, test.trial.Measures.Leaders.LeadersAt(1e9)[0]
			got := x.judged(test.trial)
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
	c := &SplitBrain{Experiment: of(scheme(t, "raft-election")), N: 5}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	x := c.cases()[0] // its leader is to be in the minority, which is 3-4
	x.needs, x.left = 0, Usual
	stays := []believed{{2, 1, 5}}
	row := x.judged(trial(0, stays, stays, stays, stays, stays))
	const elsewhere = "node 2 led when the cut began, which is not where it was to be"
	if row.LeaderIn != inMinority || row.Inconclusive != elsewhere {
		t.Errorf("leader in the %s: %q", row.LeaderIn, row.Inconclusive)
	}
	if !x.misplaced(row) || x.cut() != "0-1,4/2-3" || x.leader != 2 {
		t.Errorf("the leader, node %d, is cut off by %s", x.leader, x.cut())
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
		trial   *bench.Trial
		differs string
	}{
		{"it stays", trial(0, follow(believed{0, 1, 5}), follow(believed{0, 1, 5}), follow(believed{0, 1, 5})), ""},
		{"another replaces it in time", trial(0, follow(believed{0, 1, 1.4}, believed{1, 2, 5}),
			follow(believed{0, 1, 1.4}, believed{1, 2, 5}), follow(believed{0, 1, 1.4}, believed{1, 2, 5})), ""},
		{"another replaces it later", trial(0, follow(believed{0, 1, 2.4}, believed{1, 2, 5}),
			follow(believed{0, 1, 2.4}, believed{1, 2, 5}), follow(believed{0, 1, 2.4}, believed{1, 2, 5})),
			"1 node came to lead, later than 1s after the cut began: the leader was to stay"},
		{"it is the same in another term", trial(0, follow(believed{0, 1, 2.4}, believed{0, 2, 5}),
			follow(believed{0, 2, 5}), follow(believed{0, 2, 5})), "1 node came to lead"},
		{"nobody leads", trial(0, follow(believed{0, 1, 1.4}, believed{1, 1, 3.1}, believed{0, 2, 5}),
			follow(believed{0, 1, 3.1}, believed{0, 2, 5}), follow(believed{0, 1, 3.1}, believed{0, 2, 5})),
			"nobody led when the cut was healed and reached a majority"},
	} {
		cut, err := effect.ParseCut("0/2")
		if err != nil {
			t.Fatal(err)
		}
		c := &SplitBrain{Experiment: of(scheme(t, "raft-election")), N: 3, Cuts: []effect.Cut{cut},
			Given: map[string]string{"pre-vote": "on"}}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		x := c.cases()[0]
		x.needs, x.left, x.leader = time.Second, Usual, 0
		if row := x.judged(test.trial); test.differs == "" && row.Differs != "" ||
			!strings.Contains(row.Differs, test.differs) || row.Inconclusive != "" || row.LeaderIn != "node 0" {
			t.Errorf("%s: it differs %q, and not %q; inconclusive %q", test.name, row.Differs, test.differs,
				row.Inconclusive)
		}
	}
}

// near reports whether two figures are equal but for rounding, or both unknown.
func near(a, b figure.Figure) bool {
	x, is := a.Value()
	y, wants := b.Value()
	return is == wants && x-y < 1e-9 && y-x < 1e-9
}
