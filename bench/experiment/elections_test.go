package experiment

import (
	"testing"

	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/election"
	"turnstile/nodes/row"
)

// electors returns the rows of election that are sound, or that are known to be broken.
func electors(broken bool) (all []*row.Row) {
	for _, row := range election.Table {
		if (row.Flaw != nil) == broken {
			all = append(all, row)
		}
	}
	return all
}

// No sound elector fails inside its model, few runs end too early to tell, and nine in ten lead to a verdict.
func TestElectorsOutlastDisasters(t *testing.T) {
	rows := electors(false)
	c := Campaign{Experiment: Experiment{Rows: rows, Seed: 12}, Simulated: len(rows) * soak.Pick(8, 12, 1000)}
	results, err := c.Run(t.Context())
	if err != nil || len(results) != c.Simulated {
		t.Fatalf("%d results, %v", len(results), err)
	}
	excused := 0
	for _, r := range results {
		if r.Wrong != "" {
			t.Errorf("%s with %d nodes under %s: %s", r.Spec.Name, r.Options.Config.N, r.Options.Plan, r.Wrong)
		}
		if r.Inside() && r.Verdict.Findings[0].Excused {
			excused++
		}
	}
	if 50*excused > len(results) {
		t.Errorf("of %d runs %d ended too early to tell", len(results), excused)
	}
	if shown := ShownBy(rows, results); 10*shown.Of[Inconclusive] > shown.Plans {
		t.Errorf("%v", &shown)
	}
	tallies := Tallied(rows, results)
	for i := range tallies {
		if says := tallies[i].Lacks(); says != "" {
			t.Error(says)
		}
	}
}

// caught makes the cases of a row until one is wrong or shows what the row is known to lack, but no more than
// so many. It returns how many that took, and 0 if none is.
func caught(t *testing.T, spec *row.Row, seed uint64, most int) int {
	t.Helper()
	c := Campaign{Experiment: Experiment{Rows: []*row.Row{spec}, Seed: seed}}
	for number := range most {
		switch r := c.make(t.Context(), c.drawn(number, false)); {
		case r.Err != nil:
			t.Fatal(r.Err)
		case r.Wrong != "", spec.Flaw != nil && r.Caught():
			return number + 1
		}
	}
	return 0
}

func TestBrokenElectorsAreCaught(t *testing.T) {
	for _, row := range electors(true) {
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			if most := enoughOf(row); caught(t, row, 1, most) == 0 {
				t.Errorf("%d plans do not show that it is broken: %s", most, row.Broken().Check)
			}
		})
	}
}

// A deaf machine takes no notice of something.
type deaf struct {
	nodes.Machine
	message                 string // of this kind
	suspects, trusts, saved bool   // of its detector, or of what it has saved
}

func (d *deaf) Start(env *nodes.Env) {
	if m, may := d.Machine.(nodes.Starter); may {
		m.Start(env)
	}
}

func (d *deaf) Recover(env *nodes.Env, saved nodes.Message) {
	if d.saved {
		saved = nil
	}
	d.Machine.(nodes.Recoverer).Recover(env, saved)
}

func (d *deaf) Campaign(env *nodes.Env) { d.Machine.(nodes.Elector).Campaign(env) }

func (d *deaf) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if nodes.KindName(m) != d.message {
		d.Machine.Receive(env, from, m)
	}
}

func (d *deaf) Timeout(env *nodes.Env, t nodes.Timer) { d.Machine.(nodes.Timed).Timeout(env, t) }

func (d *deaf) Suspect(env *nodes.Env, peer nodes.ID) {
	if m, may := d.Machine.(nodes.Suspecter); may && !d.suspects {
		m.Suspect(env, peer)
	}
}

func (d *deaf) Trust(env *nodes.Env, peer nodes.ID) {
	if m, may := d.Machine.(nodes.Truster); may && !d.trusts {
		m.Trust(env, peer)
	}
}

// Campaigns find out electors that do well as long as nothing goes wrong, or little.
func TestCampaignsCatchMutantsOfElectors(t *testing.T) {
	for _, m := range []struct {
		row  string
		deaf deaf
		soon uint64 // a seed whose first plans catch it
	}{
		{"bully", deaf{suspects: true}, 10},
		{"bully-four-phase", deaf{message: "poll"}, 1},
		{"fast-bully", deaf{message: "up"}, 3},
		{"bully-majority", deaf{message: "ok"}, 7},
		{"bully-majority", deaf{trusts: true}, 11},
		{"bully-shared-disk", deaf{message: "beat"}, 3},
		{"ring-list", deaf{suspects: true}, 11},
		{"raft-election", deaf{message: "heartbeat"}, 9},
		{"invitation", deaf{saved: true}, 12},
	} {
		t.Run(m.row, func(t *testing.T) {
			t.Parallel()
			row, err := election.Find(m.row)
			if err != nil {
				t.Fatal(err)
			}
			mutant := *row
			mutant.New = func(c nodes.Config) nodes.Machine {
				one := m.deaf
				one.Machine = row.New(c)
				return &one
			}
			if most := 500; caught(t, &mutant, soak.Pick(m.soon, 1, 1), most) == 0 {
				t.Errorf("%d plans do not show that it takes no notice: %+v", most, m.deaf)
			}
		})
	}
}

// The plans of every second round spare an elector what breaks for good what it rests on, and equal seeds
// draw equal cases.
func TestDrawElections(t *testing.T) {
	loads := map[string]bool{}
	for number := range 20 * len(election.Table) {
		c, err := (&Experiment{Rows: election.Table, Seed: 7}).draw(number, false)
		if err != nil {
			t.Fatal(err)
		}
		needs := (c.Spec.Safe | c.Spec.Live) &^ nodes.Transient
		inside := number/len(election.Table)%2 == 0
		for i := range c.Options.Faults {
			f := &c.Options.Faults[i]
			if broken := f.Breaks() & needs; inside && broken != 0 {
				t.Errorf("%s: %v breaks %v", c.Spec.Name, f, broken)
			}
		}
		again, err := (&Experiment{Rows: election.Table, Seed: 7}).draw(number, false)
		if err != nil || again.Options.Seed != c.Options.Seed || again.Options.Plan != c.Options.Plan {
			t.Errorf("%+v, and then %+v, %v", c, again, err)
		}
		loads[string(c.Options.Workload.Initiators)] = true
	}
	for _, who := range []string{"all", "lowest", "random:1", "random:3"} {
		if !loads[who] {
			t.Errorf("nowhere %s campaign: %v", who, loads)
		}
	}
}

// The plan of an elector that failed is shrunk as any other.
func TestShrinkAnElection(t *testing.T) {
	spec, err := election.Find("bully")
	if err != nil {
		t.Fatal(err)
	}
	for number := range 200 {
		c, err := (&Experiment{Rows: []*row.Row{spec}, Seed: 3}).draw(2*number+1, false)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Shrink(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if s == nil || s.Failure.Check != "leaders" || len(c.Options.Faults) < 3 {
			continue
		}
		if len(s.Faults) == 0 || len(s.Faults) >= s.From || !s.Failure.Outside {
			t.Errorf("%+v", s)
		}
		repeats(t, s, c.Options)
		return
	}
	t.Error("no plan has two lead")
}
