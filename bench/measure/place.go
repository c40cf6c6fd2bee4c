package measure

// place is one resource: who holds it when, and in what order those who asked were served.
type place struct {
	window    Window
	slack     int64
	syncDelay *Latency

	waiting, inside int
	since           int64 // when the first of those inside entered
	crowded         int64 // when the second did
	busy            int64 // time with somebody inside, within the window
	overlap         int64 // time with two or more inside, ever

	freed  bool  // the last that happened here was an exit, and nobody is inside
	freeAt int64 // when that was

	served        ranks // requests by the order in which they were asked, marked when served
	entries       uint64
	overtaken     uint64 // summed over requests
	overtakenMost uint64
	abandoned     bool // some request was never served, and might have been overtaken more often yet
}

// ask lets one more wait, and returns the number of its request and whether nobody held or waited.
func (p *place) ask() (number int, alone bool) {
	alone = p.waiting+p.inside == 0
	p.waiting++
	return p.served.grow(), alone
}

// serve ends the wait of a request that is about to enter.
func (p *place) serve(number int, asked, at int64) {
	if p.freed && asked < p.freeAt && p.window.Has(at) {
		p.syncDelay.Add(at - p.freeAt)
	}
	p.waiting--
	p.overtake(number)
	p.served.mark(number)
	p.entries++
}

// abandon ends the wait of a request that will never enter.
func (p *place) abandon(number int) {
	p.waiting--
	p.abandoned = true
	p.overtake(number)
}

// overtake counts those that asked later than the request of this number and entered already.
func (p *place) overtake(number int) {
	n := p.entries - p.served.markedUpTo(number)
	p.overtaken += n
	p.overtakenMost = max(p.overtakenMost, n)
}

func (p *place) enter(at int64) {
	p.inside++
	p.freed = false
	switch p.inside {
	case 1:
		p.since = at
	case 2:
		p.crowded = at
	}
}

func (p *place) exit(at int64) {
	p.inside--
	switch p.inside {
	case 0:
		p.busy += p.window.overlap(p.since, at)
		p.freed, p.freeAt = true, at
	case 1:
		// A shorter one may be the error of the two nodes' stamps.
		if crowd := at - p.crowded; crowd > p.slack {
			p.overlap += crowd
		}
	}
}

// ranks is a growing row of things, numbered from 1, that are marked one by one, and that tells in
// logarithmic time how many are marked up to a number: a tree of P. M. Fenwick, "A new data structure
// for cumulative frequency tables", Software: Practice and Experience 24(3), 1994.
type ranks struct{ sums []uint32 } // sums[i-1] counts the marks from i-lowest(i)+1 to i

// lowest returns the lowest bit of i that is set.
func lowest(i int) int { return i & -i }

func (r *ranks) size() int { return len(r.sums) }

// grow adds one that is not marked, and returns its number.
func (r *ranks) grow() int {
	i := len(r.sums) + 1
	sum := uint32(0)
	for j := i - 1; j > i-lowest(i); j -= lowest(j) {
		sum += r.sums[j-1]
	}
	r.sums = append(r.sums, sum)
	return i
}

func (r *ranks) mark(i int) {
	for ; i <= len(r.sums); i += lowest(i) {
		r.sums[i-1]++
	}
}

func (r *ranks) markedUpTo(i int) (count uint64) {
	for ; i > 0; i -= lowest(i) {
		count += uint64(r.sums[i-1])
	}
	return count
}
