package mutex

import (
	"slices"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

func ricartViewMutants() []mutant {
	change := mutantsOf[ricartView](&ricartViewAlgorithm, nodes.Config{N: 3}.With("retry", "10ms"))
	return []mutant{
		change("nobody takes a census", "progress",
			func(r ricartView) nodes.Machine { return &viewSettled{r} }).crashed(),
		change("a lost request is not sent again", "progress",
			func(r ricartView) nodes.Machine { return &viewResigned{r} }).lost(),
		change("who is inside is not in the next view", "exclusion",
			func(r ricartView) nodes.Machine { return &viewForgetful{r} }).crashed().slow(),
		change("a node inside replies at once", "exclusion",
			func(r ricartView) nodes.Machine { return &viewAbsent{r} }),
		mutantsOf[ricartView](&ricartViewAlgorithm, nodes.Config{N: 4}.With("retry", "10ms"))(
			"a reply of an earlier view counts", "exclusion",
			func(r ricartView) nodes.Machine { return &viewStale{r} }).crashed().slow(),
		change("who has left the view is waited for", "progress",
			func(r ricartView) nodes.Machine { return &viewComplete{r} }).crashed(),
		change("who is up again takes its place in the view", "exclusion",
			func(r ricartView) nodes.Machine { return &viewReturned{r} }).restarted(),
	}
}

type (
	viewSettled   struct{ ricartView }
	viewResigned  struct{ ricartView }
	viewForgetful struct{ ricartView }
	viewAbsent    struct{ ricartView }
	viewStale     struct{ ricartView }
	viewComplete  struct{ ricartView }
	viewReturned  struct{ ricartView }
	viewMinor     struct{ ricartView }
)

func (r *viewSettled) Suspect(_ *nodes.Env, peer nodes.ID) { r.suspected.Add(peer) }

func (r *viewSettled) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(viewWanted); !ok {
		r.ricartView.Receive(env, from, m)
	}
}

func (r *viewSettled) Timeout(*nodes.Env, nodes.Timer) {}

func (r *viewResigned) Timeout(*nodes.Env, nodes.Timer) {}

func (r *viewForgetful) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	inside := r.inside
	if _, ok := m.(viewRequest); ok && r.view > 0 && r.ours.isZero() {
		r.inside = false
	}
	r.ricartView.Receive(env, from, m)
	r.inside = inside || r.inside
}

func (r *viewAbsent) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(viewRequest); ok && r.inside {
		r.clock = max(r.clock, q.Clock)
		env.Send(from, viewReply{q.View, q.Clock, r.serial})
		return
	}
	r.ricartView.Receive(env, from, m)
}

// Receive takes a reply to an earlier request for one to the latest.
func (r *viewStale) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if reply, ok := m.(viewReply); ok && reply.View < r.view {
		reply.View, reply.Clock = r.view, r.ours.Clock
		m = reply
	}
	r.ricartView.Receive(env, from, m)
}

// Receive takes every view for one of all clients.
func (r *viewComplete) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if v, ok := m.(viewInstall); ok && slices.Contains(v.Members, env.Self()) {
		everyone := nodes.Everyone(env.N())
		v.Members = slices.Collect(everyone.All())
		m = v
	}
	r.ricartView.Receive(env, from, m)
}

func (r *viewReturned) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if v, ok := m.(viewInstall); ok && v.View == r.epoch {
		r.pledged = v.View
	}
	r.ricartView.Receive(env, from, m)
}

// Suspect ends a census that waits for a majority alone.
func (r *viewMinor) Suspect(env *nodes.Env, peer nodes.ID) {
	r.ricartView.Suspect(env, peer)
	if missing := r.missing(env); r.open && !r.joining && missing.Empty() {
		r.open = false
		r.install(env)
	}
}

// A node that has left a view for a later one that it has heard of is not offered the first one again.
func TestViewsAreLeftForLaterOnes(t *testing.T) {
	for seed := range soak.Pick[uint64](5, 15, 100) {
		o := saturated(&ricartViewAlgorithm, nodes.Config{N: 7}, seed)
		o.Workload.Load, o.Entries = workload.Sequential, 120
		beside := besides(&ricartViewAlgorithm, 7, ricartViewAlgorithm.Detects)
		o.Stack = algotest.StackOf(&ricartViewAlgorithm, nodes.Config{N: 7}, beside...)
		cut := algotest.Cut("0-1,4/2,5-6")
		algotest.Over(&o, algotest.NetworkOf("exponential:1ms"), chaos.Fault{Effect: &effect.Partition{Cut: cut},
			Schedule: chaos.Schedule{At: 30 * time.Millisecond, For: 401 * time.Millisecond}})
		if v := judge(t, o, algorithm.Unbounded(0)); v.Outcome != check.Valid {
			t.Errorf("seed %d: %v: %s", seed, v.Outcome, v.Reason)
		}
	}
}

// Without faults a view costs nothing: of 32 nodes, each entry takes the requests and replies of the plain
// form, and no other messages.
func TestViewsCostNoMessages(t *testing.T) {
	for _, load := range []workload.Load{workload.Saturated, workload.Sequential} {
		for _, algo := range []*algorithm.Algorithm{&ricartAgrawalaAlgorithm, &ricartViewAlgorithm} {
			o := saturated(algo, nodes.Config{N: 32}, 1)
			o.Workload.Load, o.Entries, o.Latency = load, 200, time.Millisecond
			h := algotest.History(t, o)
			sum, codec := history.Sum(h.Logs), algo.Codec()
			for kind, k := range sum.Kinds {
				want := uint64(0)
				if kind < codec.Kinds() && (codec.Name(kind) == "request" || codec.Name(kind) == "reply") {
					want = 31 * 200
				}
				if k.Sent != want {
					t.Errorf("%s, %s: %d messages of kind %d, want %d", algo.Name, load, k.Sent, kind, want)
				}
			}
		}
	}
}

// No order of at most depth events, with a crash and a wrong suspicion, breaks exclusion: without fence
// numbers as long as detectors are right, and with fence numbers in any case. These events reach only a part
// of the states: with two nodes there are more than 21 million.
func TestViewsAreExplored(t *testing.T) {
	for _, test := range []struct {
		nodes, depth int
		fenced       bool
		states       uint64
	}{
		{2, 25, false, 68_914},
		{2, 25, true, 70_429},
		{3, 7, false, 94_532},
		{3, 8, true, 264_660},
	} {
		x, err := explore.Run(explore.Space{Spec: &ricartViewAlgorithm, Entries: 1, Crashes: 1, Suspicions: 1,
			Config: nodes.Config{N: test.nodes, Fenced: test.fenced}, Copies: 1, Depth: test.depth})
		if err != nil {
			t.Fatal(err)
		}
		if x.Violation != nil || x.Entries == 0 || x.States != test.states {
			t.Errorf("%+v: %d states, %+v", test, x.States, x.Violation)
		}
	}
}
