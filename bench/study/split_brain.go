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
	"turnstile/bench/option"
	"turnstile/bench/runs"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// A SplitBrain says which runs are made of schemes of election whose cluster is cut in two, or some of its
// links, and healed: with the leader on either side.
type SplitBrain struct {
	Experiment
	Spread
	N     int
	Given map[string]string // options, for the schemes that have them
	Cuts  []effect.Cut      // none: the highest, fewer than half, from the others
	// For is how long they last; zero: Usual, and longer where that is too short for the scheme.
	For time.Duration
	// Duration is that of each run; zero: until the scheme has had the time that it needs after the heal.
	Duration time.Duration
	Real     bool // by processes
}

// Usual is how long a cut lasts unless the comparison says otherwise: enough for all schemes and five nodes.
const Usual = 2 * time.Second

const (
	settled = time.Second // before the cut
	// Time that processes may need beside the times of their row, since they share processors.
	spare    = 1500 * time.Millisecond
	shortest = time.Second
)

// Check completes the comparison, and says what is wrong with it, if anything is.
func (c *SplitBrain) Check() error {
	switch {
	case c.N < 2:
		return fmt.Errorf("-n: %d: a cluster that is to be cut in two has 2 nodes or more", c.N)
	case c.For != 0 && c.For < shortest:
		return fmt.Errorf("--for: %v: let the cut last for %v or more, or nobody has noticed it when it is healed",
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

// config returns the configuration of a scheme: it takes the options that it has.
func (c *SplitBrain) config(row *row.Row) nodes.Config {
	config := nodes.Config{N: c.N}
	for name, value := range c.Given {
		if row.Option(name) != nil {
			config = config.With(name, value)
		}
	}
	return config
}

// checkOptions says what is wrong with the options, if anything is.
func (c *SplitBrain) checkOptions() error {
	for name := range c.Given {
		if !slices.ContainsFunc(c.Rows, func(row *row.Row) bool { return row.Option(name) != nil }) {
			return fmt.Errorf("--%s: none of these schemes has it: leave it out, or name one that does (see list)",
				name)
		}
	}
	for _, row := range c.Rows {
		if err := row.Validate(c.config(row)); err != nil {
			return fmt.Errorf("%s: %w", row.Name, err)
		}
	}
	return nil
}

// lasts returns how long the cut of a first run lasts.
func (c *SplitBrain) lasts() time.Duration { return cmp.Or(c.For, Usual) }

// checkCuts says what is wrong with the cuts.
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
			return fmt.Errorf("--cut: %v: this cuts off every node from every other, and leaves no side to compare",
				cut)
		}
	}
	return nil
}

// options returns those of the run of a case.
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

// Count returns how many runs Run makes, those that are made again left aside.
func (c *SplitBrain) Count() int { return len(c.cases()) }

// Takes returns about how long Run takes at least: real runs are made one after the other, and simulated ones
// take no time.
func (c *SplitBrain) Takes() (sum time.Duration) {
	for _, x := range c.cases() {
		if c.Real {
			sum += c.options(x).Duration
		}
	}
	return sum
}

// Run makes the run of each scheme in each partition, and says what came of it. If ctx is done, it returns
// what there is, with the error of ctx.
func (c *SplitBrain) Run(ctx context.Context) ([]*Result, error) {
	cases := c.cases()
	return made(c.run(ctx, 1, len(cases), 0, len(cases), func(number int) *Case {
		return c.caseOf(cases[number])
	})), ctx.Err()
}

// caseOf returns the run of a scheme in a partition. It is made once more if another node led than was
// expected, which is put into the place of the leader then, or if the cut was too short for the scheme and
// the user did not say how long it lasts. Of processes it is made up to three times. What must not be at any
// time stands.
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

// expected says what became of the leaders.
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

// tooLittle reports whether a run shows too little, and another may show more.
func (c *SplitBrain) tooLittle(x *partition, r *Result) bool {
	if r.Err != nil || r.Wrong == inOneTerm {
		return false
	}
	moved := x.misplaced(r.Row)
	return moved || (r.Wrong != "" || r.Row.Inconclusive != "") && (c.lengthened(x, r.Row) || c.Real)
}

