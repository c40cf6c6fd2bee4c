package mutex

import (
	"strings"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
	"turnstile/nodes/sim"
)

// minorityMutants break a promise about a minority: it begins no epoch, and its coordinator serves nobody.
// There is no mutant of central-failover whose census closes too early: by the second promise nobody enters.
func minorityMutants() []mutant {
	c := nodes.Config{N: 5, Fenced: true}.With("retry", "10ms")
	patient := c.With("loss-timeout", "200ms")
	const closes = "a census closes without a majority"
	return []mutant{
		mutantsOf[failover](&centralFailoverAlgorithm, c)("a coordinator serves in a minority", "minority",
			func(f failover) nodes.Machine { return &failoverServing{f} }).parted(),
		mutantsOf[ricartView](&ricartViewAlgorithm, c)(closes, "minority",
			func(r ricartView) nodes.Machine { return &viewMinor{r} }).parted(),
		mutantsOf[tokenRingRegenerating](&tokenRingRegeneratingAlgorithm, patient)(closes, "minority",
			func(r tokenRingRegenerating) nodes.Machine { return &regeneratingMinor{r} }).parted(),
		mutantsOf[suzukiKasamiFT](&suzukiKasamiFTAlgorithm, patient)(closes, "minority",
			func(s suzukiKasamiFT) nodes.Machine { return &skftMinor{s} }).parted(),
	}
}

type (
	failoverServing struct{ failover }
	skftMinor       struct{ suzukiKasamiFT }
)

// short closes an open census that lacks only a majority, and reports whether there was one.
func (c *census[R]) short(env *nodes.Env) bool {
	missing := c.missing(env)
	if !c.open || c.joining || !missing.Empty() {
		return false
	}
	c.open = false
	env.StopTimer(censusTimer)
	return true
}

func (s *skftMinor) Suspect(env *nodes.Env, peer nodes.ID) {
	s.suzukiKasamiFT.Suspect(env, peer)
	s.complete(env, s.census.short(env))
}

// Timeout begins a census that closes at once if all others are suspected.
func (s *skftMinor) Timeout(env *nodes.Env, t nodes.Timer) {
	s.suzukiKasamiFT.Timeout(env, t)
	s.complete(env, s.census.short(env))
}

// grants grants in a minority as in a majority.
func (f *failoverServing) grants(env *nodes.Env) {
	if f.serving && f.minority() && f.grantQueue.next(&f.suspected) {
		env.Send(f.holder.Client, f.grant(env))
		f.tick(env)
	}
}

func (f *failoverServing) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	f.failover.Receive(env, from, m)
	f.grants(env)
}

func (f *failoverServing) Suspect(env *nodes.Env, peer nodes.ID) {
	f.failover.Suspect(env, peer)
	f.grants(env)
}

// parted has a mutant run with a failure detector while two of its nodes are cut off.
func (m mutant) parted() mutant { m.cut = true; return m }

// part makes a run one in which two nodes are cut off, and returns the cut.
func (m mutant) part(o *sim.Options) []chaos.Fault {
	o.Entries, o.Duration = 0, 900*time.Millisecond
	beside := besides(&m.spec, m.config.N, "heartbeat:period=10ms,timeout=50ms")
	o.Stack = algotest.StackOf(&m.spec, m.config, beside...)
	order := [...]string{"0-1/2-4", "3-4/0-2", "0,4/1-3"}
	cut := algotest.Cut(order[o.Seed%uint64(len(order))])
	return []chaos.Fault{{Effect: &effect.Partition{Cut: cut},
		Schedule: chaos.Schedule{At: 100 * time.Millisecond, For: 600 * time.Millisecond}}}
}

// cutsAsked returns what checks know of the cut of such a run.
func cutsAsked(faults []chaos.Fault) (all []check.Fault) {
	for i := range faults {
		f := &faults[i]
		all = append(all, check.Fault{Text: f.String(), OfLinks: true, Breaks: f.Breaks(),
			Separates: f.Parts().Parts})
	}
	return all
}

// A node that suspects half of the clients, and has heard from no majority, enters only as its algorithm
// allows, in any order of crashes, restarts and wrong suspicions.
func TestMinoritiesAreExplored(t *testing.T) {
	for _, spec := range Table {
		if spec.Exclusion().Minority == nil {
			continue
		}
		for _, o := range []explore.Space{{Crashes: 2}, {Crashes: 1, Restarts: true, Suspicions: 1},
			{Suspicions: 2, Losses: 1, Reordering: true}} {
			o.Spec, o.Config, o.Entries, o.Copies = spec, nodes.Config{N: 3, Fenced: true}, 1, 1
			o.Checks, o.States = []string{replay.CheckMinority}, soak.Pick[uint64](3000, 20_000, 500_000)
			x := algotest.Explore(t, o)
			if x.Violation != nil {
				t.Errorf("%s: %s\n%s", spec.Name, x.Violation.Says, strings.Join(x.Violation.Story, "\n"))
			}
		}
	}
}
