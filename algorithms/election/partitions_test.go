package election

import (
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// Each sound algorithm gives the outcome of a partition, and of cuts of some links, once for each kind of
// cut, with a reason. With an option that mends an outcome, the algorithm gives another outcome, which
// promises more.
func TestAlgorithmsSayWhatPartitionsDo(t *testing.T) {
	for _, algo := range Table {
		if algo.Flaw != nil {
			continue
		}
		for _, quorum := range []string{"on", "off"} {
			c := nodes.Config{N: 5}
			if algo.Option(checkQuorumOption.Name) != nil {
				c = c.With(checkQuorumOption.Name, quorum)
			}
			full, some := algo.Elector.PartitionsIn(c, false), algo.Elector.PartitionsIn(c, true)
			if len(full) == 0 || len(some) != 1 {
				t.Errorf("%s says %d things of partitions, and %d of links that are cut", algo.Name, len(full), len(some))
				continue
			}
			for _, p := range append(full, some...) {
				if p.Does == 0 || p.Why == "" {
					t.Errorf("%s, %v cut: %+v", algo.Name, p.Cuts, p)
				}
			}
		}
	}
	mended := raftAlgorithm.Elector.PartitionsIn(nodes.Config{N: 5}.With(preVoteOption.Name, "on"), true)[0]
	plain := raftAlgorithm.Elector.PartitionsIn(nodes.Config{N: 5}, true)[0]
	if plain.Does != algorithm.Restless || plain.Mend != preVoteOption.Name+" on" ||
		mended.Does != algorithm.OneStays {
		t.Errorf("raft-election: %+v; mended %+v", plain, mended)
	}
}
