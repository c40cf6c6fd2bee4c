package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/bench/experiment"
	"turnstile/bench/service"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/results"
)

// A serviceHunt is what a call of chaos with --services makes.
type serviceHunt struct {
	experiment.Hunt
	asked bool
	only  []string // services; none: all
}

// huntSet is the name of its set, unless the user gives one.
const huntSet = "hunt"

// huntFlags are for --services alone, and campaignFlags for all else.
var (
	huntFlags     = []string{"only", "plans", "first", "limit", "workers", "shrink"}
	campaignFlags = []string{"algo", "simulated", "real", "calm", "compare", "receive"}
)

// checkServices says what is wrong with a call with --services, and completes it.
func (c *chaosCall) checkServices(s settings) error {
	x := &c.services
	for _, name := range campaignFlags {
		if s.rank(name) == byFlag {
			return fmt.Errorf("--%s is for algorithms: leave it out, or leave out --services", name)
		}
	}
	switch {
	case x.Plans < 1:
		return fmt.Errorf("--plans: %d: write a number from 1", x.Plans)
	case x.First < 0:
		return fmt.Errorf("--first: %d: plans count from 0", x.First)
	case x.Workers < 1 || x.Workers > 64:
		return fmt.Errorf("--workers: %d: write a number from 1 to 64", x.Workers)
	case x.Limit < 0:
		return fmt.Errorf("--limit: %v: write a length of time, as in 6h, or 0 for none", x.Limit)
	case x.Tries < 0:
		return fmt.Errorf("--shrink: %d: write a number from 0", x.Tries)
	}
	known := experiment.HuntServices()
	for _, name := range x.only {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--only: no plans are drawn for %q: there are %s", name, strings.Join(known, ", "))
		}
	}
	x.Services = distinct(x.only)
	x.Seed, x.Setup = c.Seed, c.Setup
	if !s.given("set") {
		x.Setup.Set = huntSet
	}
	return checkSet(&x.Setup, nil)
}

// subjectNamed asks a service what it promises with some options.
func subjectNamed(ctx context.Context, name string, words []string, n int) (*experiment.ServiceSubject,
	error) {
	program, err := serviceProgram(name)
	if err != nil {
		return nil, err
	}
	subject, _, err := subjectOf(ctx, &service.Program{Command: program, Name: name, Words: words},
		nodes.Config{N: n})
	return subject, err
}

