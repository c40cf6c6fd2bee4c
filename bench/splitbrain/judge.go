package splitbrain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"turnstile/chaos"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/results"
)

// judged says what became of the leaders in a run, and where that is not what the row says.
func (x *Case) judged(l *results.Ledger, of *results.Row) *results.SplitBrainRow {
	row := &results.SplitBrainRow{Algorithm: x.Spec.Name, Kind: of.Kind, Nodes: x.N, Cut: x.Cut(),
		CutAtS: results.Number(x.begins.Seconds()), CutS: results.Number(x.lasts.Seconds()), Lengthened: x.again,
		LeaderIn: x.Where, Cuts: x.severs().String(), Says: x.Says.Does.String(), Why: x.Says.Why,
		Messages:    of.Messages,
		TwoLeadersS: scaled(of.TwoLeadersUS), TwoLeadersInTermS: scaled(of.TwoLeadersInTermUS)}
	if x.Spec.Broken != "" {
		row.Says, row.Why = "known broken: "+x.Spec.Broken, ""
	}
	if len(l.Faults) < len(x.cuts) || len(l.Lanes) < x.N {
		row.Inconclusive = "the cut did not take place"
		return row
	}
	begun, _ := l.Faults[0].FromS.Value()
	healed, known := l.Faults[0].ToS.Value()
	if !known {
		row.Inconclusive = "the cut was not healed before the end"
		return row
	}
	before, during := leadersAt(l, begun), leadersAt(l, healed)
	row.Led, row.Leaders = before.String(), x.bySide(during)
	row.Changes = results.Count(uint64(changes(l, results.Span{From: begun, To: healed})))
	x.minority(l, results.Span{From: begun, To: healed}, row)
	if agreed, is := agreedAt(l); is {
		row.AgreedS = results.Number(max(0, agreed-healed))
	}
	if x.Says.Does != 0 && x.Spec.Broken == "" {
		x.compared(row, before, during, newLeaders(l, results.Span{From: begun, To: healed}))
		if x.Says.Does == nodes.OneStays || x.Says.Does == nodes.OneOrNone {
			x.stays(l, row, during, results.Span{From: begun, To: healed})
		}
	}
	if row.Differs == "" && row.Inconclusive == "" && len(before) == 1 && !x.placed(before) {
		row.Inconclusive = fmt.Sprintf("node %v led when the cut began, which is not where it was to be", before)
	}
	return row
}

// severs returns what is cut.
func (x *Case) severs() nodes.Severed {
	if x.links {
		return nodes.SomeLinks
	}
	return x.Says.Cuts
}

// misplaced puts who led when the cut began into the place of the leader, if another was expected.
func (x *Case) misplaced(row *results.SplitBrainRow) bool {
	before, err := chaos.ParseGroup(row.Led)
	if err != nil || len(before) != 1 || x.placed(before) {
		return false
	}
	x.expect(before[0])
	return true
}

// stays says whether a leader did not stay though its row says so: once the scheme has had its time, nobody
// else comes to lead, and when the cut is healed one leads that reaches a majority.
func (x *Case) stays(l *results.Ledger, row *results.SplitBrainRow, during chaos.Group, cut results.Span) {
	steady := results.Span{From: cut.From + x.needs.Seconds(), To: cut.To}
	came, reached := changes(l, steady), chaos.Group(nil)
	for _, id := range during {
		if 2*x.reaches(id) > x.N {
			reached = append(reached, id)
		}
	}
	possible := false // that one leads
	for id := range nodes.ID(x.N) {
		possible = possible || x.Says.Does == nodes.OneStays && 2*x.reaches(id) > x.N
	}
	switch {
	case row.Differs != "" || row.Inconclusive != "":
	case steady.To <= steady.From:
		row.Inconclusive = fmt.Sprintf("the cut of %v was too short for this scheme, which may take up to %v",
			x.lasts, x.needs)
	case came > 0:
		row.Differs = fmt.Sprintf("%s to lead, later than %v after the cut began: the leader was to stay",
			english.Count(came, "node came", "nodes came"), x.needs)
	case possible && len(reached) != 1:
		row.Differs = fmt.Sprintf("%s led when the cut was healed and reached a majority: one node was to",
			named(reached))
	}
}

// reaches returns how many nodes one exchanges messages with during the cut, itself included.
func (x *Case) reaches(id nodes.ID) (n int) {
	for other := range nodes.ID(x.N) {
		if !slices.ContainsFunc(x.cuts, func(c chaos.Cut) bool {
			return c.Separates(id, other) || c.Separates(other, id)
		}) {
			n++
		}
	}
	return n
}

// changes returns how often a node came to lead in a stretch of time, or to lead in another term.
func changes(l *results.Ledger, during results.Span) (count int) {
	for _, lane := range l.Lanes {
		for i := range lane {
			at := lane[i].Span().From
			if lane[i].State == results.Leads && during.From < at && at < during.To &&
				(lane[i-1].State != results.Leads || lane[i-1].Term != lane[i].Term) {
				count++
			}
		}
	}
	return count
}

// scaled turns microseconds into seconds.
func scaled(us results.Figure) results.Figure {
	if x, known := us.Value(); known {
		return results.Number(x / 1e6)
	}
	return us
}

// leadersAt returns who led just before a time.
func leadersAt(l *results.Ledger, at float64) (ids chaos.Group) {
	for id, lane := range l.Lanes {
		for i := range lane {
			if s := lane[i].Span(); lane[i].State == results.Leads && s.From < at && at <= s.To {
				ids = append(ids, nodes.ID(id))
			}
		}
	}
	return ids
}

