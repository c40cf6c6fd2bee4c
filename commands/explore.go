package commands

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/internal/english"
	"turnstile/internal/input"
	"turnstile/internal/suggest"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/results"
)

const exploreHelp = `Try every order of events in a small cluster: deliveries, timers, choices, requests and
releases, with every placing of the allowed losses, duplicates and crashes. In each state, no two clients
may be inside, no machine may panic, and no client may wait for ever. A violation is printed step by step,
as a shortest run that shows it; --save keeps it as a schedule that can be replayed.

Exit status: 0 exhausted and clean, 1 a check is broken, 2 bounded and nothing found, 64 bad usage.`

const exploreMore = `In an election, each node may be told to campaign at any moment. No two nodes may lead
at once or, in a scheme with terms, in one term; no node may go back to a lower term; and in the end all
nodes that are up agree on one of them. Some schemes let two nodes lead for a time: these may not do so
while no message is on its way and no timer runs.

--check selects the checks. With exclusion alone, a deadlock that takes fewer steps does not hide a violation
of exclusion; progress is deadlock and starvation. Two checks run only if they are named, since they take
more states: fairness (a request is passed over more often than the algorithm promises) and minority (a
client that reaches no majority enters, although the algorithm promises that it does not).

A node may crash in the middle of an input: the effects before the crash have happened, the later ones have
not. With --whole-inputs it crashes only between two inputs.

A failure after a fault that the algorithm's assumptions rule out is outside its model, and does not count
unless --demand.

A message may take any time, and a timer may run out at any moment, unless --timing bounds them: then time
passes in ticks, messages take the latency that it gives, and timers run out within the range they were
set to.

If the algorithm listens to a failure detector, the exploration takes its place: each node hears of each
crash, and of each restart after it, at any later moment. Up to --suspicions times, a node suspects another
that is up, and trusts it again.

An algorithm that retries by timers could fill the links, since a timer may run out any number of times. If
the algorithm has timers and stands losses, a message is therefore lost when an equal one, or as many as
--copies says, is on its way on its link; the result is then bounded. --timeouts bounds timers and terms
that never end.

A space is exhausted, or bounded by --depth, --states or --memory. An algorithm with a counter that never
stops, such as the hops of a token ring, is always bounded.`

const exploreExample = `  orchestrator explore --algo naive-broadcast -n 2
  orchestrator explore --algo ricart -n 3 --entries 2
  orchestrator explore --algo lamport -n 2 --reordering --demand
  orchestrator explore --algo raymond -n 3 --entries 2 --check fairness
  orchestrator explore --algo suzuki -n 3 --crashes 1 --restarts --duplicates 1
  orchestrator explore --algo central -n 2 --timing uniform:1ms,3ms
  orchestrator explore --algo chang-roberts -n 3 --campaigns 2 --duplicates 1
  orchestrator explore --algo bully -n 2 --timeouts 2 --suspicions 1 --losses 1 --demand --check leaders
  orchestrator explore --algo token-ring -n 3 --depth 60 --save ring.schedule`

// An exploreCall is one call of explore.
type exploreCall struct {
	known
	explore.Space
	algorithm string
	checks    checkNames
	timing    replay.Timing
	memory    size
	save      string
	picture   string
	title     string
	play      bool
	page      string // path of the page, if play is set
	json      bool

	noProgress bool
	removed    bool // the schedule of an earlier exploration was removed
}

func exploreCommand(k known) Command {
	c := &exploreCall{known: k, memory: defaultMemory(results.ThisMachine()),
		timing: replay.Timing{Tick: time.Millisecond}}
	return Command{
		Name:    "explore",
		Short:   "Try every order of events in a small cluster",
		Help:    exploreHelp,
		More:    exploreMore,
		Example: exploreExample,
		Options: c.addTo,
		Check:   c.resolve,
		Notes:   true,
		Instead: "play",
		Run:     c.run,
	}
}