// lengthened has the cut of a case begin later, and last longer, if that may make a run conclusive.
func (c *SplitBrain) lengthened(x *partition, row *results.SplitBrainRow) bool {
	if row.Inconclusive == "" || c.For != 0 || c.Duration != 0 || x.begins >= x.needs && x.lasts >= x.needs {
		return false
	}
	x.begins, x.lasts, x.again = max(x.begins, x.needs), max(x.lasts, x.needs), true
	return true
}

// A partition is a case of split-brain: a scheme whose cluster is cut, with its leader at one place.
type partition struct {
	spec  *row.Row
	says  row.Partition
	n     int
	where string // the leader is when the cut begins: inMinority, inMajority, or at which node of the cuts

	config nodes.Config
	among  effect.Group // nodes of the cuts as they were asked for, of which one is to be the leader
	asked  []effect.Cut
	links  bool     // they do not part the cluster into sides
	at     nodes.ID // where the leader stands in the cuts as they were asked for
	// leader is who is expected to lead when the cut begins. It and at are exchanged in the cuts.
	leader nodes.ID
	starts nodes.ID     // who campaigns, if anybody may win
	cuts   []effect.Cut // as they are
	begins time.Duration
	lasts  time.Duration
	again  bool          // its cut is longer than it was
	needs  time.Duration // within which it has a leader on each side that is to have one, and no other
	left   time.Duration // from the heal to the end of the run
}

// The places of a leader, of a cut that parts the cluster into sides.
const (
	inMinority = "minority"
	inMajority = "majority"
)

// cases returns the cases, those of one scheme one after the other.
func (c *SplitBrain) cases() (all []*partition) {
	for _, spec := range c.Rows {
		config := c.config(spec)
		says := spec.Elector.PartitionsIn(config, c.Links())
		if len(says) == 0 {
			says = []row.Partition{{}}
		}
		for _, p := range says {
			for _, place := range c.places() {
				x := &partition{spec: spec, says: p, n: c.N, config: config, where: place.name, among: place.nodes,
					asked: c.Cuts, links: c.Links(), begins: settled, lasts: c.lasts()}
				if x.needs = spec.GraceOf(config); c.Real {
					x.needs += spare
				}
				if x.links && c.For == 0 {
					x.lasts = max(x.lasts, x.needs+Usual) // so that it shows whether a leader stays
				}
				x.starts = x.likely()
				x.expect(x.starts)
				all = append(all, x)
			}
		}
	}
	return all
}

// A seat is where a leader is in the cuts.
type seat struct {
	name  string
	nodes effect.Group
}

// places returns where the leaders are to be: once on a side without a majority, and once on the one with it;
// if the cuts make no sides, at each node that they name, and at one that they do not.
func (c *SplitBrain) places() (all []seat) {
	if !c.Links() {
		var minority, majority effect.Group
		for _, side := range c.Cuts[0].Sides() {
			if 2*len(side) > c.N {
				majority = side
			} else {
				minority = append(minority, side...)
			}
		}
		all = []seat{{inMinority, minority}}
		if majority != nil {
			all = append(all, seat{inMajority, majority})
		}
		return all
	}
	var named effect.Group
	for _, cut := range c.Cuts {
		named = append(named, cut.Named()...)
	}
	other := false
	for id := range nodes.ID(c.N) {
		if is := slices.Contains(named, id); is || !other {
			all = append(all, seat{fmt.Sprintf("node %d", id), effect.Group{id}})
			other = other || !is
		}
	}
	return all
}

// Links reports whether the cuts do not part the cluster into sides: some are of one way, or name not all
// nodes, or there are several.
func (c *SplitBrain) Links() bool {
	return len(c.Cuts) > 1 || c.Cuts[0].Sides() == nil || len(c.Cuts[0].Named()) < c.N
}

