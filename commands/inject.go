package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"turnstile/bench/runs"
	"turnstile/chaos"
	"turnstile/hosts/control"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/internal/unavailable"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/results"
)

const injectHelp = `Inject faults into a run of processes that is going on, from another terminal; list its
faults, or heal one early.

Faults are given as for bench, but --at and the times of a --plan count from now, and --at is now by default.
A fault begins once all nodes know it, and is recorded in run.yaml like any other. inject waits until the
faults have begun, unless they begin later, and prints the nodes that they hit. To stop waiting, press Ctrl-C:
the faults stay in the run.

` + runHelp + `

Exit status: 0 done, 2 if the run takes no more faults, 64 bad usage, 69 if the run is not going on.`

const injectExample = `  orchestrator inject --kill holder
  orchestrator inject latest --cut 0-1/2-4 --for 2s
  orchestrator inject --fault 'delay: 20ms, kind: reply, for: 500ms'
  orchestrator inject --plan split-brain
  orchestrator inject --list
  orchestrator inject --heal 2`

// An injectCall is one call of inject.
type injectCall struct {
	faults  faultFlags
	list    bool
	json    bool // print the list as JSON
	heal    int  // number of the fault to heal; 0: not given
	request *control.Request
	root    string
}

// lasts is how long an injected fault lasts by default.
const lasts = time.Second

func injectCommand() Command {
	c := &injectCall{}
	return Command{
		Name:     "inject [RUN]",
		Short:    "Inject faults into a run that is going on",
		Help:     injectHelp,
		Example:  injectExample,
		Options:  c.addTo,
		Args:     atMostOne,
		Complete: completeRun,
		Check: func(s settings) (err error) {
			c.request, err = c.asked(s)
			return err
		},
		Run: onStored(&c.root, results.Open, c.run),
	}
}

func (c *injectCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.faults.plan, "plan", "",
		"the `plan` of faults, its times counted from now: a built-in one (see plans), or a file")
	c.faults.addFaults(f)
	f.Lookup("at").Usage = "when a fault begins, from now on (default now)"
	f.Lookup("for").Usage = "how long it lasts, or how long a killed process stays down (default 1s; nodes " +
		"and servers stay down for good)"
	f.BoolVar(&c.list, "list", false, "list the faults of the run, with the state of each")
	f.BoolVar(&c.json, "json", false, "with --list: print one JSON document instead")
	f.IntVar(&c.heal, "heal", 0, "heal the fault of this `number` now")
	noZero(f, "heal", "is not the number of a fault: they count from 1, and --list lists them")
	var once []string
	for _, name := range flagNames(f) {
		if name != "help" {
			once = append(once, name)
		}
	}
	forOneCall(cmd, once...)
	f.StringVar(&c.root, "results", "results", "`folder` of all result sets")
	common(f, "plan", "fault", "cut", "kill", "pause", "at", "for", "list", "heal", "json")
	completeFaults(cmd)
}

// asked returns the request that the flags make.
func (c *injectCall) asked(s settings) (*control.Request, error) {
	r := &control.Request{Do: control.Inject}
	if c.faults.plan != "" {
		p, err := readPlan(c.faults.plan, nil)
		if err != nil {
			return nil, fmt.Errorf("--plan: %w", err)
		}
		r.Faults = slices.Clone(p.Faults)
	}
	made := c.faults.made(s, 0, lasts)
	r.Faults = append(r.Faults, made...)
	for _, text := range c.faults.written {
		f, err := chaos.ParseFault(text)
		if err != nil {
			return nil, fmt.Errorf("--fault: %w", err)
		}
		r.Faults = append(r.Faults, f)
	}
	if err := sayOfSome(s, "random", made); err != nil {
		return nil, err
	}
	asked := 0
	for _, is := range []bool{len(r.Faults) > 0, c.list, s.given("heal")} {
		if is {
			asked++
		}
	}
	switch {
	case asked == 0:
		return nil, errors.New("nothing to inject: name a fault, as in --kill random or --cut 0-1/2-4, or a " +
			"--plan; or give --list, or --heal with the number of a fault")
	case asked > 1:
		return nil, errors.New("give only one of: faults to inject, --list, --heal")
	case c.json && !c.list:
		return nil, errors.New("--json is for --list: add it, or leave out --json")
	case c.list:
		r.Do = control.List
	case s.given("heal"):
		r.Do, r.Number = control.Heal, c.heal
	}
	return r, nil
}

