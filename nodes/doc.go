// Package nodes is the functional core: what a distributed algorithm is, and what one process of it holds.
// Nothing here does I/O, starts a goroutine, reads a clock or draws random numbers, so the code that is
// measured in real processes is the code that is simulated and explored.
//
// # Machines
//
// An algorithm is a [Machine]: a struct that handles one event at a time and asks its [Env] for effects, such
// as a message to send, a timer to set, or the grant that lets the local client in. A [Mutex] also handles
// the requests and releases of a client, an [Elector] campaigns. Machines that start, keep timers, recover,
// or follow suspicions and leaders have one more method for each: [Starter], [Timed], [Recoverer],
// [Suspecter], [Truster], [Led].
//
// A machine may rely on this:
//
//   - Its handlers run one at a time, to completion. Effects are carried out after the handler returns, in
//     the order in which it asked for them.
//   - Start, or Recover after a crash, comes before any other event.
//   - Send, Broadcast and Save copy the message: later changes by the machine do not affect it.
//   - A message to itself is handled before any other event. It is not counted, and no fault hits it.
//   - A timer that was stopped, or set again, does not run out.
//   - The client requests only while it is idle, and releases only while it is inside.
//
// The run decides whether messages are lost, duplicated or reordered, and whether nodes crash. The [Spec]
// says under which [Assumption] the algorithm is safe, and under which it makes progress.
//
// A machine must keep to this:
//
//   - Its handlers depend only on their receiver, their arguments and the results of Choose.
//   - Its state is plain: numbers, booleans, strings, arrays, slices, structs and [Set]. It holds no map,
//     pointer, function, channel or interface. It shares no memory with another machine or with a message: it
//     clones a slice that it keeps. [Node.Clone] and [Node.AppendState] can then copy and encode any machine
//     by its type alone, as the explorer needs.
//   - Its messages are structs of exported plain fields, each kind listed in [Spec.Messages].
//   - It grants once for each request, while the client waits.
//
// # Nodes and processes
//
// A [Node] holds the machines of one process: the instances of a [Stack], each with its client and its
// timers. A second lock, an elector or a failure detector is one more instance. [Node.Handle] takes an
// [Input] and returns each [Effect] as data, which is all that a test of an algorithm needs.
//
// A [Process] is a Node through its lives: it boots, crashes and restarts with what it saved. It gives each
// effect to a [Host], which may run one process over a network (package host), many on virtual time (package
// sim), or all orders of events (package explore).
//
// A host must keep to this:
//
//   - It calls Boot before any other input, Restart after a crash, and never two inputs at a time.
//   - It hands the message of a Send to the process e.To as a Receive input of the instance e.Instance, each
//     time that its network delivers the message.
//   - It hands in a Timeout input with the timer and the generation of a SetTimer once the time is over. The
//     node ignores it if the timer was stopped meanwhile.
//   - It makes a saved message durable before it carries out any later Send.
//   - After Enter it lets the client in and later hands in a Release input, unless Revoke comes first.
//
// If either side breaks the contract, the node panics and names itself and the machine.
//
// # Algorithms
//
// A [Spec] makes the machines of an algorithm, and lists their kinds of messages, options and assumptions.
// The type Algorithm (package algorithm) adds what is published. Tables list the Algorithms, and all programs
// and tests work from these tables. Package mutex has a file for each algorithm, with its Algorithm on top.
//
// The package's example is a whole algorithm with its Spec, and two nodes that are handed inputs; the example
// of [Runtime] is a whole host.
package nodes
