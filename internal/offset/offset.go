// Package offset measures the offset of a host's clock from another, the reference, and converts times of the
// host to the reference, with a bound on the error.
//
// An [Exchange] bounds the offset, the host's clock minus the reference's: by these clocks, the request took
// its delay plus the offset, and the answer its delay minus the offset, and no delay is negative. So the
// bound is half of the round trip. Away from the exchange the bound grows by [Drift] times the distance in
// time, since clocks run apart no faster. An [Estimator] intersects the ranges of all exchanges before and
// after a moment: its bound is that of the best exchange, or less.
//
// If the range of an exchange is disjoint from that of the earlier ones, the host's clock has jumped:
// CLOCK_MONOTONIC stands still while a machine is suspended, and a virtual machine that is moved may gain
// time. Between that exchange and the last earlier one with a disjoint range, the offset is unknown.
//
// All times are in nanoseconds of the monotonic clock that they are read from.
package offset

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// Drift bounds how fast two monotonic clocks run apart, as a ratio: Linux slews each by at most 500 ppm, and
// this allows a fifth more.
const Drift = 1200e-6

// An Exchange is a request of the reference and the answer of a host, in nanoseconds: the reference sends the
// request at Sent, the host receives it at Received and answers at Answered, and the reference has the answer
// at Returned. Sent and Returned are times of the reference's clock, the others of the host's.
type Exchange struct {
	Sent, Received, Answered, Returned int64
	// Error bounds the sum of the errors of reading both clocks.
	Error int64
}

// offsets returns the range of the offset in the middle of the exchange.
func (x Exchange) offsets() (low, high int64) {
	slack := x.Error + drifted((x.Returned-x.Sent+1)/2)
	return x.Answered - x.Returned - slack, x.Received - x.Sent + slack
}

// drifted returns by how much an offset may change in a length of time.
func drifted(time int64) int64 { return int64(math.Ceil(Drift * float64(time))) }

// A Stretch is the time from From to To, by the reference's clock.
type Stretch struct{ From, To int64 }

// An Estimator estimates the offset of a host from exchanges. Its zero value is empty. Only one goroutine may
// use it at a time.
type Estimator struct {
	points   []point
	answered int64 // by the host's clock: when it last answered
	least    int64 // the width of the narrowest exchange
	refused  int   // exchanges since the latest point that show a jump, but are too wide to locate it
}

// A point is the middle of an exchange.
type point struct {
	at              int64 // its time, by the reference's clock
	sent, returned  int64 // when the exchange began and ended
	ownLow, ownHigh int64 // the range of the offset by this exchange
	low, high       int64 // the range of the offset by all exchanges
	jumped          bool  // the offset between the point before and this one is unknown
}

func (p *point) offset() int64 { return p.low + (p.high-p.low)/2 }
func (p *point) bound() int64  { return (p.high-p.low)/2 + 1 }

// reaches returns the range of the offset at another time, as far as a point determines it.
func (p *point) reaches(at int64) (low, high int64) {
	grown := drifted(max(at-p.at, p.at-at))
	return p.low - grown, p.high + grown
}

