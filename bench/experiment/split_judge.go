package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"turnstile/bench"
	"turnstile/chaos/effect"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/judge/leadership"
	"turnstile/nodes"
	"turnstile/nodes/row"
	"turnstile/results"
)

// judged says what became of the leaders in a run, and where that is not what the row says.
func (x *partition) judged(t *bench.Trial) *results.SplitBrainRow {
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