// run sends the request to the run in a folder, and prints the reply.
func (c *injectCall) run(ctx context.Context, a *app, folder *results.Folder) error {
	r := c.request
	client, err := dial(folder)
	if err != nil {
		return err
	}
	defer client.Close()
	reply, err := a.askUntilOn(ctx, client, r)
	switch {
	case r.Do == control.List && err == nil:
		return c.listFaults(a, folder, &reply)
	case err == nil && reply.Refused != "" && reply.Wrong:
		return errors.New(reply.Refused)
	case err == nil && reply.Refused != "":
		err = fmt.Errorf("%s takes no faults: %s", folder.Ref(), reply.Refused)
	case err == nil && r.Do == control.Heal:
		return a.awaitFaults(ctx, folder, client, &reply, []int{r.Number}, func(p *chaos.Progress) bool {
			return p.State == chaos.Healed || p.State == chaos.NeverBegan
		})
	case err == nil:
		for _, number := range reply.Numbers {
			if p := progressOf(&reply, number); p != nil {
				fmt.Fprintf(a.stdout, "injected into %s as fault %d: %s\n", folder.Ref(), number, p.Fault)
			}
		}
		later := slices.ContainsFunc(r.Faults, func(f chaos.Fault) bool { return f.At > 0 })
		return a.awaitFaults(ctx, folder, client, &reply, reply.Numbers, func(p *chaos.Progress) bool {
			return p.Began != nil || p.State == chaos.NeverBegan || p.State == chaos.ToCome && later
		})
	}
	return failure{gone(folder, err), check.Inconclusive.ExitCode()}
}

// dial connects to the run in a folder. It is an error if the run is simulated or over.
func dial(folder *results.Folder) (*control.Client, error) {
	record, err := runs.ReadRecord(folder)
	switch {
	case err != nil:
		return nil, failure{err, check.Inconclusive.ExitCode()}
	case record.Simulated:
		return nil, fmt.Errorf("%s is simulated: faults are injected into runs of processes; give simulate "+
			"the faults, or a --plan", folder.Ref())
	case !record.Unfinished():
		return nil, unavailable.Mark(fmt.Errorf("%s is over: no faults can be injected; see its faults: %s",
			folder.Ref(), terminal.CallOn("show", folder.Path)))
	}
	client, err := control.Dial(folder.Path)
	if err != nil {
		return nil, gone(folder, err)
	}
	return client, nil
}

// gone explains the error of a run that cannot be asked, since it has ended.
func gone(folder *results.Folder, err error) error {
	switch {
	case errors.Is(err, control.ErrGone):
		return unavailable.Mark(fmt.Errorf("%s is over: it has just ended, or its orchestrator was killed; %s",
			folder.Ref(), recorded(folder)))
	case errors.Is(err, control.ErrNone):
		return unavailable.Mark(fmt.Errorf("%s cannot be asked: it has just begun or ended, or its folder is in a "+
			"file system without sockets, so that --results must name another", folder.Ref()))
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; what was injected stays in the run")
	}
	return err
}

// askEvery is the time between two requests to a run.
const askEvery = 30 * time.Millisecond

// askUntilOn repeats a request until the run has come far enough to carry it out, or refuses it.
func (a *app) askUntilOn(ctx context.Context, client *control.Client, r *control.Request) (control.Reply,
	error) {
	for told := false; ; told = true {
		reply, err := client.Ask(ctx, *r)
		if err != nil || !reply.Later || r.Do == control.List {
			return reply, err
		}
		if !told {
			fmt.Fprintf(a.stderr, "orchestrator: %s: waiting\n", reply.Refused)
		}
		if err := pause(ctx); err != nil {
			return reply, err
		}
	}
}

