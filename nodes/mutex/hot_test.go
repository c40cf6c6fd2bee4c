package mutex

import (
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// BenchmarkDelivery is a message through codec and machine: what the host does for each, but for the
// transport and the records.
func BenchmarkDelivery(b *testing.B) {
	spec, err := Find("ricart-agrawala")
	if err != nil {
		b.Fatal(err)
	}
	c := nodes.Config{N: 32}
	stack, err := row.Assemble(row.Instance{Row: spec, Config: c})
	if err != nil {
		b.Fatal(err)
	}
	codec, node := stack.Codec(), nodes.NewNode(stack.Stack, 0, 0, nil)
	decoder := codec.Decoder()
	var buffer []byte
	clock := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		clock++
		buffer = codec.Append(buffer[:0], 0, ricartRequest{clock})
		m, err := decoder.Decode(0, buffer)
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range node.Handle(nodes.Input{Kind: nodes.Receive, From: 1, Message: m}) {
			buffer = codec.Append(buffer[:0], int(e.Kind), e.Message)
		}
	}
}
