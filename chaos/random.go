package chaos

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// mostRandom is how many draws of faults of links and processes a random plan has at most.
const mostRandom = 5

// RandomPlan draws a plan for a run by a seed: one to five faults of links and processes and, in half of the
// plans, one of a clock, a connection or a broker if the run can carry it out. A fault lasts at most a fifth
// of the run, and begins in its first 60 %, so the end of the run shows what the algorithm does after it. At
// most a minority of the clients is killed, and one client more restarts. With several hosts, half of the
// cuts separate one host from the others, on links and not in its kernel, so the plan suits all hosts. Some
// plans also have the kills of interruptions, and the faults of memoryTests. For runs about leaders see
// drawElectionFaults.
func RandomPlan(s *Scene, seed uint64) *Plan {
	return drawPlan(fmt.Sprintf("%s%d", randomPlan, seed), s, seed, 0)
}

// InsidePlan is like RandomPlan, but no fault may break an assumption of the algorithm, so the algorithm must
// be safe and live. In a run about leaders, faults may break assumptions that hold again after the faults:
// then all nodes must agree in the end.
func InsidePlan(s *Scene, seed uint64) *Plan {
	return drawPlan(fmt.Sprintf("%s%d", insidePlan, seed), s, seed, s.spared())
}

// spared returns the assumptions that no fault of an InsidePlan may break.
func (s *Scene) spared() nodes.Assumption {
	return (s.Spec.SafeIn(s.Config) | s.Spec.LiveIn(s.Config)) &^ kindOf(s.Spec).heals
}

// drawPlan draws a plan of faults that break none of the assumptions in keeps.
func drawPlan(name string, s *Scene, seed uint64, keeps nodes.Assumption) *Plan {
	r := &drawn{draws: kindOf(s.Spec).draws, rolls: rolls{dice: chance.Dice(seed)}, s: s,
		inside: keeps != 0 && s.Campaigns > 0}
	p := &Plan{Name: name, About: "Drawn by a seed."}
	// A scheme with timeouts sends messages even when no node campaigns, so a fault hits messages whenever it
	// begins.
	elects := s.Campaigns > 0 || s.Spec.Grace == nil
	for number := range 1 + r.below(mostRandom) {
		r.first = number == 0 && elects
		p.Faults = append(p.Faults, r.keeping(keeps, func() []Fault { return r.faults(r) })...)
	}
	p.Faults = append(p.Faults, r.another(keeps)...)
	p.Faults = append(p.Faults, r.interruptions(seed, keeps)...)
	p.Faults = append(p.Faults, r.memoryTests(seed, keeps)...)
	return p
}

// rolls is a sequence of random decisions.
type rolls struct {
	dice  chance.Dice
	count uint64
}

// drawn draws the faults of one plan.
type drawn struct {
	draws
	rolls
	s      *Scene
	inside bool // the plan is an InsidePlan, and nodes campaign repeatedly
	kept
}

// kept is what later draws must know of the faults drawn so far. It is restored when a draw is rejected.
type kept struct {
	kills           int
	servers, clocks bool          // a fault hits the coordinator; a fault sets a clock
	first           bool          // the next fault is the first of the plan, and must hit something
	busy            time.Duration // time until which a leader may be down, or its successor not elected
}

func (r *rolls) roll() chance.Roll {
	r.count++
	return chance.Roll{Purpose: chance.ForPlan, Count: r.count}
}

func (r *rolls) below(n int) int { return r.dice.Below(r.roll(), n) }

// oneIn draws true with probability 1/n.
func (r *rolls) oneIn(n int) bool { return n == 1 || r.below(n) == 0 }

// between draws a time from a low to a high share of the run, in whole milliseconds.
func (r *drawn) between(low, high float64) time.Duration {
	share := low + r.dice.Unit(r.roll())*(high-low)
	return max(time.Millisecond, time.Duration(share*float64(r.s.Measured)).Truncate(time.Millisecond))
}

// latency draws a delay that is short compared to the run.
func (r *drawn) latency() chance.Distribution {
	return must(chance.ParseDistribution("exponential:" + r.between(0.001, 0.01).String()))
}

