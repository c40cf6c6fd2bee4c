package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/explore"
)

// print prints the result for people.
func (c *exploreCall) print(w io.Writer, x *explore.Result, elapsed time.Duration, kept bool) {
	colors := terminal.PaletteFor(w)
	fmt.Fprintf(w, "%s, %s\n\n", c.Spec.Name, strings.Join(c.space(), ", "))
	switch {
	case x.Violation != nil:
		fmt.Fprintf(w, "%s  %s: %s\n\n", colors.Paint(terminal.Red, "BROKEN"), x.Violation.Check, x.Violation.Says)
	case x.Exhausted:
		was, more := "", c.words().more
		if c.checks != nil {
			was, more = " that was looked for", ""
		}
		if !c.contended() {
			more = fmt.Sprintf(" (not contended: %s of %s, so nobody waits for another)",
				english.Count(c.Config.N, "client", "clients"),
				english.Count(c.Config.Capacity(), "unit", "units"))
		}
		fmt.Fprintf(w, "%s  nothing%s is wrong in any state%s\n\n", colors.Paint(terminal.Green, "EXHAUSTED"), was,
			more)
	case x.Bound == "copies":
		fmt.Fprintf(w, "%s  nothing is wrong in any state; lost was what found %s on its link (--copies)\n\n",
			colors.Paint(terminal.Yellow, "BOUNDED"), english.Count(max(1, c.Copies), "equal message",
				"equal messages"))
	case x.Bound == "timeouts":
		fmt.Fprintf(w, "%s  nothing is wrong as long as timers run out no more than %s in all (--timeouts)\n\n",
			colors.Paint(terminal.Yellow, "BOUNDED"), english.Count(c.Timeouts, "time", "times"))
	default:
		fmt.Fprintf(w, "%s  nothing is wrong so far; ended by %s\n", colors.Paint(terminal.Yellow, "BOUNDED"),
			c.bound(x))
		if _, timed := c.Spec.Machine(c.Config, 0).(nodes.Timed); timed && c.Timeouts == 0 && c.Timing == nil {
			fmt.Fprintln(w, "         timers may run out any number of times: --timeouts bounds that, as in "+
				"--timeouts 2")
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "  states       %s, made of %s of single nodes\n", english.Thousands(float64(x.States)),
		english.Thousands(float64(x.NodeStates)))
	fmt.Fprintf(w, "  transitions  %s, %s %s\n", english.Thousands(float64(x.Transitions)),
		english.Thousands(float64(x.Entries)), c.words().entries)
	if capacity := c.Config.Capacity(); capacity > 1 {
		fmt.Fprintf(w, "  units        %d of %d taken at once, at most\n", x.MostTaken, capacity)
	}
	fmt.Fprintf(w, "  depth        %d\n", x.Depth)
	fmt.Fprintf(w, "  memory       %v, %.0f bytes per state\n", size(x.Bytes), x.BytesPerState())
	fmt.Fprintf(w, "  time         %v, %s states/s\n", elapsed.Round(time.Millisecond),
		english.Thousands(float64(x.States)/elapsed.Seconds()))
	if x.Progress {
		unless := ""
		if x.Excused > 0 {
			unless = " that no fault excuses"
		}
		fmt.Fprintf(w, "  progress     %s, in every state%s\n", c.words().can, unless)
	}
	if v := x.FirstExcused; v != nil {
		fmt.Fprintf(w, "  outside its model: %s, the first by %s after %s (it needs %v)\n",
			english.Count(x.Excused, "failure", "failures"), v.Check,
			english.Count(len(v.Schedule.Steps), "step", "steps"), v.OutsideModel)
	}
	if c.removed {
		fmt.Fprintf(w, "\n%s, of an earlier exploration, was removed: nothing was found this time\n", c.save)
	}
	if x.Violation != nil {
		c.printViolation(w, x.Violation, kept && c.save != "")
	}
}

// bound says what ended the exploration, and what to do about it.
func (c *exploreCall) bound(x *explore.Result) string {
	switch x.Bound {
	case "memory":
		return fmt.Sprintf("--memory %v: allow more, or explore less", c.memory)
	case "states":
		return fmt.Sprintf("--states %d", c.States)
	case "depth":
		return fmt.Sprintf("--depth %d", c.Depth)
	}
	return "an " + x.Bound
}

func (c *exploreCall) printViolation(w io.Writer, v *explore.Violation, saved bool) {
	fewer := ""
	if v.Shortest {
		fewer = " and no fewer"
	}
	fmt.Fprintf(w, "\nHow it comes about, in %s%s:\n",
		english.Count(len(v.Schedule.Steps), "step", "steps"), fewer)
	for _, line := range v.Story {
		fmt.Fprintf(w, "  %s\n", line)
	}
	if v.Stall != "" {
		fmt.Fprintf(w, "\n%s", v.Stall)
	}
	if saved {
		fmt.Fprintf(w, "\nThe schedule is in %s; play it again with: %s simulate --replay %s\n",
			c.save, terminal.Invoked(), terminal.ShellQuoted(c.save))
		return
	}
	fmt.Fprintf(w, "\nThe schedule (--save FILE keeps it, simulate --replay FILE plays it again):\n")
	for line := range strings.Lines(v.Schedule.String()) {
		fmt.Fprint(w, strings.TrimRight("  "+line, " \n")+"\n")
	}
}

// exploreWords are what is said of an exploration of rows of one problem.
type exploreWords struct {
	one, many string // what nodes are told to do
	entries   string // which transitions are counted
	more      string // what else could be looked for
	can, ask  string // what is the case if there is progress, and asks whether it is
	waits     bool   // clients may wait for each other, and do if that is contended
}

// exploredWords are those of problems, by the name that they have for columns.
var exploredWords = map[string]exploreWords{
	"entries": {"entry", "entries", "of them entries", " (--check fairness looks for who is passed over)",
		"whoever waits can still enter", "can whoever waits enter?", true},
	"elections": {"campaign", "campaigns", "by which a node comes to lead", "",
		"all that are to agree still can", "can all agree?", false},
}

func (c *exploreCall) words() exploreWords { return exploredWords[check.ProblemOf(c.Spec).Columns] }

// tasks describes how often clients ask, or nodes campaign, and how often timers run out.
func (c *exploreCall) tasks() []string {
	one, many := c.words().one, c.words().many
	words := []string{english.Count(c.Entries, one, many) + " each"}
	switch {
	case c.Campaigns > 0 && c.Campaigns <= c.Entries:
		words[0] = english.Count(c.Campaigns, one, many) + " in all"
	case c.Campaigns > 0:
		words = append(words, fmt.Sprintf("up to %d in all", c.Campaigns))
	}
	if c.Timeouts > 0 {
		words = append(words, "timers that run out up to "+english.Count(c.Timeouts, "time", "times"))
	}
	return words
}

// contended reports whether clients wait for each other, if they may.
func (c *exploreCall) contended() bool { return !c.words().waits || c.Take.Contended(c.Config) }

// space describes what is explored.
func (c *exploreCall) space() []string {
	words := append([]string{english.Count(c.Config.N, "node", "nodes")}, c.Config.Given()...)
	if capacity := c.Config.Capacity(); capacity > 1 {
		words = append(words, english.Count(capacity, "unit", "units"), "take "+c.Take.String())
	}
	words = append(words, c.tasks()...)
	if c.checks != nil {
		words = append(words, "looking for "+strings.Join(c.checks, " and ")+" alone")
	}
	before := len(words)
	for _, f := range []struct {
		n         int
		one, many string
	}{
		{c.Losses, "loss", "losses"}, {c.Duplicates, "duplicate", "duplicates"}, {c.Crashes, "crash", "crashes"},
		{c.Suspicions, "wrong suspicion", "wrong suspicions"},
	} {
		if f.n > 0 {
			words = append(words, "up to "+english.Count(f.n, f.one, f.many))
		}
	}
	if len(words) == before {
		words = append(words, "no faults")
	}
	if c.Config.Fenced {
		words = append(words, "a resource that demands fence numbers")
	}
	switch {
	case c.Amnesia:
		words = append(words, "restarts with and without what was saved")
	case c.Restarts:
		words = append(words, "restarts")
	}
	if c.WholeInputs {
		words = append(words, "crashes between inputs alone")
	}
	order := "messages of a link in order"
	if c.Reordering {
		order = "messages in any order"
	}
	words = append(words, order)
	if c.Timing != nil {
		words = append(words, fmt.Sprintf("a latency of %v in ticks of %v", c.Timing.Latency, c.Timing.Tick))
	}
	return words
}

// document is what --json prints.
func (c *exploreCall) document(x *explore.Result, elapsed time.Duration) map[string]any {
	d := map[string]any{
		"algorithm": c.Spec.Name, "config": c.Config, "entries_each": c.Entries,
		"campaigns": c.Campaigns, "timeouts": c.Timeouts, "losses": c.Losses,
		"duplicates": c.Duplicates, "crashes": c.Crashes, "restarts": c.Restarts, "amnesia": c.Amnesia,
		"whole_inputs": c.WholeInputs, "suspicions": c.Suspicions, "copies": c.Copies,
		"reordering": c.Reordering, "demand": c.Demand, "checks": c.checks,
		"exhausted": x.Exhausted, "bound": x.Bound, "states": x.States, "node_states": x.NodeStates,
		"transitions": x.Transitions, "entries": x.Entries, "depth": x.Depth, "progress": x.Progress,
		"memory_bytes": x.Bytes, "bytes_per_state": x.BytesPerState(), "elapsed_s": elapsed.Seconds(),
		"states_per_s": float64(x.States) / elapsed.Seconds(),
		"violation":    violationDocument(x.Violation), "excused": x.Excused,
		"first_excused": violationDocument(x.FirstExcused),
	}
	if c.Config.Capacity() > 1 {
		d["take"], d["units_taken_max"] = c.Take, x.MostTaken
	}
	if c.words().waits {
		d["contended"] = c.contended()
	}
	if c.Timing != nil {
		d["latency"], d["tick_s"] = c.Timing.Latency, c.Timing.Tick.Seconds()
	}
	return d
}

func violationDocument(v *explore.Violation) any {
	if v == nil {
		return nil
	}
	d := map[string]any{"check": v.Check, "says": v.Says, "steps": len(v.Schedule.Steps),
		"shortest": v.Shortest, "story": v.Story, "schedule": v.Schedule.String(), "stall": v.Stall}
	if v.OutsideModel != 0 {
		d["needs"] = v.OutsideModel.String()
	}
	return d
}
