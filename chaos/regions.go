package chaos

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"turnstile/internal/chance"
	"turnstile/internal/yamlfile"
	"turnstile/nodes"
)

// Regions is a latency for every pair of regions. Nodes are dealt out to the regions in turn: of three
// regions, nodes 0, 3 and 6 are in the first. Its zero value has no regions.
type Regions struct {
	Names []string `yaml:"regions" json:"regions"`
	// Latency is one way, from the region of the row to that of the column.
	Latency [][]chance.Distribution `yaml:"latency" json:"latency"`
}

// ReadRegions reads regions as YAML:
//
//	regions: [eu, us, asia]
//	latency: # one way, from the region of the row to that of the column
//	  - [1ms, 40ms, 90ms]
//	  - [40ms, 1ms, "log-normal:70ms,200ms"]
//	  - [90ms, 70ms, 1ms]
func ReadRegions(r io.Reader) (Regions, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return Regions{}, err
	}
	var regions Regions
	if err := yamlfile.Decode(b, &regions); err != nil && err != io.EOF {
		return Regions{}, fmt.Errorf("these are no regions: %w; write regions: [eu, us], "+
			"and below it latency:, with a list of latencies for each region, as in docs/running.md", err)
	}
	return regions, regions.check()
}

func (r *Regions) check() error {
	n := len(r.Names)
	if n == 0 {
		return fmt.Errorf("there are no regions: name some, as in regions: [eu, us]")
	}
	for i, name := range r.Names {
		switch {
		case strings.TrimSpace(name) == "":
			return fmt.Errorf("region %d has no name: name it, as in regions: [eu, us]", i+1)
		case slices.Contains(r.Names[:i], name):
			return fmt.Errorf("two regions are called %s: name one of them otherwise", name)
		}
	}
	if len(r.Latency) != n {
		return fmt.Errorf("%d regions take %d rows of latencies, and there are %d", n, n, len(r.Latency))
	}
	for i, row := range r.Latency {
		if len(row) != n {
			return fmt.Errorf("from %s there are %d latencies, and to %d regions it takes %d",
				r.Names[i], len(row), n, n)
		}
	}
	return nil
}

// None reports whether there are no regions.
func (r *Regions) None() bool { return len(r.Names) == 0 }

// Longest returns a latency that fewer than one message in a million exceeds.
func (r *Regions) Longest() time.Duration { return (&Network{Regions: *r}).Longest() }

// String names the regions.
func (r Regions) String() string { return "regions " + strings.Join(r.Names, ", ") }

// Matrix names the regions and lists the latencies, row by row.
func (r *Regions) Matrix() string {
	text := strings.Join(r.Names, " ")
	for _, row := range r.Latency {
		text += "; " + strings.Trim(fmt.Sprint(row), "[]")
	}
	return text
}

// between returns the latency of a link.
func (r *Regions) between(from, to nodes.ID) chance.Distribution {
	n := nodes.ID(len(r.Names))
	return r.Latency[from%n][to%n]
}
