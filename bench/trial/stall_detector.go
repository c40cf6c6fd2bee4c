package trial

import (
	"fmt"
	"time"

	"turnstile/algorithms/detector"
	"turnstile/bench/site"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/host"
	"turnstile/nodes/stall"
)

// A stallDetector finds out whether a trial in which something is open has stalled. Time alone is no
// evidence: links may be slow, and processes may have been stopped. So patience only says when to look. A
// run has stalled if
//
//   - nothing can happen any more: no message is on its way, no client is about to leave and no timer runs,
//     and that is so twice, with the same counts and an answer of every process in between (the two waves
//     of F. Mattern, "Algorithms for distributed termination detection", Distributed Computing 2, 1987); or
//   - it livelocks: twice in a row, nobody entered though somebody waited and nobody was inside, while more
//     messages were handled than any entry takes and every process answered.
//
// Whatever nodes do, it ends the run some time.
type stallDetector struct {
	of      evidence
	limit   time.Duration // the patience
	plenty  uint64        // more messages than any entry takes
	longest time.Duration // that a process may give no sign of life

	last   sums  // when something last changed
	lastAt int64 // that time

	entered   sums  // when somebody last entered or left, or the period of a livelock began
	enteredAt int64 // that time
	periods   int   // of a livelock, one after the other
	messages  uint64

	missing sums  // when messages were first found to be on their way for too long
	silence int64 // since when some process does not answer; 0: all do
	unknown int64 // since when it is not known what all nodes count; 0: it is
}

// evidence is what a stallDetector can find out about a trial.
type evidence interface {
	now() int64
	sums() sums
	// disturbed reports whether a process stood still since it was last called, or still does, or a fault is
	// in force or to come, or has set back timers that still run.
	disturbed(now int64) (bool, error)
	// silent asks every process, the broker too, for a sign of life. It returns the name of one that gives
	// none within a time, and what may be the cause.
	silent(within time.Duration) (who, why string, err error)
	// stalled ends the trial, in which so many messages were handled since anybody entered; 0: nothing moves.
	stalled(messages uint64) error
}

// newStallDetector returns a stallDetector, with a patience that what the run itself makes slow extends.
func (t *Trial) newStallDetector() *stallDetector {
	v := &stallDetector{of: t, plenty: plentyFor(t.Total(), t.Spec.Circulates), longest: t.LongestPause(),
		limit: t.stallLimit()}
	v.restart(t.sums(), t.now())
	return v
}

// stallLimit returns for how long nothing may move before it is time to look why.
func (t *Trial) stallLimit() time.Duration {
	limit := t.Patience + 10*t.Longest()
	for _, in := range t.Stack.Instances()[1:] { // a suspicion to come may be what is waited for
		limit += detector.Within(in)
	}
	if foreign.Is(t.Config) { // its timers, and those of the servers of a service, cannot be seen from here
		limit += t.Stack.Grace()
	}
	return limit
}

// plentyFor returns more messages than any entry takes, whatever the algorithm: every node may send some to
// every other. What circulates passes every waiting node with each lap.
func plentyFor(total int, circulates bool) uint64 {
	if circulates {
		return 4 * uint64(total)
	}
	return max(64, 4*uint64(total)*uint64(total))
}

// look takes the sums of a trial in which something is open, and gathers evidence when it is time to. It
// returns ErrStalled, or another error that ends the run, or nil.
func (v *stallDetector) look(s sums, now int64) error {
	if err := v.known(s, now); err != nil {
		return err
	}
	if disturbed, err := v.of.disturbed(now); disturbed || s.unknown || err != nil {
		v.restart(s, now)
		return err
	}
	if s.entries != v.entered.entries || s.exits != v.entered.exits || s.open() && !v.entered.open() {
		v.entered, v.enteredAt, v.periods, v.messages = s, now, 0, 0
	}
	if s != v.last {
		v.last, v.lastAt, v.silence = s, now, 0
	}
	handled := s.steps() - v.entered.steps()
	switch {
	case time.Duration(now-v.lastAt) > v.limit:
		return v.still(s)
	case time.Duration(now-v.enteredAt) > v.limit && handled > v.plenty && s.nobodyInside():
		return v.livelock(s, handled)
	}
	return nil
}

// known says that what nodes count was unknown for too long, if it was.
func (v *stallDetector) known(s sums, now int64) error {
	switch {
	case !s.unknown:
		v.unknown = 0
	case v.unknown == 0:
		v.unknown = now
	case time.Duration(now-v.unknown) > v.longest:
		return fmt.Errorf("what nodes count was not known for %v: some host has not told it within %v, again "+
			"and again, so it is overloaded, or its network is",
			time.Duration(now-v.unknown).Round(time.Second), site.CountLimit)
	}
	return nil
}

// restart forgets what was seen before a time.
func (v *stallDetector) restart(s sums, now int64) {
	v.last, v.lastAt, v.entered, v.enteredAt, v.periods, v.messages = s, now, s, now, 0, 0
}

