package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/bench/check"
	"turnstile/internal/english"
	"turnstile/nodes/explore"
	"turnstile/nodes/mutex"
	"turnstile/results"
)

const exploreHelp = `Go through everything that can happen in a small cluster: every order of deliveries,
timers, choices, requests and releases, and every placing of as many losses, duplicates and crashes as are
allowed. In each state no two clients may be inside, no machine may panic, and nobody may wait for ever.
A violation is told step by step, by a shortest run that shows it; --save keeps it as a schedule that can
be replayed.

--check says what to look for, such as exclusion alone, so that a deadlock that takes fewer steps does not
hide what else is wrong; progress is deadlock and starvation. Only --check fairness looks whether a request
is passed over more often than the algorithm promises: it takes more states.

What breaks after a fault that the algorithm's assumptions rule out is excused, unless --demand.

A message may take any time, and a timer may run out at any moment, unless --timing bounds them: then time
passes in ticks, messages take the latency that it gives, and timers run out within the range they were
set to.

A space is exhausted, or bounded by --depth, --states or --memory. That of an algorithm with a counter
that never stops, such as the hops of a token ring, is always bounded.

Exit status: 0 exhausted and clean, 1 a check is broken, 2 bounded and nothing found, 64 bad usage.`

const exploreExample = `  orchestrator explore --algo naive-broadcast -n 2
  orchestrator explore --algo ricart -n 3 --entries 2
  orchestrator explore --algo lamport -n 2 --reordering --demand
  orchestrator explore --algo raymond -n 3 --entries 2 --check fairness
  orchestrator explore --algo suzuki -n 3 --crashes 1 --restarts --duplicates 1
  orchestrator explore --algo central -n 2 --timing uniform:1ms,3ms
  orchestrator explore --algo token-ring -n 3 --depth 60 --save ring.schedule`

// An exploreCall is one call of explore.
type exploreCall struct {
	explore.Options
	algorithm string
	checks    checkNames
	timing    explore.Timing
	memory    size
	save      string
	json      bool
}

func (a *app) exploreCommand() *cobra.Command {
	c := exploreCall{memory: defaultMemory(results.ThisMachine()),
		timing: explore.Timing{Tick: time.Millisecond}}
	cmd := &cobra.Command{
		Use:     "explore",
		Short:   "Try every order of events in a small cluster",
		Long:    exploreHelp,
		Example: exploreExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := settingsOf(cmd)
			if err == nil {
				err = c.resolve(s)
			}
			if err != nil {
				return err
			}
			return a.explore(cmd.Context(), &c)
		},
	}
	c.addFlags(cmd)
	completeFlags(cmd)
	completeWith(cmd, "check", c.checks.known())
	return cmd
}

func (c *exploreCall) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.algorithm, "algo", "ricart-agrawala", "the algorithm, by `name` or alias (see list)")
	f.IntVarP(&c.Config.N, "nodes", "n", 2, "how many nodes ask for the critical section")
	f.IntVar(&c.Entries, "entries", 1, "how often each of them asks")
	f.Var(&c.checks, "check", "what to look for, several with commas (default all but fairness)")
	f.IntVar(&c.Losses, "losses", 0, "how many messages may be lost")
	f.IntVar(&c.Duplicates, "duplicates", 0, "how many messages may arrive twice")
	f.IntVar(&c.Crashes, "crashes", 0, "how many crashes there may be")
	f.BoolVar(&c.Restarts, "restarts", false, "let crashed nodes come up again, with what they saved")
	f.BoolVar(&c.Amnesia, "amnesia", false, "let crashed nodes come up again, without it too")
	f.BoolVar(&c.Reordering, "reordering", false, "let messages of one link arrive in any order")
	f.Var(&c.timing.Latency, "timing",
		"`distribution` of how long a message takes, constant or uniform (default any)")
	f.Lookup("timing").DefValue = "" // otherwise the help would say 0s
	f.DurationVar(&c.timing.Tick, "tick", c.timing.Tick, "length of a tick, with --timing")
	f.BoolVar(&c.Demand, "demand", false, "let faults excuse nothing")
	addOptions(cmd, &c.Config)
	f.IntVar(&c.Depth, "depth", 0, "how many steps to go (default to the end)")
	f.Uint64Var(&c.States, "states", 0, "how many states to see (default all)")
	f.Var(&c.memory, "memory", "how much memory to take")
	f.IntVar(&c.Workers, "workers", 2, "processors to use; the result is the same, unless --memory ends it")
	f.StringVar(&c.save, "save", "", "`file` for the schedule of what is found wrong")
	f.BoolVar(&c.json, "json", false, "print one JSON document instead")
	f.SetNormalizeFunc(longN)
}