// newLeaders returns who came to lead in a stretch of time.
func newLeaders(l *results.Ledger, during results.Span) (ids chaos.Group) {
	for id, lane := range l.Lanes {
		for i := range lane {
			if at := lane[i].Span().From; lane[i].State == results.Leads && during.From < at && at < during.To &&
				lane[i-1].State != results.Leads {
				ids = append(ids, nodes.ID(id))
				break
			}
		}
	}
	return ids
}

// bySide lists leaders by their sides.
func (x *Case) bySide(ids chaos.Group) string {
	var sides []string
	if x.links {
		return cmp.Or(ids.String(), "none")
	}
	for _, side := range x.Sides() {
		if led := within(side, ids); len(led) > 0 {
			sides = append(sides, led.String())
		} else {
			sides = append(sides, "none")
		}
	}
	return strings.Join(sides, " | ")
}

func within(side, ids chaos.Group) (both chaos.Group) {
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
func (x *Case) minority(l *results.Ledger, cut results.Span, row *results.SplitBrainRow) {
	for _, side := range x.Sides() {
		if 2*len(side) > x.N {
			continue
		}
		for _, id := range side {
			for i := range l.Lanes[id] {
				b := &l.Lanes[id][i]
				s := b.Span()
				led := min(s.To, cut.To) - max(s.From, cut.From)
				if was, _ := row.MinorityLedS.Value(); b.State != results.Leads || led <= was {
					continue
				}
				row.MinorityLedS, row.SteppedDown = results.Number(led), s.To < cut.To
			}
		}
	}
}

// agreedAt returns since when all nodes have taken the same one for the leader until the end; it is false if
// they do not.
func agreedAt(l *results.Ledger) (at float64, is bool) {
	var leader results.Figure
	for id, lane := range l.Lanes {
		last := &lane[len(lane)-1]
		who, known := last.Leader.Value()
		if id == 0 {
			leader = last.Leader
		}
		if !known && last.State != results.Follows || known && leader.Known() && last.Leader != leader ||
			known && (int(who) == id) != (last.State == results.Leads) {
			return 0, false
		}
		if known {
			leader = last.Leader
		}
		from := last.Span().From
		for i := len(lane) - 2; i >= 0 && lane[i].Leader == last.Leader && lane[i].Term == last.Term &&
			lane[i].State == last.State; i-- {
			from = lane[i].Span().From
		}
		at = max(at, from)
	}
	return at, leader.Known()
}

// inOneTerm is what no time and no machine excuses.
const inOneTerm = "two led in one term"

// compared says what is not as the row says. Where the scheme may have had too little time for it, that is
// inconclusive.
func (x *Case) compared(row *results.SplitBrainRow, before, during, came chaos.Group) {
	inTerm, _ := row.TwoLeadersInTermS.Value()
	side, ever, one := x.wrongSide(during), "", len(before) == 1
	if one {
		ever = x.wrongAtAnyTime(row, before[0], during, came)
	}
	began := fmt.Sprintf("%s led when the cut began, after %v: one node was to lead by then", named(before),
		x.begins)
	const end = "not all agreed on a leader at the end"
	switch agreed := row.AgreedS.Known() || x.Says.Does == nodes.SeveralStay; {
	case x.Spec.Leads.Terms && inTerm > 0:
		row.Differs = inOneTerm
	case ever != "":
		row.Differs = ever
	case !one && x.begins >= x.needs:
		row.Differs = began
	case side != "" && x.lasts >= x.needs:
		row.Differs = side
	case !agreed && x.left >= x.needs:
		row.Differs = end
	case !one:
		row.Inconclusive = fmt.Sprintf("%s; this scheme may take up to %v", began, x.needs)
	case side != "":
		row.Inconclusive = fmt.Sprintf("%s; the cut of %v was too short for this scheme, which may take up to %v",
			side, x.lasts, x.needs)
	case !agreed:
		row.Inconclusive = fmt.Sprintf("%s, %v after the heal; this scheme may take up to %v", end, x.left, x.needs)
	}
}

// wrongSide says on which side others led when the cut was healed than the row says.
func (x *Case) wrongSide(during chaos.Group) string {
	for _, side := range x.Sides() {
		led := within(side, during)
		wants := 1
		if x.Says.Does == nodes.MajorityLeads && 2*len(side) <= x.N {
			wants = 0
		}
		if x.Says.Does < nodes.OneLeads && len(led) != wants {
			return fmt.Sprintf("%s led on the side of %v when the cut was healed: %s was to lead there", named(led),
				side, []string{"nobody", "one node"}[wants])
		}
	}
	return ""
}

// wrongAtAnyTime says what must not be during the cut, however short it is.
func (x *Case) wrongAtAnyTime(row *results.SplitBrainRow, before nodes.ID, during, came chaos.Group) string {
	two, _ := row.TwoLeadersS.Value()
	switch {
	case x.Says.Does == nodes.OneLeads && (len(during) != 1 || during[0] != before || two > 0):
		return fmt.Sprintf("%s led when the cut was healed, and two did for %v s in all: node %d alone was to lead",
			named(during), two, before)
	case x.Says.Does == nodes.Blocked && len(came) > 0:
		return fmt.Sprintf("%s came to lead while the cut lasted", named(came))
	}
	return ""
}

func named(ids chaos.Group) string {
	switch len(ids) {
	case 0:
		return "nobody"
	case 1:
		return "node " + ids.String()
	}
	return "nodes " + ids.String()
}
