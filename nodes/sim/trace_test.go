package sim

import (
	"testing"
	"time"

	"turnstile/algorithms/mutex"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// lossy loses each third packet of a link, and has each fourth arrive twice.
type lossy struct{}

func (lossy) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	switch {
	case p.Number%3 == 0:
		return fate
	case p.Number%4 == 0:
		return append(fate, time.Millisecond, 2*time.Millisecond)
	}
	return append(fate, time.Millisecond)
}

// In a trace of all messages each has a number, and is recorded as handled, perhaps twice, or as lost.
func TestTraceHasAllMessages(t *testing.T) {
	suzuki, err := mutex.Find("suzuki-kasami")
	if err != nil {
		t.Fatal(err)
	}
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: suzuki, Config: nodes.Config{N: 4}})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Stack: stack, Seed: 1, Entries: 2000, Shaper: lossy{},
		Workload: workload.Workload{Load: workload.Saturated, Hold: chance.Constant(time.Millisecond)}}
	traced := o
	traced.Trace = true
	plain, all := &history.History{}, &history.History{}
	for h, o := range map[*history.History]Options{plain: o, all: traced} {
		if _, err := Run(o, h); err != nil {
			t.Fatal(err)
		}
	}
	if len(plain.Events) != len(all.Events) {
		t.Errorf("with a trace there are %d events, without one %d", len(all.Events), len(plain.Events))
	}
	for _, l := range plain.Logs {
		for _, m := range l.Trace {
			if m.Seq != 0 || m.Lost {
				t.Fatalf("without a trace, %+v", m)
			}
		}
	}
	sent, handled, lost := map[uint32]history.MessageRecord{}, map[uint32]int{}, map[uint32]int{}
	for _, l := range all.Logs {
		for _, m := range l.Trace {
			switch {
			case m.Sent:
				sent[m.Seq] = m
			case m.Lost:
				lost[m.Seq]++
			default:
				handled[m.Seq]++
			}
		}
	}
	for seq, m := range sent {
		if came := handled[seq]; came > 2 || came > 0 == (lost[seq] > 0) {
			t.Errorf("%+v was handled %d times, and lost %d times", m, came, lost[seq])
		}
	}
	if len(sent) == 0 || len(lost) == 0 || len(handled)+len(lost) != len(sent) {
		t.Errorf("%d messages were sent, %d handled and %d lost", len(sent), len(handled), len(lost))
	}
}