// must returns x, which was parsed from a text that the program wrote.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err) // a bug in the program
	}
	return x
}

// breaking returns a function that reports whether a fault may break one of those assumptions.
func (r *drawn) breaking(those nodes.Assumption) func(Fault) bool {
	return func(f Fault) bool { return those != 0 && mayBreak(&f, r.s.Spec)&those != 0 }
}

// keeping draws faults until they break none of those assumptions.
func (r *drawn) keeping(those nodes.Assumption, draw func() []Fault) []Fault {
	before := r.kept
	for range 1000 {
		all := draw()
		if !slices.ContainsFunc(all, r.breaking(those)) {
			return all
		}
		r.kept = before
	}
	// Every draw broke one of the assumptions, so take a fault that changes nothing.
	return []Fault{{Effect: new(effect.Duplicate)}}
}

// fault draws a fault.
func (r *drawn) fault() (f Fault) {
	f.At, f.For = r.between(0, 0.6), r.between(0.02, 0.2)
	word := func(words ...string) effect.Target {
		return must(effect.ParseTarget(words[r.below(len(words))]))
	}
	switch r.below(10) {
	case 0, 1:
		if r.s.total() == 1 { // there is no other node to cut off
			f.Effect = &effect.Delay{Later: r.latency()}
			return f
		}
		cut := "random"
		if n := r.s.Config.N; n >= 4 {
			cut = []string{"random", "minority", "bridge", "ring", "holder"}[r.below(5)]
		}
		cut = cmp.Or(r.host(), cut)
		f.Effect = &effect.Partition{Cut: must(effect.ParseCut(cut))}
	case 2:
		f.Effect = r.losses(20)
	case 3:
		f.Effect = &effect.Delay{Later: r.latency()}
	case 4:
		f.Effect = &effect.Duplicate{Of: effect.Share(1+r.below(30)) / 100}
	case 5:
		f.Effect = &effect.Reorder{Later: r.latency()}
	case 6:
		f.Effect = &effect.Bandwidth{Rate: effect.Bytes(2000 << r.below(6))}
	case 7:
		return r.kill(f, word)
	case 8:
		f.Effect = &effect.Pause{Who: word("random", "holder", "waiter")}
	case 9:
		slow := effect.Slow{Who: word("random"), Share: effect.Share(20+r.below(60)) / 100}
		if r.s.Config.N > 1 {
			slow.Who = word("random", "random:2")
		}
		f.Effect = &slow
	}
	return f
}

// host draws one of several hosts as a target, in half of the cases; else it returns "".
func (r *drawn) host() string {
	if hosts := r.s.Placement.Hosts(); hosts > 1 && r.below(2) == 0 {
		return fmt.Sprintf("host %d", r.below(hosts))
	}
	return ""
}

// losses draws independent losses of up to so many percent, or losses in bursts.
func (r *drawn) losses(most int) *effect.Loss {
	of := effect.Losses{Rate: effect.Share(1+r.below(most)) / 100}
	if r.below(2) == 0 {
		of = effect.Losses{Worsens: 0.01 + effect.Share(r.below(5))/100, Recovers: 0.2}
	}
	return &effect.Loss{Of: of}
}

// kill draws which node is killed, and whether it restarts. If too many are killed already, it draws a pause.
func (r *drawn) kill(f Fault, word func(...string) effect.Target) Fault {
	if r.kills >= (r.s.Config.N-1)/2 {
		f.Effect = &effect.Pause{Who: word("random")}
		return f
	}
	r.kills++
	k := effect.Kill{Who: word("random", "holder", "waiter"), Forget: r.below(4) == 0}
	if r.below(3) == 0 {
		f.For, k.Forget = 0, false
	}
	f.Effect = &k
	return f
}

