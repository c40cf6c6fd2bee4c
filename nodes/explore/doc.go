// Package explore goes through every order of events in a small cluster: of deliveries, timeouts, choices,
// requests and releases, and every placing of as many faults as are allowed. It runs the very machines that
// are measured in processes and simulated.
//
// # Exploring
//
// [Run] searches breadth first, so what it finds wrong comes with a shortest [Schedule] that leads there. It
// checks this:
//
//   - exclusion: in no state are more units of a resource taken than there are;
//   - panic: no machine panics;
//   - deadlock: in no state does somebody wait with nothing left to happen but requests and faults;
//   - starvation: from every state, whoever waits can still enter (known once the space is exhausted);
//   - fairness, if Checks names it: no request is passed over more often than the row promises.
//
// What is broken after a fault that the row's assumptions rule out is excused, and counted apart, unless
// Demand is set. The result says whether the space was exhausted or which bound ended the search; it does not
// depend on the number of workers, unless memory is the bound.
//
// Without a [Timing] a message may arrive, and a timer run out, at any moment. With one, time passes in
// ticks, and messages and timers have a first and a last tick. Nothing else differs, since no machine reads a
// clock.
//
// What a node does must depend on its state, its input and what Choose answers, on nothing else: the search
// asks once for each pair of a state and an input. When a schedule does not show again what the search found,
// a machine broke this rule, and that is the error.
//
// # Replaying
//
// A [Schedule] is a list of steps, as text that people can read and write; its documentation has the
// language. [ParseSchedule] reads one, [Replay] plays it on real machines and makes a history of it for the
// checks of all runs, [Minimise] drops the steps that a violation does not need.
//
// The package's example finds the shortest violation of an algorithm that is known to be broken. The example
// of [Replay] plays a schedule.
package explore
