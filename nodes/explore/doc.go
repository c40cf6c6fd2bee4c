// Package explore tries every order of events in a small cluster: deliveries, timeouts, choices, requests and
// releases, and every placement of a number of faults. It runs the same machines as real runs and
// simulations.
//
// # Exploring
//
// [Run] searches breadth first, so a violation comes with a shortest [replay.Schedule] that leads to it. The
// checks are:
//
//   - exclusion: in no state are more units of a resource taken than there are;
//   - panic: no machine panics;
//   - deadlock: no state has a waiting client and only requests and faults left to happen;
//   - starvation: from every state, each waiting client can still enter (known once the space is exhausted);
//   - fairness, if Checks names it: no request is passed over more often than the algorithm promises.
//
// For an elector they are (nodes/replay/rules.go has the exact rules):
//
//   - leaders: without terms, no two nodes lead at once or, if the algorithm allows an overlap, for longer
//     than this overlap;
//   - terms: no two nodes lead in one term, in any of their lives, and no node goes back to a lower term;
//   - agreement: nodes that are up agree when no event is left, and from every state they still can agree.
//
// A violation after a fault that breaks the algorithm's assumptions is outside its model, and counted apart,
// unless Demand is set. Nothing is explored behind a violation, even behind one outside the model. The result
// says whether the space was exhausted or which bound ended the search; it does not depend on the number of
// workers, unless memory is the bound.
//
// Without a [replay.Timing] a message may arrive, and a timer run out, at any moment. With one, time passes
// in ticks, and messages and timers have a first and a last tick. Nothing else differs, since no machine
// reads a clock.
//
// # Failure detectors
//
// An exploration accepts no failure detector: one that works by messages would send without end, and since
// its timers always run, no state would be a deadlock. Instead the exploration plays an oracle. At any
// moment, and independently for each node that is up and a [nodes.Suspecter]:
//
//   - the node suspects a node that is down, once: a perfect detector says no more than this;
//   - the node trusts a suspected node that is up, which restarted or was suspected wrongly;
//   - at most Space.Suspicions times in all, a node suspects a node that is up. From then on
//     [nodes.PerfectDetector] is broken, but never [nodes.EventualDetector], since the number is bounded.
//
// A node that comes up again suspects no node at first.
//
// A detector is complete and eventually accurate, so the first two moves happen at some time. They count as
// progress, like a delivery, and a state with one of them left is no deadlock, since it may let a client in.
// In a deadlock each node that is up and listens suspects exactly the nodes that are down. A wrong suspicion
// is a fault, and need not happen.
//
// # Timers without bounds
//
// Without a Timing a timer may run out any number of times, so an algorithm that retries would fill the links
// with messages and answers. So if an algorithm has timers and tolerates losses, or Space.Copies is given,
// a message is lost that is sent while Space.Copies equal ones are on its link. A network may lose it, and
// the loss counts as NoLoss broken, so every violation found is real. But runs with more copies on their way
// are not explored, so the result is then not exhausted, but bounded by copies.
//
// Terms may rise, and timers run out, without end as well. Space.Timeouts bounds the timeouts; the result
// is bounded by timeouts if a timer would have run out once more.
//
// # Purity
//
// The reaction of a node must depend only on its state, its input and the results of Choose: the search
// computes it once for each pair of a state and an input. If replaying a schedule does not show the violation
// again, a machine broke this rule, and Run returns an error.
//
// # Schedules
//
// A violation comes with a schedule. [turnstile/nodes/replay] plays it on real machines and prints the story.
// The package's example finds the shortest violation of an algorithm that is known to be broken.
package explore
