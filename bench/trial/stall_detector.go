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

// A stallDetector detects whether a trial with open requests has stalled. Time alone is no evidence: links
// may be slow, and processes may have been suspended. So patience only decides when to look. A run has
// stalled if
//
//   - nothing can happen any more: no message is in transit, no client is about to leave and no timer runs,
//     seen twice with equal counts and an answer of every process in between (the two waves of F. Mattern,
//     "Algorithms for distributed termination detection", Distributed Computing 2, 1987); or
//   - it livelocks: in two successive periods, nobody entered though a client waited and nobody was inside,
//     while more messages were handled than any entry takes and every process answered.
//
// It ends the run eventually, even if the nodes misbehave.
type stallDetector struct {
	of      evidence
	limit   time.Duration // how long nothing may move before the detector looks
	plenty  uint64        // more messages than any entry takes
	longest time.Duration // how long a process may be silent

	last   sums  // sums at their last change
	lastAt int64 // time of last

	entered   sums  // sums at the last entry or exit, or at the start of a period of livelock
	enteredAt int64 // time of entered
	periods   int   // how many successive periods of livelock were seen
	messages  uint64

	missing sums  // sums when messages were first found to be in transit for too long
	silence int64 // since when some process does not answer; 0: all answer
	unknown int64 // since when the counts of some nodes are unknown; 0: all known
}

// evidence is what a stallDetector can find out about a trial.
type evidence interface {
	now() int64
	sums() sums
	// disturbed reports whether a process is suspended, or was since the last call, or whether a fault is in
	// force, is still to come, or has set back timers that still run.
	disturbed(now int64) (bool, error)
	// silent asks every node, which pings its broker before it answers. It returns the name of a node that does
	// not answer within a time, and a possible cause.
	silent(within time.Duration) (process, why string, err error)
	// stalled ends the trial. Messages is how many were handled since the last entry; 0: nothing moves.
	stalled(messages uint64) error
}

// newStallDetector returns a stallDetector. Its patience grows with the delays of the run.
func (t *Trial) newStallDetector() *stallDetector {
	v := &stallDetector{of: t, plenty: plentyFor(t.Total(), t.Spec.Circulates), longest: t.LongestPause(),
		limit: t.stallLimit()}
	v.restart(t.sums(), t.now())
	return v
}

// stallLimit returns how long nothing may move before the detector looks for a stall.
func (t *Trial) stallLimit() time.Duration {
	limit := t.Patience + 10*t.Longest()
	for _, in := range t.Stack.Instances()[1:] { // a client may wait until a detector suspects a node
		limit += detector.Within(in)
	}
	if foreign.Is(t.Config) { // timers of programs and servers are not visible here
		limit += t.Stack.Grace()
	}
	return limit
}

// plentyFor returns a number of messages that no entry exceeds. Every node may send messages to every other
// node; a circulating message passes every waiting node in each lap.
func plentyFor(total int, circulates bool) uint64 {
	if circulates {
		return 4 * uint64(total)
	}
	return max(64, 4*uint64(total)*uint64(total))
}

// look checks the sums of a trial with open requests, and gathers evidence if nothing moved for too long. It
// returns ErrStalled, another error that ends the run, or nil.
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

// known returns an error if the counts of nodes were unknown for too long.
func (v *stallDetector) known(s sums, now int64) error {
	switch {
	case !s.unknown:
		v.unknown = 0
	case v.unknown == 0:
		v.unknown = now
	case time.Duration(now-v.unknown) > v.longest:
		return fmt.Errorf("the counters of some nodes were unknown for %v: a host did not report them within %v, "+
			"again and again, so it or its network is overloaded",
			time.Duration(now-v.unknown).Round(time.Second), site.CountLimit)
	}
	return nil
}

// restart forgets the observations so far.
func (v *stallDetector) restart(s sums, now int64) {
	v.last, v.lastAt, v.entered, v.enteredAt, v.periods, v.messages = s, now, s, now, 0, 0
}

