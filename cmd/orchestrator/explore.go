package main

import (
	"bufio"
	"bytes"
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

	"turnstile/bench/option"
	"turnstile/internal/english"
	"turnstile/internal/input"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
	"turnstile/nodes/workload"
	"turnstile/results"
)

const exploreHelp = `Go through everything that can happen in a small cluster: every order of deliveries,
timers, choices, requests and releases, and every placing of as many losses, duplicates and crashes as are
allowed. In each state no two clients may be inside, no machine may panic, and nobody may wait for ever.
A violation is told step by step, by a shortest run that shows it; --save keeps it as a schedule that can
be replayed.

Of an elector, each node may be told to campaign at any moment. No two nodes may lead at once or, of a scheme
with terms, in one term; none may go back to a lower term; and in the end those that are up agree on one of
them. Where two may lead for a time, they may not while no message is on its way and no timer runs.

--check says what to look for, such as exclusion alone, so that a deadlock that takes fewer steps does not
hide what else is wrong; progress is deadlock and starvation. Only --check fairness looks whether a request
is passed over more often than the algorithm promises, and only --check minority whether a client enters that
reaches no majority, though the algorithm promises that it does not: they take more states.

A node may crash in the middle of an input: what it has saved and sent by then is, and what it would have
done next is not. With --whole-inputs it crashes between two inputs alone.

What breaks after a fault that the algorithm's assumptions rule out is excused, unless --demand.

A message may take any time, and a timer may run out at any moment, unless --timing bounds them: then time
passes in ticks, messages take the latency that it gives, and timers run out within the range they were
set to.

If the algorithm listens to a failure detector, the exploration speaks in the detector's place: each node
hears of each crash, and of each restart after it, at any moment later; and so often as --suspicions allows,
nodes suspect others that are up, and trust them again.

An algorithm that tries again by timers could fill the links, since a timer may run out as often as it
likes. So of one that has timers and stands losses, a message is lost if an equal one is on its way on its
link, or as many as --copies says; then the space is bounded. Timers and terms without end are bounded by
--timeouts.

A space is exhausted, or bounded by --depth, --states or --memory. That of an algorithm with a counter
that never stops, such as the hops of a token ring, is always bounded.

Exit status: 0 exhausted and clean, 1 a check is broken, 2 bounded and nothing found, 64 bad usage.`

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
	explore.Options
	algorithm string
	checks    checkNames
	timing    replay.Timing
	memory    size
	save      string
	picture   string
	json      bool

	noProgress bool
	removed    bool // a schedule that was saved earlier
}

func (a *app) exploreCommand() *cobra.Command {
	c := exploreCall{memory: defaultMemory(results.ThisMachine()),
		timing: replay.Timing{Tick: time.Millisecond}}
	cmd, _ := a.many(&cobra.Command{
		Use:     "explore",
		Short:   "Try every order of events in a small cluster",
		Long:    exploreHelp,
		Example: exploreExample,
	}, c.resolve, func(ctx context.Context) error { return a.explore(ctx, &c) })
	c.addFlags(cmd)
	completeFlags(cmd)
	completeWith(cmd, "check", c.checks.known())
	return cmd
}

func (c *exploreCall) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.algorithm, "algo", "ricart-agrawala", "the algorithm, by `name` or alias (see list)")
	f.IntVarP(&c.Config.N, "nodes", "n", 2, "how many nodes ask for the critical section, or elect")
	f.IntVar(&c.Entries, "entries", 1, "how often each of them asks, or may be told to campaign")
	f.IntVar(&c.Campaigns, "campaigns", 0,
		"how many campaigns there may be, in all (default as many as --entries allows)")
	f.Var(&c.checks, "check", "what to look for, several with commas (default all but fairness and minority)")
	f.IntVar(&c.Losses, "losses", 0, "how many messages may be lost")
	f.IntVar(&c.Duplicates, "duplicates", 0, "how many messages may arrive twice")
	f.IntVar(&c.Crashes, "crashes", 0, "how many crashes there may be")
	f.BoolVar(&c.Restarts, "restarts", false, "let crashed nodes come up again, with what they saved")
	f.BoolVar(&c.Amnesia, "amnesia", false, "let crashed nodes come up again, without it too")
	f.BoolVar(&c.WholeInputs, "whole-inputs", false,
		"let nodes crash between two inputs alone, and not between the effects of one")
	f.IntVar(&c.Suspicions, "suspicions", 0, "how many suspicions there may be of nodes that are up")
	f.BoolVar(&c.Reordering, "reordering", false,
		"let messages of one link arrive in any order (default where the algorithm does not rest on FIFO links)")
	f.Var(&c.timing.Latency, "timing",
		"`distribution` of how long a message takes, constant or uniform (default any)")
	f.Lookup("timing").DefValue = "" // otherwise the help would say 0s
	f.DurationVar(&c.timing.Tick, "tick", c.timing.Tick, "length of a tick, with --timing")
	f.IntVar(&c.Copies, "copies", 0,
		"how many equal messages one link holds, of an algorithm with timers (default 1 if it stands losses)")
	f.IntVar(&c.Timeouts, "timeouts", 0, "how often timers may run out, in all (default any number)")
	f.BoolVar(&c.Demand, "demand", false, "let faults excuse nothing")
	addOption(f, option.Find("units"), &c.Config.Units)
	f.Var(&c.Take, "take", "`units` of the resource that a request may take, all of which are tried: "+
		workload.TakeForms)
	f.Lookup("take").DefValue = "" // otherwise the help would say 1 of electors
	f.BoolVar(&c.Config.Fenced, "fenced", false,
		"have the resource demand fence numbers, and refuse what is written under a lower one than the highest")
	addAlgorithmOptions(f, &c.Config, catalog.All())
	completeOptions(cmd)
	f.IntVar(&c.Depth, "depth", 0, "how many steps to go (default to the end)")
	f.Uint64Var(&c.States, "states", 0, "how many states to see (default all)")
	f.Var(&c.memory, "memory", "how much memory to take")
	f.IntVar(&c.Workers, "workers", 2, "processors to use; the result is the same, unless --memory ends it")
	f.StringVar(&c.save, "save", "", "`file` for the schedule of what is found wrong")
	f.StringVar(&c.picture, "diagram", "", "`file` for a picture of what is found wrong, as SVG")
	f.BoolVar(&c.json, "json", false, "print one JSON document instead")
	addNoProgress(f, &c.noProgress)
	f.SetNormalizeFunc(longN)
	noZero(f, "campaigns", "would let nobody campaign: leave it out for as many as --entries allows")
	noZero(f, "copies", "would lose every message: leave it out for the default")
	noZero(f, "timeouts", "would let no timer run out: leave it out for any number")
	noZero(f, "depth", "would be no step at all: leave it out to go to the end")
	noZero(f, "states", "would be no state at all: leave it out for all")
}

