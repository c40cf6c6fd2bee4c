package election

import (
	"testing"

	"turnstile/nodes"
)

// Each sound row says what becomes of its leaders in a partition, and where some links are cut, once for what
// is cut, with a reason; an option that mends something is one of its own, and promises more.
func TestRowsSayWhatPartitionsDo(t *testing.T) {
	for _, row := range Table {
		if row.Broken != "" {
			continue
		}
		for _, quorum := range []string{"on", "off"} {
			c := nodes.Config{N: 5}
			if row.Option(checkQuorumOption.Name) != nil {
				c = c.With(checkQuorumOption.Name, quorum)
			}
			full, some := row.Leads.PartitionsIn(c, false), row.Leads.PartitionsIn(c, true)
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
	mended := raftRow.Leads.PartitionsIn(nodes.Config{N: 5}.With(preVoteOption.Name, "on"), true)[0]
	plain := raftRow.Leads.PartitionsIn(nodes.Config{N: 5}, true)[0]
	if plain.Does != nodes.Restless || plain.Mend != preVoteOption.Name+" on" || mended.Does != nodes.OneStays {
		t.Errorf("raft-election: %+v; mended %+v", plain, mended)
	}
}
