package election

import (
	"slices"
	"testing"
	"time"

	"turnstile/nodes"
)

// Once all agree on a leader and nothing happens, nodes send heartbeats and nothing else: a longer run sends
// the same messages as a shorter run, and more heartbeats.
func TestAnElectedClusterSendsHeartbeatsAlone(t *testing.T) {
	var beating []string
	for _, algo := range Table {
		if algo.Flaw != nil {
			continue
		}
		s := scenario{algorithm: algo, config: nodes.Config{N: 5}, duration: 4 * time.Second}
		before := s.simulated(t)
		s.duration += 2 * time.Second
		after := s.simulated(t)
		if before.leader() == nodes.None || before.leader() != after.leader() {
			t.Errorf("%s: node %d leads, and then node %d", algo.Name, before.leader(), after.leader())
		}
		for _, k := range algo.Messages {
			switch name := nodes.KindName(k.Zero); {
			case after.sent[name] == before.sent[name]:
			case !k.Heartbeat:
				t.Errorf("%s: %d messages %s are sent while nothing happens", algo.Name,
					after.sent[name]-before.sent[name], name)
			case !slices.Contains(beating, algo.Name):
				beating = append(beating, algo.Name)
			}
		}
	}
	if want := []string{"bully-four-phase", "bully-majority", "bully-shared-disk", "raft-election", "omega",
		"omega-efficient", "invitation"}; !slices.Equal(beating, want) {
		t.Errorf("%v send heartbeats, not %v", beating, want)
	}
}
