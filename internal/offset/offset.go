// Package offset measures how far the clock of one host is from that of another, the reference, and turns
// times of the one into times of the other, with a bound on the error.
//
// An [Exchange] bounds the offset, the host's clock less the reference's: by these clocks, the request took
// its time and the offset, the answer its time less the offset, and no time is negative. So the bound
// is half of the round trip. Before and after an exchange the bound grows by [Drift] of the time to it, since
// no two clocks run apart faster. An [Estimator] intersects what all exchanges say, those before a moment and
// those after it: its bound is that of the best exchange or less.
//
// If what an exchange says has nothing in common with what the earlier ones leave possible, the host's
// clock has jumped: CLOCK_MONOTONIC stands still while a machine is suspended, and a virtual machine that
// is moved may gain time. Then the offset between the last exchange that contradicts it and this one is
// unknown.
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

// Pieces returns the offset from one time to another, by the reference's clock, as straight lines. It is
// empty if nothing is known.
func (e *Estimator) Pieces(from, to int64) (all Pieces) {
	var end int64 // of what is known so far
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

// forever is the bound of what may be any time.
const forever = 1 << 60

// run returns the offset between two jumps, and until when it is known; nothing if that is no time.
func (e *Estimator) run(first, last int, from, to int64) (all Pieces, until int64) {
	a, b := &e.points[first], &e.points[last]
	// The reading of the host's clock at the beginning may stand for an earlier time, within the bound.
	begin := from - a.bound() - drifted(max(0, a.at-from))
	if first > 0 {
		begin = a.returned + a.bound() // what the host's clock shows then, it has shown after the jump
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
	p.Rate = max(float64(to.Offset-p.Offset)/float64(to.From-end), -1+1e-9) // time passes all the same
	return p
}

// piece returns the offset from an exchange to the next one, between which no clock jumped.
func (e *Estimator) piece(i int) Piece {
	a, b := &e.points[i], &e.points[i+1]
	length := float64(b.at - a.at)
	p := Piece{From: a.at, Offset: a.offset(), Rate: float64(b.offset()-a.offset()) / length,
		Bound: max(a.bound(), b.bound())}
	// Two lines bound the possible offsets on either side, so the largest error is where they meet.
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

// A Piece is the offset from a time on, until that of the next piece: a straight line.
type Piece struct {
	From   int64   `yaml:"from"`   // by the reference's clock, in nanoseconds
	Offset int64   `yaml:"offset"` // what the host's clock showed more then, in nanoseconds
	Rate   float64 `yaml:"rate"`   // by how much that grows, in parts of the time that passes
	// Bound bounds the error of the offset, in nanoseconds.
	Bound int64 `yaml:"bound"`
	// Unknown says that the host's clock jumped: of a time by that clock it is known that it lies in the piece,
	// within Bound.
	Unknown bool `yaml:"unknown,omitempty"`
}

func (p *Piece) offset(at int64) int64 {
	return p.Offset + int64(math.Round(p.Rate*float64(at-p.From)))
}

// Sound reports whether a piece can be used: time passes in it, and its bound is one.
func (p *Piece) Sound() bool { return p.Rate > -1 && p.Rate < math.MaxInt32 && p.Bound >= 0 }

// Pieces are the offset of a host over a time, in the order of time.
type Pieces []Piece

// Reference returns what the reference's clock shows when the host's shows a time, and the piece that this is
// in; nil: it is before the first, whose line is used. There must be a piece. Later times have later ones.
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

// Bound returns the largest bound of the pieces that are known, in nanoseconds.
func (p Pieces) Bound() (largest int64) {
	for i := range p {
		if !p[i].Unknown {
			largest = max(largest, p[i].Bound)
		}
	}
	return largest
}

// An Identity tells the monotonic clock of a process from others: that of a boot of a machine, in a namespace
// that may shift it. Empty fields are unknown.
type Identity struct {
	Boot      string `json:"boot" yaml:"boot"`           // as in /proc/sys/kernel/random/boot_id
	Namespace string `json:"namespace" yaml:"namespace"` // as /proc/self/ns/time points to
}

// Own returns the identity of the clock of this process, as far as the system tells it.
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

// OneClock reports whether two processes have one clock: their identities are the same, and an exchange
// between them agrees with that within its bound.
func OneClock(a, b Identity, x Exchange) bool {
	low, high := x.offsets()
	return SameClock(a, b) && low <= 0 && 0 <= high
}