func (c *exploreCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	c.algorithm = "ricart-agrawala"
	f.Var(&algorithmFlag{&c.algorithm, c.known}, "algo", "the algorithm, by `name` or alias (see list)")
	f.IntVarP(&c.Config.N, "nodes", "n", 2, "how many nodes ask for the critical section, or elect")
	f.IntVar(&c.Entries, "entries", 1, "how often each of them asks, or may be told to campaign")
	f.IntVar(&c.Campaigns, "campaigns", 0,
		"how many campaigns there may be, in all (default as many as --entries allows)")
	f.Var(&c.checks, "check", "what to look for, several with commas (default all but fairness and minority)")
	f.IntVar(&c.Losses, "losses", 0, "how many messages may be lost")
	f.IntVar(&c.Duplicates, "duplicates", 0, "how many messages may arrive twice")
	f.IntVar(&c.Crashes, "crashes", 0, "how many crashes there may be")
	f.BoolVar(&c.Restarts, "restarts", false, "let crashed nodes come up again, with what they saved")
	f.BoolVar(&c.Amnesia, "amnesia", false, "let crashed nodes come up again, with or without what they saved")
	f.BoolVar(&c.WholeInputs, "whole-inputs", false,
		"let nodes crash only between two inputs, not between the effects of one")
	f.IntVar(&c.Suspicions, "suspicions", 0, "how many suspicions there may be of nodes that are up")
	f.BoolVar(&c.Reordering, "reordering", false,
		"let messages of one link arrive in any order (default where the algorithm does not rest on FIFO links)")
	f.Var(&c.timing.Latency, "timing",
		"`distribution` of how long a message takes, constant or uniform (default any)")
	f.Lookup("timing").DefValue = "" // otherwise the help would say 0s
	f.DurationVar(&c.timing.Tick, "tick", c.timing.Tick, "length of a tick, with --timing")
	f.IntVar(&c.Copies, "copies", 0,
		"how many equal messages a link may hold, if the algorithm has timers (default 1 if it tolerates loss)")
	f.IntVar(&c.Timeouts, "timeouts", 0, "how often timers may run out, in all (default any number)")
	f.BoolVar(&c.Demand, "demand", false, "count failures outside the model too")
	addOption(f, option.Find("units"), &c.Config.Units)
	f.Var(&c.Take, "take", "`units` of the resource that a request may take, all of which are tried: "+
		workload.TakeForms)
	f.Lookup("take").DefValue = "" // otherwise the help would say 1 of electors
	f.BoolVar(&c.Config.Fenced, "fenced", false,
		"have the resource demand fence numbers, and refuse writes under a lower one than the highest it has seen")
	addAlgorithmOptions(f, &c.Config, c.Algorithms())
	c.completeOptions(cmd)
	f.IntVar(&c.Depth, "depth", 0, "how many steps to go (default to the end)")
	f.Uint64Var(&c.States, "states", 0, "how many states to see (default all)")
	f.Var(&c.memory, "memory", "how much memory to take")
	f.IntVar(&c.Workers, "workers", 2, "how many processors to use; the result does not depend on it, unless "+
		"--memory stops the exploration")
	f.StringVar(&c.save, "save", "", "`file` for the schedule of the violation")
	f.StringVar(&c.picture, "diagram", "", "`file` for a picture of the violation, as SVG")
	addTitle(f, &c.title)
	f.BoolVar(&c.play, "play", false, "open the violation in the browser, to play it step by step")
	addJSON(f, &c.json)
	addNoProgress(f, &c.noProgress)
	noZero(f, "campaigns", "would let nobody campaign: leave it out for as many as --entries allows")
	noZero(f, "copies", "would lose every message: leave it out for the default")
	noZero(f, "timeouts", "would let no timer run out: leave it out for any number")
	noZero(f, "depth", "would allow no step: leave it out to go to the end")
	noZero(f, "states", "would allow no state: leave it out for all")
	common(f, "algo", "nodes", "entries", "check", "losses", "duplicates", "crashes", "restarts", "timing",
		"depth", "memory", "save", "diagram", "play", "json")
	c.completeFlags(cmd, c.Algorithms())
	completeWith(cmd, "check", c.checks.known())
}

