package cluster

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// A line is the one toxic of the proxies: all that can be wrong with a connection, for as long as its rule
// says so. Toxiproxy's own are not used, since a stream must come through whole, however many faults come and
// go: to take one of those out while the receiver stands still drops data, a timeout drops what it holds up,
// and a latency turns into a limit of some thousand writes on their way.
type line struct {
	rule    *atomic.Pointer[rule]
	asked   *atomic.Bool // of its proxy
	bytes   *atomic.Uint64
	last    *atomic.Int64 // when something came of the server last
	answers bool          // it passes on what the server says
}

// lineType is the name of lines as a kind of toxic in toxiproxy.
const lineType = "line"

// A rule is what holds for all connections of one proxy, in both directions.
type rule struct {
	latency   time.Duration
	bandwidth int64 // bytes per second; 0: as it comes
	stall     bool
	drop      bool          // what comes is lost
	answers   []*answerLoss // one of these is lost
	resets    int           // how often connections have been reset
	changed   chan struct{} // closed when another rule is in force
}

// inTransit is how many bytes a direction of a connection takes in that have not come out of it. What is more
// waits at the sender.
const inTransit = 16 << 20

// slack is by how much of its time a stream may have fallen behind its bandwidth and still catch up.
const slack = 100 * time.Millisecond

// Pipe passes data on until the connection ends. It is not interrupted, since no toxic is added or removed
// while there are connections.
func (l *line) Pipe(stub *toxics.ToxicStub) {
	var f flow
	resets := l.rule.Load().resets
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		r := l.rule.Load()
		if r.resets != resets || f.closed || f.lost && !f.drops(r) || f.ended && len(f.waiting) == 0 {
			stub.Close()
			if !f.ended {
				for range stub.Input { // until the source is closed too
				}
			}
			return
		}
		f.lose(r)
		var input <-chan *stream.StreamChunk
		if !f.ended && f.bytes < inTransit {
			input = stub.Input
		}
		var output chan<- *stream.StreamChunk
		var next *stream.StreamChunk
		var due <-chan time.Time
		if len(f.waiting) > 0 && !r.stall {
			if wait := f.wait(r); wait > 0 {
				timer.Reset(wait)
				due = timer.C
			} else {
				output, next = stub.Output, f.piece(r)
			}
		}
		select {
		case c := <-input:
			f.take(c)
			l.note(c, r, &f)
		case output <- next:
			f.passed(next, r)
		case <-due:
		case <-r.changed:
		}
	}
}

// A flow is what is on its way in one direction of a connection, in order.
type flow struct {
	waiting []*stream.StreamChunk
	bytes   int
	ended   bool // nothing more comes
	lost    bool // some of it was dropped
	closed  bool // in place of an answer

	deaf *answerLoss // that has the client hear nothing any more
	free time.Time   // when the bandwidth lets the next piece pass
}

// drops reports whether what waits is to be dropped.
func (f *flow) drops(r *rule) bool {
	return r.drop || f.deaf != nil && slices.Contains(r.answers, f.deaf)
}

// lose drops what waits, if the rule says so.
func (f *flow) lose(r *rule) {
	if f.drops(r) && len(f.waiting) > 0 {
		f.lost, f.waiting, f.bytes = true, nil, 0
	}
}

// take takes in what has come; nil: that was all.
func (f *flow) take(c *stream.StreamChunk) {
	if c == nil {
		f.ended = true
		return
	}
	if len(c.Data) > 0 {
		f.waiting = append(f.waiting, c)
		f.bytes += len(c.Data)
	}
}

// wait returns how long the first chunk still has to wait.
func (f *flow) wait(r *rule) time.Duration {
	if r.latency == 0 && r.bandwidth == 0 {
		return 0
	}
	due := f.waiting[0].Timestamp.Add(r.latency)
	if r.bandwidth > 0 && f.free.After(due) {
		due = f.free
	}
	return time.Until(due)
}

// piece returns what passes next: the first chunk, or as much of it as takes a twentieth of a second.
func (f *flow) piece(r *rule) *stream.StreamChunk {
	c := f.waiting[0]
	if most := max(1, r.bandwidth/20); r.bandwidth > 0 && int64(len(c.Data)) > most {
		return &stream.StreamChunk{Data: c.Data[:most], Timestamp: c.Timestamp}
	}
	return c
}

// passed takes out what has passed.
func (f *flow) passed(c *stream.StreamChunk, r *rule) {
	n := len(c.Data)
	f.bytes -= n
	if first := f.waiting[0]; n < len(first.Data) {
		first.Data = first.Data[n:]
	} else {
		f.waiting[0] = nil
		f.waiting = f.waiting[1:]
	}
	if r.bandwidth > 0 {
		if behind := time.Now().Add(-slack); f.free.Before(behind) {
			f.free = behind
		}
		f.free = f.free.Add(time.Duration(float64(n) / float64(r.bandwidth) * float64(time.Second)))
	}
}
