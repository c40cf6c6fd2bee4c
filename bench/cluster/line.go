package cluster

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// A line is one direction of a connection through a proxy, with all that can be wrong with it, for as long as
// the rule of the proxy says so.
type line struct {
	*proxy
	answers bool // it passes on what the server says
}

// A chunk is what was read at once.
type chunk struct {
	data []byte
	came time.Time
	err  error // nothing more comes; io.EOF: since that end has closed its side
}

// read sends what comes from a connection, until it ends.
func read(ctx context.Context, from net.Conn, chunks chan<- chunk) {
	for b := make([]byte, 32<<10); ; {
		n, err := from.Read(b)
		select {
		case chunks <- chunk{slices.Clone(b[:n]), time.Now(), err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// A rule is what holds for all connections of one proxy, in both directions.
type rule struct {
	latency   time.Duration
	bandwidth int64 // bytes per second; 0: as it comes
	stall     bool
	drop      bool          // what comes is lost
	answers   []*answerLoss // one of these is lost
	changed   chan struct{} // closed when another rule is in force
}

// inTransit is how many bytes a direction of a connection takes in that have not come out of it. What is more
// waits at the sender.
const inTransit = 16 << 20

// slack is by how much of its time a stream may have fallen behind its bandwidth and still catch up.
const slack = 100 * time.Millisecond

// errCut is why a connection is closed that the proxy has kept data from.
var errCut = errors.New("the proxy has lost what came")

// pass passes on what comes from one end, until it ends or the connection is to be closed.
func (l *line) pass(ctx context.Context, to, from net.Conn) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	chunks, pieces := make(chan chunk), make(chan []byte)
	var ends sync.WaitGroup
	ends.Go(func() { read(ctx, from, chunks) })
	ends.Go(func() {
		for b := range pieces {
			if _, err := to.Write(b); err != nil {
				stop()
				return
			}
		}
	})
	err := l.pump(ctx, chunks, pieces)
	if err != nil {
		stop()
		from.Close()
		to.Close()
	}
	close(pieces)
	ends.Wait()
	return err
}

// pump turns chunks into pieces as the rule of the proxy says.
func (l *line) pump(ctx context.Context, chunks <-chan chunk, pieces chan<- []byte) error {
	var f flow
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		r := l.rule.Load()
		f.lose(r)
		switch {
		case f.closed || f.lost && (f.ended != nil || !f.drops(r)):
			return errCut
		case f.ended == io.EOF && len(f.waiting) == 0:
			return nil
		case f.ended != nil && len(f.waiting) == 0:
			return f.ended
		}
		var input <-chan chunk
		if f.ended == nil && f.bytes < inTransit {
			input = chunks
		}
		var output chan<- []byte
		var next []byte
		var due <-chan time.Time
		if len(f.waiting) > 0 && !r.stall {
			if wait := f.wait(r); wait > 0 {
				timer.Reset(wait)
				due = timer.C
			} else {
				output, next = pieces, f.piece(r)
			}
		}
		select {
		case c := <-input:
			f.take(c)
			l.note(c, r, &f)
		case output <- next:
			f.passed(len(next), r)
		case <-due:
		case <-r.changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A flow is what is on its way in one direction of a connection, in order.
type flow struct {
	waiting []chunk
	bytes   int
	ended   error // why nothing more comes; nil: more may come
	lost    bool  // some of it was dropped
	closed  bool  // in place of an answer

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

// take takes in what has come.
func (f *flow) take(c chunk) {
	if len(c.data) > 0 {
		f.waiting = append(f.waiting, c)
		f.bytes += len(c.data)
	}
	f.ended = c.err
}

// wait returns how long the first chunk still has to wait.
func (f *flow) wait(r *rule) time.Duration {
	if r.latency == 0 && r.bandwidth == 0 {
		return 0
	}
	due := f.waiting[0].came.Add(r.latency)
	if r.bandwidth > 0 && f.free.After(due) {
		due = f.free
	}
	return time.Until(due)
}

// piece returns what passes next: the first chunk, or as much of it as takes a twentieth of a second.
func (f *flow) piece(r *rule) []byte {
	b := f.waiting[0].data
	if most := max(1, r.bandwidth/20); r.bandwidth > 0 && int64(len(b)) > most {
		b = b[:most]
	}
	return b
}

// passed takes out what has passed.
func (f *flow) passed(n int, r *rule) {
	f.bytes -= n
	if first := &f.waiting[0]; n < len(first.data) {
		first.data = first.data[n:]
	} else {
		*first = chunk{}
		f.waiting = f.waiting[1:]
	}
	if r.bandwidth > 0 {
		if behind := time.Now().Add(-slack); f.free.Before(behind) {
			f.free = behind
		}
		f.free = f.free.Add(time.Duration(float64(n) / float64(r.bandwidth) * float64(time.Second)))
	}
}

// begun is when this process was.
var begun = time.Now()

// note counts what has come. It counts an answer, and loses it if it is to be lost.
func (l *line) note(c chunk, r *rule, f *flow) {
	if len(c.data) == 0 {
		return
	}
	l.bytes.Add(uint64(len(c.data)))
	if !l.answers {
		l.asked.Store(true)
		return
	}
	l.answered.Store(int64(time.Since(begun)))
	if len(r.answers) == 0 || !l.asked.Swap(false) {
		return
	}
	for _, loss := range r.answers {
		if loss.seen.Add(1) == loss.nth {
			f.closed, f.deaf = loss.close, loss
		}
	}
}
