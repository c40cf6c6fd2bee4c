package commands

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/bench"
	"turnstile/bench/compare"
	"turnstile/bench/runs"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/english"
	"turnstile/internal/input"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes/foreign"
	"turnstile/nodes/workload"
	"turnstile/option"
	"turnstile/report/text"
	"turnstile/results"
)

const benchHelp = `Run one algorithm or service under one load, or one scheme of election, in a process per
node, and judge what happened. Without --latency, times show what the messages cost this machine's
processors.

Exit status: 0 valid, 1 violated or a --require not met, 2 inconclusive, 3 under- or overloaded,
64 bad usage.`

const loadsHelp = `Loads:
  saturated   every node requests again as soon as it has left (the default)
  closed      every node thinks, asks, holds and releases (implied by --think)
  open        requests fall due at each node at --rate, whether or not the last has ended
  one         only node 0 requests, again and again
  sequential  one request at a time, from a node drawn at random, once no message is on its way

--hold, --think and --latency take a length of time or a distribution of them: 2ms,
uniform:1ms,3ms (from, to), exponential:2ms (mean), normal:2ms,500us (mean, deviation),
log-normal:2ms,9ms (median, 99th percentile), pareto:1ms,20ms (least, 99th percentile) or
measured:1ms,1ms,4ms (draws, each as likely).

Ctrl-C ends a run at once and keeps what was recorded.`

const benchExample = `  orchestrator bench --algo ricart -n 32
  orchestrator bench --algo maekawa -n 9 --load sequential --entries 500
  orchestrator bench --algo bully -n 5 --plan leader-crashes
  orchestrator bench --service redis -n 4 --kill holder --at 1s`

// A benchCall is one call of bench.
type benchCall struct {
	runCommand
	bench.Options // options as the flags ask for them
	Spec          *spec
	Problem       *check.Problem
	Simulated     bool
	job           *bench.Job // made from the options, once they are resolved
	regions       string     // path of the file of regions
	faults        faultFlags
	explain       bool
	picture       string // the file for a picture of the elections that --explain prints
	title         string // the title of this picture
	again         int    // how often a run is made again that is neither valid nor violated
	foreign       foreignFlags
	service       serviceFlags
	setup         runs.Setup
	required      required
	control       controlFlags
	json          bool
	noProgress    bool
}

func benchCommand(k known) Command {
	c := &benchCall{runCommand: anyRuns(k)}
	return Command{
		Name:    "bench",
		Short:   "Run an algorithm under a load, measure it and judge it",
		Help:    benchHelp,
		More:    loadsHelp,
		Example: benchExample,
		Options: c.addTo,
		Check:   c.resolve,
		Run:     c.run,
	}
}

// addTo adds the flags of real runs to a command.
func (c *benchCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	c.addFlags(f)
	f.BoolVar(&c.explain, "explain", false,
		"start nothing; print an election message by message, and another after a crash of the leader")
	f.StringVar(&c.picture, "diagram", "", "`file` for a picture of the elections that --explain prints, as SVG")
	addTitle(f, &c.title)
	f.IntVar(&c.again, "again", 0,
		"make a run again that is neither valid nor violated, as on a busy machine, up to this `number` of times")
	noZero(f, "again", "would change nothing: write a number from 1, or leave it out")
	group(f, option.Running)
	forOneCall(cmd, "explain", "diagram", "title", "again", "require", "junit")
	c.completeFlags(cmd, c.table())
}

// addFlags adds the flags of real runs.
func (c *benchCall) addFlags(f *pflag.FlagSet) {
	c.addRunFlags(f)
	c.addPrograms(f)
	group(f, option.System)
	c.addOptions(f, true)
	c.addControl(f)
	group(f, option.Network)
	f.StringVar(&c.setup.Node, "node-program", "",
		"`path` of the program of a node (default node, beside this program)")
	group(f, option.Running)
}

// addPrograms adds the flags that name a program or a service to run.
func (c *benchCall) addPrograms(f *pflag.FlagSet) {
	c.foreign.add(f)
	c.service.add(f, &c.setup)
}

