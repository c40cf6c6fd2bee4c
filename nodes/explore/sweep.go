package explore

import (
	"sync"
	"sync/atomic"
)

const (
	share     = 1 << 9 // states that a worker expands at a time
	memoBytes = 80     // that a reaction takes in the memory of a worker, by measurement

	ahead = 3 // batches of a worker: the current one, and those that wait to be taken in
)

// sweep expands the level.
func (s *search) sweep() {
	shares := (len(s.level.ends) + share - 1) / share
	if len(s.workers) > 1 && shares > 1 {
		s.sweepTogether(shares)
		return
	}
	w := s.workers[0]
	for number := 0; number < shares && !s.full(); number++ {
		b := <-w.free
		w.expandShare(&s.level, number, b)
		s.take(b)
		w.free <- b
	}
}

// sweepTogether has the workers expand one share after another, and takes in their batches by number.
func (s *search) sweepTogether(shares int) {
	var begun atomic.Int64
	var workers sync.WaitGroup
	done := make(chan *batch, ahead*len(s.workers)) // it holds all batches
	for _, w := range s.workers {
		workers.Go(func() {
			for b := range w.free { // a share begins only with a free batch, so the lowest one always ends
				number := int(begun.Add(1)) - 1
				if number >= shares {
					w.free <- b
					return
				}
				w.expandShare(&s.level, number, b)
				done <- b
			}
		})
	}
	early := map[int]*batch{} // batches that have come before their turn
	for number := 0; number < shares && !s.full(); number++ {
		for early[number] == nil {
			b := <-done
			early[b.number] = b
		}
		s.take(early[number])
		early[number].of.free <- early[number]
		delete(early, number)
	}
	begun.Store(int64(shares)) // if the search is over, no more shares begin, and those under way are dropped
	for _, b := range early {
		b.of.free <- b
	}
	go func() { workers.Wait(); close(done) }()
	for b := range done {
		b.of.free <- b
	}
}

// expandShare expands one share of the level.
func (w *worker) expandShare(l *level, number int, b *batch) {
	w.batch, b.number = b, number
	b.data, b.candidates = b.data[:0], b.candidates[:0]
	b.findings, b.expansions = b.findings[:0], b.expansions[:0]
	w.parts.mu.Lock()
	w.refresh()
	w.parts.mu.Unlock()
	first := number * share
	for at := first; at < min(first+share, len(l.ends)); at++ {
		w.expand(l.state(at))
	}
	bytes := memoBytes * uint64(len(w.memo))
	for i := range w.all {
		bytes += 4*uint64(cap(w.all[i].data)) + 56*uint64(cap(w.all[i].candidates))
	}
	w.bytes.Store(bytes)
}