// resolve finds the algorithm, and checks the flags.
func (c *exploreCall) resolve(s settings) (err error) {
	if c.Spec, err = c.findAlgorithm(c.algorithm); err != nil {
		return s.blame(err, "algo")
	}
	if c.Config, err = s.checkOptions(c.known, c.Spec, c.Config); err != nil {
		return err
	}
	c.Memory, c.Checks = uint64(c.memory), c.checks
	if !s.given("reordering") {
		c.Reordering = !c.RestsOnFIFO()
	}
	switch {
	case s.given("timing"):
		c.Timing = &c.timing
	case s.given("tick"):
		return errors.New("--tick: time goes on by ticks only with --timing: add one, such as --timing 1ms")
	}
	if c.Workers < 1 {
		return fmt.Errorf("--workers: %d: it takes at least 1", c.Workers)
	}
	if err := c.checkSave(); err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	if err := checkTitle(c.title, c.picture); err != nil {
		return err
	}
	if c.play {
		if c.page, err = findPage(); err != nil {
			return fmt.Errorf("--play: %w", err)
		}
	}
	if slices.Contains(c.Checks, replay.CheckMinority) && c.Spec.Exclusion().Minority == nil {
		return fmt.Errorf("--check: %s makes no promise about a minority; these do: %s", c.Spec.Name,
			strings.Join(namesOf(c.with(func(one *spec) bool { return one.Exclusion().Minority != nil })), ", "))
	}
	c.Config = c.Spec.Explicit(c.Config)
	return c.hinted(c.Validate())
}

func (c *exploreCall) run(ctx context.Context, a *app) error {
	c.Interrupt = ctx.Done()
	if c.endless() && c.States == 0 && c.Depth == 0 && !c.noProgress {
		fmt.Fprintf(a.stderr, "orchestrator: this may go on until --memory is full: %s\n", boundTimeouts)
	}
	bar := a.newBar(c.noProgress, 0)
	c.Progress = func(p explore.Progress) {
		if p.Last || bar.due() {
			share, bound := c.share(p)
			bar.show(share, c.progressText(p, bound))
		}
	}
	// The exploration counts its live memory alone. Without this limit, garbage would come on top of --memory.
	debug.SetMemoryLimit(int64(c.memory))
	began := time.Now()
	x, err := explore.Run(c.Space)
	elapsed := time.Since(began)
	bar.clear()
	if err != nil {
		return failure{err, check.Inconclusive.ExitCode()}
	}
	switch {
	case x.Violation != nil:
		a.status = check.Violated.ExitCode()
	case !x.Exhausted:
		a.status = check.Inconclusive.ExitCode()
	}
	kept := errors.Join(c.keep(x), c.drawViolation(x.Violation))
	if c.json {
		err = terminal.PrintJSON(a.stdout, c.document(x, elapsed))
	} else {
		c.print(a.stdout, x, elapsed, kept == nil)
		kept = errors.Join(kept, c.playViolation(a, x.Violation))
	}
	if kept != nil { // reported after the result, which must not be lost
		return failure{kept, unwritten}
	}
	return err
}

// checkSave checks that the schedule can be saved, and that saving overwrites nothing but a schedule.
func (c *exploreCall) checkSave() error {
	if c.save == "" {
		return nil
	}
	if err := checkWritable(c.save); err != nil {
		return err
	}
	if info, err := os.Stat(c.save); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if old, err := isSchedule(c.save); err != nil || !old {
		return errors.Join(fmt.Errorf("%s exists and is not a schedule: name another file", c.save), err)
	}
	return nil
}

// checkWritable checks that a file can be made at a path, before a long command begins.
func checkWritable(path string) error {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no folder %s: make it first", dir)
	}
	switch info, err := os.Stat(path); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder: name a file", path)
	case err == nil && !info.Mode().IsRegular():
		return nil
	}
	return results.Probe(dir)
}

// isSchedule reports whether a file is empty, or its first line that is no comment begins a schedule.
func isSchedule(path string) (bool, error) {
	file, err := input.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, mostComments))
	for lines.Scan() {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text != "" {
			return strings.HasPrefix(text, replay.ScheduleStart), nil
		}
	}
	info, err := file.Stat()
	return err == nil && info.Size() == 0, cmp.Or(err, lines.Err())
}