// addControl adds the flags for the control plane of hosts.
func (c *benchCall) addControl(f *pflag.FlagSet) {
	c.control.add(f)
	f.BoolVar(&c.setup.PlainData, "plain-data", false,
		"let the brokers on hosts do without TLS, though the control plane uses it")
}

// setDefaults sets the options to what they are without flags.
func (c *benchCall) setDefaults() {
	c.Patience, c.Config.N, c.Resources, c.Brokers, c.Trials = 3*time.Second, c.nodes, 1, 1, 1
	c.Duration, c.Workload.Hold = 3*time.Second, chance.Constant(100*time.Microsecond)
	c.Algorithm = c.algorithm
	c.setup.Results, c.setup.Set = "results", cmp.Or(c.setup.Set, "bench")
}

// addRunFlags adds the flags of real and simulated runs. The default of a flag is the value that its variable
// already has.
func (c *benchCall) addRunFlags(f *pflag.FlagSet) {
	c.setDefaults()
	f.Var(&algorithmFlag{&c.Algorithm, c.known}, "algo",
		"algorithm or scheme of election, by `name` or alias (see list)")
	common(f, "algo")
	group(f, option.System)
	c.addOptions(f, false)
	addAlgorithmOptions(f, &c.Config, c.table())
	f.StringVar(&c.setup.Results, "results", c.setup.Results, "`folder` of all result sets")
	f.StringVar(&c.setup.Set, "set", c.setup.Set, "`name` of the result set that the run belongs to")
	f.BoolVar(&c.json, "json", false, "print one JSON document instead of the summary")
	c.required.add(f)
	addNoProgress(f, &c.noProgress)
	common(f, "set", "json")
	group(f, outputFlags)
}

// addOptions adds the flags of the options that the runs of the command may have: options of real runs only
// if real is set, else all others.
func (c *benchCall) addOptions(f *pflag.FlagSet, real bool) {
	for _, o := range option.Table {
		switch {
		case o.Real != real || !c.mayHave(o):
		case o.Name == "plan":
			c.faults.add(f)
			group(f, faultGroup)
			common(f, "plan", "kill")
		case o.Name == "regions":
			addOption(f, o, &c.regions)
		case !o.Elsewhere:
			addOption(f, o, o.Of(&c.Options))
		}
	}
}

// mayHave reports whether some run of the command may have an option.
func (c *runCommand) mayHave(o *option.Option) bool {
	return slices.ContainsFunc(c.problems, func(p *check.Problem) bool { return o.Is(p.Load) })
}

// resolve works out the job that the flags ask for. If two flags contradict each other, the flag of the
// higher rank wins; for example, the command line wins over a file. If their ranks are equal, it is an error.
func (c *benchCall) resolve(s settings) error {
	if err := cmp.Or(c.required.parse(), checkSet(&c.setup)); err != nil {
		return err
	}
	algo, err := c.algorithmOf(s)
	if err != nil {
		return err
	}
	c.Spec, c.Problem = algo, check.ProblemOf(algo)
	if !slices.Contains(c.problems, c.Problem) {
		return s.blame(fmt.Errorf("%s %s: %s", algo.Name, c.Problem.Misplaced, c.Problem.Instead), "algo")
	}
	if err := c.resolveDemand(s); err != nil {
		return s.blame(err, "algo", "load", "think", "rate", "arrivals")
	}
	c.resolveEnd(s, &c.Options)
	if err := c.checkControl(s); err != nil {
		return err
	}
	if err := c.resolveRegions(s); err != nil {
		return err
	}
	if !s.given("seed") {
		c.Seed = uint64(rand.Uint32()) // a short seed can be read aloud
	}
	if c.Config, err = s.checkOptions(c.known, c.Spec, c.Config); err != nil {
		return err
	}
	if c.Hosts > 0 && c.NATS == "" && !s.given("brokers") {
		c.Brokers = c.Hosts // one broker on each host
	}
	draft, _ := bench.NewDraft(c.Table, c.Options, c.Spec, c.Simulated) // a later Resolve returns the same error
	o, scene := draft.Options, draft.Scene()
	if o.Plan, o.Faults, err = c.faults.resolve(s, scene); err != nil {
		return err
	}
	if scene.Measured != o.Duration { // the plan has set a duration
		o.Duration = scene.Measured
		c.resolveEnd(s, o)
	}
	o.Brokers = scene.Brokers
	if !c.Spec.Broadcasts(o.Config) && s.below("multicast", "algo") { // --multicast is for other runs
		o.Multicast = false
	}
	if c.job, err = draft.Resolve(); err == nil {
		c.Options = c.job.Options
	}
	return s.blame(c.hinted(err))
}

