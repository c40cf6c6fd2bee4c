package commands

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"turnstile/bench"
	"turnstile/bench/service"
	"turnstile/bench/study"
	"turnstile/internal/english"
	"turnstile/internal/input"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/results"
)

const huntHelp = `Draw options, loads and plans for services that people use, make a run of each on real
processes, and judge it by the promises in the documentation of the service. A finding is a promise that was
broken although its assumptions held, a long time without an entry though most servers were up, or after
data or messages were lost, two leaders of different terms that nothing explains, a client that died, a run
without an end, a fence number that fell, or an error of ours. At the end findings are run again alone until
one of each kind is confirmed, which is shrunk and printed.

With --client CMD, your own client takes the place of that of the one service that --only names.

With --known, each service has --plans, and the hunt tells after how many of them it found each line of matrix
failures: its measure. The table is recall.csv in the folder of the set.

Given again, the same command goes on from the journal services.jsonl in the folder of the set. Once you have
changed your client, give another --set.

Exit status: 0 nothing is wrong, 1 something is wrong, 2 interrupted, a run was busy or all were inconclusive,
64 bad usage.`

const huntExample = `  orchestrator chaos services
  orchestrator chaos services --plans 3000 --limit 6h --only redis,etcd
  orchestrator chaos services --known --plans 300
  orchestrator chaos services --only redis --client '/usr/bin/python3 mylock.py'`

// A huntCall is one call of chaos services.
type huntCall struct {
	study.Hunt
	client                  string // command of a client of the user's own; empty: the services' own clients
	known, json, noProgress bool
	entries                 map[string]*service.Entry
	// declared is what client declares. It is asked once, before the first run: whatever starts while a program
	// is asked ends with it.
	declared *foreign.Declaration
}

func huntCommand() Command {
	c := &huntCall{}
	c.Plans, c.Workers, c.Tries = 100, 6, 40
	c.Seed, c.Setup.Set = 1, "hunt"
	return Command{
		Name:    "services",
		Short:   "Run services such as etcd and redis under random plans of faults, and judge each run",
		Help:    huntHelp,
		Example: huntExample,
		Options: c.addTo,
		Check:   c.check,
		Notes:   true,
		Ends:    true,
		Run:     c.run,
	}
}

func (c *huntCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&c.Services, "only", nil,
		"only these `services`, with commas between (default all with a program here)")
	f.StringVar(&c.client, "client", "", "`command` of a client of your own for the service of --only")
	f.BoolVar(&c.known, "known", false, "look for the known failures of services, and say which are found")
	f.IntVar(&c.Plans, "plans", c.Plans, "how many plans are drawn; with --known: for each service")
	f.IntVar(&c.First, "first", 0, "the `number` of the first of them, from 0")
	f.DurationVar(&c.Limit, "limit", 0, "no plan begins after this `time` (default no limit)")
	noZero(f, "limit", "would leave no time for any: leave it out for no limit")
	f.IntVar(&c.Workers, "workers", c.Workers, "runs at a time")
	f.IntVar(&c.Tries, "shrink", c.Tries,
		"how many runs it may take to shrink a finding; 0: findings are not shrunk")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "of the random plans and options")
	addSetup(f, &c.Setup, "the runs")
	addJSON(f, &c.json)
	addNoProgress(f, &c.noProgress)
}

// check checks the flags.
func (c *huntCall) check(settings) error {
	switch {
	case c.Plans < 1:
		return fmt.Errorf("--plans: %d: write a number from 1", c.Plans)
	case c.First < 0:
		return fmt.Errorf("--first: %d: plans count from 0", c.First)
	case c.Workers < 1 || c.Workers > 64:
		return fmt.Errorf("--workers: %d: write a number from 1 to 64", c.Workers)
	case c.Limit < 0:
		return fmt.Errorf("--limit: %v: write a length of time, as in 6h", c.Limit)
	case c.Tries < 0:
		return fmt.Errorf("--shrink: %d: write a number from 0", c.Tries)
	}
	if err := c.ask(context.Background()); err != nil {
		return err
	}
	for _, name := range c.Services {
		if c.entries[name] == nil {
			more := ""
			if _, err := serviceProgram(name); err != nil {
				more = fmt.Sprintf(" (%v)", err)
			}
			return fmt.Errorf("--only: no plans are drawn for %q: write one of %s%s", name,
				strings.Join(slices.Sorted(maps.Keys(c.entries)), ", "), more)
		}
	}
	if c.Services = distinct(c.Services); c.client != "" && (len(c.Services) != 1 || c.known) {
		return errors.New("--client takes the place of the client of one service: add --only NAME, and leave out " +
			"--known")
	}
	return checkSet(&c.Setup)
}

