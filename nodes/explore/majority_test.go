package explore

import (
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/replay"
)

// For an algorithm that needs a majority, waiting is outside the model only while no majority is up: a client
// that waits when a majority is up again must enter.
func TestMajorityIsNeededWhileItLasts(t *testing.T) {
	o := shyOnes() // it stops for good when it suspects somebody
	o.Spec.Live, o.Config.N, o.Entries, o.Crashes = nodes.Majority, 3, 1, 1
	o.Checks = []string{replay.CheckDeadlock}
	if x := agree(t, o); x.Violation == nil || x.Violation.OutsideModel != 0 {
		t.Errorf("two of three are up, and may not stop: %+v", x)
	}
	o.Config.N = 2
	x := agree(t, o)
	if x.Violation != nil || x.FirstOutside == nil || x.FirstOutside.OutsideModel != nodes.Majority {
		t.Errorf("one of two is up, and may stop: %+v", x)
	}
	replays(t, o.Spec, x.FirstOutside)
	r, err := replay.Play(x.FirstOutside.Schedule)
	if _, broken := failed(r, err); broken != nodes.Majority {
		t.Errorf("played again: %+v, %v", r, err)
	}
	o.Restarts = true
	if x := agree(t, o); x.Violation == nil {
		t.Errorf("both are up again, and may not stop any more: %+v", x)
	}
	o = trustingOnes()
	o.Spec.Live, o.Entries, o.Crashes, o.Restarts = nodes.Majority, 1, 1, true
	o.Checks = []string{replay.CheckDeadlock, replay.CheckStarvation}
	if x := agree(t, o); x.Violation != nil || !x.Progress || x.Outside == 0 {
		t.Errorf("both are up again, and trust each other: %+v", x)
	}
}

// For an algorithm that needs all servers, the crash of a server is outside the model, and that of a client
// is not.
func TestServersAreNeededWhileTheyAreDown(t *testing.T) {
	spec := *algorithmOf(t, "central")
	spec.Safe, spec.Live = 0, nodes.ServersUp
	x := agree(t, Space{Spec: &spec, Config: nodes.Config{N: 2}, Entries: 1, Crashes: 1,
		Checks: []string{replay.CheckDeadlock}})
	if x.FirstOutside == nil || x.FirstOutside.OutsideModel != nodes.ServersUp {
		t.Errorf("the server is down, and clients may wait: %+v", x.FirstOutside)
	}
	if x.Violation == nil || x.Violation.OutsideModel != 0 {
		t.Errorf("a client is down, and the other may not wait: %+v", x.Violation)
	}
}
