package chaos

import (
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

func TestLatencyDelaysEveryMessageOnce(t *testing.T) {
	l := undisturbed{Network: &Network{Latency: chance.Constant(time.Millisecond)}}
	fate := l.Shape(&nodes.Packet{From: 1, To: 2, Number: 1}, nil)
	if len(fate) != 1 || fate[0] != time.Millisecond {
		t.Errorf("the fate is %v", fate)
	}
}
