// Package explore goes through every order of events in a small cluster: of deliveries, timeouts, choices,
// requests and releases, and every placing of as many faults as are allowed. It runs the very machines that
// are measured in processes and simulated.
//
// # Exploring
//
// [Run] searches breadth first, so what it finds wrong comes with a shortest [replay.Schedule] that leads
// there. It checks this:
//
//   - exclusion: in no state are more units of a resource taken than there are;
//   - panic: no machine panics;
//   - deadlock: in no state does somebody wait with nothing left to happen but requests and faults;
//   - starvation: from every state, whoever waits can still enter (known once the space is exhausted);
//   - fairness, if Checks names it: no request is passed over more often than the row promises.
//
// Of an elector it checks what nodes say of their leader (see nodes/replay/rules.go for the exact terms):
//
//   - leaders: without terms, no two lead at once or, if the row allows an overlap, for longer than that;
//   - terms: no two lead in one term, in any of their lives, and no node goes back to a lower one;
//   - agreement: nodes that are up agree when nothing is left to happen, and from every state they still can.
//
// What is broken after a fault that the row's assumptions rule out is excused, and counted apart, unless
// Demand is set. The result says whether the space was exhausted or which bound ended the search; it does not
// depend on the number of workers, unless memory is the bound.
//
// Without a [replay.Timing] a message may arrive, and a timer run out, at any moment. With one, time passes
// in ticks, and messages and timers have a first and a last tick. Nothing else differs, since no machine
// reads a clock.
//
// # Failure detectors
//
// An exploration takes no failure detector: one that finds out by messages would send without end, and since
// its timers always run, no state would be a deadlock. It speaks in the detector's place, to each node that
// is up and a [nodes.Suspecter], at any moment, and to each independently of the others:
//
//   - a node comes to suspect one that is down, once: this is all that a perfect detector says;
//   - it trusts a node again which it suspects and which is up: that has restarted, or was suspected wrongly;
//   - as often as Options.Suspicions allows, in all, a node comes to suspect one that is up. From then on
//     [nodes.PerfectDetector] is broken, but never [nodes.EventualDetector], since it happens only so often.
//
// A node that comes up again suspects nobody at first.
//
// A detector is complete and, in the end, accurate: what it has to say it says at some time. So the first two
// are moves that make progress, as the delivery of a message is, and a state in which one of them is left is
// no deadlock, since it may help whoever waits. In a deadlock the detector has told all: each node that is up
// and listens suspects exactly the nodes that are down. A wrong suspicion is a fault, and need not come.
//
// # Timers without bounds
//
// A timer that may run out at any moment may do so as often as it likes, so an algorithm that tries again
// would fill the links, with what it sends and with what it is answered. So if an algorithm has timers and
// stands losses, or Options.Copies is given, a message is lost that is sent while Options.Copies equal ones
// are on its link. That may happen on a network that loses messages, and excuses who needs one that does not,
// so what is found is wrong indeed. But runs with more copies on their way are not explored, so the result
// does not say exhausted, but bounded by copies.
//
// Terms may rise, and timers run out, without end as well. Options.Timeouts bounds how often they do; then
// the result says bounded by timeouts, if any would have run out once more.
//
// # Purity
//
// What a node does must depend on its state, its input and what Choose answers, on nothing else: the search
// asks once for each pair of a state and an input. When a schedule does not show again what the search found,
// a machine broke this rule, and that is the error.
//
// # Telling
//
// What is found comes with a schedule, which [turnstile/nodes/replay] plays on real machines: that tells the
// story. The package's example finds the shortest violation of an algorithm that is known to be broken.
package explore
