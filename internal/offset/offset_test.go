package offset

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// A pair is two clocks that are simulated. True time is the reference's.
type pair struct {
	*rand.Rand
	start, offset int64
	rate          float64 // by how much the host's clock runs faster than the reference's, as a ratio
	turns         []turn  // of the rate, in order
	asleep        Stretch // when the host was suspended, and did nothing
}

// A turn is a time from which on the host's clock runs at another rate, after a jump.
type turn struct {
	at, jump int64
	rate     float64
}

// host returns what the host's clock shows.
func (p *pair) host(at int64) int64 {
	shows, since, rate := p.start+p.offset, p.start, p.rate
	for _, t := range p.turns {
		if t.at >= at {
			break
		}
		shows += int64(math.Round(float64(t.at-since)*(1+rate))) + t.jump
		since, rate = t.at, t.rate
	}
	return shows + int64(math.Round(float64(at-since)*(1+rate)))
}

// awake returns when the host does what is due at a time: later than that if the host is suspended then.
func (p *pair) awake(at int64) int64 {
	if p.asleep.From <= at && at < p.asleep.To {
		return p.asleep.To + 1000
	}
	return at
}

// exchange makes an exchange that begins at a time. Its request and its answer each take up to most.
func (p *pair) exchange(at, most int64) Exchange {
	received := p.awake(at + p.Int64N(most))
	answered := p.awake(received + 1000 + p.Int64N(50_000))
	back := answered + p.Int64N(most)
	if p.IntN(4) == 0 { // one way takes nearly nothing
		back = answered + p.Int64N(1000)
	}
	x := Exchange{Sent: at, Received: p.host(received), Answered: p.host(answered), Returned: back}
	if p.IntN(2) == 0 { // the clocks are read with errors of up to 100 ns
		x.Error = 200
		x.Sent += p.Int64N(201) - 100
		x.Received += p.Int64N(201) - 100
	}
	return x
}

const second = int64(time.Second)

// holds checks that the offset that is estimated for a time is right.
func (p *pair) holds(t *testing.T, e *Estimator, pieces Pieces, at int64) (bound int64) {
	t.Helper()
	truth := p.host(at) - at
	offset, bound, known := e.Offset(at)
	if !known || truth < offset-bound || truth > offset+bound {
		t.Fatalf("at %d the offset is %d; estimated %d, within %d, known %v", at, truth, offset, bound, known)
	}
	back, in := pieces.Reference(p.host(at))
	if in == nil || in.Unknown || max(back-at, at-back) > in.Bound+drifted(in.Bound)+2 {
		t.Fatalf("at %d the host's clock shows %d, which was taken for %d: %+v", at, p.host(at), back, in)
	}
	return bound
}

// For any two clocks with rates up to 1,000 ppm apart, and any delays, each offset is right within its bound.
// The bound is no larger than that of the best exchange alone.
func TestTheOffsetIsWithinItsBound(t *testing.T) {
	for seed := range uint64(2000) {
		p := pair{Rand: rand.New(rand.NewPCG(seed, 1))}
		p.start, p.offset = p.Int64N(1<<45), p.Int64N(1<<45)-1<<44
		ppm := func() float64 { return (2*p.Float64() - 1) * 1000e-6 }
		p.rate = ppm()
		for at := p.start; p.IntN(3) > 0; {
			at += p.Int64N(5 * second)
			p.turns = append(p.turns, turn{at: at, rate: ppm()})
		}
		var e Estimator
		most := 1 + p.Int64N(1<<(10+p.IntN(18)))
		var made []Exchange
		at := p.start
		for range 2 + p.IntN(20) {
			x := p.exchange(at, most)
			if err := e.Add(x); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			made = append(made, x)
			at = x.Returned + p.Int64N(2*second)
		}
		if jumps := e.Jumps(); len(jumps) > 0 {
			t.Fatalf("seed %d: no clock jumped; %v", seed, jumps)
		}
		pieces := e.Pieces(p.start, at)
		for range 20 {
			look := p.start + p.Int64N(at-p.start)
			bound := p.holds(t, &e, pieces, look)
			for _, x := range made {
				middle := x.Sent + (x.Returned-x.Sent)/2
				low, high := x.offsets()
				if alone := (high-low)/2 + drifted(max(look-middle, middle-look)); bound > alone+10 {
					t.Fatalf("seed %d: the bound is %d, and an exchange alone has %d", seed, bound, alone)
				}
			}
		}
	}
}

