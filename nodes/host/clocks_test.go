package host_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"turnstile/algorithms/mutex"
	"turnstile/internal/chance"
	"turnstile/internal/offset"
	"turnstile/judge/check"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
)

// The clock of a second host is 20 ms ahead, less than a run lasts, and runs too fast by 300 ppm.
const (
	aheadNS = 20e6
	tooFast = 300e-6
)

// twoHosts are two computers with different clocks: nodes of even numbers have the reference clock, the
// others a clock that is ahead. The two exchange times during the run; a message takes up to delay each way.
type twoHosts struct {
	t          *testing.T
	anchor     host.Anchor
	base, zero int64
	delay      int64
	estimator  offset.Estimator
	stop, done chan struct{}
	dir        string // folder of the logs, once the run is over
}

func newTwoHosts(t *testing.T, delay time.Duration) *twoHosts {
	w := &twoHosts{t: t, anchor: host.DropAnchor(), delay: int64(delay), stop: make(chan struct{}),
		done: make(chan struct{})}
	w.base = w.anchor.Now()
	return w
}

// second returns what the clock of the second host shows when the reference clock shows at.
func (w *twoHosts) second(at int64) int64 { return at + aheadNS + int64(tooFast*float64(at-w.base)) }

// place gives a node the clock of its host. The run's zero is the same number on both, so that stamps of
// the second host are ahead as its clock is.
func (w *twoHosts) place(c *host.Config) {
	w.zero = c.Zero
	if c.Node%2 == 1 {
		c.Monotonic = func() int64 { return w.second(w.anchor.Now()) }
	}
}

// exchange adds an exchange with random delays: its first message counts as sent earlier than it was, and its
// second message as received later.
func (w *twoHosts) exchange(r *rand.Rand) {
	sent := w.anchor.Now()
	shows := w.second(w.anchor.Now())
	returned := w.anchor.Now()
	x := offset.Exchange{Sent: sent - r.Int64N(w.delay), Received: shows, Answered: shows,
		Returned: returned + r.Int64N(w.delay)}
	if err := w.estimator.Add(x); err != nil {
		w.t.Error(err)
	}
}

// measure makes exchanges until the run is over.
func (w *twoHosts) measure() {
	defer close(w.done)
	r := rand.New(rand.NewPCG(3, 4))
	w.exchange(r)
	for { // one exchange is over before the next begins
		select {
		case <-time.After(time.Duration(2*w.delay) + 5*time.Millisecond):
			w.exchange(r)
		case <-w.stop:
			return
		}
	}
}

// run has the nodes of a stack enter on the two hosts, and returns their history and the sections in it.
func (w *twoHosts) run(stack *algorithm.Stack, entries uint64, hold time.Duration) (*history.History,
	*section.Fold,
	check.Verdict) {
	w.t.Helper()
	go w.measure()
	s := beginStack(w.t, stack, func(c *host.Config) {
		c.Entries, c.Workload.Hold = entries, chance.Constant(hold)
		w.place(c)
	})
	s.order(host.Order{Do: host.Issue, Begin: 1})
	s.awaitRest(entries)
	end := w.anchor.Now()
	close(w.stop)
	<-w.done
	w.isRight(end)
	second := history.Clock{Host: "second", Zero: w.zero, Reference: w.zero,
		Pieces: w.estimator.Pieces(w.base, end+int64(time.Second))}
	for id := nodes.ID(1); int(id) < stack.N(); id += 2 {
		second.Nodes = append(second.Nodes, id)
	}
	if err := history.WriteClocks(s.dir, 0, []history.Clock{second}); err != nil {
		w.t.Fatal(err)
	}
	h := s.end()
	w.dir = s.dir
	setting := check.SettingOf(stack)
	sections := check.Sections(h.Header(), setting)
	fold := check.New(sections, setting)
	h.Run(sections)
	if err := os.Remove(filepath.Join(s.dir, history.ClocksFile)); err != nil {
		w.t.Fatal(err)
	}
	return h, sections, fold.Verdict()
}

// isRight checks the offset that was measured.
func (w *twoHosts) isRight(end int64) {
	w.t.Helper()
	for at := w.base; at < end; at += (end - w.base) / 1000 {
		truth := w.second(at) - at
		got, bound, known := w.estimator.Offset(at)
		if !known || max(got-truth, truth-got) > bound {
			w.t.Fatalf("the offset is %d, and measured as %d, within %d, known %v", truth, got, bound, known)
		}
	}
	if jumps := w.estimator.Jumps(); len(jumps) > 0 {
		w.t.Errorf("no clock jumped: %v", jumps)
	}
}

// outcome returns what a check finds.
func outcome(v check.Verdict, name string) check.Outcome {
	for _, f := range v.Findings {
		if f.Check == name {
			return f.Outcome
		}
	}
	return 0
}

// With an algorithm that is right, no check sees two inside together, though clocks are 20 ms apart. By
// the stamps as the nodes made them, the witnesses contradict each other.
func TestClocksThatDifferAreNoFalseAlarm(t *testing.T) {
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	w := newTwoHosts(t, time.Millisecond)
	h, sections, v := w.run(stackOf(t, spec, 4), 400, 50*time.Microsecond)
	if r := sections.Resources[0]; r.Violations > 0 || sections.Irregular > 0 {
		t.Errorf("%d violations; %v", r.Violations, sections.Irregularities)
	}
	for _, name := range []string{"exclusion", "register", "account", "witnesses"} {
		if got := outcome(v, name); got != check.Valid {
			t.Errorf("%s is %v: %+v", name, got, v.Findings)
		}
	}
	if e := sections.ClockError(); e < int64(time.Microsecond) || e > int64(3*time.Millisecond) {
		t.Errorf("two stamps are compared within %v", time.Duration(e))
	}
	if e := h.Header().StampError; e < sections.ClockError() {
		t.Errorf("the header bounds the error of stamps by %d ns, and single stamps err by %d ns", e,
			sections.ClockError())
	}
	asStamped, err := history.Load(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	v = check.Judge(asStamped, check.SettingOf(stackOf(t, spec, 4)))
	if outcome(v, "witnesses") == check.Valid {
		t.Error("nothing is wrong by the stamps as the nodes have made them: the clocks do not differ")
	}
}

// If the mutex excludes nobody, two clients that are inside together for longer than clocks err are found.
func TestAViolationAboveTheBoundIsFound(t *testing.T) {
	w := newTwoHosts(t, time.Millisecond)
	_, sections, v := w.run(stackOf(t, keepers(1), 2), 20, 20*time.Millisecond)
	r := sections.Resources[0]
	if r.Violations == 0 || outcome(v, "exclusion") != check.Violated || outcome(v, "witnesses") != check.Valid {
		t.Errorf("%d entries violate exclusion: %+v", r.Violations, v.Findings)
	}
}

// If two are inside together for less than clocks err, stamps cannot decide, but the register does.
func TestAnOverlapBelowTheBoundIsUnknown(t *testing.T) {
	w := newTwoHosts(t, 400*time.Millisecond)
	_, sections, v := w.run(stackOf(t, keepers(1), 2), 400, 100*time.Microsecond)
	r := sections.Resources[0]
	if r.Violations > 0 || r.UncertainOverlaps == 0 {
		t.Errorf("%d entries violate exclusion, and %d may", r.Violations, r.UncertainOverlaps)
	}
	if got := outcome(v, "exclusion"); got != check.Inconclusive {
		t.Errorf("exclusion is %v: %+v", got, v.Findings)
	}
	if got := outcome(v, "register"); got != check.Violated {
		t.Errorf("the register is %v: %+v", got, v.Findings)
	}
}
