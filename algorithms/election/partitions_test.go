package election

import (
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// Each sound row gives the outcome of a partition, and of cuts of some links, once for each kind of cut,
// with a reason. With an option that mends an outcome, the row gives another outcome, which promises more.
func TestRowsSayWhatPartitionsDo(t *testing.T) {
	for _, row := range Table {
		if row.Flaw != nil {
			continue
		}
		for _, quorum := range []string{"on", "off"} {
			c := nodes.Config{N: 5}
			if row.Option(checkQuorumOption.Name) != nil {
				c = c.With(checkQuorumOption.Name, quorum)
			}
			full, some := row.Elector.PartitionsIn(c, false), row.Elector.PartitionsIn(c, true)
			if len(full) == 0 || len(some) != 1 {
				t.Errorf("%s says %d things of partitions, and %d of links that are cut", row.Name, len(full), len(some))
				continue
			}
			for _, p := range append(full, some...) {
				if p.Does == 0 || p.Why == "" {
					t.Errorf("%s, %v cut: %+v", row.Name, p.Cuts, p)
				}
			}
		}
	}
	mended := raftRow.Elector.PartitionsIn(nodes.Config{N: 5}.With(preVoteOption.Name, "on"), true)[0]
	plain := raftRow.Elector.PartitionsIn(nodes.Config{N: 5}, true)[0]
	if plain.Does != row.Restless || plain.Mend != preVoteOption.Name+" on" || mended.Does != row.OneStays {
		t.Errorf("raft-election: %+v; mended %+v", plain, mended)
	}
}
