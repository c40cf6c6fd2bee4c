// Package agent runs processes of a run on other hosts. An [Agent] serves one host: it starts node programs
// and brokers through package cluster, as an orchestrator does on its own machine, says what becomes of
// them, and reads their counters. A [Host] is what an orchestrator has of an agent: a
// [turnstile/bench/cluster.Host], so a run does not know where a process is.
//
// # The control plane
//
// Orders go to one subject of each agent (ts.host.NAME.order), so they arrive in the order in which they
// were given. Each says the run, which start of the agent it is meant for, and a number that rises: one
// that was seen before is refused. What happens to processes comes as events, numbered, on a subject of the
// run and the host (ts.run.RUN.NAME). Orchestrators find an agent as a micro service of NATS.
//
// An agent asks the orchestrator of each run for a sign of life (ts.run.RUN.alive). If nobody listens there
// any more, it ends the processes of the run at once; if nobody answers, after a time.
package agent