// checkControl returns an error for flags of the control plane that would do nothing, since the run has no
// hosts or no control plane.
func (c *benchCall) checkControl(s settings) error {
	switch {
	case s.typed("control") && c.Hosts == 0:
		return errors.New("--control is for runs on hosts, and this run has no hosts: add how many, as in " +
			"--hosts 4, or leave it out for this machine alone")
	case s.typed("key") && c.control.url == "":
		return errors.New("--key is for the control plane, and this run has no control plane: add its URL, as " +
			"in --control tls://control:4222")
	}
	return nil
}

// algorithmOf returns what the run is about, as an Algorithm: an algorithm, a service or a foreign program.
func (c *benchCall) algorithmOf(s settings) (*spec, error) {
	algo, err := c.Find(c.Algorithm)
	if err == nil && !slices.Contains(c.problems, check.ProblemOf(algo)) && !s.typed("algo") {
		delete(s, "algo") // a file or variable set --algo for other runs
		c.Algorithm = c.algorithm
	}
	if used, err := c.useService(s); used || err != nil {
		return c.Spec, s.blame(err, foreign.ServiceOption)
	}
	if used, err := c.useForeign(s); used || err != nil {
		return c.Spec, s.blame(err, foreign.ProgramOptions...)
	}
	if algo, err = c.Find(c.Algorithm); err != nil {
		_, err = c.find(c.known, c.Algorithm)
	}
	return algo, s.blame(err, "algo")
}

// resolveRegions reads the file of regions, if there is one.
func (c *benchCall) resolveRegions(s settings) error {
	if c.regions == "" {
		return nil
	}
	if !s.given("latency") {
		c.Latency = chance.Distribution{}
	}
	text, err := input.Read(c.regions)
	if err != nil {
		return fmt.Errorf("--regions: %w", err)
	}
	if c.Regions, err = chaos.ReadRegions(bytes.NewReader(text)); err != nil {
		return fmt.Errorf("--regions: %s: %w", input.Name(c.regions), err)
	}
	return nil
}

// resolveEnd works out whether time or entries end the run.
func (c *benchCall) resolveEnd(s settings, o *bench.Options) {
	if s.given("entries") && !s.given("duration") {
		o.Duration = 0
	}
	if o.Entries == 0 && !s.given("warmup") && option.Find("warmup").Is(c.Problem.Load) {
		o.Warmup, o.WarmupLimit = min(o.Duration/10, time.Second), option.WarmupLimit
	}
}

// exitStatus returns the exit status of a run that ended with err, which may be nil.
func exitStatus(r *runs.Run, err error) int {
	outcome := r.Outcome()
	if err != nil {
		outcome = max(outcome, check.Inconclusive)
	}
	return outcome.ExitCode()
}

// A runCommand has the differences between the commands that make runs: bench, simulate and elect.
type runCommand struct {
	known
	algorithm string // default algorithm
	nodes     int    // default number of nodes
	find      func(k known, name string) (*spec, error)
	problems  []*check.Problem // the problems that its runs may be about
}

// electable are the problems that runs of elect may be about.
var electable = []*check.Problem{check.Election}

// anyRuns returns the runCommand of bench and simulate.
func anyRuns(k known) runCommand {
	return runCommand{k, "ricart-agrawala", 8, known.findAlgorithm, check.Problems}
}

// electRuns returns the runCommand of elect.
func electRuns(k known) runCommand {
	return runCommand{k, "bully", 5, known.findElector, electable}
}

// realRuns returns the runCommand of bench or elect, by name.
func realRuns(k known, command string) runCommand {
	if command == "elect" {
		return electRuns(k)
	}
	return anyRuns(k)
}

// table returns the algorithms that the command takes.
func (c *runCommand) table() []*spec {
	return c.with(func(algo *spec) bool { return slices.Contains(c.problems, check.ProblemOf(algo)) })
}