// Add takes an exchange, which must be later than all before. It is an error, and the exchange is ignored, if
// its times contradict each other, or if the host's clock went back: then the host was restarted, and needs a
// new estimator.
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
		return fmt.Errorf("an exchange of clocks at %d comes after one at %d: they must be added in order",
			p.at, e.points[last].at)
	case last >= 0 && x.Received < e.answered-2*x.Error:
		return fmt.Errorf("the host's clock fell from %d to %d: the host was restarted, and needs a new estimator",
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

// mostRefused is how many exchanges in a row may count as unusually wide.
const mostRefused = 5

// follow narrows the range of a point by the points before, unless the clock jumped. It reports whether to
// keep the point: at first it refuses an exchange that shows a jump, but is too wide to locate the jump.
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

// wide is by how much an exchange may exceed four times the narrowest width, in nanoseconds.
const wide = 10_000_000

// jump notes a jump before p. It drops the latest exchanges that do not contradict p, since they may be on
// either side of the jump.
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
	e.points = e.points[:kept] // dropped points have narrowed earlier ranges: compute these again
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

// narrow intersects the range of a point with another, and reports whether that changed it.
func (p *point) narrow(low, high int64) bool {
	if low <= p.low && high >= p.high {
		return false
	}
	p.low, p.high = max(p.low, low), min(p.high, high)
	return true
}

// look narrows the ranges of earlier points by the latest exchange, back to a jump.
func (e *Estimator) look() {
	for i := len(e.points) - 1; i > 0 && !e.points[i].jumped; i-- {
		before := &e.points[i-1]
		if !before.narrow(e.points[i].reaches(before.at)) {
			return
		}
	}
}

// Offset returns the offset when the reference's clock shows at, and a bound on its error. known is false
// without exchanges, and while the clock jumped; then both are a guess. Later exchanges may make the bound of
// an earlier time smaller.
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

// Pieces returns the offset from one time to another, by the reference's clock, as straight lines; nil
// without exchanges.
func (e *Estimator) Pieces(from, to int64) (all Pieces) {
	var end int64 // the end of the known pieces so far
	for first, last := 0, 0; first < len(e.points); first = last + 1 {
		for last = first; last+1 < len(e.points) && !e.points[last+1].jumped; {
			last++
		}
		run, until := e.run(first, last, from, to)
		if len(run) == 0 {
			continue
		}
		if len(all) > 0 {
			all = append(all, bridge(&all[len(all)-1], end, &run[0]))
		}
		all = append(all, run...)
		end = until
	}
	if n := len(all); n > 0 && e.refused > 0 {
		last := &all[n-1]
		all = append(all, Piece{From: end, Offset: last.offset(end), Bound: forever, Unknown: true})
	}
	return all
}

// forever is the bound of an offset that is unknown.
const forever = 1 << 60

// run returns the offset between two jumps, and until when it is known; nil if it is known at no time.
func (e *Estimator) run(first, last int, from, to int64) (all Pieces, until int64) {
	a, b := &e.points[first], &e.points[last]
	// A reading of the host's clock at the time from may convert to an earlier time, by at most the bound.
	begin := from - a.bound() - drifted(max(0, a.at-from))
	if first > 0 {
		begin = a.returned + a.bound() // from then on, readings are certainly after the jump
	} else if begin < a.at {
		all = append(all, Piece{From: begin, Offset: a.offset(), Bound: a.bound() + drifted(a.at-begin)})
	}
	until = max(to, b.at)
	if last < len(e.points)-1 || e.refused > 0 {
		until = b.sent - b.bound()
	}
	if begin > until {
		return nil, 0
	}
	for i := first; i < last; i++ {
		all = append(all, e.piece(i))
	}
	if b.at <= until {
		all = append(all, Piece{From: b.at, Offset: b.offset(), Bound: b.bound() + drifted(until-b.at)})
	}
	for len(all) > 1 && all[1].From <= begin {
		all = all[1:]
	}
	if p := &all[0]; p.From < begin {
		p.Offset, p.From = p.offset(begin), begin
	}
	for len(all) > 1 && all[len(all)-1].From > until {
		all = all[:len(all)-1]
	}
	return all, until
}

// bridge returns the offset across a jump, from a time in one piece to the beginning of another.
func bridge(from *Piece, end int64, to *Piece) Piece {
	p := Piece{From: end, Offset: from.offset(end), Unknown: true, Bound: to.From - end + from.Bound + to.Bound}
	p.Rate = max(float64(to.Offset-p.Offset)/float64(to.From-end), -1+1e-9) // above -1: time never stands still
	return p
}

// piece returns the offset from exchange i to the next, without a jump in between.
func (e *Estimator) piece(i int) Piece {
	a, b := &e.points[i], &e.points[i+1]
	length := float64(b.at - a.at)
	p := Piece{From: a.at, Offset: a.offset(), Rate: float64(b.offset()-a.offset()) / length,
		Bound: max(a.bound(), b.bound())}
	// Two lines bound the offset above, and two below, so the largest error is where two of them meet.
	for _, meet := range []float64{
		(length + float64(b.high-a.high)/Drift) / 2, (length + float64(a.low-b.low)/Drift) / 2,
	} {
		at := a.at + int64(min(length, max(0, meet)))
		lowA, highA := a.reaches(at)
		lowB, highB := b.reaches(at)
		low, high, offset := max(lowA, lowB), min(highA, highB), p.offset(at)
		p.Bound = max(p.Bound, high-offset+2, offset-low+2)
	}
	return p
}

// A Piece is the offset from a time until the next piece, as a straight line.
type Piece struct {
	From   int64   `yaml:"from"`   // by the reference's clock, in nanoseconds
	Offset int64   `yaml:"offset"` // at From, in nanoseconds
	Rate   float64 `yaml:"rate"`   // the growth of the offset, as a ratio of time
	// Bound bounds the error of the offset, in nanoseconds.
	Bound int64 `yaml:"bound"`
	// Unknown means that the host's clock jumped: a time of that clock in the piece is only known within Bound.
	Unknown bool `yaml:"unknown,omitempty"`
}

func (p *Piece) offset(at int64) int64 {
	return p.Offset + int64(math.Round(p.Rate*float64(at-p.From)))
}

// Sound reports whether a piece is valid: time passes in it, and its bound is not negative.
func (p *Piece) Sound() bool { return p.Rate > -1 && p.Rate < math.MaxInt32 && p.Bound >= 0 }

// Pieces are the offset of a host over a time, in the order of time.
type Pieces []Piece

// Reference returns the reference's time when the host's clock shows a time, and the piece of that time.
// Before the first piece it uses the line of that piece, but returns a nil piece. p must not be empty. A
// later time of the host never gives an earlier time of the reference.
func (p Pieces) Reference(host int64) (at int64, in *Piece) {
	i, found := slices.BinarySearchFunc(p, host, func(p Piece, host int64) int {
		return int(min(1, max(-1, p.From+p.Offset-host)))
	})
	if !found {
		i--
	}
	if i >= 0 {
		in = &p[i]
	}
	line := &p[max(0, i)]
	at = line.From + int64(math.Round(float64(host-line.From-line.Offset)/(1+line.Rate)))
	if i >= 0 && i+1 < len(p) {
		at = min(at, p[i+1].From)
	}
	return at, in
}

// Bound returns the largest bound of the pieces that are not Unknown, in nanoseconds.
func (p Pieces) Bound() (largest int64) {
	for i := range p {
		if !p[i].Unknown {
			largest = max(largest, p[i].Bound)
		}
	}
	return largest
}

// An Identity identifies the monotonic clock of a process: by the boot of the machine, and the namespace,
// which may shift it. Empty fields are unknown.
type Identity struct {
	Boot      string `json:"boot" yaml:"boot"`           // as in /proc/sys/kernel/random/boot_id
	Namespace string `json:"namespace" yaml:"namespace"` // as /proc/self/ns/time points to
}

// Own returns the identity of the clock of this process, as far as known.
func Own() (i Identity) {
	if boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		i.Boot = strings.TrimSpace(string(boot))
	}
	if namespace, err := os.Readlink("/proc/self/ns/time"); err == nil {
		i.Namespace = namespace
	}
	return i
}

// SameClock reports whether two identities are known and equal.
func SameClock(a, b Identity) bool { return a == b && a.Boot != "" && a.Namespace != "" }

// OneClock reports whether two processes have one clock: their identities are equal, and the offset of an
// exchange between them may be 0.
func OneClock(a, b Identity, x Exchange) bool {
	low, high := x.offsets()
	return SameClock(a, b) && low <= 0 && 0 <= high
}
