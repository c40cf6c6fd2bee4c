package bench

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"turnstile/bench/option"
	"turnstile/internal/chance"
	"turnstile/internal/figure"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/mutex"
	"turnstile/nodes/row"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// In these runs of Ricart-Agrawala a request is several messages. Without a think time, the replies that an
// exit has held back leave at the time of the next request too, before it.
func TestInversionsAreThoseOfADirectCount(t *testing.T) {
	known := []int{6, 4, 5, 5}
	for seed := uint64(1); seed <= 12; seed++ {
		o := option.Defaults()
		o.Algorithm, o.Config = "ricart-agrawala", nodes.Config{N: 3}.With("priority", "id")
		o.Duration, o.Entries, o.Trace, o.Seed = 0, 12, true, seed
		o.Latency = exponential(t, "2ms")
		o.Workload.Hold, o.Workload.Load = exponential(t, "1ms"), workload.Closed
		if seed <= 4 {
			o.Workload.Think = exponential(t, "2ms")
		}
		algorithm, err := mutex.Find(o.Algorithm)
		if err != nil {
			t.Fatal(err)
		}
		job := drafted(t, algorithm, o, true)
		j, seen := job.judgementOf(history.Header{}, job.setting(nil)), &history.History{}
		if _, err := sim.Run(*simulated(t, o, algorithm), j, seen); err != nil {
			t.Fatal(err)
		}
		want := directInversions(seen, job.Stack)
		if seed <= 4 && want != known[seed-1] {
			t.Errorf("seed %d: counted directly, there are %d inversions, not %d", seed, want, known[seed-1])
		}
		if got := j.measures.Measures.OrderInversions; got != figure.Count(uint64(want)) {
			t.Errorf("seed %d: %v inversions, not %d", seed, got, want)
		}
	}
}

func exponential(t *testing.T, mean string) chance.Distribution {
	t.Helper()
	d, err := chance.ParseDistribution("exponential:" + mean)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A seenStep is an event of a node, or a message that it has sent or handled.
type seenStep struct {
	at int64
	history.Event
	history.MessageRecord
}

// directInversions counts inversions by keeping the set of requests that each node knows. A message carries
// the set of its sender at the time it leaves. A request comes before the first message of the kind request
// that leaves at the time of the request.
func directInversions(h *history.History, stack *row.Stack) (count int) {
	var steps []seenStep
	for _, l := range h.Logs {
		var mine []seenStep
		for _, m := range l.Trace {
			mine = append(mine, seenStep{at: m.At, MessageRecord: m})
		}
		for _, e := range h.Events {
			if e.Node != l.Node || e.Node < 0 {
				continue
			}
			at := 0
			for at < len(mine) && (mine[at].at < e.At || mine[at].at == e.At && e.Kind == history.Requested &&
				!(mine[at].Sent && stack.Codec().Name(int(mine[at].MessageRecord.Kind)) == "request")) {
				at++
			}
			mine = slices.Insert(mine, at, seenStep{at: e.At, Event: e})
		}
		steps = append(steps, mine...)
	}
	slices.SortStableFunc(steps, func(a, b seenStep) int { return cmp.Compare(a.at, b.at) })

	type request struct {
		node  nodes.ID
		entry uint32
	}
	knows := map[nodes.ID]map[request]bool{}
	for id := range stack.Total() {
		knows[nodes.ID(id)] = map[request]bool{}
	}
	told, before, waits := map[uint32]map[request]bool{}, map[request]map[request]bool{}, map[request]bool{}
	for _, s := range steps {
		m, r := s.MessageRecord, request{s.Event.Node, s.Entry}
		switch {
		case m.Seq > 0 && m.Sent:
			told[m.Seq] = maps.Clone(knows[m.Node])
		case m.Seq > 0:
			maps.Copy(knows[m.Node], told[m.Seq])
		case s.Event.Kind == history.Requested:
			before[r], waits[r] = maps.Clone(knows[r.node]), true
			knows[r.node][r] = true
		case s.Event.Kind == history.Entered:
			delete(waits, r)
			for other := range waits {
				if before[r][other] {
					count++
				}
			}
		}
	}
	return count
}