// still examines a trial in which nothing seems to move.
func (v *stallDetector) still(s sums) error {
	all, err := v.answered()
	again := v.of.sums()
	switch {
	case err != nil:
		return err
	case !all || !again.same(s) || again.pending > 0: // a pending event will happen by itself
	case again.quiescent() && !again.open(): // the trial is at rest, which is no stall
	case again.quiescent():
		return v.of.stalled(0)
	case v.missing != again: // messages that came before the question are handled; others may be in transit
		v.missing = again
	case again.open():
		return v.of.stalled(0)
	default:
		return fmt.Errorf("%s sent and never arrived",
			english.Count(again.sent-again.delivered, "message was", "messages were"))
	}
	v.last, v.lastAt = again, v.of.now() // v.entered stays, so livelock counts messages since the last entry
	return nil
}

// livelock examines a trial in which plenty of messages were handled and nobody entered.
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

// answered pings every process, and reports whether all answer. It returns an error if some process has been
// silent for too long.
func (v *stallDetector) answered() (all bool, err error) {
	asked := v.of.now()
	process, why, err := v.of.silent(max(v.limit, time.Second))
	switch took := time.Duration(v.of.now() - v.silence); {
	case err != nil || process == "":
		v.silence = 0
		return err == nil, err
	case v.silence == 0:
		v.silence = asked
	case took > v.longest:
		return false, fmt.Errorf("%s has not answered for %v: %s", process, took.Round(time.Second), why)
	}
	return false, nil
}

func (t *Trial) sums() sums { return t.watch.read() }

func (t *Trial) disturbed(now int64) (bool, error) {
	err := t.follow(now) // heals due faults: a request may wait for that
	lingers := t.faults.driver.Lingers(now)
	pending := t.faults.pending(t.orders.end != 0 && now >= t.orders.end)
	return t.pauses.takeDisturbed() || pending || lingers || t.connections.outage.away, err
}

func (t *Trial) silent(within time.Duration) (process, why string, err error) {
	_, i, err := t.orders.ask(within)
	if i < 0 || err != nil {
		return "", "", err
	}
	switch known := t.watch.renew(); {
	case !known:
		why = "the counters of the nodes on its host are unknown too"
	case t.orders.obeyed(nodes.ID(i)):
		why = "it has read the question: either its broker is stuck, or the node got stuck afterwards"
	default:
		why = "it has not read the question, so it is stuck"
	}
	return t.nodes.lives[i].node.Name(), why, nil
}

// noticed is how long a server or program that was told to end from outside may take until the trial knows
// that it has ended. Of Redis and etcd, each took less than 0.2 s after SIGTERM; a busy machine takes longer.
const noticed = time.Second

// stalled parks all nodes, keeps a report of their states, and returns ErrStalled. Messages is how many were
// handled since the last entry, in a livelock; otherwise 0.
func (t *Trial) stalled(messages uint64) error {
	t.faults.refuse("has stalled: nothing in it moves any more")
	if err := t.nodes.endpoint.Reached(t.nodes.ctx); err != nil { // servers out of reach: this is no stall
		return t.nodes.outOfReach(err)
	}
	if foreign.Is(t.Config) {
		if err := t.nodes.wait(noticed); err != nil {
			return err
		}
	}
	if err := t.orders.give(host.Order{Do: host.Park}, t.nodes.up()...); err != nil {
		return fmt.Errorf("nothing moves any more: %w", err)
	}
	status, _, err := t.orders.ask(5 * time.Second)
	if err != nil {
		return err
	}
	t.watch.detectorsStopped = true // all nodes are parked, and so are the detectors
	latency := int64(t.Longest())
	arrive := t.now() + int64(5*time.Second) + latency
	// Messages lost with connections never arrive: stop waiting once counts are quiet.
	quiet := t.now() + int64(10*tick) + latency
	for s := t.sums(); (s.unknown || s.sent != s.delivered) && t.now() < arrive; { // parked nodes only receive
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
