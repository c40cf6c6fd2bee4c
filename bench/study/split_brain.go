package study

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

// A SplitBrain makes runs of election schemes whose cluster, or some links of it, is cut and healed: one run
// with the leader at each place of the cut.
type SplitBrain struct {
	Experiment
	Spread
	N     int
	Given map[string]string // options, for the schemes that have them
	Cuts  []effect.Cut      // nil: one cut, which separates the minority of nodes with the highest numbers
	// For is how long the cuts last; 0: Usual, or longer if the scheme needs that.
	For time.Duration
	// Duration is the duration of each run; 0: long enough for the scheme after the heal.
	Duration time.Duration
	Real     bool // make runs of processes
}

// Usual is the default length of a cut: enough for all schemes and five nodes.
const Usual = 2 * time.Second

const (
	settled = time.Second // time before the cut
	// Time that processes may need beyond the grace of the scheme, since they share CPUs.
	spare    = 1500 * time.Millisecond
	shortest = time.Second
)

// Check completes the options, or returns an error if they are invalid.
func (c *SplitBrain) Check() error {
	switch {
	case c.N < 2:
		return fmt.Errorf("-n: %d: a cluster to be cut in two has 2 nodes or more", c.N)
	case c.For != 0 && c.For < shortest:
		return fmt.Errorf("--for: %v: let the cut last for %v or more, or it is healed before anybody notices",
			c.For, shortest)
	case c.Duration != 0 && c.Duration <= settled+c.lasts():
		return fmt.Errorf("--duration: %v: the cut begins after %v and lasts for %v: let the run last longer, "+
			"such as %v", c.Duration, settled, c.lasts(), settled+c.lasts()+4*time.Second)
	}
	if c.Cuts == nil {
		text := fmt.Sprintf("0-%d/%d-%d", c.N/2, c.N/2+1, c.N-1)
		if c.N == 2 {
			text = "0/1"
		}
		cut, err := effect.ParseCut(text)
		if err != nil {
			return err
		}
		c.Cuts = []effect.Cut{cut}
	}
	for _, check := range []func() error{c.checkOptions, c.settle, c.checkCuts} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// config returns the configuration of a scheme, with those given options that the scheme has.
func (c *SplitBrain) config(algo *algorithm.Algorithm) nodes.Config {
	config := nodes.Config{N: c.N}
	for name, value := range c.Given {
		if algo.Option(name) != nil {
			config = config.With(name, value)
		}
	}
	return config
}

// checkOptions returns an error if the options are invalid.
func (c *SplitBrain) checkOptions() error {
	for name := range c.Given {
		if !slices.ContainsFunc(c.Algorithms,
			func(algo *algorithm.Algorithm) bool { return algo.Option(name) != nil }) {
			return fmt.Errorf("--%s: none of these schemes has it: leave it out, or name one that does (see list)",
				name)
		}
	}
	for _, algo := range c.Algorithms {
		if err := algo.Validate(c.config(algo)); err != nil {
			return fmt.Errorf("%s: %w", algo.Name, err)
		}
	}
	return nil
}

// lasts returns how long the cut of a first run lasts.
func (c *SplitBrain) lasts() time.Duration { return cmp.Or(c.For, Usual) }

// checkCuts returns an error if the cuts are invalid.
func (c *SplitBrain) checkCuts() error {
	for _, cut := range c.Cuts {
		if !cut.Links() {
			return fmt.Errorf("--cut: %v: name the nodes between which messages are lost, as in 0-1/2-4, or 0>1-2 "+
				"for one way", cut)
		}
		if err := cut.Check(c.N); err != nil {
			return fmt.Errorf("--cut: %v: %w", cut, err)
		}
		if len(cut.Sides()) == c.N && c.N > 2 {
			return fmt.Errorf("--cut: %v: this cuts off every node from every other, so it leaves no side to compare",
				cut)
		}
	}
	return nil
}

// options returns the options of the run of a case.
func (c *SplitBrain) options(x *partition) bench.Options {
	o := option.Defaults()
	o.Algorithm, o.Config, o.Seed = x.spec.Name, x.config, c.Seed
	o.Workload = workload.Workload{Load: workload.Campaign, Initiators: x.initiators()}
	o.Warmup, o.WarmupLimit, o.Faults = 0, 0, x.faults()
	if o.Duration = c.Duration; o.Duration == 0 {
		o.Duration = x.begins + x.lasts + x.spec.GraceOf(o.Config) + spare
	}
	if !c.Real {
		o.Latency = chance.Constant(latency)
	}
	c.over(&o)
	return o
}

// Count returns how many runs Run makes, not counting repeated ones.
func (c *SplitBrain) Count() int { return len(c.cases()) }

// Takes returns about how long Run takes at least. Real runs are made one after another, and simulated ones
// take no time.
func (c *SplitBrain) Takes() (sum time.Duration) {
	for _, x := range c.cases() {
		if c.Real {
			sum += c.options(x).Duration
		}
	}
	return sum
}

// Run makes the run of each scheme in each partition, and judges it. If ctx is done, it returns the results
// so far, with the error of ctx.
func (c *SplitBrain) Run(ctx context.Context) ([]*Result, error) {
	cases := c.cases()
	return made(c.run(ctx, 1, len(cases), 0, len(cases), func(number int) *Case {
		return c.caseOf(cases[number])
	})), c.ended(ctx)
}

// caseOf returns the case of a scheme in a partition. The run is made again if another node led than
// expected: that node then takes the place of the leader in the cuts. It is also made again if the cut was
// too short for the scheme and the user did not set its length. A run of processes is made up to three times.
// After a violation, no run is made again.
func (c *SplitBrain) caseOf(x *partition) *Case {
	o := c.options(x)
	x.left = o.Duration - x.begins - x.lasts
	j, err := bench.Resolve(c.Known, o, x.spec, !c.Real)
	return &Case{Job: j, Err: err, Stored: true, Expect: x.expected, Again: func(r *Result) *Case {
		if c.tooLittle(x, r) {
			return c.caseOf(x)
		}
		return nil
	}}
}

// expected judges what happened to the leaders.
func (x *partition) expected(r *Result) {
	if r.Err != nil {
		r.Err = fmt.Errorf("%s: %w", x.spec.Name, r.Err)
		return
	}
	t := r.run.Trials[0]
	row := x.judged(t)
	row.Run, row.Verdict = r.Folder, t.Verdict.Outcome.String()
	if t.Verdict.Missed && row.Differs == "" && row.Inconclusive == "" {
		row.ShowsNothing = "the cut hit no message, since none was sent across it"
	}
	r.Row, r.Wrong = row, row.Differs
}

// tooLittle reports whether a run shows too little, and another run may show more.
func (c *SplitBrain) tooLittle(x *partition, r *Result) bool {
	if r.Err != nil || r.Wrong == inOneTerm {
		return false
	}
	moved := x.misplaced(r.Row)
	return moved || (r.Wrong != "" || r.Row.Inconclusive != "") && (c.lengthened(x, r.Row) || c.Real)
}

// lengthened makes the cut of a case begin later and last longer, if that may make a run conclusive.
func (c *SplitBrain) lengthened(x *partition, row *results.SplitBrainRow) bool {
	if row.Inconclusive == "" || c.For != 0 || c.Duration != 0 || x.begins >= x.needs && x.lasts >= x.needs {
		return false
	}
	x.begins, x.lasts, x.again = max(x.begins, x.needs), max(x.lasts, x.needs), true
	return true
}

// A partition is a case of a SplitBrain: a scheme whose cluster is cut, with the leader at one place.
type partition struct {
	spec    *algorithm.Algorithm
	promise algorithm.Partition
	n       int
	where   string // place of the leader when the cut begins: inMinority, inMajority, or a node of the cuts

	config nodes.Config
	among  nodes.Group // nodes at the place of the leader, in the requested cuts
	asked  []effect.Cut
	links  bool     // the cuts do not part the cluster into sides
	at     nodes.ID // node at the place of the leader, in the requested cuts
	// leader is the node expected to lead when the cut begins. In the cuts, it swaps places with partition.at.
	leader nodes.ID
	starts nodes.ID     // the only node that campaigns, if any node may win
	cuts   []effect.Cut // the cuts of the run
	begins time.Duration
	lasts  time.Duration
	again  bool          // the cut was lengthened
	needs  time.Duration // time until the scheme has the expected leaders on each side
	left   time.Duration // from the heal to the end of the run
}

// The places of a leader in a cut that parts the cluster into sides.
const (
	inMinority = "minority"
	inMajority = "majority"
)

// cases returns the cases, scheme by scheme.
func (c *SplitBrain) cases() (all []*partition) {
	for _, spec := range c.Algorithms {
		config := c.config(spec)
		says := spec.Elector.PartitionsIn(config, c.Links())
		if len(says) == 0 {
			says = []algorithm.Partition{{}}
		}
		for _, p := range says {
			for _, place := range c.places() {
				x := &partition{spec: spec, promise: p, n: c.N, config: config, where: place.name, among: place.nodes,
					asked: c.Cuts, links: c.Links(), begins: settled, lasts: c.lasts()}
				if x.needs = spec.GraceOf(config); c.Real {
					x.needs += spare
				}
				if x.links && c.For == 0 {
					x.lasts = max(x.lasts, x.needs+Usual) // long enough to show whether a leader stays
				}
				x.starts = x.likely()
				x.expect(x.starts)
				all = append(all, x)
			}
		}
	}
	return all
}

// A leaderPlace is a place of the leader in the cuts.
type leaderPlace struct {
	name  string
	nodes nodes.Group
}

// places returns the places of the leader: the side without a majority, and the side with one. If the cuts
// make no sides, the places are each node that they name, and one that they do not name.
func (c *SplitBrain) places() (all []leaderPlace) {
	if !c.Links() {
		var minority, majority nodes.Group
		for _, side := range c.Cuts[0].Sides() {
			if 2*len(side) > c.N {
				majority = side
			} else {
				minority = append(minority, side...)
			}
		}
		all = []leaderPlace{{inMinority, minority}}
		if majority != nil {
			all = append(all, leaderPlace{inMajority, majority})
		}
		return all
	}
	var named nodes.Group
	for _, cut := range c.Cuts {
		named = append(named, cut.Named()...)
	}
	other := false
	for id := range nodes.ID(c.N) {
		if is := slices.Contains(named, id); is || !other {
			all = append(all, leaderPlace{fmt.Sprintf("node %d", id), nodes.Group{id}})
			other = other || !is
		}
	}
	return all
}

// Links reports whether the cuts do not part the cluster into sides: there are several, or one of them is
// one-way or does not name all nodes.
func (c *SplitBrain) Links() bool {
	return len(c.Cuts) > 1 || c.Cuts[0].Sides() == nil || len(c.Cuts[0].Named()) < c.N
}

// likely returns the node that will lead when the cut begins. If the scheme may elect any node, it is a node
// at the place of the leader, which campaigns alone.
func (x *partition) likely() nodes.ID {
	config, leads := x.config, x.spec.Elector
	if leads.Wins == algorithm.AnyWins {
		return x.among[len(x.among)-1]
	}
	best := nodes.ID(0)
	for id := range nodes.ID(x.n) {
		a, b := leads.RankOf(config, id), leads.RankOf(config, best)
		if leads.Wins == algorithm.HighestWins && a > b || leads.Wins == algorithm.LowestWins && a < b {
			best = id
		}
	}
	return best
}

// expect puts the leader into its place in the cuts.
func (x *partition) expect(leader nodes.ID) {
	x.leader, x.at = leader, leader
	if !slices.Contains(x.among, leader) {
		x.at = x.among[len(x.among)-1]
	}
	x.cuts = nil
	for _, cut := range x.asked {
		x.cuts = append(x.cuts, cut.Exchanged(x.leader, x.at))
	}
}

// sides returns the sides of the cut, or nil if it makes no sides.
func (x *partition) sides() []nodes.Group {
	if x.links {
		return nil
	}
	return x.cuts[0].Sides()
}

// cut returns the cuts as text.
func (x *partition) cut() string {
	var words []string
	for _, f := range x.faults() {
		words = append(words, effect.CutOf(f.Effect).String())
	}
	return strings.Join(words, " ")
}

// faults returns the cuts of the run.
func (x *partition) faults() (all []chaos.Fault) {
	for _, cut := range x.cuts {
		f := chaos.Fault{Schedule: chaos.Schedule{At: x.begins, For: x.lasts}}
		switch x.promise.Cuts {
		case algorithm.FirstNetwork:
			f.Network = new(effect.Net)
		case algorithm.ServersToo:
			words := []string{cut.String()}
			for i := range x.spec.ServerCount(x.config) {
				words = append(words, fmt.Sprint(x.n+i))
			}
			var err error
			if cut, err = effect.ParseCut(strings.Join(words, "/")); err != nil {
				panic(err) // impossible: a valid cut stays valid with more sides
			}
		}
		f.Effect = &effect.Partition{Cut: cut}
		all = append(all, f)
	}
	return all
}

// initiators returns which nodes campaign when the run begins: all, unless any node may win.
func (x *partition) initiators() workload.Initiators {
	if x.spec.Elector.Wins == algorithm.AnyWins {
		return workload.TheseInitiate(x.starts)
	}
	return workload.AllInitiate
}

// placed reports whether one node led when the cut began, and it was in its place.
func (x *partition) placed(before nodes.Group) bool {
	return len(before) == 1 && before[0] == x.leader
}

// judged describes what happened to the leaders in a run, and where that differs from what is expected.
func (x *partition) judged(t *runs.TrialResult) *results.SplitBrainRow {
	of, l := &t.Row, t.Measures.Leaders
	out := &results.SplitBrainRow{Algorithm: x.spec.Name, Kind: of.Kind, Nodes: x.n, Cut: x.cut(),
		CutAtS: figure.Number(x.begins.Seconds()), CutS: figure.Number(x.lasts.Seconds()), Lengthened: x.again,
		LeaderIn: x.where, Cuts: x.severs().String(), Says: x.promise.Does.String(), Why: x.promise.Why,
		Messages:    of.Messages,
		TwoLeadersS: inSeconds(of.TwoLeadersUS), TwoLeadersInTermS: inSeconds(of.TwoLeadersInTermUS)}
	if x.spec.Flaw != nil {
		out.Says, out.Why = "known broken: "+x.spec.Broken().Check, ""
	}
	if l == nil || !t.Measures.Window.Known() || len(t.Faults) < len(x.cuts) {
		out.Inconclusive = "the cut did not take place"
		return out
	}
	begun, _ := t.Faults[0].FromS.Value()
	healed, known := t.Faults[0].ToS.Value()
	if !known {
		out.Inconclusive = "the cut was not healed before the end"
		return out
	}
	at := func(s float64) int64 { return t.Measures.Window.From + int64(math.Round(s*1e9)) }
	cut := leadership.Span{From: at(begun), To: at(healed)}
	before, during := nodes.Group(l.LeadersAt(cut.From)), nodes.Group(l.LeadersAt(cut.To))
	out.Led, out.Leaders = before.String(), x.bySide(during)
	out.Changes = figure.Count(uint64(l.ChangesIn(cut.From+1, cut.To)))
	x.minority(l.Fold, cut, out)
	if last := l.AgreedAtEnd(); last != nil {
		out.AgreedS = seconds(max(0, last.Agreed-cut.To))
	}
	if x.promise.Does != 0 && x.spec.Flaw == nil {
		x.compared(out, before, during, newLeaders(l.Fold, cut))
		if x.promise.Does == algorithm.OneStays || x.promise.Does == algorithm.OneOrNone {
			x.stays(l.Fold, out, during, cut)
		}
	}
	if out.Differs == "" && out.Inconclusive == "" && len(before) == 1 && !x.placed(before) {
		out.Inconclusive = fmt.Sprintf("node %v led when the cut began, but the cut was laid for another leader",
			before)
	}
	return out
}

// severs returns what the cuts sever.
func (x *partition) severs() algorithm.Severed {
	if x.links {
		return algorithm.SomeLinks
	}
	return x.promise.Cuts
}

// misplaced reports whether another node led than expected when the cut began, and then puts that node into
// the place of the leader.
func (x *partition) misplaced(row *results.SplitBrainRow) bool {
	before, err := nodes.ParseGroup(row.Led)
	if err != nil || len(before) != 1 || x.placed(before) {
		return false
	}
	x.expect(before[0])
	return true
}

// stays judges whether a leader stayed, if the scheme promises it: once the scheme has had its time, no other
// node comes to lead, and when the cut is healed the leader reaches a majority.
func (x *partition) stays(l *leadership.Fold, out *results.SplitBrainRow, during nodes.Group,
	cut leadership.Span) {
	steady := leadership.Span{From: cut.From + int64(x.needs), To: cut.To}
	came, reached := l.ChangesIn(steady.From+1, steady.To), nodes.Group(nil)
	for _, id := range during {
		if 2*x.reaches(id) > x.n {
			reached = append(reached, id)
		}
	}
	possible := false // whether a node can reach a majority
	for id := range nodes.ID(x.n) {
		possible = possible || x.promise.Does == algorithm.OneStays && 2*x.reaches(id) > x.n
	}
	switch {
	case out.Differs != "" || out.Inconclusive != "":
	case steady.To <= steady.From:
		out.Inconclusive = fmt.Sprintf("the cut of %v was too short for this scheme, which may take up to %v",
			x.lasts, x.needs)
	case came > 0:
		out.Differs = fmt.Sprintf("%s to lead, later than %v after the cut began; expected: the leader stays",
			english.Count(came, "node came", "nodes came"), x.needs)
	case possible && len(reached) != 1:
		out.Differs = fmt.Sprintf("%s led when the cut was healed and reached a majority; expected: one node",
			named(reached))
	}
}

// reaches returns how many nodes a node can exchange messages with during the cut, including itself.
func (x *partition) reaches(id nodes.ID) (n int) {
	for other := range nodes.ID(x.n) {
		if !slices.ContainsFunc(x.cuts, func(c effect.Cut) bool {
			return c.Separates(id, other) || c.Separates(other, id)
		}) {
			n++
		}
	}
	return n
}

func seconds(ns int64) figure.Figure { return figure.Number(float64(ns) / 1e9) }

// newLeaders returns the nodes that came to lead during a span.
func newLeaders(l *leadership.Fold, during leadership.Span) (ids nodes.Group) {
	led := map[nodes.ID]bool{}
	for i := range l.Stretches {
		s := &l.Stretches[i]
		if s.From == s.To {
			continue
		}
		leads := s.State == leadership.Leads
		if leads && !led[s.Node] && during.From < s.From && s.From < during.To && !slices.Contains(ids, s.Node) {
			ids = append(ids, s.Node)
		}
		led[s.Node] = leads
	}
	slices.Sort(ids)
	return ids
}

// bySide lists leaders by side.
func (x *partition) bySide(ids nodes.Group) string {
	var sides []string
	if x.links {
		return cmp.Or(ids.String(), "none")
	}
	for _, side := range x.sides() {
		if led := within(side, ids); len(led) > 0 {
			sides = append(sides, led.String())
		} else {
			sides = append(sides, "none")
		}
	}
	return strings.Join(sides, " | ")
}

func within(side, ids nodes.Group) (both nodes.Group) {
	for _, id := range ids {
		for _, other := range side {
			if id == other {
				both = append(both, id)
			}
		}
	}
	return both
}

// minority records for how long of the cut a node led without a majority, and whether it stepped down before
// the heal.
func (x *partition) minority(l *leadership.Fold, cut leadership.Span, row *results.SplitBrainRow) {
	var minority nodes.Group
	for _, side := range x.sides() {
		if 2*len(side) <= x.n {
			minority = append(minority, side...)
		}
	}
	longest := int64(0)
	for i := range l.Stretches {
		s := &l.Stretches[i]
		led := min(s.To, cut.To) - max(s.From, cut.From)
		if s.State == leadership.Leads && led > longest && slices.Contains(minority, s.Node) {
			longest = led
			row.MinorityLedS, row.SteppedDown = seconds(led), s.To < cut.To
		}
	}
}

// inOneTerm describes a run in which two nodes led in the same term: a violation, whatever the timing.
const inOneTerm = "two led in one term"

// compared records where a run differs from what is expected. If the scheme may have had too little time, the
// run is inconclusive.
func (x *partition) compared(out *results.SplitBrainRow, before, during, came nodes.Group) {
	inTerm, _ := out.TwoLeadersInTermS.Value()
	side, ever, one := x.wrongSide(during), "", len(before) == 1
	if one {
		ever = x.wrongAtAnyTime(out, before[0], during, came)
	}
	began := fmt.Sprintf("%s led when the cut began, after %v; expected: one node", named(before),
		x.begins)
	const end = "not all agreed on a leader at the end"
	switch agreed := out.AgreedS.Known() || x.promise.Does == algorithm.SeveralStay; {
	case x.spec.Elector.Terms && inTerm > 0:
		out.Differs = inOneTerm
	case ever != "":
		out.Differs = ever
	case !one && x.begins >= x.needs:
		out.Differs = began
	case side != "" && x.lasts >= x.needs:
		out.Differs = side
	case !agreed && x.left >= x.needs:
		out.Differs = end
	case !one:
		out.Inconclusive = fmt.Sprintf("%s; this scheme may take up to %v", began, x.needs)
	case side != "":
		out.Inconclusive = fmt.Sprintf("%s; the cut of %v was too short for this scheme, which may take up to %v",
			side, x.lasts, x.needs)
	case !agreed:
		out.Inconclusive = fmt.Sprintf("%s, %v after the heal; this scheme may take up to %v", end, x.left, x.needs)
	}
}

// wrongSide describes a side that had other leaders when the cut was healed than are expected.
func (x *partition) wrongSide(during nodes.Group) string {
	for _, side := range x.sides() {
		led := within(side, during)
		wants := 1
		if x.promise.Does == algorithm.MajorityLeads && 2*len(side) <= x.n {
			wants = 0
		}
		if x.promise.Does < algorithm.OneLeads && len(led) != wants {
			return fmt.Sprintf("%s led on the side of %v when the cut was healed; expected: %s", named(led),
				side, []string{"nobody", "one node"}[wants])
		}
	}
	return ""
}

// wrongAtAnyTime describes what happened during the cut although the scheme rules it out for cuts of any
// length.
func (x *partition) wrongAtAnyTime(out *results.SplitBrainRow, before nodes.ID,
	during, came nodes.Group) string {
	two, _ := out.TwoLeadersS.Value()
	switch {
	case x.promise.Does == algorithm.OneLeads && (len(during) != 1 || during[0] != before || two > 0):
		return fmt.Sprintf("%s led when the cut was healed, and two did for %v s in all; expected: node %d alone",
			named(during), two, before)
	case x.promise.Does == algorithm.Blocked && len(came) > 0:
		return fmt.Sprintf("%s came to lead while the cut lasted", named(came))
	}
	return ""
}

func named(ids nodes.Group) string {
	switch len(ids) {
	case 0:
		return "nobody"
	case 1:
		return "node " + ids.String()
	}
	return "nodes " + ids.String()
}