// resolveDemand works out the load. On the command line, it refuses options that this problem's runs do not
// have. If a file or variable sets such options, it drops them, since these serve other runs too.
func (c *benchCall) resolveDemand(s settings) error {
	var extra []string
	for _, o := range option.Table {
		if o.Is(c.Problem.Load) {
			continue
		}
		if s.typed(o.Name) {
			extra = append(extra, "--"+o.Name)
		}
		o.Reset(&c.Options)
	}
	if len(extra) > 0 {
		return fmt.Errorf("%s %s: leave out %s", c.Spec.Name, c.Problem.Misplaced, strings.Join(extra, ", "))
	}
	w := &c.Workload
	w.Load = cmp.Or(w.Load, c.Problem.Load)
	if !option.Find("load").Is(c.Problem.Load) {
		return nil
	}
	implications := []struct {
		flag string
		load workload.Load
		drop func()
	}{
		{"think", workload.Closed, func() { w.Think = chance.Distribution{} }},
		{"rate", workload.Open, func() { w.Rate = 0 }},
		{"arrivals", workload.Open, func() { w.Evenly = false }},
	}
	top := s.rank("load")
	for _, i := range implications {
		if s.rank(i.flag) > top {
			w.Load, top = i.load, s.rank(i.flag)
		}
	}
	if _, err := workload.ParseLoad(string(w.Load)); err != nil {
		return fmt.Errorf("--load: %w", err)
	}
	for _, i := range implications {
		switch {
		case !s.given(i.flag) || w.Load == i.load:
		case s.rank(i.flag) < top:
			i.drop()
		default:
			return fmt.Errorf("--%s is for a load that is %s, and this load is %s: leave out one of the two",
				i.flag, i.load, w.Load)
		}
	}
	if w.Load == workload.Open && !s.given("rate") {
		return errors.New("an open load takes --rate, the requests per second of each node")
	}
	if err := w.CheckRate(); err != nil {
		return fmt.Errorf("--rate: %w", err)
	}
	return nil
}

// run makes the run, again if it shows nothing and --again says so. It shows its progress, and reports on it.
func (c *benchCall) run(ctx context.Context, a *app) error {
	switch err := c.checkExplained(); {
	case err != nil:
		return err
	case c.explain:
		return c.tellElections(a.stdout)
	case c.again < 0 || c.again > 0 && c.json:
		return errors.New("--again takes a number from 1, and is not for --json, which prints one run")
	}
	for left := c.again; ; left-- {
		_, err := c.make(ctx, a)
		shown := a.status == check.Valid.ExitCode() || a.status == check.Violated.ExitCode()
		if err != nil || shown || left == 0 || ctx.Err() != nil {
			return err
		}
		fmt.Fprintf(a.stderr, "\norchestrator: the run is made again, as --again says\n")
	}
}

// make does what run does, and returns the run; nil: it did not begin.
func (c *benchCall) make(ctx context.Context, a *app) (*runs.Run, error) {
	r, err := c.begin(ctx, a)
	if r == nil {
		return nil, err
	}
	if err := c.tell(a, r, err); err != nil {
		return r, err
	}
	return r, c.required.writeJUnit(r, err, c.judgeRequired(a, r))
}

// begin makes the run, and shows its progress.
func (c *benchCall) begin(ctx context.Context, a *app) (*runs.Run, error) {
	a.equip(&c.setup)
	c.setup.Control, c.setup.ControlKey = c.control.url, c.control.key
	out := text.New(a.stdout)
	bar := a.newBar(c.noProgress, c.takes())
	begun := false
	c.setup.Progress = func(p runs.Progress) {
		if !begun && !c.json {
			out.Header(c.job, results.ThisMachine())
		}
		begun = true
		bar.show(p.Done, progressText(p, c.Trials))
	}
	c.setup.OnTrial = func(t *runs.TrialResult) {
		bar.clear()
		if !c.json && c.Trials > 1 {
			out.Trial(&t.Row, 1)
		}
	}
	r, err := runs.Make(ctx, c.job, c.setup)
	a.checkDisk(err)
	bar.clear()
	if r != nil && !begun && !c.json {
		out.Header(c.job, results.ThisMachine())
	}
	return r, err
}