// hunt makes the runs of plans about services, and prints what they show.
func (a *app) hunt(ctx context.Context, c *chaosCall) error {
	h := &c.services.Hunt
	if err := equipFor(&h.Setup, true); err != nil {
		return err
	}
	h.Subject = subjectNamed
	h.Command = func(j *bench.Job, plan string) string { return commandOf(j.Spec, &j.Options, true, plan) }
	if h.Services == nil {
		for _, name := range experiment.HuntServices() {
			if _, err := subjectNamed(ctx, name, nil, 2); err != nil {
				fmt.Fprintf(a.stdout, "not run: %s: %v\n", name, err)
				continue
			}
			h.Services = append(h.Services, name)
		}
		if h.Services == nil {
			return errors.New("no service can be run: see the lines before")
		}
	} else {
		for _, name := range h.Services {
			if _, err := subjectNamed(ctx, name, nil, 2); err != nil {
				return err
			}
		}
	}
	unlock, err := results.LockSet(h.Setup.Results, h.Setup.Set)
	if err != nil {
		return err
	}
	defer unlock()
	if err := h.Read(); err != nil {
		return unreadable(err)
	}
	before, began := len(h.Done), time.Now()
	bar := a.newBarFrom(c.noProgress, time.Minute)
	findings := 0
	h.Told = func(done int, one *experiment.Hunted) {
		if one.Class == experiment.HuntFinding {
			findings++
		}
		bar.show(float64(done)/float64(h.Plans), fmt.Sprintf("plan %d of %d, %s", done, h.Plans,
			english.Count(findings, "finding", "findings")))
	}
	interrupted := h.Run(ctx)
	bar.clear()
	if interrupted != nil && !errors.Is(interrupted, context.Canceled) {
		return failure{interrupted, unwritten}
	}
	a.printHunt(h, before, time.Since(began))
	if interrupted != nil {
		fmt.Fprintln(a.stdout, "interrupted: the same command goes on with the plans that are left")
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	return nil
}

// printHunt prints how many plans show what, and tells each finding.
func (a *app) printHunt(h *experiment.Hunt, before int, took time.Duration) {
	counts := map[string]map[experiment.HuntClass]int{}
	refused := map[string]int{}
	total := map[experiment.HuntClass]int{}
	for _, one := range h.Done {
		if counts[one.Service] == nil {
			counts[one.Service] = map[experiment.HuntClass]int{}
		}
		counts[one.Service][one.Class]++
		total[one.Class]++
		if one.Refused > 0 {
			refused[one.Service]++
		}
	}
	t := terminal.Table{Head: []string{"service", "plans", "valid", "outside", "inconclusive", "busy",
		"findings", "refused"}}
	for _, name := range h.Services {
		n, sum := counts[name], 0
		for _, k := range n {
			sum += k
		}
		t.Add(name, sum, n[experiment.HuntValid], n[experiment.HuntOutside],
			n[experiment.HuntInconclusive], n[experiment.HuntBusy], n[experiment.HuntFinding], refused[name])
	}
	t.Print(a.stdout)
	fmt.Fprintln(a.stdout, `outside: what the service's promise rests on did not hold.
busy: it would be a finding, but the machine was late meanwhile, so that processes may have stood still.
refused: a lock was refused while nobody was inside`)
	a.tellHunt(h, total, before, took)
}

// tellHunt tells each finding, says in the last line how many there are, and sets the exit status.
func (a *app) tellHunt(h *experiment.Hunt, total map[experiment.HuntClass]int, before int,
	took time.Duration) {
	for _, number := range slices.Sorted(maps.Keys(h.Done)) {
		switch one := h.Done[number]; one.Class {
		case experiment.HuntFinding:
			tellHunted(a.stdout, one)
		case experiment.HuntBusy:
			fmt.Fprintf(a.stdout, "\nBUSY  plan %d, %s: %s\n", number, one.Service, one.Says)
			if one.Command != "" {
				fmt.Fprintf(a.stdout, "  run it again: %s\n", one.Command)
			}
		}
	}
	rate := ""
	if made := len(h.Done) - before; made > 0 && took > 0 {
		rate = fmt.Sprintf(", %.1f a minute", float64(made)/took.Minutes())
	}
	found := total[experiment.HuntFinding]
	unknown := total[experiment.HuntInconclusive] + total[experiment.HuntBusy]
	fmt.Fprintf(a.stdout, "\n%s of %d made with seed %d, %d of them now%s.\n",
		english.Count(len(h.Done), "plan", "plans"), h.Plans, h.Seed, len(h.Done)-before, rate)
	fmt.Fprintf(a.stdout, "%s, %d inconclusive or busy, %d outside the model, %d valid.\n",
		english.Count(found, "finding", "findings"), unknown, total[experiment.HuntOutside],
		total[experiment.HuntValid])
	switch {
	case found > 0:
		a.status = check.Violated.ExitCode()
	case len(h.Done) == unknown || total[experiment.HuntBusy] > 0:
		a.status = check.Inconclusive.ExitCode()
	}
}

// tellHunted tells a finding, shrunk if it was.
func tellHunted(out io.Writer, one *experiment.Hunted) {
	fmt.Fprintf(out, "\nFINDING  plan %d, %s: %s\n", one.Plan, one.Service, one.Says)
	if one.Shown != "" {
		fmt.Fprintf(out, "  %s\n", one.Shown)
	}
	if one.Shrunk != nil {
		fmt.Fprintf(out, "  shrunk from %s\n", english.Count(len(one.Faults), "fault", "faults"))
		one = one.Shrunk
	}
	fmt.Fprintf(out, "  %s %s\n", one.Service, strings.Join(one.With, " "))
	for _, f := range one.Faults {
		fmt.Fprintf(out, "  %s\n", f)
	}
	for _, line := range one.Story {
		fmt.Fprintf(out, "    %s\n", line)
	}
	fmt.Fprintf(out, "  run it again: %s\n", one.Command)
}