// likely returns who is to lead when the cut begins: of a scheme that elects anybody, one of the place that
// campaigns alone.
func (x *partition) likely() nodes.ID {
	config, leads := x.config, x.spec.Elector
	if leads.Wins == row.AnyWins {
		return x.among[len(x.among)-1]
	}
	best := nodes.ID(0)
	for id := range nodes.ID(x.n) {
		a, b := leads.RankOf(config, id), leads.RankOf(config, best)
		if leads.Wins == row.HighestWins && a > b || leads.Wins == row.LowestWins && a < b {
			best = id
		}
	}
	return best
}

// expect puts the node that leads into its place in the cuts.
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

// sides returns the sides of the cut; none, if it makes no sides.
func (x *partition) sides() []effect.Group {
	if x.links {
		return nil
	}
	return x.cuts[0].Sides()
}

// cut writes what is cut.
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
		switch x.says.Cuts {
		case row.FirstNetwork:
			f.Network = new(effect.Net)
		case row.ServersToo:
			words := []string{cut.String()}
			for i := range x.spec.ServerCount(x.config) {
				words = append(words, fmt.Sprint(x.n+i))
			}
			var err error
			if cut, err = effect.ParseCut(strings.Join(words, "/")); err != nil {
				panic(err) // it has one side more
			}
		}
		f.Effect = &effect.Partition{Cut: cut}
		all = append(all, f)
	}
	return all
}

// initiators returns who campaigns when the run begins: all, unless anybody may win.
func (x *partition) initiators() workload.Initiators {
	if x.spec.Elector.Wins == row.AnyWins {
		return workload.TheseInitiate(x.starts)
	}
	return workload.AllInitiate
}

// placed reports whether one node led when the cut began, and at its place.
func (x *partition) placed(before effect.Group) bool {
	return len(before) == 1 && before[0] == x.leader
}