// takes returns how long a real run takes at least; 0: not known in advance.
func (c *benchCall) takes() time.Duration {
	if c.Simulated || c.Entries > 0 {
		return 0
	}
	return time.Duration(c.Trials) * (c.Warmup + c.Duration)
}

// tell reports on a run that ended with err, which may be nil.
func (c *benchCall) tell(a *app, r *runs.Run, err error) error {
	if c.json {
		if err := text.JSON(a.stdout, r.Summary()); err != nil {
			return failure{err, exitStatus(r, err)}
		}
	} else {
		text.New(a.stdout).Summary(r.Summary())
	}
	a.status = exitStatus(r, err)
	if err != nil && !told(r, err) {
		fmt.Fprintf(a.stderr, "orchestrator: %v\n", err)
	}
	return nil
}

// progressText describes in one line how far a run of so many trials has come.
func progressText(p runs.Progress, trials int) string {
	text := p.Phase
	if trials > 1 {
		text = fmt.Sprintf("trial %d of %d: %s", p.Trial, trials, p.Phase)
	}
	if p.Entries > 0 {
		text += fmt.Sprintf(", %s entries", english.Thousands(float64(p.Entries)))
	}
	if p.PerSecond > 0 {
		text += fmt.Sprintf(", %s/s", english.Thousands(p.PerSecond))
	}
	return text
}

// told reports whether err is already the Trouble of the last trial of r.
func told(r *runs.Run, err error) bool {
	n := len(r.Trials)
	return n > 0 && r.Trials[n-1].Trouble == err.Error()
}

// required are the conditions of --require on the figures of every trial, and the file of --junit.
type required struct {
	texts []string
	all   []compare.Requirement
	junit string
}

// A condition is a condition of --require that was judged.
type condition struct {
	text, says string
	outcome    check.Outcome
}

// add adds the flags --require and --junit.
func (r *required) add(f *pflag.FlagSet) {
	f.StringArrayVar(&r.texts, "require", nil, "a `condition` on a figure of each trial or "+
		"fault, as in 'wait_us_p99<50ms' or 'next_entry_s<2s'; if it fails, the exit status is 1; may be "+
		"given several times")
	f.StringVar(&r.junit, "junit", "", "write the verdict of each trial and of each condition to a `file` of "+
		"JUnit's XML")
}

// parse reads the conditions that --require was given. It makes the file of --junit: empty, it is no success.
func (r *required) parse() error {
	for _, text := range r.texts {
		one, err := compare.ParseRequirement(text)
		if err != nil {
			return fmt.Errorf("--require: %w", err)
		}
		r.all = append(r.all, one)
	}
	if r.junit != "" {
		if err := os.WriteFile(r.junit, nil, 0o644); err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	return nil
}

// judgeRequired prints and returns whether the trials meet each condition. A condition that is not met makes
// the run fail; one that is met never improves its exit status.
func (c *benchCall) judgeRequired(a *app, r *runs.Run) (judged []condition) {
	out := a.stdout
	if c.json {
		out = a.stderr
	}
	colors := terminal.PaletteFor(out)
	var rows []results.Row
	var faults []results.FaultRow
	for _, t := range r.Trials {
		rows, faults = append(rows, t.Row), append(faults, t.Faults...)
	}
	for i, one := range c.required.all {
		outcome, says := one.Judge(rows, faults)
		judged = append(judged, condition{c.required.texts[i], says, outcome})
		title, color := "MET", terminal.Green
		switch outcome {
		case check.Violated:
			title, color = "NOT MET", terminal.Red
			a.status = outcome.ExitCode()
		case check.Inconclusive:
			title, color = "NOT KNOWN", terminal.Yellow
			if a.status == check.Valid.ExitCode() {
				a.status = outcome.ExitCode()
			}
		}
		fmt.Fprintf(out, "%s  %s\n", colors.Paint(color, title), strings.TrimSpace(says))
	}
	return judged
}

// commandOf returns the command that makes a run with these options under a plan, quoted for a shell. It
// lacks --server-program, since no record has that path.
func commandOf(algo *spec, o *bench.Options, real bool, plan string) string {
	return terminal.Invoked() + " " + strings.Join(bench.Words(algo, o, real, plan), " ")
}
