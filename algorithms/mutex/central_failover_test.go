package mutex

import (
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/detector"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/replay"
	"turnstile/nodes/sim"
	"turnstile/nodes/stall"
	"turnstile/nodes/workload"
)

// TestCensuses has the mutants of the census itself, which change its majorities and promises.
func failoverMutants() []mutant {
	strict := mutantsOf[failover](&centralFailoverAlgorithm, nodes.Config{N: 3})
	fenced := mutantsOf[failover](&centralFailoverAlgorithm, nodes.Config{N: 3, Fenced: true})
	atServer := mutantsOf[queuedServer](&centralQueuedAlgorithm, nodes.Config{N: 3})
	atClients := mutantsOf[queuedClient](&centralQueuedAlgorithm, nodes.Config{N: 3})
	return []mutant{
		strict("a report does not say that its sender is inside", "exclusion",
			func(f failover) nodes.Machine { return &failoverSilent{f} }).crashed().slow(),
		strict("a client takes a grant of an older epoch", "exclusion or panic",
			func(f failover) nodes.Machine { return &failoverCredulous{f} }).restarted(),
		fenced("fence numbers do not rise with epochs", "exclusion",
			func(f failover) nodes.Machine { return &failoverLevel{f} }).suspected(),
		strict("neither requests nor grants are sent again", "progress",
			func(f failover) nodes.Machine { return &failoverOnce{f} }).lost(),
		strict("the grant of a dead client is not taken back", "progress",
			func(f failover) nodes.Machine { return &failoverPatient{f} }).crashed(),
		atServer("the coordinator does not wait for the release", "exclusion",
			func(s queuedServer) nodes.Machine { return &queuedHasty{s} }),
		atClients("a grant that is of no use is kept", "progress",
			func(c queuedClient) nodes.Machine { return &queuedKeeping{c} }).lost(),
		strict("the queue is served last in, first out", "fairness",
			func(f failover) nodes.Machine { return &failoverStack{f} }),
		atServer("the queue is served last in, first out", "fairness",
			func(s queuedServer) nodes.Machine { return &queuedStack{s} }),
	}
}

type (
	failoverSilent    struct{ failover }
	failoverCredulous struct{ failover }
	failoverLevel     struct{ failover }
	failoverOnce      struct{ failover }
	failoverPatient   struct{ failover }
	queuedHasty       struct{ queuedServer }
	queuedKeeping     struct{ queuedClient }
	failoverStack     struct{ failover }
	queuedStack       struct{ queuedServer }
)

// lastFirst moves new elements to the front of a queue; before is its length without them.
func lastFirst[T any](queue []T, before int) []T {
	if before >= len(queue) {
		return queue
	}
	return slices.Concat(queue[before:], queue[:before])
}

func (f *failoverStack) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	before := len(f.queue)
	f.failover.Receive(env, from, m)
	f.queue = lastFirst(f.queue, before)
}

func (s *queuedStack) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	before := len(s.queue)
	s.queuedServer.Receive(env, from, m)
	s.queue = lastFirst(s.queue, before)
}

func (f *failoverSilent) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if a, ok := m.(censusAnswer[failoverReport]); ok && a.Report.State == uint8(nodes.Inside) {
		a.Report.State = uint8(nodes.Idle)
		m = a
	}
	f.failover.Receive(env, from, m)
}

func (f *failoverCredulous) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if g, ok := m.(failoverGrant); ok {
		g.Epoch = max(g.Epoch, f.epoch)
		m = g
	}
	f.failover.Receive(env, from, m)
}

func (f *failoverLevel) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if g, ok := m.(failoverGrant); ok {
		g.Fence &= mostSerial(env.N())
		m = g
	}
	f.failover.Receive(env, from, m)
}

func (f *failoverOnce) Timeout(env *nodes.Env, t nodes.Timer) {
	if t == censusTimer {
		f.failover.Timeout(env, t)
	}
}

func (f *failoverPatient) Suspect(env *nodes.Env, peer nodes.ID) {
	if !f.serving {
		f.failover.Suspect(env, peer)
		return
	}
	f.suspected.Add(peer)
	f.next(env)
}

func (s *queuedHasty) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	s.holder = claim{}
	s.queuedServer.Receive(env, from, m)
}

func (c *queuedKeeping) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if g, ok := m.(queuedGrant); ok && (g.Number != c.number || c.state == nodes.Idle) {
		return
	}
	c.queuedClient.Receive(env, from, m)
}