// ask asks the programs of services which options are drawn.
func (c *huntCall) ask(ctx context.Context) error {
	c.entries = map[string]*service.Entry{}
	var all []*service.Entry
	for _, s := range ownServices {
		all = append(all, s.Entry())
	}
	for _, name := range []string{"", apart} {
		command, err := serviceProgram(name)
		if err != nil {
			continue // what is not here is not run
		}
		others, err := (&service.Program{Command: command}).Entries(ctx)
		if err != nil {
			return err
		}
		all = append(all, others...)
	}
	for _, e := range all {
		if len(e.Draws) > 0 {
			c.entries[e.Name] = e
		}
	}
	return nil
}

// draws returns the options that are drawn for a service, and beside a client of the user's own those of
// servers.
func (c *huntCall) draws(name string) []service.Draw {
	return slices.DeleteFunc(slices.Clone(c.entries[name].Draws), func(d service.Draw) bool {
		return c.client != "" && !d.Common
	})
}

// subject asks a service for its promises with some options. A client of the user's own promises what it
// declared.
func (c *huntCall) subject(ctx context.Context, name string, words []string, n int) (*study.ServiceSubject,
	error) {
	command, err := serviceProgram(name)
	if err != nil {
		return nil, err
	}
	p, config := &service.Program{Command: command, Name: name, Words: words, OtherClient: c.client},
		nodes.Config{N: n}
	if c.client == "" || c.declared == nil {
		subject, declared, err := declaredBy(ctx, p, config, c.Seed)
		c.declared = declared
		return subject, err
	}
	described, err := p.Describe(ctx)
	if err != nil {
		return nil, err
	}
	return subjectWith(p, described, c.declared, config.With(foreign.ClientOption, c.client))
}

