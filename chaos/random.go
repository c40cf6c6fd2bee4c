package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
)

// mostRandom is how many faults a random plan has at most.
const mostRandom = 5

// RandomPlan draws a plan for a run by a seed: one to five faults of links and processes, and as often as not
// one of a clock, a connection or a broker, as far as the run can carry it out. None lasts longer than a
// fifth of the run, in its first two thirds, so that it can be seen what the algorithm does after them. At
// most a minority of the clients is ever killed. Where there are several hosts, cuts often cut one off from
// the others; no kernel is asked to, so that the plan is for all hosts. In a run about leaders there is more:
// see anyElectionFaults.
func RandomPlan(s *Scene, seed uint64) *Plan {
	return drawPlan(fmt.Sprintf("%s%d", randomPlan, seed), s, seed, 0)
}

// InsidePlan is RandomPlan without faults that may break what the algorithm of the run rests on. So whatever
// goes wrong, the algorithm has to keep its promises. In a run about leaders, faults may break for a time
// what holds again when they are over: all have to agree in the end.
func InsidePlan(s *Scene, seed uint64) *Plan {
	return drawPlan(fmt.Sprintf("%s%d", insidePlan, seed), s, seed, s.spared())
}

// spared returns the assumptions that a plan leaves alone which leaves the algorithm inside its model.
func (s *Scene) spared() nodes.Assumption {
	return (s.Spec.SafeIn(s.Config) | s.Spec.LiveIn(s.Config)) &^ ofKind(drawsOf, s.Spec.Kind).heals
}

// drawPlan draws a plan of faults that may break none of some assumptions.
func drawPlan(name string, s *Scene, seed uint64, keeps nodes.Assumption) *Plan {
	r := &drawn{draws: ofKind(drawsOf, s.Spec.Kind), rolls: rolls{dice: chance.Dice(seed)}, s: s,
		inside: keeps != 0 && s.Campaigns > 0}
	p := &Plan{Name: name, About: "Drawn by a seed."}
	// A scheme with timeouts sends without campaigns too, so that other faults than the first hit something.
	elects := s.Campaigns > 0 || s.Spec.Grace == nil
	for number := range 1 + r.below(mostRandom) {
		r.first = number == 0 && elects
		p.Faults = append(p.Faults, r.keeping(keeps, func() []Fault { return r.faults(r) })...)
	}
	p.Faults = append(p.Faults, r.another(keeps)...)
	p.Faults = append(p.Faults, r.interruptions(seed, keeps)...)
	return p
}

// A draws is what random plans draw for a kind of run.
type draws struct {
	heals  nodes.Assumption // what a plan inside the model may break, since it holds again once faults are over
	faults func(*drawn) []Fault
	target effect.Target // of some faults of connections
	// Of an algorithm that is known to be broken by some faults, plans have those alone.
	aimed bool
	// A fault of a clock, a connection or a broker is drawn in one of so many plans inside the model, and
	// a throttle in one of so many where it might be.
	carried, throttles int
	// when draws anew when such a fault begins, and how long it lasts; nil: it does not.
	when func(r *drawn, at, lasts *time.Duration)
	// interrupts returns how many kills come in the middle of an input, and whether those who are killed stay
	// down until another leader can have been elected. It may draw anew when they begin.
	interrupts func(r *drawn, f *Fault) (most int, long bool)
	reorders   func(r *drawn, f *Fault) // draws anew how late messages come meanwhile; nil: it does not
}

var drawsOf = map[nodes.Kind]draws{
	nodes.MutualExclusion: {faults: func(r *drawn) []Fault { return []Fault{r.fault()} },
		target: effect.Target{Word: "holder"}, carried: 1, throttles: 1,
		interrupts: func(r *drawn, _ *Fault) (int, bool) { return (r.s.Config.N-1)/2 - r.kills, false }},
	nodes.Election: {heals: nodes.Transient, aimed: true, faults: (*drawn).electionFaults, target: leader,
		carried: 3, throttles: 6, when: (*drawn).longer, interrupts: (*drawn).interruptsElections,
		reorders: (*drawn).acrossElections},
}

// rolls are decisions of chance, one after another.
type rolls struct {
	dice  chance.Dice
	count uint64
}

// drawn draws one thing after another.
type drawn struct {
	draws
	rolls
	s      *Scene
	inside bool // the plan is to leave the model of an elector whole whose nodes campaign again and again
	kept
}

// kept is what has been drawn that later faults must leave room for.
type kept struct {
	kills           int
	servers, clocks bool
	first           bool          // no fault has been drawn before, and it has to hit something
	busy            time.Duration // until then a leader that has died may be down, or another is elected
}

func (r *rolls) roll() chance.Roll {
	r.count++
	return chance.Roll{Purpose: chance.ForPlan, Count: r.count}
}

func (r *rolls) below(n int) int { return r.dice.Below(r.roll(), n) }

// oneIn draws whether something is so in one of n cases.
func (r *rolls) oneIn(n int) bool { return n == 1 || r.below(n) == 0 }

// between draws a share of the run, in whole milliseconds.
func (r *drawn) between(low, high float64) time.Duration {
	share := low + r.dice.Unit(r.roll())*(high-low)
	return max(time.Millisecond, time.Duration(share*float64(r.s.Measured)).Truncate(time.Millisecond))
}

// latency draws a delay that is short beside the run.
func (r *drawn) latency() chance.Distribution {
	return must(chance.ParseDistribution("exponential:" + r.between(0.001, 0.01).String()))
}

// must returns what was read from a text of the program's own.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err) // a slip of the pen
	}
	return x
}

// breaking returns a function that reports whether a fault may break some of these assumptions.
func (r *drawn) breaking(those nodes.Assumption) func(Fault) bool {
	return func(f Fault) bool { return those != 0 && mayBreak(&f, r.s.Spec)&those != 0 }
}

// keeping draws faults until they may break none of some assumptions.
func (r *drawn) keeping(those nodes.Assumption, draw func() []Fault) []Fault {
	before := r.kept
	for range 1000 {
		all := draw()
		if !slices.ContainsFunc(all, r.breaking(those)) {
			return all
		}
		r.kept = before
	}
	// The algorithm rests on everything, and this changes nothing.
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
		if r.s.total() == 1 { // there is nobody to be cut off from
			f.Effect = &effect.Delay{Later: r.latency()}
			return f
		}
		cut := "random"
		if n := r.s.Config.N; n >= 4 {
			cut = []string{"random", "minority", "bridge", "ring", "holder"}[r.below(5)]
		}
		cut = cmp.Or(r.host(), cut)
		f.Effect = &effect.CutLinks{Cut: must(effect.ParseCut(cut))}
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

// host draws one host of several, as a target, in half of the cases; else it is empty.
func (r *drawn) host() string {
	if hosts := r.s.Placement.Hosts(); hosts > 1 && r.below(2) == 0 {
		return fmt.Sprintf("host %d", r.below(hosts))
	}
	return ""
}

// losses draws losses, each by chance, of up to so many percent, or in bursts.
func (r *drawn) losses(most int) *effect.Loss {
	of := effect.Losses{Rate: effect.Share(1+r.below(most)) / 100}
	if r.below(2) == 0 {
		of = effect.Losses{Worsens: 0.01 + effect.Share(r.below(5))/100, Recovers: 0.2}
	}
	return &effect.Loss{Of: of}
}

// kill draws who is killed, if some may be, and whether it comes up again.
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
