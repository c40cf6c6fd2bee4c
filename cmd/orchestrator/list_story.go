package main

import (
	"fmt"
	"io"
	"strings"

	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/replay"
	"turnstile/nodes/row"
)

// storySizes are how many nodes a first story has: the first number that the algorithm runs with.
var storySizes = []int{3, 4, 2, 5}

// mostSteps is how many lines of a first story are told.
const mostSteps = 24

// writeStory tells the first steps of an algorithm in a small cluster, and what is in the state of a node.
func writeStory(w io.Writer, of *spec, c nodes.Config) {
	for _, n := range storySizes {
		small := of.Explicit(nodes.Config{N: n, Options: c.Options})
		if of.Validate(small) != nil {
			continue
		}
		first, says := firstSteps(of, n)
		begun, err := replay.Play(&replay.Schedule{Spec: of, Config: small, Steps: first})
		if err != nil {
			continue
		}
		whole, err := replay.Play(&replay.Schedule{Spec: of, Config: small,
			Steps: append(first, replay.Step{What: replay.StepRest})})
		if err != nil {
			continue
		}
		fmt.Fprintf(w, "\nfirst steps of %d nodes, of which %s:\n", n, says)
		for i, line := range whole.Story {
			if i == mostSteps {
				fmt.Fprintf(w, "      and %s more\n", english.Count(len(whole.Story)-i, "step", "steps"))
				break
			}
			writeWrapped(w, fmt.Sprintf("%4d  ", i+1), line)
		}
		fmt.Fprintln(w, "\nstate, before anything of that arrives:")
		for id := range begun.Status.States {
			writeWrapped(w, fmt.Sprintf("  %-9s ", begun.Status.Name(id)), begun.Status.State(id))
		}
		return
	}
}

// firstSteps returns what the clients or nodes of a small cluster do first.
func firstSteps(of *spec, n int) (steps []replay.Step, says string) {
	return stories[check.ProblemOf(of).Columns].first(nodes.ID(n - 1))
}

// A storyKind is what a story has of its kind: the first steps where the last node is such a one, what they
// do, and the words for what goes wrong.
type storyKind struct {
	first                   func(last nodes.ID) (steps []replay.Step, says string)
	starves, blocks, breaks string
}

// stories are by the name that problems have for columns.
var stories = map[string]storyKind{
	"entries": {func(last nodes.ID) ([]replay.Step, string) {
		return []replay.Step{{What: replay.StepRequest, Node: 0}, {What: replay.StepRequest, Node: last}},
			fmt.Sprintf("nodes 0 and %d request", last)
	}, "some wait for ever", "all wait for ever", "two are inside"},
	"elections": {func(nodes.ID) ([]replay.Step, string) {
		return []replay.Step{{What: replay.StepCampaign, Node: 0}}, "node 0 campaigns"
	}, "some never agree", "nobody leads", "two lead"},
}

// fieldIndent is how far the text of a field is indented.
const fieldIndent = 15

// writeField writes what something is called, and a text.
func writeField(w io.Writer, name, text string) {
	writeWrapped(w, fmt.Sprintf("%-*s", fieldIndent, name), text)
}

// writeWrapped writes a text behind a label, in as many lines as that takes.
func writeWrapped(w io.Writer, label, text string) {
	for i, part := range english.Wrap(text, terminal.Columns(w)-len(label)) {
		if i > 0 {
			label = strings.Repeat(" ", len(label))
		}
		fmt.Fprintf(w, "%s%s\n", label, part)
	}
}

// writePitfalls says under which plans of faults what goes wrong, and why, as the row has it.
func writePitfalls(of *spec, line func(name, text string)) {
	kind := stories[check.ProblemOf(of).Columns]
	words := []struct {
		outcome row.Outcome
		says    string
	}{{row.Starves, kind.starves}, {row.Blocks, kind.blocks}, {row.Breaks, kind.breaks}}
	var order []string
	plans := map[string][]string{}
	for _, cell := range of.Faults {
		var may []string
		for _, word := range words {
			if cell.May&word.outcome != 0 {
				may = append(may, word.says)
			}
		}
		if len(may) == 0 {
			continue
		}
		key := strings.Join(may, " or ") + ": " + cell.Why
		if plans[key] == nil {
			order = append(order, key)
		}
		plans[key] = append(plans[key], cell.Fault)
	}
	for _, key := range order {
		line("pitfall", fmt.Sprintf("%s (plans %s)", key, strings.Join(plans[key], ", ")))
	}
}
