package mutex

import (
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// peterson-reordered is Peterson's algorithm with its two writes done in the other order. Either its program
// says that it is the last before it says that it is interested; or the client does not wait until a write
// is done, like a processor with a store buffer and no fence. It is not safe. The first client writes that
// it is the last, then the second does. The second says that it is interested, reads that the first is not,
// and enters. Then the first says so too, reads that the second is the last, and enters.
var petersonReorderedAlgorithm = algorithm.Algorithm{
	Spec: func() nodes.Spec {
		spec := petersonSpec("peterson-reordered", newPetersonReordered)
		spec.Options = append([]nodes.Option{reorderedOption}, spec.Options...)
		return spec
	}(),
	Aliases: []string{"store-buffer"}, Family: "registers",
	Source:  lozes + ": the first two writes exchanged, as memory without fences may do",
	Summary: "As peterson, but a client says that it is the last before it is known to be interested.",
	Mutex:   petersonExclusion,
	Flaw:    &algorithm.Flaw{Check: "exclusion", At: nodes.Config{N: 2}, Rare: true},
	Faults: orBreaks(beside(under(recovers|starves|blocks, "as peterson (P, B), unless the dead client had "+
		"not yet said that it is interested (L)", "dead-waiter"), petersonFaults),
		"two clients are both let in (X), without any fault"),
}

var reorderedOption = nodes.Option{Name: "reordered-by", Values: []string{byProgram, byBuffer},
	Default: byProgram, Usage: "what reorders two writes",
	Shows: []nodes.Shown{{Value: byBuffer, Than: byProgram, Figure: "wait", Least: 0.1, Most: 0.9, N: 2,
		Load: "one"}}}

const (
	byProgram = "program" // the program writes the last side first
	byBuffer  = "buffer"  // the client does not wait for acknowledgements of writes
)

func newPetersonReordered(c nodes.Config) *peterson {
	p := newPeterson(c)
	p.reordered = c.Value(reorderedOption) == byProgram
	p.buffered = !p.reordered
	return p
}