// pause waits until the next request is due.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(askEvery):
		return nil
	}
}

// awaitFaults waits until the function enough returns true for each of the faults, and prints their progress.
// first is the reply that named the faults. It is an error if the trial of that reply ends sooner.
func (a *app) awaitFaults(ctx context.Context, folder *results.Folder, client *control.Client,
	first *control.Reply, numbers []int, enough func(*chaos.Progress) bool) error {
	for len(numbers) > 0 {
		reply, err := client.Ask(ctx, control.Request{Do: control.List})
		if err == nil && reply.Trial != first.Trial {
			err = control.ErrGone
		}
		numbers = slices.DeleteFunc(numbers, func(number int) bool {
			p := progressOf(&reply, number)
			if p == nil || !enough(p) {
				return false
			}
			fmt.Fprintf(a.stdout, "fault %d: %s\n", number, progressWords(p))
			return true
		})
		switch {
		case err == nil && reply.Refused != "" && len(numbers) > 0:
			err = fmt.Errorf("it is not known whether the faults have begun: %s", reply.Refused)
		case err == nil && len(numbers) > 0:
			err = pause(ctx)
		}
		if err != nil {
			if errors.Is(err, control.ErrGone) {
				err = fmt.Errorf("the run ended before the faults were known to have begun or ended: see %s",
					terminal.CallOn("show", folder.Path))
			} else if errors.Is(err, context.Canceled) {
				err = errors.New("interrupted; what was injected stays in the run")
			}
			return failure{err, check.Inconclusive.ExitCode()}
		}
	}
	return nil
}

func progressOf(r *control.Reply, number int) *chaos.Progress {
	i := slices.IndexFunc(r.Faults, func(p chaos.Progress) bool { return p.Number == number })
	if i < 0 {
		return nil
	}
	return &r.Faults[i]
}

// progressWords describes the state of a fault, its times, and what it hit.
func progressWords(p *chaos.Progress) string {
	words := []string{p.State}
	if p.Began != nil {
		words[0] += fmt.Sprintf(" since %v", p.Began.Round(time.Millisecond))
		if p.Ended != nil {
			words[0] = fmt.Sprintf("%s, from %v to %v", p.State, p.Began.Round(time.Millisecond),
				p.Ended.Round(time.Millisecond))
		}
	}
	switch {
	case len(p.Nodes) > 0 && p.Began != nil:
		words = append(words, "hit "+nodesText(p))
	case len(p.Nodes) > 0:
		words = append(words, "hits "+nodesText(p))
	case len(p.Brokers) > 0:
		words = append(words, "of broker "+nodes.Group(p.Brokers).String())
	case len(p.Servers) > 0: // the servers are added below
	case p.Began != nil:
		words = append(words, "hit "+english.Count(p.Hits, "message", "messages"))
	}
	if len(p.Servers) > 0 {
		var servers nodes.Group
		for _, i := range p.Servers {
			servers = append(servers, nodes.ID(i))
		}
		words = append(words, "hit server "+servers.String())
	}
	return strings.Join(words, ", ")
}

func nodesText(p *chaos.Progress) string {
	if len(p.Nodes) == 1 {
		return fmt.Sprintf("node %d", p.Nodes[0])
	}
	return "nodes " + nodes.Group(p.Nodes).String()
}

// listFaults lists the faults of a run.
func (c *injectCall) listFaults(a *app, folder *results.Folder, r *control.Reply) error {
	if r.Refused != "" {
		fmt.Fprintf(a.stderr, "orchestrator: %s takes no faults now: %s\n", folder.Ref(), r.Refused)
	}
	if c.json {
		return terminal.PrintJSON(a.stdout, append([]chaos.Progress{}, r.Faults...))
	}
	if len(r.Faults) == 0 {
		fmt.Fprintf(a.stdout, "%s has no faults\n", folder.Ref())
		return nil
	}
	var t terminal.Table
	for i := range r.Faults {
		p := &r.Faults[i]
		t.Add(p.Number, p.Fault, progressWords(p))
	}
	return t.Print(a.stdout)
}
