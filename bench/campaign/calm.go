package campaign

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"turnstile/bench"
	"turnstile/bench/check"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// A Calm is the grid of runs in which nothing goes wrong: each sound row, with each elector that it may
// follow and each detector that it may listen to, for each number of nodes, latency, hold and load. Each run
// ends after some entries of each node, or once an elector has had the time for some elections.
type Calm struct {
	cells []cell
}

// A cell is a run of the grid.
type cell struct {
	spec            *nodes.Spec
	elect, detector string // beside the row; empty: none, and what the row says
	n               int
	latency, hold   time.Duration
	load            workload.Workload // with its initiators, of an elector
}

// The grid.
var (
	calmSizes     = []int{1, 2, 3, 5, 9, 32, 64}
	calmLatencies = []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond,
		500 * time.Millisecond, 2 * time.Second}
	calmHolds     = []time.Duration{0, 100 * time.Microsecond, 1500 * time.Millisecond}
	calmLoads     = []workload.Load{workload.Saturated, workload.One, workload.Sequential, workload.Closed, workload.Open}
	calmDetectors = []string{"heartbeat", "probe", "phi", "swim", "perfect"}
	calmCampaigns = []workload.Initiators{workload.AllInitiate, workload.LowestInitiates, "highest"}
)

// many is from how many nodes on a run ends after fewEntries of each, rather than someEntries.
const (
	many        = 32
	fewEntries  = 3
	someEntries = 20
)

// CalmOf returns the grid of the sound rows of mutual exclusion and election among some, for up to so many
// nodes.
func CalmOf(rows []*nodes.Spec, mostNodes int) (g Calm) {
	var electors []string
	for _, row := range rows {
		if row.Leads != nil && row.Broken == "" {
			electors = append(electors, row.Name)
		}
	}
	for _, row := range rows {
		if row.Broken != "" {
			continue
		}
		g.add(cell{spec: row}, mostNodes)
		if row.Detects != "" {
			for _, detector := range calmDetectors {
				g.add(cell{spec: row, detector: detector}, mostNodes)
			}
		}
		if row.Follows {
			for _, elector := range electors {
				g.add(cell{spec: row, elect: elector}, mostNodes)
			}
		}
	}
	return g
}

// Cells returns how many runs there are.
func (g *Calm) Cells() int { return len(g.cells) }

// add adds what runs for each number of nodes, latency, hold and load.
func (g *Calm) add(c cell, mostNodes int) {
	for _, c.n = range calmSizes {
		if c.n > mostNodes {
			break
		}
		for _, c.latency = range calmLatencies {
			if c.spec.Leads != nil {
				for _, who := range calmCampaigns {
					c.load = workload.Workload{Load: workload.Campaign, Initiators: who}
					g.cells = append(g.cells, c)
				}
				continue
			}
			for _, c.hold = range calmHolds {
				for _, load := range calmLoads {
					c.load = workload.Workload{Load: load}
					g.cells = append(g.cells, c)
				}
			}
		}
	}
}
