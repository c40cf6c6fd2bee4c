package cluster

import (
	"io"
	"testing"
)

// Compare with -bench Proxy: direct, and through a proxy without a fault.
func BenchmarkProxy(b *testing.B) {
	address := map[string]string{"direct": echo(b)}
	address["proxied"] = launchProxies(b).must(b).add("a", address["direct"])
	for _, way := range []string{"direct", "proxied"} {
		b.Run("exchange/"+way, func(b *testing.B) {
			c := call(b, address[way])
			for b.Loop() {
				c.exchange("a message of some thirty bytes")
			}
		})
		b.Run("stream/"+way, func(b *testing.B) {
			c := call(b, address[way])
			piece := make([]byte, 32<<10)
			b.SetBytes(int64(len(piece)))
			go func() {
				for range b.N {
					c.Write(piece)
				}
			}()
			if _, err := io.CopyN(io.Discard, c, int64(b.N*len(piece))); err != nil {
				b.Fatal(err)
			}
		})
	}
}