// still looks again at a trial in which nothing seems to move.
func (v *stallDetector) still(s sums) error {
	all, err := v.answered()
	again := v.of.sums()
	switch {
	case err != nil:
		return err
	case !all || !again.same(s) || again.pending > 0: // time will bring what is pending
	case again.quiescent() && !again.open(): // it is at rest, and nodes take their time to say so
	case again.quiescent():
		return v.of.stalled(0)
	case v.missing != again: // nodes have taken in what came before our question: it may still be on its way
		v.missing = again
	case again.open():
		return v.of.stalled(0)
	default:
		return fmt.Errorf("%s sent and never arrived",
			english.Count(again.sent-again.delivered, "message was", "messages were"))
	}
	v.last, v.lastAt = again, v.of.now() // what was handled since somebody entered still counts: see livelock
	return nil
}

// livelock looks again at a trial in which plenty of messages were handled and nobody entered.
func (v *stallDetector) livelock(s sums, handled uint64) error {
	all, err := v.answered()
	again, now := v.of.sums(), v.of.now()
	switch {
	case err != nil:
		return err
	case !all || again.unknown || again.entries != s.entries:
		v.restart(again, now)
		return nil
	}
	v.entered, v.enteredAt, v.periods, v.messages = again, now, v.periods+1, v.messages+handled
	switch {
	case v.periods < 2:
		return nil
	case again.open():
		return v.of.stalled(v.messages)
	}
	return fmt.Errorf("messages go on without end, though no request is open: %d since the last exit",
		v.messages)
}

// answered asks every process for a sign of life, and reports whether all give one. It is an error if some
// have given none for too long.
func (v *stallDetector) answered() (all bool, err error) {
	asked := v.of.now()
	who, why, err := v.of.silent(max(v.limit, time.Second))
	switch took := time.Duration(v.of.now() - v.silence); {
	case err != nil || who == "":
		v.silence = 0
		return err == nil, err
	case v.silence == 0:
		v.silence = asked
	case took > v.longest:
		return false, fmt.Errorf("%s has not answered for %v: %s", who, took.Round(time.Second), why)
	}
	return false, nil
}

func (t *Trial) sums() sums { return t.watch.read() }

func (t *Trial) disturbed(now int64) (bool, error) {
	err := t.follow(now) // a request may wait for a fault to be healed
	lingers := t.faults.driver.Lingers(now)
	pending := t.faults.pending(t.orders.end != 0 && now >= t.orders.end)
	return t.pauses.takeDisturbed() || pending || lingers || t.connections.outage.away, err
}

func (t *Trial) silent(within time.Duration) (who, why string, err error) {
	_, i, err := t.orders.ask(within)
	if i < 0 || err != nil {
		return "", "", err
	}
	switch known := t.watch.renew(); {
	case !known:
		why = "what the nodes of its host count is not known either"
	case t.orders.obeyed(nodes.ID(i)):
		why = "it has read the question, so it waits for the broker, which is stuck, or is stuck itself since"
	default:
		why = "it has not read the question, so it is stuck"
	}
	return t.nodes.lives[i].node.Name(), why, nil
}

// stalled has all nodes stand still, keeps a report of their states, and returns ErrStalled. messages is how
// many were handled since anybody entered, if that is why.
func (t *Trial) stalled(messages uint64) error {
	t.faults.refuse("has stalled: nothing in it moves any more")
	if err := t.nodes.endpoint.Reached(t.nodes.ctx); err != nil { // or servers are gone, and it is no stall
		return t.nodes.outOfReach(err)
	}
	if err := t.orders.give(host.Order{Do: host.Park}, t.nodes.up()...); err != nil {
		return fmt.Errorf("nothing moves any more: %w", err)
	}
	status, _, err := t.orders.ask(5 * time.Second)
	if err != nil {
		return err
	}
	t.watch.hushed = true // with all the rest
	latency := int64(t.Longest())
	arrive := t.now() + int64(5*time.Second) + latency
	// Of what was lost with connections nobody knows that it will not come.
	quiet := t.now() + int64(10*tick) + latency
	for s := t.sums(); (s.unknown || s.sent != s.delivered) && t.now() < arrive; { // nobody handles what comes
		if err := t.nodes.wait(tick); err != nil {
			return err
		}
		before := s
		if s = t.sums(); s != before {
			quiet = t.now() + int64(10*tick) + latency
		} else if t.watch.lossy && !s.unknown && t.now() > quiet {
			break
		}
	}
	for id := range status {
		if !t.nodes.isUp(nodes.ID(id)) {
			status[id] = &nodes.NodeStatus{Client: "none", Machine: "its process was killed"}
		}
	}
	t.Stalled, t.livelock = stall.Reports{stall.Of(status, t.Config.N)}, messages
	return ErrStalled
}
