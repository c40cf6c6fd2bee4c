package mutex

import (
	"testing"
	"time"

	"turnstile/bench/check"
	"turnstile/chaos"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

func ricartViewMutants() []mutant {
	change := mutantsOf[ricartView](&ricartViewRow, nodes.Config{N: 3}.With("retry", "10ms"))
	return []mutant{
		change("nobody takes a census", "progress",
			func(r ricartView) nodes.Machine { return &viewSettled{r} }).crashed(),
		change("a lost request is not sent again", "progress",
			func(r ricartView) nodes.Machine { return &viewResigned{r} }).lost(),
		change("who is inside is not in the next view", "exclusion",
			func(r ricartView) nodes.Machine { return &viewForgetful{r} }).crashed().slow(),
		change("a node inside replies at once", "exclusion",
			func(r ricartView) nodes.Machine { return &viewAbsent{r} }),
	}
}

type (
	viewSettled   struct{ ricartView }
	viewResigned  struct{ ricartView }
	viewForgetful struct{ ricartView }
	viewAbsent    struct{ ricartView }
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

// Who has left a view for a later one that it has heard of is not offered the first one again.
func TestViewsAreLeftForLaterOnes(t *testing.T) {
	for seed := range soak.Pick[uint64](5, 15, 100) {
		o := saturated(&ricartViewRow, nodes.Config{N: 7}, seed)
		o.Workload.Load, o.Entries = workload.Sequential, 120
		o.Beside = besides(o.Spec, 7, o.Spec.Detects)
		cut := chaos.Fault{At: 30 * time.Millisecond, For: 401 * time.Millisecond}
		if err := cut.Cut.Set("0-1,4/2,5-6"); err != nil {
			t.Fatal(err)
		}
		over(&o, millisecond(), cut)
		if v := judge(t, o, nodes.Unbounded(0)); v.Outcome != check.Valid {
			t.Errorf("seed %d: %v: %s", seed, v.Outcome, v.Reason)
		}
	}
}