// judged says what became of the leaders in a run, and where that is not what the row says.
func (x *partition) judged(t *runs.Trial) *results.SplitBrainRow {
	of, l := &t.Row, t.Measures.Leaders
	out := &results.SplitBrainRow{Algorithm: x.spec.Name, Kind: of.Kind, Nodes: x.n, Cut: x.cut(),
		CutAtS: figure.Number(x.begins.Seconds()), CutS: figure.Number(x.lasts.Seconds()), Lengthened: x.again,
		LeaderIn: x.where, Cuts: x.severs().String(), Says: x.says.Does.String(), Why: x.says.Why,
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
	before, during := effect.Group(l.LeadersAt(cut.From)), effect.Group(l.LeadersAt(cut.To))
	out.Led, out.Leaders = before.String(), x.bySide(during)
	out.Changes = figure.Count(uint64(l.ChangesIn(cut.From+1, cut.To)))
	x.minority(l.Fold, cut, out)
	if last := l.AgreedAtEnd(); last != nil {
		out.AgreedS = seconds(max(0, last.Agreed-cut.To))
	}
	if x.says.Does != 0 && x.spec.Flaw == nil {
		x.compared(out, before, during, newLeaders(l.Fold, cut))
		if x.says.Does == row.OneStays || x.says.Does == row.OneOrNone {
			x.stays(l.Fold, out, during, cut)
		}
	}
	if out.Differs == "" && out.Inconclusive == "" && len(before) == 1 && !x.placed(before) {
		out.Inconclusive = fmt.Sprintf("node %v led when the cut began, which is not where it was to be", before)
	}
	return out
}

// severs returns what is cut.
func (x *partition) severs() row.Severed {
	if x.links {
		return row.SomeLinks
	}
	return x.says.Cuts
}

// misplaced puts who led when the cut began into the place of the leader, if another was expected.
func (x *partition) misplaced(row *results.SplitBrainRow) bool {
	before, err := effect.ParseGroup(row.Led)
	if err != nil || len(before) != 1 || x.placed(before) {
		return false
	}
	x.expect(before[0])
	return true
}

// stays says whether a leader did not stay though its row says so: once the scheme has had its time, nobody
// else comes to lead, and when the cut is healed one leads that reaches a majority.
func (x *partition) stays(l *leadership.Fold, out *results.SplitBrainRow, during effect.Group,
	cut leadership.Span) {
	steady := leadership.Span{From: cut.From + int64(x.needs), To: cut.To}
	came, reached := l.ChangesIn(steady.From+1, steady.To), effect.Group(nil)
	for _, id := range during {
		if 2*x.reaches(id) > x.n {
			reached = append(reached, id)
		}
	}
	possible := false // that one leads
	for id := range nodes.ID(x.n) {
		possible = possible || x.says.Does == row.OneStays && 2*x.reaches(id) > x.n
	}
	switch {
	case out.Differs != "" || out.Inconclusive != "":
	case steady.To <= steady.From:
		out.Inconclusive = fmt.Sprintf("the cut of %v was too short for this scheme, which may take up to %v",
			x.lasts, x.needs)
	case came > 0:
		out.Differs = fmt.Sprintf("%s to lead, later than %v after the cut began: the leader was to stay",
			english.Count(came, "node came", "nodes came"), x.needs)
	case possible && len(reached) != 1:
		out.Differs = fmt.Sprintf("%s led when the cut was healed and reached a majority: one node was to",
			named(reached))
	}
}

// reaches returns how many nodes one exchanges messages with during the cut, itself included.
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

// newLeaders returns who came to lead in a stretch of time.
func newLeaders(l *leadership.Fold, during leadership.Span) (ids effect.Group) {
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

// bySide lists leaders by their sides.
func (x *partition) bySide(ids effect.Group) string {
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

func within(side, ids effect.Group) (both effect.Group) {
	for _, id := range ids {
		for _, other := range side {
			if id == other {
				both = append(both, id)
			}
		}
	}
	return both
}

// minority says for how long of the cut somebody led who had no majority, and whether that ended before it
// was healed.
func (x *partition) minority(l *leadership.Fold, cut leadership.Span, row *results.SplitBrainRow) {
	var minority effect.Group
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

// inOneTerm is what no time and no machine excuses.
const inOneTerm = "two led in one term"

// compared says what is not as the row says. Where the scheme may have had too little time for it, that is
// inconclusive.
func (x *partition) compared(out *results.SplitBrainRow, before, during, came effect.Group) {
	inTerm, _ := out.TwoLeadersInTermS.Value()
	side, ever, one := x.wrongSide(during), "", len(before) == 1
	if one {
		ever = x.wrongAtAnyTime(out, before[0], during, came)
	}
	began := fmt.Sprintf("%s led when the cut began, after %v: one node was to lead by then", named(before),
		x.begins)
	const end = "not all agreed on a leader at the end"
	switch agreed := out.AgreedS.Known() || x.says.Does == row.SeveralStay; {
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

// wrongSide says on which side others led when the cut was healed than the row says.
func (x *partition) wrongSide(during effect.Group) string {
	for _, side := range x.sides() {
		led := within(side, during)
		wants := 1
		if x.says.Does == row.MajorityLeads && 2*len(side) <= x.n {
			wants = 0
		}
		if x.says.Does < row.OneLeads && len(led) != wants {
			return fmt.Sprintf("%s led on the side of %v when the cut was healed: %s was to lead there", named(led),
				side, []string{"nobody", "one node"}[wants])
		}
	}
	return ""
}

// wrongAtAnyTime says what must not be during the cut, however short it is.
func (x *partition) wrongAtAnyTime(out *results.SplitBrainRow, before nodes.ID,
	during, came effect.Group) string {
	two, _ := out.TwoLeadersS.Value()
	switch {
	case x.says.Does == row.OneLeads && (len(during) != 1 || during[0] != before || two > 0):
		return fmt.Sprintf("%s led when the cut was healed, and two did for %v s in all: node %d alone was to lead",
			named(during), two, before)
	case x.says.Does == row.Blocked && len(came) > 0:
		return fmt.Sprintf("%s came to lead while the cut lasted", named(came))
	}
	return ""
}

func named(ids effect.Group) string {
	switch len(ids) {
	case 0:
		return "nobody"
	case 1:
		return "node " + ids.String()
	}
	return "nodes " + ids.String()
}