// A client of central-queued distinguishes a coordinator that is down from a resource that is taken.
func TestClientsTellWhyTheyWait(t *testing.T) {
	const asked = "turnstile schedule 1\nalgorithm central-queued\nn 3\nreq 0; req 1; req 2; "
	for schedule, want := range map[string][]string{
		"": {"has no answer yet", "has no answer yet", "has no answer yet"},
		"0>3 request; 1>3 request; 3>0 grant; 3>1 place": {"", "queued, and granted next", "has no answer yet"},
		"0>3 request; 1>3 request; 2>3 request; 3>0 grant; 3>1 place; 3>2 place": {"", "queued, and granted next",
			"queued at position 2"},
		"0>3 request; 1>3 request; 3>0 grant; 3>1 place; crash 3; suspect 1>3": {"",
			"suspects the coordinator, node 3", "has no answer yet"},
		"0>3 request; 1>3 request; 2>3 request; 3>0 grant; 3>2 place; suspect 2>3; trust 2>3": {"",
			"has no answer yet", "has no answer yet"},
	} {
		status := statusAfter(t, asked+schedule)
		for id, standing := range want {
			line := ", " + standing + "; "
			if standing == "" {
				line = "client inside; "
			}
			if got := status.State(id); !strings.Contains(got, line) {
				t.Errorf("after %q: %s\nwant %q", schedule, got, line)
			}
		}
	}
}

// statusAfter plays a schedule and returns the status of all nodes.
func statusAfter(t *testing.T, text string) stall.Report {
	t.Helper()
	s, err := replay.Parse(strings.NewReader(text), Find)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.Play(s)
	if err != nil {
		t.Fatal(err)
	}
	return r.Status
}

// When an epoch has used up its fence numbers, the coordinator takes another one by a census.
func TestFenceNumbersDoNotRunOut(t *testing.T) {
	algo := algotest.Rebuilt(&centralFailoverAlgorithm,
		func(f failover) nodes.Machine { return &failoverLate{f} })
	o := saturated(algo, nodes.Config{N: 3, Fenced: true}, 1)
	h := algotest.History(t, o)
	last, epochs := uint64(0), map[uint64]bool{}
	for _, e := range h.Events {
		if e.Kind == history.Entered {
			if e.Fence <= last {
				t.Fatalf("fence number %d after %d", e.Fence, last)
			}
			last = e.Fence
			epochs[e.Fence>>serialBits(3)] = true
		}
	}
	if len(epochs) < 3 {
		t.Errorf("%d epochs", len(epochs))
	}
}

// From the death of the coordinator nobody enters until it is suspected, the others have been asked, and the
// first of them is granted: outage = detection + election + rebuilding (T6 in docs/coverage.md).
func TestFailoverTakesDetectionAndACensus(t *testing.T) {
	const hop, hold = time.Millisecond, 500 * time.Microsecond
	longest := int64(0)
	for seed := range soak.Pick[uint64](10, 30, 300) {
		beside := besides(&centralFailoverAlgorithm, 5, "heartbeat")
		stack := algotest.StackOf(&centralFailoverAlgorithm, nodes.Config{N: 5}, beside...)
		o := sim.Options{Stack: stack, Seed: seed, Entries: 2000,
			Workload: workload.Workload{Load: workload.Saturated, Hold: chance.Constant(hold)}}
		algotest.Over(&o, &chaos.Network{Latency: chance.Constant(hop)}, chaos.Fault{
			Effect:   &effect.Kill{Who: effect.Target{Word: "coordinator"}},
			Schedule: chaos.Schedule{At: time.Second}})
		h := algotest.History(t, o)
		last, outage := int64(0), int64(0)
		for _, e := range h.Events {
			if e.Kind == history.Entered {
				outage, last = max(outage, e.At-last), e.At
			}
		}
		bound := detector.Within(beside[0]) + hold + 5*hop // a heartbeat, an ask, its answer, a grant, a release
		if outage > int64(bound) || outage < int64(bound/2) || last < int64(time.Second+bound) {
			t.Errorf("seed %d: nobody entered for %v, want at most %v", seed, time.Duration(outage), bound)
		}
		longest = max(longest, outage)
	}
	t.Logf("at most %v", time.Duration(longest))
}

// failoverLate begins each epoch close to the end of its numbers.
type failoverLate struct{ failover }

func (f *failoverLate) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if f.serving && f.serial > 0 && f.serial < mostSerial(env.N())-3 {
		f.serial = mostSerial(env.N()) - 3
	}
	f.failover.Receive(env, from, m)
}

// The usual explorations find that a client inside is not reported.
func TestUsualExplorationsFindUnsafeMutants(t *testing.T) {
	algotest.FindUsually(t, 3, []algotest.Mutant{{Rule: "a client inside is not reported",
		Algorithm: algotest.Rebuilt(&centralFailoverAlgorithm,
			func(f failover) nodes.Machine { return &failoverSilent{f} })}})
}
