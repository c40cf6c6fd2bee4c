package offset

import (
	"fmt"
	"math"
	"slices"
)

// Drift is how fast two monotonic clocks may run apart, in parts of one: Linux slews each by 500 ppm at
// most, and a fifth more is allowed.
const Drift = 1200e-6

// An Exchange is a request of the reference and the answer of a host, in nanoseconds: the reference sends
// at Sent, the host receives that at Received and answers at Answered, and the reference has that at
// Returned. Sent and Returned are read from the reference's clock, the others from the host's.
type Exchange struct {
	Sent, Received, Answered, Returned int64
	// Error bounds the errors of reading the two clocks, added up: of anchors, those of both hosts.
	Error int64
}

// offsets returns what the offset may have been in the middle of the exchange.
func (x Exchange) offsets() (low, high int64) {
	slack := x.Error + drifted((x.Returned-x.Sent+1)/2)
	return x.Answered - x.Returned - slack, x.Received - x.Sent + slack
}

// drifted returns by how much an offset may change in a time.
func drifted(time int64) int64 { return int64(math.Ceil(Drift * float64(time))) }

// A Stretch is the time from From to To, by the reference's clock.
type Stretch struct{ From, To int64 }

// An Estimator estimates the offset of a host from exchanges. Its zero value knows nothing. Only one
// goroutine may use it at a time.
type Estimator struct {
	points   []point
	answered int64 // by the host's clock: the end of the latest exchange there
	least    int64 // the narrowest that an exchange was
	refused  int   // exchanges since the latest point that told of a jump, and were too wide to tell its end
}

// A point is the middle of an exchange.
type point struct {
	at              int64 // by the reference's clock
	sent, returned  int64 // its beginning and its end
	ownLow, ownHigh int64 // what the exchange says of the offset
	low, high       int64 // what all exchanges leave possible
	jumped          bool  // the offset between the point before and this one is unknown
}

func (p *point) offset() int64 { return p.low + (p.high-p.low)/2 }
func (p *point) bound() int64  { return (p.high-p.low)/2 + 1 }

// reaches returns what a point leaves possible at another time.
func (p *point) reaches(at int64) (low, high int64) {
	grown := drifted(max(at-p.at, p.at-at))
	return p.low - grown, p.high + grown
}

// Add takes an exchange, which must have ended after those before it. It is an error, and the exchange is
// left out, if its times contradict each other, or if the host's clock fell: then the host was started
// anew, and wants an estimator of its own.
func (e *Estimator) Add(x Exchange) error {
	low, high := x.offsets()
	p := point{at: x.Sent + (x.Returned-x.Sent)/2, sent: x.Sent, returned: x.Returned,
		ownLow: low, ownHigh: high, low: low, high: high}
	last := len(e.points) - 1
	switch {
	case x.Returned < x.Sent || x.Answered < x.Received:
		return fmt.Errorf("an exchange of clocks ends before it begins: sent at %d and returned at %d, "+
			"received at %d and answered at %d", x.Sent, x.Returned, x.Received, x.Answered)
	case low > high:
		return fmt.Errorf("an exchange of clocks took %d ns here, and the host held it for %d ns: the host's "+
			"clock jumped meanwhile", x.Returned-x.Sent, x.Answered-x.Received)
	case last >= 0 && p.at <= e.points[last].at:
		return fmt.Errorf("an exchange of clocks at %d comes after one at %d: they must be added in their order",
			p.at, e.points[last].at)
	case last >= 0 && x.Received < e.answered-2*x.Error:
		return fmt.Errorf("the host's clock fell from %d to %d: it was started anew, and needs a new estimator",
			e.answered, x.Received)
	}
	e.answered = x.Answered
	if last >= 0 && !e.follow(&p) {
		return nil
	}
	if e.least = min(e.least, high-low); last < 0 {
		e.least = high - low
	}
	e.refused = 0
	e.points = append(e.points, p)
	e.look()
	return nil
}