// resolve finds the algorithm, and checks the flags.
func (c *exploreCall) resolve(s settings) (err error) {
	if c.Spec, err = mutex.Find(c.algorithm); err != nil {
		return s.blame(err, "algo")
	}
	if c.Config, err = s.checkOptions(c.Spec, c.Config, s.rank("algo")); err != nil {
		return err
	}
	c.Memory, c.Checks = uint64(c.memory), c.checks
	switch {
	case s.given("timing"):
		c.Timing = &c.timing
	case s.given("tick"):
		return errors.New("--tick: time goes on by ticks only with --timing: add one, such as --timing 1ms")
	}
	if c.Workers < 1 {
		return fmt.Errorf("--workers: %d: it takes at least 1", c.Workers)
	}
	if c.save != "" {
		if info, err := os.Stat(filepath.Dir(c.save)); err != nil || !info.IsDir() {
			return fmt.Errorf("--save: there is no folder %s: make it first", filepath.Dir(c.save))
		}
	}
	c.Config = c.Spec.Explicit(c.Config)
	return c.Validate()
}

func (a *app) explore(ctx context.Context, c *exploreCall) error {
	c.Interrupt = ctx.Done()
	// The exploration counts what it holds; this limit collects the garbage that comes on top of it.
	debug.SetMemoryLimit(int64(c.memory))
	began := time.Now()
	x, err := explore.Run(c.Options)
	elapsed := time.Since(began)
	if err != nil {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	switch {
	case x.Violation != nil:
		a.status = check.Violated.ExitCode()
	case !x.Exhausted:
		a.status = check.Inconclusive.ExitCode()
	}
	kept := c.keep(x)
	if c.json {
		err = printJSON(a.stdout, c.document(x, elapsed))
	} else {
		c.print(a.stdout, x, elapsed, kept == nil)
	}
	if kept != nil { // the result is printed all the same
		return failure{kept, a.status}
	}
	return err
}

// keep saves the schedule of a violation, with its story below.
func (c *exploreCall) keep(x *explore.Result) error {
	if c.save == "" || x.Violation == nil {
		return nil
	}
	var b bytes.Buffer
	x.Violation.Schedule.WriteTo(&b)
	fmt.Fprintf(&b, "\n----\n%s", explore.Told(x.Violation.Story, x.Violation))
	if err := os.WriteFile(c.save, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("saving the schedule: %w", err)
	}
	return nil
}

// print prints the result for people.
func (c *exploreCall) print(w io.Writer, x *explore.Result, elapsed time.Duration, kept bool) {
	colors := paletteFor(w)
	fmt.Fprintf(w, "%s, %s\n\n", c.Spec.Name, strings.Join(c.space(), ", "))
	switch {
	case x.Violation != nil:
		fmt.Fprintf(w, "%s  %s: %s\n\n", colors.paint(red, "BROKEN"), x.Violation.Check, x.Violation.Says)
	case x.Exhausted && c.checks != nil:
		fmt.Fprintf(w, "%s  nothing that was looked for is wrong in any state\n\n",
			colors.paint(green, "EXHAUSTED"))
	case x.Exhausted:
		fmt.Fprintf(w, "%s  nothing is wrong in any state\n\n", colors.paint(green, "EXHAUSTED"))
	default:
		fmt.Fprintf(w, "%s  nothing is wrong so far; ended by %s\n\n", colors.paint(yellow, "BOUNDED"),
			c.bound(x))
	}
	fmt.Fprintf(w, "  states       %s, made of %s of single nodes\n", english.Thousands(float64(x.States)),
		english.Thousands(float64(x.NodeStates)))
	fmt.Fprintf(w, "  transitions  %s, %s of them entries\n", english.Thousands(float64(x.Transitions)),
		english.Thousands(float64(x.Entries)))
	fmt.Fprintf(w, "  depth        %d\n", x.Depth)
	fmt.Fprintf(w, "  memory       %v, %.0f bytes per state\n", size(x.Bytes), x.BytesPerState())
	fmt.Fprintf(w, "  time         %v, %s states/s\n", elapsed.Round(time.Millisecond),
		english.Thousands(float64(x.States)/elapsed.Seconds()))
	switch {
	case x.Progress && x.Excused > 0:
		fmt.Fprintln(w, "  progress     whoever waits can still enter, in every state that no fault excuses")
	case x.Progress:
		fmt.Fprintln(w, "  progress     whoever waits can still enter, in every state")
	}
	if v := x.FirstExcused; v != nil {
		fmt.Fprintf(w, "  outside its model: %s, the first by %s after %s (it needs %v)\n",
			english.Count(x.Excused, "failure", "failures"), v.Check,
			english.Count(len(v.Schedule.Steps), "step", "steps"), v.OutsideModel)
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
		fmt.Fprintf(w, "\nThe schedule is in %s; play it again with: orchestrator simulate --replay %s\n",
			c.save, c.save)
		return
	}
	fmt.Fprintf(w, "\nThe schedule (--save FILE keeps it, simulate --replay FILE plays it again):\n")
	for line := range strings.Lines(v.Schedule.String()) {
		fmt.Fprint(w, strings.TrimRight("  "+line, " \n")+"\n")
	}
}

// space describes what is explored.
func (c *exploreCall) space() []string {
	words := append([]string{english.Count(c.Config.N, "node", "nodes")}, c.Config.Given()...)
	words = append(words, english.Count(c.Entries, "entry", "entries")+" each")
	if c.checks != nil {
		words = append(words, "looking for "+strings.Join(c.checks, " and ")+" alone")
	}
	before := len(words)
	for _, f := range []struct {
		n         int
		one, many string
	}{
		{c.Losses, "loss", "losses"}, {c.Duplicates, "duplicate", "duplicates"}, {c.Crashes, "crash", "crashes"},
	} {
		if f.n > 0 {
			words = append(words, "up to "+english.Count(f.n, f.one, f.many))
		}
	}
	if len(words) == before {
		words = append(words, "no faults")
	}
	switch {
	case c.Amnesia:
		words = append(words, "restarts with and without what was saved")
	case c.Restarts:
		words = append(words, "restarts")
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
		"algorithm": c.Spec.Name, "config": c.Config, "entries_each": c.Entries, "losses": c.Losses,
		"duplicates": c.Duplicates, "crashes": c.Crashes, "restarts": c.Restarts, "amnesia": c.Amnesia,
		"reordering": c.Reordering, "demand": c.Demand, "checks": c.checks,
		"exhausted": x.Exhausted, "bound": x.Bound, "states": x.States, "node_states": x.NodeStates,
		"transitions": x.Transitions, "entries": x.Entries, "depth": x.Depth, "progress": x.Progress,
		"memory_bytes": x.Bytes, "bytes_per_state": x.BytesPerState(), "elapsed_s": elapsed.Seconds(),
		"states_per_s": float64(x.States) / elapsed.Seconds(),
		"violation":    violationDocument(x.Violation), "excused": x.Excused,
		"first_excused": violationDocument(x.FirstExcused),
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

// defaultMemory returns how much memory to take on a machine: 2 GB, but no more than half of what there is.
func defaultMemory(m results.Machine) size {
	const most = 2 << 30
	if m.MemoryMB == 0 {
		return most
	}
	return size(min(most, uint64(m.MemoryMB)<<20/2))
}

// A size is a number of bytes, as people write it.
type size uint64

// sizeUnits are the units of sizes, the largest first.
var sizeUnits = []struct {
	name  string
	bytes uint64
}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}}

// String writes the size in the largest unit of which it has one.
func (s size) String() string {
	for _, u := range sizeUnits {
		if uint64(s) >= u.bytes {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(s)/float64(u.bytes)), ".0") + u.name
		}
	}
	return fmt.Sprintf("%dB", uint64(s))
}

// Set reads a size.
func (s *size) Set(text string) error {
	for _, u := range sizeUnits {
		var x float64
		number, ok := strings.CutSuffix(strings.ToUpper(text), u.name)
		if !ok {
			continue
		}
		if _, err := fmt.Sscanf(number+" ", "%g ", &x); err == nil && x > 0 && x < 1<<20 {
			*s = size(x * float64(u.bytes))
			return nil
		}
	}
	return fmt.Errorf("%q is no amount of memory: write 512MB or 4GB", text)
}

// Type names the kind of value, for --help.
func (s *size) Type() string { return "size" }

var _ pflag.Value = (*size)(nil)
