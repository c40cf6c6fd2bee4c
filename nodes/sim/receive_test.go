package sim

import (
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// receiving has applications receive messages in a way.
func receiving(t testing.TB, way string) func(*Options) {
	t.Helper()
	r, err := workload.ParseReceive(way)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *Options) { o.Workload.Receive, o.Trace = r, true }
}

// A hop is a message with when it was sent and when it was handled.
type hop struct {
	history.MessageRecord
	sent time.Duration
}

// hops returns the messages of a run, in the order in which each node handled them.
func (r *recorded) hops() (all []hop) {
	sent := map[uint32]int64{}
	for _, l := range r.Logs {
		for _, m := range l.Trace {
			if m.Sent {
				sent[m.Seq] = m.At
			}
		}
	}
	for _, l := range r.Logs {
		for _, m := range l.Trace {
			if !m.Sent && !m.Lost {
				all = append(all, hop{m, time.Duration(sent[m.Seq])})
			}
		}
	}
	return all
}

// A token for which nodes poll is handled at a poll: after the latency and half a period, on average.
func TestPolledTokens(t *testing.T) {
	const n, latency, period = 64, time.Millisecond, 5 * time.Millisecond
	o := options(t, "token-ring", n, receiving(t, "poll:5ms"))
	o.Workload.Load, o.Entries, o.Duration = workload.One, 0, 2*time.Second
	at, sum, count := map[nodes.ID]time.Duration{}, time.Duration(0), time.Duration(0)
	for _, m := range mustRun(t, o).hops() {
		took := time.Duration(m.At) - m.sent
		if took < latency || took >= latency+period {
			t.Fatalf("from %d to %d a token took %v", m.Peer, m.Node, took)
		}
		if before, polled := at[m.Node]; polled && (time.Duration(m.At)-before)%period != 0 {
			t.Fatalf("node %d polled at %v, and at %v", m.Node, before, time.Duration(m.At))
		}
		at[m.Node] = time.Duration(m.At)
		sum, count = sum+took, count+1
	}
	if mean := sum / count; count < 5*n || mean < 3250*time.Microsecond || mean > 3750*time.Microsecond {
		t.Errorf("%d hops took %v on average", count, mean)
	}
}

// Nodes handle no message while their application does not receive, and handle all in order in the end.
func TestWhenApplicationsReceive(t *testing.T) {
	const think = 7 * time.Millisecond
	for way, may := range map[string][2]bool{ // whether messages may be handled inside, and while computing
		"agent": {true, true}, "interrupt": {false, true}, "handler": {false, false}, "poll:5ms": {true, true},
	} {
		for _, algorithm := range []string{"ricart-agrawala", "bakery", "token-ring"} {
			o := options(t, algorithm, 4, receiving(t, way))
			o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(think)
			o.Workload.Hold = chance.Constant(3 * time.Millisecond)
			r := mustRun(t, o)
			inside, computes, last := false, false, map[[2]nodes.ID]uint32{}
			for _, m := range r.hops() {
				at := m.At
				inside = inside || r.between(history.Entered, history.Exited, m.Node, at)
				computes = computes || r.between(history.Exited, history.Requested, m.Node, at)
				if link := [2]nodes.ID{m.Peer, m.Node}; m.Seq <= last[link] {
					t.Errorf("%s, %s: on the link %v message %d comes after %d", way, algorithm, link, m.Seq, last[link])
				} else {
					last[link] = m.Seq
				}
			}
			if inside && !may[0] || computes && !may[1] {
				t.Errorf("%s, %s: messages are handled inside: %v, while a client computes: %v", way, algorithm, inside,
					computes)
			}
			if algorithm == "bakery" && way != "poll:5ms" && (inside != may[0] || computes != may[1]) {
				t.Errorf("%s: no message is handled though it may be: %v, %v", way, inside, computes)
			}
			if sent, handled, _ := books(r); sent != handled {
				t.Errorf("%s, %s: %d messages were sent, %d handled", way, algorithm, sent, handled)
			}
			if v := verdict(o, r); v.Outcome.ExitCode() != 0 {
				t.Errorf("%s, %s: %+v", way, algorithm, v)
			}
		}
	}
}

// between reports whether at lies between an event of the kind begins and the next one, of the kind ends.
func (r *recorded) between(begins, ends history.Kind, id nodes.ID, at int64) bool {
	last := history.Event{}
	for _, e := range r.Events {
		switch {
		case e.Node != id || e.Kind != begins && e.Kind != ends:
		case e.At <= at:
			last = e
		default:
			return last.Kind == begins && last.At < at && e.Kind == ends
		}
	}
	return false
}

// books returns how many messages were sent, handled, and lost.
func books(r *recorded) (sent, handled, lost uint64) {
	for _, l := range r.Logs {
		for _, in := range l.Instances {
			lost += in.Dropped
			for _, k := range in.Kinds {
				sent, handled = sent+k.Sent, handled+k.Delivered
			}
		}
	}
	return sent, handled, lost
}

// Messages that wait at a node are lost if it crashes, and are handled after it resumes if it is paused. As
// many messages are sent as are handled or lost.
func TestFaultsBesideInboxes(t *testing.T) {
	for _, way := range []string{"interrupt", "handler", "poll:5ms"} {
		for _, text := range []string{
			"kill: 1, at: 40ms, for: 20ms", "kill: holder, at: 30ms, for: 50ms", "pause: 1, at: 40ms, for: 30ms",
			"pause: holder, at: 30ms, for: 20ms", "pause: 1, when: 1 exits, at: 30ms, for: 20ms",
			"pause: 2, when: '2 receives #20', for: 20ms", "kill: 2, when: '2 receives #20', for: 20ms",
		} {
			o := options(t, "ricart-agrawala-ft", 4, receiving(t, way))
			o.Workload.Load, o.Workload.Think = workload.Closed, chance.Constant(2*time.Millisecond)
			over(&o, latency(t, "uniform:1ms,2ms"), plan(t, text)...)
			r := mustRun(t, o)
			paused := len(r.of(history.Paused)) > 0
			sent, handled, lost := books(r)
			if sent != handled+lost || paused && lost > 0 {
				t.Errorf("%s, %s: %d messages were sent, %d handled and %d lost", way, text, sent, handled, lost)
			}
			if r.Stall != nil || !paused && len(r.of(history.Crashed)) == 0 {
				t.Errorf("%s, %s: %s", way, text, r.Stall)
			}
		}
	}
}