// run makes the runs of plans about services, and prints their findings.
func (c *huntCall) run(ctx context.Context, a *app) error {
	a.onlyRows(c.json)
	h := &c.Hunt
	if err := a.equipFor(&h.Setup, true); err != nil {
		return err
	}
	h.Subject, h.Draws = c.subject, c.draws
	h.Command = c.command
	if h.Client = c.client; h.Client != "" {
		h.Digest = digestOf(c.client)
	}
	if err := c.choose(ctx, a); err != nil {
		return err
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
	h.Told = func(done int, one *study.Hunted) {
		if one.Class == study.HuntFinding {
			findings++
		}
		bar.show(float64(done)/float64(h.Plans), fmt.Sprintf("plan %d of %d, %s", done, h.Plans,
			english.Count(findings, "finding", "findings")))
	}
	interrupted := h.Run(ctx)
	bar.clear()
	if err := unstored(interrupted); err != nil {
		return err
	}
	if c.json {
		all := []*study.Hunted{}
		for _, number := range slices.Sorted(maps.Keys(h.Done)) {
			all = append(all, h.Done[number])
		}
		terminal.PrintJSON(a.document, all)
	}
	if c.known {
		if err := c.recall(a); err != nil {
			return err
		}
	}
	c.print(a, before, time.Since(began))
	if interrupted != nil {
		fmt.Fprintln(a.trouble(), "interrupted: the same command goes on with the plans that are left")
		a.status = cmp.Or(a.status, check.Inconclusive.ExitCode())
	}
	return nil
}

// digestOf returns a digest of the files that a command names. Words that name no file do not count.
func digestOf(command string) string {
	sum := sha256.New()
	for _, word := range strings.Fields(command) {
		if text, err := input.ReadFile(word, input.TableLimit); err == nil {
			sum.Write(text)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}

// command returns the command that repeats a job, without options of the service at their defaults.
func (c *huntCall) command(j *bench.Job, plan string) string {
	o := j.Options
	o.Config.Options = maps.Clone(o.Config.Options)
	for _, d := range c.draws(o.Config.Options[foreign.ServiceOption]) {
		if o.Config.Options[d.Name] == d.Default {
			delete(o.Config.Options, d.Name)
		}
	}
	return commandOf(j.Spec, &o, true, plan)
}

// choose chooses the services that can be run, and the lines of known failures to look for.
func (c *huntCall) choose(ctx context.Context, a *app) error {
	h, asked := &c.Hunt, c.Services != nil
	if !asked {
		h.Services = slices.Sorted(maps.Keys(c.entries))
	}
	for _, name := range slices.Clone(h.Services) {
		if _, err := c.subject(ctx, name, nil, 2); err != nil {
			if asked {
				return err
			}
			fmt.Fprintf(a.stdout, "not run: %s: %v\n", name, err)
			h.Services = slices.DeleteFunc(h.Services, func(other string) bool { return other == name })
		}
	}
	if c.known {
		for _, l := range study.ServiceLines() {
			if slices.Contains(h.Services, l.Service) {
				h.Known = append(h.Known, l)
			}
		}
		h.Services = slices.DeleteFunc(h.Services, func(name string) bool {
			return !slices.ContainsFunc(h.Known, func(l *study.ServiceLine) bool { return l.Service == name })
		})
		h.Plans *= len(h.Services)
	}
	if len(h.Services) == 0 {
		return errors.New("no service can be run: see the lines before, or matrix failures for those of --known")
	}
	return nil
}

// recall writes and prints after how many plans each known failure was found.
func (c *huntCall) recall(a *app) error {
	rows := c.Recall()
	path, err := results.WriteSetTable(c.Setup.Results, c.Setup.Set, results.RecallFile, rows)
	if err != nil {
		return err
	}
	t := terminal.Table{Head: []string{"line", "service", "fails", "found after"}}
	found, fails := 0, 0
	for _, r := range rows {
		after := "-"
		switch {
		case r.Fails == "":
			r.Fails = "nothing fails"
		case r.After > 0:
			after = english.Count(r.After, "plan", "plans")
			found++
			fails++
		default:
			after = fmt.Sprintf("not in %d", r.Plans)
			fails++
		}
		t.Add(r.Line, r.Service, r.Fails, after)
	}
	t.Print(a.stdout)
	fmt.Fprintf(a.stdout, "%d of %d known failures are found. The calls that show them are in %s\n\n", found,
		fails, path)
	return nil
}

// print prints how many plans of each service have which result, then each finding.
func (h *huntCall) print(a *app, before int, took time.Duration) {
	counts := map[string]map[study.HuntClass]int{}
	refused, missed := map[string]int{}, map[string]int{}
	total := map[study.HuntClass]int{}
	for _, one := range h.Done {
		if counts[one.Service] == nil {
			counts[one.Service] = map[study.HuntClass]int{}
		}
		counts[one.Service][one.Class]++
		total[one.Class]++
		if one.Refused > 0 {
			refused[one.Service]++
		}
		if len(one.Missed) > 0 {
			missed[one.Service]++
		}
	}
	t := terminal.Table{Head: []string{"service", "plans", "valid", "outside", "inconclusive", "busy",
		"findings", "refused", "missed"}}
	for _, name := range h.Services {
		n, sum := counts[name], 0
		for _, k := range n {
			sum += k
		}
		t.Add(name, sum, n[study.HuntValid], n[study.HuntOutside],
			n[study.HuntInconclusive], n[study.HuntBusy], n[study.HuntFinding], refused[name], missed[name])
	}
	t.Print(a.stdout)
	fmt.Fprint(a.stdout, `
outside: an assumption of the service's promise did not hold, or matrix failures has these options.
busy: it would be a finding, but the machine was late meanwhile, so that processes may have stood still, or
three runs of it alone did not show it.
refused: a lock was refused while no client was inside
missed: a fault of the plan hit nothing
`)
	h.tell(a, total, before, took)
}

// tell prints each finding and the counts, and sets the exit status.
func (h *huntCall) tell(a *app, total map[study.HuntClass]int, before int,
	took time.Duration) {
	for _, number := range slices.Sorted(maps.Keys(h.Done)) {
		switch one := h.Done[number]; one.Class {
		case study.HuntFinding:
			tellHunted(a.stdout, one)
		case study.HuntBusy:
			fmt.Fprintf(a.stdout, "\nBUSY  plan %d, %s: %s\n", number, one.Service, one.Says)
			if one.Shown != "" {
				fmt.Fprintf(a.stdout, "  %s\n", one.Shown)
			}
			if one.Command != "" {
				fmt.Fprintf(a.stdout, "  run it again: %s\n", one.Command)
			}
		}
	}
	rate := ""
	if made := len(h.Done) - before; made > 0 && took > 0 {
		rate = fmt.Sprintf(", %.1f a minute", float64(made)/took.Minutes())
	}
	found := total[study.HuntFinding]
	unknown := total[study.HuntInconclusive] + total[study.HuntBusy]
	fmt.Fprintf(a.stdout, "\n%s of %d have run with seed %d, %d of them in this call%s.\n",
		english.Count(len(h.Done), "plan", "plans"), h.Plans, h.Seed, len(h.Done)-before, rate)
	fmt.Fprintf(a.stdout, "%s, %d inconclusive or busy, %d outside the model, %d valid.\n",
		english.Count(found, "finding", "findings"), unknown, total[study.HuntOutside],
		total[study.HuntValid])
	switch {
	case found > 0:
		a.status = check.Violated.ExitCode()
	case len(h.Done) == unknown || total[study.HuntBusy] > 0:
		a.status = check.Inconclusive.ExitCode()
	}
}

// tellHunted prints a finding, in its shrunk form if it has one.
func tellHunted(out io.Writer, one *study.Hunted) {
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