// resolve finds the algorithm, and checks the flags.
func (c *exploreCall) resolve(s settings) (err error) {
	if c.Spec, err = findAlgorithm(c.algorithm); err != nil {
		return s.blame(err, "algo")
	}
	if c.Config, err = s.checkOptions(c.Spec, c.Config, s.rank("algo")); err != nil {
		return err
	}
	c.Memory, c.Checks = uint64(c.memory), c.checks
	if !s.given("reordering") {
		c.Reordering = !c.restsOnFIFO()
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
	if err := checkPicture("diagram", c.picture); err != nil {
		return err
	}
	if slices.Contains(c.Checks, replay.CheckMinority) && c.Spec.Exclusion().Minority == nil {
		return fmt.Errorf("--check: %s promises nothing of a minority; these do: %s", c.Spec.Name,
			strings.Join(namesOf(rowsWith(func(one *spec) bool { return one.Exclusion().Minority != nil })), ", "))
	}
	c.Config = c.Spec.Explicit(c.Config)
	return hinted(c.Validate())
}

// restsOnFIFO reports whether what is looked for rests on links that keep the order of their messages.
func (c *exploreCall) restsOnFIFO() bool {
	rests := c.Spec.SafeIn(c.Config) | c.Spec.LiveIn(c.Config)
	if slices.Contains(c.Checks, replay.CheckFairness) {
		rests |= c.Spec.Exclusion().Fair
	}
	return rests&nodes.FIFO != 0
}

func (a *app) explore(ctx context.Context, c *exploreCall) error {
	c.Interrupt = ctx.Done()
	bar := a.newBar(c.noProgress, 0)
	c.Progress = func(p explore.Progress) {
		if p.Last || bar.due() {
			bar.show(c.share(p), c.progressText(p))
		}
	}
	// The exploration counts what it holds; this limit collects the garbage that comes on top of it.
	debug.SetMemoryLimit(int64(c.memory))
	began := time.Now()
	x, err := explore.Run(c.Options)
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
	}
	if kept != nil { // the result is printed all the same
		return failure{kept, unwritten}
	}
	return err
}

// checkSave makes sure that what is found can be saved, and that no other file is lost by it.
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
		return errors.Join(fmt.Errorf("%s is there and is no schedule: name another file", c.save), err)
	}
	return nil
}

// checkWritable makes sure that a file can be made at a path, before a command spends its time.
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

// isSchedule reports whether a file begins as schedules do.
func isSchedule(path string) (bool, error) {
	file, err := input.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	line, err := bufio.NewReader(io.LimitReader(file, int64(len(replay.ScheduleStart)))).ReadString('\n')
	if err == io.EOF {
		err = nil
	}
	return line == "" || strings.HasPrefix(line, replay.ScheduleStart), err
}

// keep saves the schedule of a violation, with its story below. If there is none, it removes the schedule
// that an earlier exploration has saved: it would be taken for what this one has found.
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

// share returns how near the exploration has come to the nearest of its bounds, 0 to 1.
func (c *exploreCall) share(p explore.Progress) float64 {
	share := float64(p.Bytes) / float64(max(1, c.Memory))
	if c.States > 0 {
		share = max(share, float64(p.States)/float64(c.States))
	}
	if c.Depth > 0 {
		share = max(share, float64(p.Depth)/float64(c.Depth))
	}
	return share
}

func (c *exploreCall) progressText(p explore.Progress) string {
	text := fmt.Sprintf("depth %d, %s states, %v of %v", p.Depth, english.Thousands(float64(p.States)),
		size(p.Bytes), c.memory)
	if p.Last {
		text += ": " + c.words().ask
	}
	return text
}