// Two clocks differ by 200 ms, and their rates by 300 ppm. Messages take up to a millisecond.
func TestAnOffsetOf200Milliseconds(t *testing.T) {
	p := pair{Rand: rand.New(rand.NewPCG(7, 7)), start: 5e12, offset: 200e6, rate: 300e-6}
	var e Estimator
	var most int64
	for i := range int64(60) {
		if err := e.Add(p.exchange(p.start+i*second, 1e6)); err != nil {
			t.Fatal(err)
		}
	}
	pieces := e.Pieces(p.start, p.start+60*second)
	for range 10_000 {
		most = max(most, p.holds(t, &e, pieces, p.start+p.Int64N(60*second)))
	}
	if most > 2_300_000 || len(e.Jumps()) > 0 { // a millisecond, and 1,200 ppm of the last second
		t.Errorf("the bound grew to %d ns; jumps: %v", most, e.Jumps())
	}
	if _, bound, _ := e.Offset(p.start + 30*second + second/2); bound > 1_700_000 {
		t.Errorf("half a second from both exchanges the bound is %d ns", bound)
	}
}

// If a host's clock stands still for 3 s, or jumps ahead by 3 s, the estimator notices it. Where the offset
// counts as known, it is right within its bound, even if an exchange was on its way during the jump.
func TestAJumpIsUnknown(t *testing.T) {
	for seed := range uint64(500) {
		p := pair{Rand: rand.New(rand.NewPCG(seed, 2)), start: 1e12, offset: 200e6, rate: 300e-6}
		at := p.start + 10*second + p.Int64N(second)
		jump := -3 * second
		if seed%2 == 0 {
			jump = 3 * second
		}
		// A clock that stands still falls behind: the jump is spread over the time that it takes.
		if jump < 0 {
			p.turns = []turn{{at: at, rate: -1}, {at: at - jump, rate: -200e-6}}
			p.asleep = Stretch{at, at - jump}
		} else {
			p.turns = []turn{{at: at, jump: jump, rate: -200e-6}}
		}
		var e Estimator
		for next := p.start; next < p.start+30*second; {
			x := p.exchange(next, 2e6)
			if err := e.Add(x); err != nil {
				t.Fatal(err)
			}
			next = max(next+second, x.Returned)
		}
		if len(e.Jumps()) == 0 {
			t.Fatalf("seed %d: the jump was not found", seed)
		}
		pieces := e.Pieces(p.start, p.start+30*second)
		for look := p.start; look < p.start+30*second; look += second / 20 {
			truth := p.host(look) - look
			offset, bound, known := e.Offset(look)
			if known && max(truth-offset, offset-truth) > bound {
				t.Fatalf("seed %d: at %d the offset is %d; estimated %d, within %d", seed, look-p.start, truth,
					offset, bound)
			}
			back, in := pieces.Reference(p.host(look))
			if in == nil || max(back-look, look-back) > in.Bound+2 {
				t.Fatalf("seed %d: at %d the clock was taken for %d: %+v", seed, look-p.start, back-p.start, in)
			}
		}
		if j := e.Jumps()[0]; j.From > at || j.To < at {
			t.Errorf("seed %d: the clock jumped at %d, not in %v", seed, at, j)
		}
		for _, far := range []int64{5, 25} {
			if _, _, known := e.Offset(p.start + far*second); !known {
				t.Errorf("seed %d: the offset is unknown %d s after the beginning", seed, far)
			}
		}
	}
}