// mostComments bounds the comments above a schedule, in bytes.
const mostComments = 1 << 16

// keep saves the schedule of a violation, with its story below. Without a violation, it removes the schedule
// of an earlier exploration, which could be mistaken for the result of this one.
func (c *exploreCall) keep(x *explore.Result) error {
	if c.save == "" {
		return nil
	}
	if x.Violation == nil {
		return c.removeOld()
	}
	var b bytes.Buffer
	x.Violation.Schedule.WriteTo(&b)
	fmt.Fprintf(&b, "\n----\n%s", replay.Told(x.Violation.Story, x.Violation.Check,
		x.Violation.OutsideModel))
	err := results.WriteFile(c.save, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
	if err != nil {
		return fmt.Errorf("saving the schedule: %w", err)
	}
	return nil
}

func (c *exploreCall) removeOld() error {
	info, err := os.Stat(c.save)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if err := os.Remove(c.save); err != nil {
		return fmt.Errorf("removing the schedule of an earlier exploration: %w", err)
	}
	c.removed = true
	return nil
}

// share returns how near the exploration has come to the nearest of its bounds, 0 to 1, and names that bound.
func (c *exploreCall) share(p explore.Progress) (share float64, bound string) {
	share, bound = float64(p.Bytes)/float64(max(1, c.Memory)), "memory"
	if s := float64(p.States) / float64(c.States); c.States > 0 && s > share {
		share, bound = s, "states"
	}
	if s := float64(p.Depth) / float64(c.Depth); c.Depth > 0 && s > share {
		share, bound = s, "depth"
	}
	return share, c.limit(bound)
}

// progressText describes how far the exploration has come. Nobody knows how large a space is before the end.
func (c *exploreCall) progressText(p explore.Progress, bound string) string {
	text := fmt.Sprintf("depth %d, %s states; per cent of %s, not of the search", p.Depth,
		english.Thousands(float64(p.States)), bound)
	if p.Last {
		text += ": " + c.words().ask
	}
	return text
}

// endless reports whether timers may run out any number of times, so that the exploration may have no end.
func (c *exploreCall) endless() bool {
	_, timed := c.Spec.Machine(c.Config, 0).(nodes.Timed)
	return timed && c.Timeouts == 0 && c.Timing == nil
}

// boundTimeouts is the advice for an endless exploration.
const boundTimeouts = "timers may run out any number of times: --timeouts bounds that, as in --timeouts 2"

// checkNames are the checks of an exploration, as a flag.
type checkNames []string

// known lists the values that the flag takes.
func (*checkNames) known() []string { return append(replay.Checks(), explore.CheckProgress) }

// String lists the checks.
func (c *checkNames) String() string { return strings.Join(*c, ",") }

// Set takes one check, or several with commas between them.
func (c *checkNames) Set(text string) error {
	var all []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(c.known(), name) {
			near := suggest.Nearest(name, c.known())
			if near != "" {
				near = fmt.Sprintf("did you mean %q? ", near)
			}
			return fmt.Errorf("there is no check %q: %sthe checks are %s", name, near, strings.Join(c.known(), ", "))
		}
		all = append(all, explore.Named(name)...)
	}
	*c = all
	return nil
}

// Type names the kind of value, for --help.
func (c *checkNames) Type() string { return "checks" }

var _ pflag.Value = (*checkNames)(nil)

