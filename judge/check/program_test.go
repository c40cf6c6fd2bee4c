package check

import (
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

var programMutants = []mutant{
	{"a program that grants twice", func() *world { return breaching(history.GrantedTwice, 0) }, "grants",
		Violated, Violated, "the program of node 1 let its client in that was inside: it wrote {x}"},
	{"a recorded client that leaves twice", made(func(w *world) {
		w.Lacks.Counts = true
		w.turn(0)
		w.inside++
		w.exit(0)
	}), "order", Inconclusive, Inconclusive, "leaves without an entry"},
	{"a program that ends", func() *world { return breaching(history.EndedItself, 0) }, "exit",
		Violated, Violated, "the program of node 1 ended by itself: {x}"},
}

// breaching returns a run in which assumptions are broken, a process is late by a second, and then a node's
// program breaks the protocol.
func breaching(how uint32, broken nodes.Assumption) *world {
	w := measuring()
	w.round()
	w.broke(broken)
	w.ask(1)
	w.add(1, history.Lag{From: -1e9, Sender: nodes.None}.Event(0))
	w.add(1, history.Event{Kind: history.Breached, Count: how})
	w.log(1).Last = "{x}"
	w.mark(history.Interrupted)
	return w
}

// A breach of the protocol is a violation, and the finding quotes what the program wrote. Only a broken
// assumption of the program's declaration excuses a breach; the end of the program itself is no such fault,
// and neither is that processes were late.
func TestProgramsThatBreakTheProtocol(t *testing.T) {
	const needs = nodes.NoDuplication
	for _, x := range []struct {
		name         string
		how          uint32
		broken       nodes.Assumption
		check, says  string
		outcome      Outcome
		outsideModel bool
	}{
		{"twice", history.GrantedTwice, 0, "grants", "that was inside: it wrote {x}", Violated, false},
		{"unasked", history.EnteredUnasked, 0, "grants", "in without a request: it wrote {x}", Violated, false},
		{"of another fault", history.EnteredUnasked, nodes.NoLoss, "grants", "without a request", Violated, false},
		{"outside its model", history.GrantedTwice, needs, "grants", "(outside its model: the alg", Violated,
			true},
		{"ends", history.EndedItself, 0, "exit", "node 1 ended by itself: {x}", Violated, false},
		{"dies of another fault", history.EndedItself, nodes.NoLoss, "exit", "ended", Violated, false},
		{"dies outside its model", history.EndedItself, needs, "exit", "the algorithm assumes", Inconclusive, true},
	} {
		w := breaching(x.how, x.broken)
		w.Safe, w.Live, w.Measured = needs|nodes.Timing, needs|nodes.Timing, true
		v := w.judge()
		f := finding(t, v, x.check)
		if f.Outcome != x.outcome || v.Outcome != x.outcome || f.OutsideModel != x.outsideModel ||
			!strings.Contains(f.Says, x.says) {
			t.Errorf("%s: %v, outside its model: %v: %s", x.name, f.Outcome, f.OutsideModel, f.Says)
		}
	}
}

// A witness shows each message of a foreign program with its text, and with its type as the program names it.
func TestWitnessesSayWhatMessagesSay(t *testing.T) {
	w := measuring()
	w.ask(0)
	w.send(0, 1, kindRequest)
	w.together()
	w.end()
	for _, l := range w.Logs {
		for range l.Trace {
			l.Texts = append(l.Texts, history.Text{Type: "greet", Body: `{"x":1}`})
		}
	}
	all := strings.Join(finding(t, w.judge(), "exclusion").Witness, "\n")
	for _, want := range []string{`sends greet to node 1: {"x":1}`, `gets greet from node 0: {"x":1}`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %s", want, all)
		}
	}
}