// An exchange that was on its way during a suspension is so wide that it agrees with the offsets before and
// after. The stretch of the jump begins before that exchange.
func TestAWideExchangeIsOnNeitherSideOfAJump(t *testing.T) {
	var e Estimator
	add := func(x Exchange) {
		t.Helper()
		if err := e.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	add(Exchange{Sent: 0, Received: 100, Answered: 200, Returned: 300})
	add(Exchange{Sent: 1 * second, Received: 1*second + 100, Answered: 1*second + 200, Returned: 6 * second})
	add(Exchange{Sent: 7 * second, Received: 2*second + 300, Answered: 2*second + 400, Returned: 7*second + 500})
	if got := e.Jumps(); len(got) != 1 || got[0] != (Stretch{0, 7*second + 500}) {
		t.Errorf("jumps: %v", got)
	}
	if _, _, known := e.Offset(2 * second); known {
		t.Error("the offset is known while the exchange was on its way")
	}
}

// A wide exchange shows a jump, but not when the jump ended: the offset is unknown until an exchange of usual
// width comes, or until wide exchanges are usual.
func TestAWideExchangeTellsOfAJump(t *testing.T) {
	var e Estimator
	add := func(at, ahead, each int64) {
		t.Helper()
		if err := e.Add(Exchange{at, at + each + ahead, at + each + ahead, at + 2*each, 0}); err != nil {
			t.Fatal(err)
		}
	}
	known := func(at int64, want bool) {
		t.Helper()
		if _, _, known := e.Offset(at); known != want {
			t.Errorf("at %d s the offset is known: %v", at/second, known)
		}
		pieces := e.Pieces(0, at+second)
		if last := pieces[len(pieces)-1]; last.Unknown == want {
			t.Errorf("at %d s the last piece is %+v", at/second, last)
		}
	}
	add(0, 0, 1000)
	known(second, true)
	add(1*second, 9*second, second/10)
	known(2*second, false)
	add(2*second, 9*second, 1000)
	known(3*second, true)
	if got := e.Jumps(); len(got) != 1 || got[0] != (Stretch{0, 2*second + 2000}) {
		t.Errorf("jumps: %v", got)
	}
	for i := range int64(mostRefused) {
		add((3+i)*second, 20*second, second/10)
		known((3+i)*second+second/2, false)
	}
	add((3+mostRefused)*second, 20*second, second/10)
	known((4+mostRefused)*second, true)
	offset, bound, _ := e.Offset((4 + mostRefused) * second)
	if offset+bound < 20*second || offset-bound > 20*second {
		t.Errorf("the offset is %d within %d", offset, bound)
	}
}

func TestExchangesThatAreNone(t *testing.T) {
	good := Exchange{Sent: 1000, Received: 5000, Answered: 5100, Returned: 1200}
	for name, x := range map[string]Exchange{
		"back before it began":    {Sent: 3000, Received: 7000, Answered: 7000, Returned: 2000},
		"answered before":         {Sent: 3000, Received: 7000, Answered: 6000, Returned: 3500},
		"held longer than it was": {Sent: 3000, Received: 7000, Answered: 9000, Returned: 3500},
		"out of order":            {Sent: 900, Received: 5200, Answered: 5200, Returned: 1000},
		"a clock that fell":       {Sent: 3000, Received: 50, Answered: 60, Returned: 3500},
	} {
		var e Estimator
		if err := e.Add(good); err != nil {
			t.Fatal(err)
		}
		if err := e.Add(x); err == nil {
			t.Errorf("%s: no error", name)
		}
		if len(e.points) != 1 {
			t.Errorf("%s: it was taken", name)
		}
	}
	if _, _, known := new(Estimator).Offset(0); known || new(Estimator).Pieces(0, 1) != nil {
		t.Error("something is known without an exchange")
	}
}

func TestWhoHasOneClock(t *testing.T) {
	a := Identity{"boot", "time:[1]"}
	near := Exchange{Sent: 1000, Received: 1100, Answered: 1200, Returned: 1300}
	far := Exchange{Sent: 1000, Received: 1500, Answered: 1600, Returned: 1300}
	for _, c := range []struct {
		b    Identity
		x    Exchange
		want bool
	}{
		{a, near, true}, {a, far, false}, {Identity{"other", "time:[1]"}, near, false},
		{Identity{"boot", "time:[2]"}, near, false},
	} {
		if got := OneClock(a, c.b, c.x); got != c.want {
			t.Errorf("%v and %v by %v: %v", a, c.b, c.x, got)
		}
	}
	if SameClock(Identity{}, Identity{}) || SameClock(Identity{Boot: "boot"}, Identity{Boot: "boot"}) {
		t.Error("unknown clocks count as one")
	}
	if own := Own(); own.Boot != "" && own.Namespace != "" && !SameClock(own, Own()) {
		t.Error("this process has two clocks")
	}
}