// print prints the result for people.
func (c *exploreCall) print(w io.Writer, x *explore.Result, elapsed time.Duration, kept bool) {
	colors := terminal.PaletteFor(w)
	fmt.Fprintf(w, "%s, %s\n\n", c.Spec.Name, strings.Join(c.spaceTexts(), ", "))
	switch {
	case x.Violation != nil:
		fmt.Fprintf(w, "%s  %s: %s\n\n", colors.Paint(terminal.Red, "BROKEN"), x.Violation.Check, x.Violation.Says)
	case x.Exhausted:
		checked, more := "", c.words().more
		if c.checks != nil {
			checked, more = " that was looked for", ""
		}
		if !c.contended() {
			more = fmt.Sprintf(" (not contended: %s of %s, so nobody waits for another)",
				english.Count(c.Config.N, "client", "clients"),
				english.Count(c.Config.Capacity(), "unit", "units"))
		}
		fmt.Fprintf(w, "%s  nothing%s is wrong in any state%s\n\n", colors.Paint(terminal.Green, "EXHAUSTED"),
			checked, more)
	case x.Bound == "copies":
		fmt.Fprintf(w, "%s  nothing is wrong in any state explored; a message was dropped if its link already "+
			"held %s (--copies)\n\n", colors.Paint(terminal.Yellow, "BOUNDED"),
			english.Count(max(1, c.Copies), "equal message", "equal messages"))
	case x.Bound == "timeouts":
		fmt.Fprintf(w, "%s  nothing is wrong as long as timers run out no more than %s in all (--timeouts)\n\n",
			colors.Paint(terminal.Yellow, "BOUNDED"), english.Count(c.Timeouts, "time", "times"))
	default:
		fmt.Fprintf(w, "%s  nothing is wrong so far; ended by %s\n", colors.Paint(terminal.Yellow, "BOUNDED"),
			c.bound(x))
		if c.endless() {
			fmt.Fprintf(w, "         %s\n", boundTimeouts)
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
		if x.Outside > 0 {
			unless = " inside its model"
		}
		fmt.Fprintf(w, "  progress     %s, in every state%s\n", c.words().can, unless)
	}
	if v := x.FirstOutside; v != nil {
		fmt.Fprintf(w, "  outside its model: %s, the first by %s after %s (%s)\n",
			english.Count(x.Outside, "failure", "failures"), v.Check,
			english.Count(len(v.Schedule.Steps), "step", "steps"), v.OutsideModel.Broken(true))
	}
	if c.removed {
		fmt.Fprintf(w, "\n%s, of an earlier exploration, was removed: nothing was found this time\n", c.save)
	}
	if x.Violation != nil {
		c.printViolation(w, x.Violation, kept && c.save != "")
	}
}

// bound describes what ended the exploration, with advice.
func (c *exploreCall) bound(x *explore.Result) string {
	if x.Bound == "memory" {
		return c.limit(x.Bound) + ": allow more, or explore less"
	}
	return c.limit(x.Bound)
}

// limit returns the flag of a bound with its value; if the bound has no flag, it returns its name.
func (c *exploreCall) limit(bound string) string {
	switch bound {
	case "memory":
		return fmt.Sprintf("--memory %v", c.memory)
	case "states":
		return fmt.Sprintf("--states %d", c.States)
	case "depth":
		return fmt.Sprintf("--depth %d", c.Depth)
	}
	return "an " + bound
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

func (c *exploreCall) words() exploreWords { return kindOf(c.Spec).explored }

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

// contended reports whether clients can wait for each other; it is true for elections, which have no clients.
func (c *exploreCall) contended() bool { return !c.words().waits || c.Take.Contended(c.Config) }

// spaceTexts describes the space that is explored: nodes, options, tasks, checks, faults and timing.
func (c *exploreCall) spaceTexts() []string {
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
		words = append(words, fmt.Sprintf("a latency of %v in ticks of %v", &c.Timing.Latency, c.Timing.Tick))
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
		"violation":    violationDocument(x.Violation), "outside_model": x.Outside,
		"first_outside_model": violationDocument(x.FirstOutside),
	}
	if c.Config.Capacity() > 1 {
		d["take"], d["units_taken_max"] = c.Take, x.MostTaken
	}
	if c.words().waits {
		d["contended"] = c.contended()
	}
	if c.Timing != nil {
		d["latency"], d["tick_s"] = &c.Timing.Latency, c.Timing.Tick.Seconds()
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

// String writes the size in the largest unit that it reaches.
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
	return fmt.Errorf("%q is not an amount of memory: write 512MB or 4GB", text)
}

// Type names the kind of value, for --help.
func (s *size) Type() string { return "size" }

var _ pflag.Value = (*size)(nil)