// another draws, in half of the plans, a fault of a clock, a connection or a broker. The run can carry the
// fault out, and the fault breaks none of the assumptions in keeps. It is drawn last, so the other faults do
// not depend on it. A plan that aims at the known flaw of an algorithm has no such fault.
func (r *drawn) another(keeps nodes.Assumption) []Fault {
	if r.below(2) == 0 || keeps != 0 && !r.oneIn(r.carried) || r.aimed && r.s.Spec.Broken().By != 0 {
		return nil
	}
	breaks := r.breaking(keeps)
	suits := func(f Fault) bool {
		return !breaks(f) && f.Check(r.s) == nil && (!f.kind().Sets || !r.clocks) &&
			// messages that wait for bandwidth may arrive at any time, so no check could judge the time after a
			// throttle
			(!f.kind().Weighs || r.oneIn(r.throttles))
	}
	var all []Fault
	for _, draw := range effect.Randoms {
		if f := r.drawnBy(draw); suits(f) {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return []Fault{all[r.below(len(all))]}
}

// drawnBy draws a fault with the effect that draw returns. The fault has a duration, which a simulation
// needs, unless it makes a clock jump.
func (r *drawn) drawnBy(draw func(*effect.Draw) effect.Effect) (f Fault) {
	at, d := r.between(0, 0.6), effect.Draw{For: r.between(0.02, 0.1), Who: someone, Below: r.below}
	if r.when != nil {
		r.when(r, &at, &d.For)
	}
	if r.below(3) == 0 {
		d.Who = r.target
	}
	d.Broker, d.Later = nodes.ID(r.below(r.s.brokers())), r.between(0.001, 0.02)
	f.Effect = draw(&d)
	f.At, f.For = at, d.For
	return f
}

// longer draws the times of a fault that mostly begins with a campaign, and lasts long enough to hit messages
// of it.
func (r *drawn) longer(at, lasts *time.Duration) {
	*at, *lasts = r.start(), max(r.length(), min(2*workload.CampaignAfter, r.longEnough()))
}

// interruptions draws, for some plans, kills in the middle of an input or right after a send, with a restart
// about one message delay later. They show what a node should have saved before it sent. They have dice of
// their own, so the other faults of a seed do not depend on them.
func (r *drawn) interruptions(seed uint64, keeps nodes.Assumption) []Fault {
	own := &drawn{draws: r.draws, s: r.s, kept: r.kept,
		rolls: rolls{dice: chance.Dice(seed).Of(chance.ForPlan, 1)}}
	one := 6
	if r.s.Spec.Safe&nodes.NoAmnesia != 0 { // what nodes save matters for safety
		one = 3
	}
	if own.below(one) > 0 || nodes.NoCrash&keeps != 0 {
		return nil
	}
	breaks := r.breaking(keeps)
	all := own.interrupt()
	if len(all) == 0 || slices.ContainsFunc(all, breaks) {
		return nil
	}
	if late := own.reordered(all[0]); !breaks(late) && own.below(4) > 0 {
		all = append(all, late)
	}
	return all
}

// interrupt draws the kills of interruptions: of fewer than half of the clients, or of at most three
// electors. Each kill comes after the first or second save or send of the node, or after its first or second
// message of one kind. If electors need not save anything, it kills one elector, which stays down until
// another leader can have been elected.
func (r *drawn) interrupt() (all []Fault) {
	f := Fault{Schedule: Schedule{At: r.between(0, 0.6)}}
	most, long := r.interrupts(r, &f)
	if most < 1 || long && !r.room(&f) {
		return nil
	}
	if long {
		most = 1
	}
	order := shuffled(chance.Dice(r.dice.Bits(r.roll())), r.s.Config.N)
	kind, inside := r.proper(), r.below(2) == 0
	for _, id := range order[:1+r.below(most)] {
		k := effect.Kill{Who: effect.Target{List: nodes.Group{id}}}
		f.Effect, f.When = &k, When{}
		f.For = time.Duration(1+r.below(4)) * time.Millisecond
		if long {
			f.For = r.outage()
		}
		if inside {
			k.MidInput = 1 + r.below(2)
			all = append(all, f)
			continue
		}
		f.When = When{Who: nodes.Group{id}, What: "sends", Kind: kind, Nth: 1 + r.below(2)}
		all = append(all, f)
	}
	return all
}

// memoryTests draws faults that show whether nodes remember what they have saved, for algorithms that rest
// on it. They have dice of their own too.
func (r *drawn) memoryTests(seed uint64, keeps nodes.Assumption) []Fault {
	own := &drawn{draws: r.draws, s: r.s, kept: r.kept,
		rolls: rolls{dice: chance.Dice(seed).Of(chance.ForPlan, 2)}}
	if (r.s.Spec.Safe|r.s.Spec.Live)&nodes.NoAmnesia == 0 || !recovers(r.s.Spec) {
		return nil
	}
	return slices.DeleteFunc(r.memory(own), r.breaking(keeps))
}

// restarts draws crashes of nodes at two to four moments, each when the first of the nodes has sent a
// message. All nodes are up again some milliseconds later.
func (r *drawn) restarts(who ...nodes.ID) (all []Fault) {
	f := Fault{Effect: &effect.Kill{Who: effect.Target{List: sorted(who)}},
		Schedule: Schedule{At: r.between(0, 0.4), When: When{Who: nodes.Group{who[0]}, What: "sends"}}}
	for range 2 + r.below(3) {
		f.For, f.When.Nth = time.Duration(1+r.below(4))*time.Millisecond, 1+r.below(6)
		all = append(all, f)
		f.At += r.between(0.02, 0.1)
	}
	return all
}

// clientsRestart implements draws.memory for runs with critical sections: in most plans the coordinator, or
// else a random client, restarts while perhaps another client is inside.
func (r *drawn) clientsRestart() []Fault {
	if r.oneIn(4) || r.s.Config.N < 3 { // one of two is no minority
		return nil
	}
	who := nodes.ID(r.below(r.s.Config.N))
	if r.s.Spec.Coordinator != nil {
		who = r.s.Spec.Coordinator(r.s.Config)
	}
	return r.restarts(who)
}

// votersRestart implements draws.memory for runs about leaders. In half of the plans, a majority of the
// voters or more restart at once, between two campaigns. In most plans, messages are late by up to about an
// election timeout for some time, so that votes of one election arrive in the next.
func (r *drawn) votersRestart() (all []Fault) {
	if n := r.s.Config.N; r.oneIn(2) {
		order := shuffled(chance.Dice(r.dice.Bits(r.roll())), n)
		all = r.restarts(order[:n/2+1+r.below(n-n/2)]...)
	}
	if grace := r.grace(); !r.oneIn(4) && grace >= 100*time.Millisecond {
		most := (grace / time.Duration(7+r.below(6))).Truncate(time.Millisecond)
		late := Fault{Effect: &effect.Reorder{Later: must(chance.ParseDistribution("uniform:0s," + most.String()))}}
		late.At, late.For = r.between(0, 0.2), r.s.Measured/5
		late.Every, late.Repeat = late.For*5/4, 2
		all = append(all, late)
	}
	return all
}

// proper draws a kind of message other than heartbeats; "" (all kinds) if the algorithm has only heartbeats.
func (r *drawn) proper() string {
	var of []int
	for own, i := r.s.Spec.CodecIn(r.s.Config), 0; i < own.Kinds(); i++ {
		if !own.Kind(i).Heartbeat {
			of = append(of, i)
		}
	}
	if len(of) == 0 {
		return ""
	}
	return r.s.codec().Name(of[r.below(len(of))])
}

// reordered draws a fault in which messages overtake each other during the kills of interruptions. See
// acrossElections for electors.
func (r *drawn) reordered(f Fault) Fault {
	late := Fault{Schedule: Schedule{At: f.At, For: r.between(0.02, 0.1)}}
	late.Effect = &effect.Reorder{Later: r.latency()}
	if r.reorders != nil {
		r.reorders(r, &late)
	}
	return late
}

// interruptsElections implements draws.interrupts for runs about leaders.
func (r *drawn) interruptsElections(f *Fault) (most int, long bool) {
	f.At = r.start()
	return min(3, r.s.Config.N), r.s.Spec.Safe&nodes.NoAmnesia == 0
}

// acrossElections implements draws.reorders for runs about leaders. Messages are late by up to a part of the
// grace of the algorithm, if that is long, so messages of one election arrive in the next.
func (r *drawn) acrossElections(f *Fault) {
	grace := min(r.s.Spec.GraceOf(r.s.Spec.Explicit(r.s.Config)), r.s.Measured/10)
	if grace < 100*time.Millisecond {
		return
	}
	most := grace / time.Duration(8<<r.below(5))
	later := must(chance.ParseDistribution("uniform:0s," + most.Truncate(100*time.Microsecond).String()))
	f.Effect = &effect.Reorder{Later: later}
	f.For = (grace / time.Duration(1+r.below(4))).Truncate(time.Millisecond)
}

// electionFaults draws faults of a run about leaders. If the algorithm has a known flaw, the last fault is of
// the kind that shows the flaw.
func (r *drawn) electionFaults() []Fault {
	by, before := r.s.Spec.Broken().By, r.kept
	for range 1000 {
		all := r.drawElectionFaults()
		if len(all) > 0 && (by == 0 || all[len(all)-1].Breaks()&by != 0) {
			return all
		}
		r.kept = before
	}
	return nil // the run is too short for more faults
}

// drawElectionFaults draws one fault of a run about leaders, or several that belong together.
//
// Lengths are drawn over all orders of magnitude, from a millisecond up to a tenth of the run, so some are
// about as long as each timeout of the algorithm. A killed node mostly stays down until another can have been
// elected. Some faults begin with the run, in its first election, some with a later campaign, and some at a
// moment of an election. The first fault of a plan hits a node or all kinds of messages, so few plans hit
// nothing.
func (r *drawn) drawElectionFaults() []Fault {
	f := Fault{Schedule: Schedule{At: r.start(), For: r.length()}}
	which := r.below(13)
	if r.s.total() == 1 && (which < 3 || which == 10) { // there is no other node to cut off
		which = 5
	}
	switch which {
	case 0, 1:
		f.Effect = &effect.Partition{Cut: r.cut()}
	case 2:
		return r.flaps(f)
	case 3:
		f.Effect, f.Kind = r.losses(40), r.kind(3)
	case 4:
		f.Effect, f.For = &effect.Loss{Of: effect.Losses{Rate: 1}}, 0
		f.Kind, f.Nth = r.kind(0), uint64(1+r.below(4))
	case 5:
		if r.below(8) == 0 {
			f.Effect = &effect.Bandwidth{Rate: effect.Bytes(500 << r.below(6))}
		} else {
			f.Effect, f.Kind = &effect.Delay{Later: r.late()}, r.kind(2)
		}
	case 6:
		f.Effect, f.Kind = &effect.Duplicate{Of: effect.Share(1+r.below(50)) / 100}, r.kind(3)
	case 7:
		f.Effect, f.Kind = &effect.Reorder{Later: r.late()}, r.kind(3)
	case 8, 9:
		return r.deaths(f)
	case 10:
		if !r.first { // the first fault must hit something, but a moment may never come
			return r.atMoment(f)
		}
		return r.deaths(f)
	case 11:
		f.Effect = &effect.Pause{Who: r.victim()}
	case 12:
		f = r.strain(f)
	}
	return []Fault{r.surely(f)}
}

// late draws a uniform delay from 0 to a length.
func (r *drawn) late() chance.Distribution {
	return must(chance.ParseDistribution("uniform:0s," + r.length().String()))
}

// kind draws a kind of message of the algorithm with probability 1/(none+1); otherwise it returns "", for all
// kinds.
func (r *drawn) kind(none int) string {
	if none > 0 && r.below(none+1) > 0 {
		return ""
	}
	return r.s.codec().Name(r.below(r.s.Spec.CodecIn(r.s.Config).Kinds()))
}

// victim draws the target of a fault of processes: the leader, the coordinator or a random client.
func (r *drawn) victim() effect.Target {
	switch which := r.below(5); {
	case which < 2:
		return leader
	case which == 2 && r.s.Spec.Coordinator != nil && !r.servers:
		r.servers = true // only once: two faults of the coordinator may exclude each other
		return effect.Target{Word: "coordinator"}
	}
	return someone
}

// leader is the node that leads when the fault begins.
var leader = effect.Target{Word: "leader"}

// someone is a client that Resolve draws.
var someone = effect.Target{Word: "random", Many: 1}

// cut draws a cut.
func (r *drawn) cut() effect.Cut {
	if host := r.host(); host != "" {
		return must(effect.ParseCut(host))
	}
	words := []string{"random", "leader"}
	if r.s.Config.N >= 3 {
		words = append(words, "minority", effect.BridgeCut)
	}
	if r.s.Config.N >= 4 {
		words = append(words, effect.RingCut)
	}
	word := r.below(2 * len(words))
	if word >= len(words) {
		return r.parts()
	}
	return must(effect.ParseCut(words[word]))
}

// parts draws a cut into two groups, one way or both ways. Either each server is in a group, or no server is.
func (r *drawn) parts() effect.Cut {
	total := r.s.Config.N
	if total == 1 || r.below(2) == 0 {
		total = r.s.total()
	}
	order := shuffled(chance.Dice(r.dice.Bits(r.roll())), total)
	at := 1 + r.below(total-1)
	return effect.CutInto(r.below(3) == 0 && !r.first, sorted(order[:at]), sorted(order[at:]))
}

// flaps draws a cut that comes and goes repeatedly.
func (r *drawn) flaps(f Fault) []Fault {
	f.Repeat = 2 + r.below(5)
	if r.first { // each cut must outlast a message delay
		f.For = max(f.For, 2*r.longEnough(), time.Duration(f.Repeat)*5*time.Millisecond)
	}
	f.For = max(time.Millisecond, f.For/time.Duration(f.Repeat)).Truncate(time.Millisecond)
	f.Every = f.For + max(time.Millisecond, r.length()/time.Duration(f.Repeat)).Truncate(time.Millisecond)
	f.Effect = &effect.Partition{Cut: r.parts()}
	if r.s.codec().Networks() > 1 && r.below(2) == 0 {
		f.Network = new(effect.Net(r.below(2)))
	}
	return []Fault{f}
}

// atMoment draws a kill, a pause or a cut of a node, at the moment when the node or another one has sent or
// received a message. In half of the cases it also draws an earlier kill, to cause an election.
func (r *drawn) atMoment(f Fault) (all []Fault) {
	switch r.below(4) {
	case 0, 1:
		all = r.deaths(f)
	case 2:
		f.At = 0
	}
	node := nodes.ID(r.below(r.s.total()))
	f.When = When{Who: nodes.Group{node}, What: [...]string{"sends", "receives"}[r.below(2)], Kind: r.kind(0),
		Nth: 1 + r.below(3)}
	if r.below(3) == 0 {
		f.When.Who = nodes.Group{nodes.ID(r.below(r.s.total()))}
	}
	brief := r.below(2) == 0
	if brief { // lasts about one message delay
		f.For = time.Duration(1+r.below(3)) * time.Millisecond
	}
	switch r.below(4) {
	case 0, 1:
		k := effect.Kill{Who: effect.Target{List: nodes.Group{node}}, Forget: r.below(4) == 0}
		if f.Effect = &k; !brief {
			f.For = r.outage()
		}
		if r.forGood() {
			f.For, k.Forget = 0, false
		}
	case 2:
		f.Effect = &effect.Pause{Who: effect.Target{List: nodes.Group{node}}}
	case 3:
		f.Effect = &effect.Partition{Cut: r.s.apart(nodes.Group{node})}
	}
	return append(all, f)
}

// forGood draws whether a killed node stays down; not all clients do. A node is more likely to stay
// down if the algorithm has a known flaw, since such crashes often show the flaw.
func (r *drawn) forGood() bool {
	r.kills++
	one := 4
	if r.s.Spec.Broken().By != 0 {
		one = 2
	}
	return r.below(one) == 0 && r.kills < r.s.Config.N
}

// strain draws a slow node, or one with a wrong clock.
func (r *drawn) strain(f Fault) Fault {
	if r.clocks || r.below(2) == 0 {
		f.Effect = &effect.Slow{Who: someone, Share: effect.Share(20+r.below(60)) / 100}
		return f
	}
	c := effect.Clock{Who: someone}
	if r.below(2) == 0 {
		c.Rate = float64(1+r.below(40)) / 20
	} else {
		c.By, f.For = f.For, 0
		if r.below(2) == 0 {
			c.By = -c.By
		}
	}
	f.Effect, r.clocks = &c, true
	return f
}

// start draws when a fault begins: mostly about the time of a campaign, if nodes campaign repeatedly.
func (r *drawn) start() time.Duration {
	if r.s.Campaigns > 0 && (r.first || r.below(4) > 0) {
		return r.campaign(0.6)
	}
	switch r.below(4) {
	case 0:
		return 0
	case 1:
		return r.length()
	}
	return r.between(0, 0.6)
}

// campaign draws a time in the first share of the run at which messages of an election are on their way: from
// 1 ms before a campaign to 2 ms after it.
func (r *drawn) campaign(share float64) time.Duration {
	last := int(share * float64(r.s.Measured) / float64(r.s.Campaigns))
	at := workload.CampaignAfter - time.Millisecond + time.Duration(r.below(last+1))*r.s.Campaigns
	if !r.first {
		at += time.Duration(r.below(4)) * time.Millisecond
	}
	return min(at, r.s.Measured*9/10)
}

// length draws a time of up to a tenth of the run, with equal probability for each power of two. In an
// InsidePlan it takes the shorter of two draws, since live nodes seem dead during a long fault.
func (r *drawn) length() time.Duration {
	longest := max(time.Millisecond, r.s.Measured/10)
	orders := bits.Len64(uint64(longest / time.Millisecond))
	shorter := r.below(orders)
	if r.inside {
		shorter = max(shorter, r.below(orders))
	}
	longest >>= shorter
	part := (0.5 + 0.5*r.dice.Unit(r.roll())) * float64(longest)
	return max(time.Millisecond, time.Duration(part).Truncate(time.Millisecond))
}

// surely changes the first fault of a plan, if it is a fault of links, so that it hits messages of an
// election, of every kind. If it hits messages by chance, it lasts for two elections.
func (r *drawn) surely(f Fault) Fault {
	if !r.first || f.kind().Layer != effect.OfLinks {
		return f
	}
	if r.s.Campaigns == 0 {
		f.At = 0
	}
	f.Kind = ""
	switch {
	case f.Nth > 0:
	case f.Breaks()&nodes.Timing != 0: // no longer than needed, since live nodes would seem dead
		f.For = max(f.For, min(2*workload.CampaignAfter, r.longEnough()))
	default:
		f.For = max(f.For, r.longEnough())
	}
	sure, byRate := effect.Surely(f.Effect, 0.3, r.late)
	if f.Effect = sure; byRate && f.Nth == 0 {
		f.For = max(f.For, min(2*r.s.Campaigns, r.s.Measured/5))
	}
	return f
}

// longEnough returns how long a fault that begins with a campaign must last to hit a message of the campaign,
// or a heartbeat.
func (r *drawn) longEnough() time.Duration {
	long := max(2*workload.CampaignAfter, r.s.Campaigns/8)
	return min(long, max(time.Millisecond, r.s.Measured/10)).Truncate(time.Millisecond)
}

// grace returns the time within which the scheme elects a leader after the last fault. A scheme without
// timeouts elects when a node campaigns, so its grace is the time between campaigns. 0: the grace is unknown,
// or too long for this run.
func (r *drawn) grace() time.Duration {
	grace := r.s.Campaigns
	if r.s.Stack != nil && r.s.Stack.Grace() > 0 {
		grace = r.s.Stack.Grace()
	}
	if grace > r.s.Measured/5 {
		return 0
	}
	return grace
}

// outage draws how long a node stays down: long enough to elect another leader.
func (r *drawn) outage() time.Duration {
	grace := r.grace()
	if grace == 0 {
		return r.length()
	}
	return time.Duration((1 + r.dice.Unit(r.roll())/2) * float64(grace)).Truncate(time.Millisecond)
}

// room delays a fault that may kill a leader until earlier such faults are over, and reports whether the run
// is long enough for that. The death of a node before another leader is elected would show nothing.
func (r *drawn) room(f *Fault) bool {
	if r.grace() == 0 {
		return true
	}
	if f.At < r.busy {
		f.At = r.busy + r.length()/4
	}
	return f.At <= r.s.Measured*65/100
}

// deaths draws kills: of one node, of one leader after the other, or of a leader and a second node before
// another leader is elected. Not all clients stay down. It returns nil if the run is too short.
func (r *drawn) deaths(f Fault) []Fault {
	forget := r.below(4) == 0
	which := r.below(8)
	if r.s.Spec.Broken().By != 0 && r.s.Spec.Broken().Times < 2 && which > 1 && r.kills == 0 && r.busy == 0 {
		return r.votersDie(f)
	}
	switch {
	case !r.room(&f):
		return nil
	case r.s.Spec.Broken().Times > 1, which == 3:
		return r.successorDies(f, forget)
	case which < 3:
		return r.leadersDie(f, forget)
	}
	target := r.victim()
	if target.Word == "random" && r.kills >= r.s.Config.N-1 {
		target = leader
	}
	if target.Word == "leader" || r.below(4) > 0 {
		f.For = r.outage()
	}
	r.busy = f.At + f.For + r.outage()
	if r.forGood() {
		f.For, forget = 0, false
	}
	f.Effect = &effect.Kill{Who: target, Forget: forget}
	return []Fault{f}
}

// votersDie draws two kills in each of a few elections that a campaign begins. One kills a node when the
// election begins, and one kills a node (perhaps the same) when it may have voted. Both nodes restart before
// the election is over. No other node is killed in the run.
func (r *drawn) votersDie(f Fault) []Fault {
	r.kills, r.busy = r.s.Config.N, r.s.Measured
	f.Effect, f.For = &effect.Kill{Who: someone}, time.Millisecond
	if r.s.Campaigns == 0 {
		return []Fault{f}
	}
	f.At = workload.CampaignAfter
	f.Every, f.Repeat = r.s.Campaigns, max(1, min(16, int(r.s.Measured*7/10/r.s.Campaigns)))
	again := f
	again.At += time.Duration(1+r.below(4)) * time.Millisecond
	return []Fault{f, again}
}

// leadersDie draws kills of up to three leaders, one after the other, if the run is long enough to elect
// them.
func (r *drawn) leadersDie(f Fault, forget bool) (all []Fault) {
	f.Effect = &effect.Kill{Who: leader, Forget: forget}
	for count := 1 + r.below(3); len(all) == 0 || len(all) < count && f.At < r.s.Measured*6/10; {
		f.For = r.outage()
		all = append(all, f)
		f.At += f.For + r.outage()
	}
	r.busy = f.At
	return all
}

// successorDies draws the kill of a leader and, while the leader is down, of a second node soon after a
// campaign. The second node is perhaps the next leader, which not all nodes know yet.
func (r *drawn) successorDies(f Fault, forget bool) []Fault {
	long := r.s.Measured / 5
	first, second := f, f
	first.Effect, second.Effect = &effect.Kill{Who: leader}, &effect.Kill{Who: someone, Forget: forget}
	if r.s.Campaigns > 0 {
		second.At = (first.At/r.s.Campaigns+1)*r.s.Campaigns + workload.CampaignAfter
	}
	second.At += time.Duration(1+r.below(3)) * time.Millisecond << r.below(6)
	first.For, second.For = long, long-(second.At-first.At)
	if r.s.Config.N < 3 || r.kills >= r.s.Config.N-1 || second.For < time.Millisecond {
		first.For = r.outage()
		r.busy = first.At + first.For + r.outage()
		return []Fault{first}
	}
	r.kills++
	r.busy = first.At + long + r.outage()
	return []Fault{first, second}
}
