package trial

import (
	"errors"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/option"
)

// A fakeTrial is the evidence of a simulated trial for a stallDetector.
type fakeTrial struct {
	at       int64
	is       sums
	pauses   bool
	mute     string // the process that gives no sign of life
	onAsk    func()
	asked    int
	messages uint64 // argument of the call of stalled
}

func (f *fakeTrial) now() int64                      { return f.at }
func (f *fakeTrial) sums() sums                      { return f.is }
func (f *fakeTrial) disturbed(int64) (bool, error)   { return f.pauses, nil }
func (f *fakeTrial) pass(d time.Duration) *fakeTrial { f.at += int64(d); return f }

func (f *fakeTrial) silent(time.Duration) (process, why string, err error) {
	f.asked++
	if f.onAsk != nil {
		f.onAsk()
	}
	return f.mute, "it is stuck", nil
}

func (f *fakeTrial) stalled(messages uint64) error {
	f.messages = messages
	return ErrStalled
}

func (f *fakeTrial) enterAndLeave() { f.is.requests++; f.is.entries++; f.is.exits++ }

// waiting are the sums of a trial with one waiting request and no messages in transit.
var waiting = sums{requests: 2, entries: 1, exits: 1, sent: 6, delivered: 6}

func watched(s sums) (*fakeTrial, *stallDetector) {
	f := &fakeTrial{at: 1, is: s}
	v := &stallDetector{of: f, limit: time.Second, longest: 10 * time.Second, plenty: plentyFor(2, false)}
	v.restart(s, f.at)
	return f, v
}

// look calls the stallDetector ten times a second, for a time or until it ends the trial.
func (f *fakeTrial) look(v *stallDetector, d time.Duration, each func()) error {
	for end := f.at + int64(d); f.at < end; f.pass(100 * time.Millisecond) {
		if each != nil {
			each()
		}
		if err := v.look(f.is, f.at); err != nil {
			return err
		}
	}
	return nil
}

func TestStallsAreProved(t *testing.T) {
	for name, test := range map[string]struct {
		is      sums
		play    func(f *fakeTrial)
		each    func(f *fakeTrial)
		asks    bool
		stalled bool
		err     string
	}{
		"nothing left to happen": {is: waiting, asks: true, stalled: true},
		"at rest, and nobody has said so yet": {is: sums{requests: 2, entries: 2, exits: 2, sent: 6, delivered: 6},
			asks: true},
		"a hold or a timer to come": {is: sums{requests: 2, entries: 2, exits: 1, sent: 6, delivered: 6,
			pending: 1}, asks: true},
		"a message held for its latency": {is: sums{requests: 2, entries: 1, exits: 1, sent: 7, delivered: 6,
			pending: 1}, asks: true},
		"a message that never comes": {is: sums{requests: 2, entries: 1, exits: 1, sent: 7, delivered: 6},
			asks: true, stalled: true}, // the check of losses tells why
		"the same, and nobody waits": {is: sums{requests: 1, entries: 1, exits: 1, sent: 7, delivered: 6},
			asks: true, err: "1 message was sent and never arrived"},
		"it moves": {is: waiting, each: (*fakeTrial).enterAndLeave},
		"it moves when it is asked": {is: waiting, asks: true, play: func(f *fakeTrial) {
			f.onAsk = f.enterAndLeave
		}},
		"a process stands still": {is: waiting, play: func(f *fakeTrial) { f.pauses = true }},
		"a process does not answer": {is: waiting, asks: true, play: func(f *fakeTrial) { f.mute = "node 1" },
			err: "node 1 has not answered for"},
		"a livelock": {is: waiting, each: func(f *fakeTrial) { f.is.sent += 9; f.is.delivered += 9 },
			asks: true, stalled: true},
		"a livelock by timers": {is: waiting, each: func(f *fakeTrial) { f.is.timeouts += 9; f.is.pending = 1 },
			asks: true, stalled: true},
		"a livelock with long silences": {is: waiting, each: func(f *fakeTrial) {
			if f.is.pending = 1; f.at%2e9 == 1 { // every other second, which is longer than patience
				f.is.sent, f.is.delivered = f.is.sent+40, f.is.delivered+40
			}
		}, asks: true, stalled: true},
		"a slow lap": {is: waiting, each: func(f *fakeTrial) {
			if f.at%1e9 == 1 {
				f.is.sent, f.is.delivered = f.is.sent+1, f.is.delivered+1
			}
		}},
		"chatter while nobody waits": {is: sums{requests: 1, entries: 1, exits: 1, sent: 7, delivered: 6},
			each: func(f *fakeTrial) { f.is.sent += 9; f.is.delivered += 9 },
			asks: true, err: "messages go on without end"},
		"counters that are late": {is: waiting, each: func(f *fakeTrial) { f.is.unknown = f.at%1e9 != 1 }},
		"counters that never come": {is: waiting, each: func(f *fakeTrial) { f.is.unknown = f.at > 1e9 },
			err: "the counters of some nodes were unknown for"},
	} {
		f, v := watched(test.is)
		if test.play != nil {
			test.play(f)
		}
		var each func()
		if test.each != nil {
			each = func() { test.each(f) }
		}
		err := f.look(v, 30*time.Second, each)
		switch {
		case test.stalled != errors.Is(err, ErrStalled):
			t.Errorf("%s: %v", name, err)
		case !test.stalled && (err == nil) != (test.err == ""):
			t.Errorf("%s: %v, want %q", name, err, test.err)
		case test.err != "" && !strings.Contains(err.Error(), test.err):
			t.Errorf("%s: %v, want %q", name, err, test.err)
		case (f.asked > 0) != test.asks:
			t.Errorf("%s: the processes were asked %d times", name, f.asked)
		}
	}
}

func TestCirculatingMessagesAreCountedInLaps(t *testing.T) {
	f, v := watched(waiting)
	const total = 25
	v.plenty = plentyFor(total, true)
	hops := 0
	err := f.look(v, time.Hour, func() { // a hop in 100 ms: a lap takes 2.5 s
		f.is.sent, f.is.delivered, hops = f.is.sent+1, f.is.delivered+1, hops+1
	})
	if !errors.Is(err, ErrStalled) || hops < 8*total || hops > 9*total || f.messages < 8*total {
		t.Errorf("after %d hops: %v, with %d messages", hops, err, f.messages)
	}
}

// The timers of a service are invisible: a run about one waits for the service's time to recover.
func TestStallsOfServicesAreAwaited(t *testing.T) {
	c := foreign.ServiceConfig(nodes.Config{N: 2}, "redis", nil, &foreign.Declaration{Grace: 9 * time.Second})
	spec, err := foreign.Algorithm(c)
	if err != nil {
		t.Fatal(err)
	}
	o := option.Defaults()
	o.Config, o.Duration = c, time.Second
	j, err := bench.Resolve(catalog.Table{}, o, spec, false)
	if err != nil {
		t.Fatal(err)
	}
	if limit, least := (&Trial{Job: j}).stallLimit(), o.Patience+9*time.Second; limit < least {
		t.Errorf("a service that recovers within 9s is given %v, not %v", limit, least)
	}
}