// mostRefused is how many exchanges in a row are taken for unusually wide. After that, they are usual.
const mostRefused = 5

// follow has a point take what is possible from those before it, unless the clock jumped. It reports
// whether the point is to be kept: of one much wider than usual it is not known on which side of another
// jump it is.
func (e *Estimator) follow(p *point) bool {
	low, high := e.points[len(e.points)-1].reaches(p.at)
	if low <= p.high && high >= p.low {
		if p.jumped = e.refused > 0; !p.jumped {
			p.narrow(low, high)
		}
		return true
	}
	if p.high-p.low > 4*e.least+wide && e.refused < mostRefused {
		e.refused++
		return false
	}
	e.jump(p)
	return true
}

// wide is what an exchange may be wider than usual, in nanoseconds.
const wide = 10_000_000

// jump drops the latest exchanges that do not contradict p: it is not known on which side of the jump they
// are.
func (e *Estimator) jump(p *point) {
	p.jumped = true
	kept := len(e.points)
	for ; kept > 1; kept-- {
		last := &e.points[kept-1]
		grown := drifted(p.at - last.at)
		if last.ownLow-grown > p.ownHigh || last.ownHigh+grown < p.ownLow {
			break
		}
	}
	if kept == len(e.points) {
		return
	}
	e.points = e.points[:kept] // and what the others have said of earlier times is dropped with them
	first := kept - 1
	for first > 0 && !e.points[first].jumped {
		first--
	}
	for i := first; i < kept; i++ {
		q := &e.points[i]
		q.low, q.high = q.ownLow, q.ownHigh
		if i > first {
			q.narrow(e.points[i-1].reaches(q.at))
		}
	}
	for i := kept - 1; i > first; i-- {
		e.points[i-1].narrow(e.points[i].reaches(e.points[i-1].at))
	}
}

// narrow has a point take what another leaves possible, and reports whether that says anything new.
func (p *point) narrow(low, high int64) bool {
	if low <= p.low && high >= p.high {
		return false
	}
	p.low, p.high = max(p.low, low), min(p.high, high)
	return true
}

// look has the latest exchange narrow what is possible before it, up to a jump.
func (e *Estimator) look() {
	for i := len(e.points) - 1; i > 0 && !e.points[i].jumped; i-- {
		before := &e.points[i-1]
		if !before.narrow(e.points[i].reaches(before.at)) {
			return
		}
	}
}

// Offset returns what the host's clock shows more than the reference's, when that shows at, and a bound on
// the error of that. Both are unknown if there is no exchange, and while the clock jumped; then they are a
// guess. Later exchanges may make the bound of an earlier time smaller.
func (e *Estimator) Offset(at int64) (offset, bound int64, known bool) {
	if len(e.points) == 0 {
		return 0, math.MaxInt64, false
	}
	after, found := slices.BinarySearchFunc(e.points, at, func(p point, at int64) int {
		return int(min(1, max(-1, p.at-at)))
	})
	for i := max(1, after-1); i < min(after+2, len(e.points)); i++ {
		before, next := &e.points[i-1], &e.points[i]
		if next.jumped && before.sent <= at && at <= next.returned {
			p := bridge(&Piece{From: before.at, Offset: before.offset(), Bound: before.bound()}, before.sent,
				&Piece{From: next.returned, Offset: next.offset(), Bound: next.bound()})
			return p.offset(at), p.Bound, false
		}
	}
	both := e.points[min(after, len(e.points)-1)]
	both.low, both.high = both.reaches(at)
	if after > 0 && !found {
		both.narrow(e.points[after-1].reaches(at))
	}
	return both.offset(), both.bound(), after < len(e.points) || e.refused == 0
}

// Jumps returns when the host's clock jumped: between the ends of each stretch, once or more often.
func (e *Estimator) Jumps() (all []Stretch) {
	for i, p := range e.points {
		if p.jumped {
			all = append(all, Stretch{e.points[i-1].sent, p.returned})
		}
	}
	return all
}
