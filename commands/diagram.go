package commands

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/bench/runs"
	"turnstile/chaos/effect"
	"turnstile/internal/english"
	"turnstile/internal/input"
	"turnstile/judge/check"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
	"turnstile/report/diagram"
	"turnstile/results"
)

const diagramHelp = `Draw the events of a small run, or of a part of one, as an SVG: a line for each node,
time to the right, an arrow for each message, critical sections and leadership as bars, faults, and
violations.

` + runHelp + ` It may also be the path of a schedule, as explore
--save writes it. A picture too crowded to read is refused, with a window of time that can be drawn.

A simulated run is made again, so that all of its messages are known. A real run stores the latest messages of
each node, and those before a violation; bench --trace keeps up to a million of each.

Exit status: 0, 2 if the run cannot be read, 64 bad usage.`

const diagramExample = `  orchestrator diagram --out run.svg
  orchestrator diagram latest --from 300ms --to 310ms --nodes 0-3 --out part.svg
  orchestrator diagram latest --around violation --out violation.svg
  orchestrator diagram naive.txt --out naive.svg
  orchestrator diagram waits latest --out stall.svg`

// A pictureCall has the settings that diagram and diagram waits share.
type pictureCall struct {
	known
	root  string
	trial int
	out   string
	title string
}

// addTo adds the flags that both commands have.
func (c *pictureCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.root, "results", "results", "`folder` of all result sets")
	f.IntVar(&c.trial, "trial", 1, "draw this trial")
	f.StringVar(&c.out, "out", "", "`file` for the picture (default it is printed)")
	addTitle(f, &c.title)
	noZero(f, "trial", "is not a trial: they count from 1")
	forOneCall(cmd, "trial", "out", "title")
}

// addTitle adds the flag for the title of a picture.
func addTitle(f *pflag.FlagSet, title *string) {
	f.StringVar(title, "title", "", "write this `text` above the picture, in letters for a slide")
}

// A diagramCall is one call of diagram.
type diagramCall struct {
	pictureCall
	from, to time.Duration
	nodes    nodes.Group
	around   string
	fault    uint32 // the number of the fault that --around names; 0: it names none
	beats    bool
	instead  string // what to do if the picture would be too crowded; empty: choose a part of the run
}

// A subject is what is drawn: a stored run, or a schedule.
type subject struct {
	folder   *results.Folder
	path     string // path of the schedule
	schedule *replay.Schedule
}

// openSubject opens the run or schedule that a reference names.
func (k known) openSubject(root, ref string) (*subject, error) {
	if is, err := isSchedule(ref); err == nil && is {
		schedule, err := k.readSchedule(ref)
		return &subject{path: ref, schedule: schedule}, err
	}
	folder, err := results.Open(root, ref)
	return &subject{folder: folder}, err
}

// readSchedule reads the schedule in a file.
func (k known) readSchedule(path string) (*replay.Schedule, error) {
	text, err := input.Read(path)
	if err != nil {
		return nil, err
	}
	schedule, err := replay.Parse(bytes.NewReader(text), k.Find)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return schedule, nil
}

func diagramCommand(k known) Command {
	c := &diagramCall{pictureCall: pictureCall{known: k}}
	return Command{
		Name:     "diagram [RUN | SCHEDULE]",
		Short:    "Draw the events of a run or a schedule",
		Help:     diagramHelp,
		Example:  diagramExample,
		Options:  c.addTo,
		Args:     atMostOne,
		Complete: completeRun,
		Check:    c.check,
		Run:      onStored(&c.root, c.openSubject, c.run),
		Below:    []Command{waitsCommand(k)},
	}
}

func (c *diagramCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	c.pictureCall.addTo(cmd)
	f.DurationVar(&c.from, "from", 0, "draw from this `time` of the run on (default its beginning)")
	f.DurationVar(&c.to, "to", 0, "draw until this `time` of the run (default its end)")
	f.Var(&textFlag{&c.nodes, &effect.Key{Value: "nodes"}}, "nodes",
		"draw these `nodes` alone, as in 0-2,5 (default all)")
	f.StringVar(&c.around, "around", "", "draw only what led to a `violation`, or what a fault did: 'fault 1'")
	f.BoolVar(&c.beats, "heartbeats", false, "draw the messages of failure detectors as well")
	noZero(f, "to", "would draw nothing: leave it out for all until the end")
	forOneCall(cmd, "from", "to", "nodes", "around", "heartbeats")
	completeWith(cmd, "around", []string{"violation", "fault 1"})
}

// check checks the flags.
func (c *diagramCall) check(s settings) error {
	if number, is := strings.CutPrefix(c.around, "fault "); is {
		fault, err := strconv.ParseUint(number, 10, 32)
		if err != nil || fault == 0 {
			return fmt.Errorf("--around: %q is no number of a fault: they count from 1, as in --around 'fault 1'",
				number)
		}
		c.fault = uint32(fault)
	} else if c.around != "" && c.around != "violation" {
		return fmt.Errorf("--around: there is no %q: write violation, or a fault by its number, as in 'fault 1'",
			c.around)
	}
	switch {
	case c.around != "" && (s.given("from") || s.given("to")):
		return errors.New("--around: it chooses the time itself: leave out --from and --to")
	case c.from < 0 || c.to < 0:
		return errors.New("--from and --to: times of a run count from its beginning: write 0s or later")
	case s.given("to") && c.to <= c.from:
		return fmt.Errorf("--to: %v is not after --from, %v", c.to, c.from)
	}
	return checkPicture("out", c.out)
}

// checkPicture checks that a picture can be written to the path that a flag names; empty: no picture.
func checkPicture(flag, path string) error {
	if path == "" {
		return nil
	}
	if err := checkWritable(path); err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return nil
}

// drawViolation draws the violation that an exploration has found, if --diagram names a file.
func (c *exploreCall) drawViolation(v *explore.Violation) error {
	if v == nil || c.picture == "" {
		return nil
	}
	d := diagramCall{pictureCall: pictureCall{out: c.picture, title: c.title},
		instead: "write the schedule to a file by --save, and draw a part of it by the command diagram"}
	return d.drawInto(v.Says, v.Schedule)
}

// drawInto draws a schedule into the file that --diagram names.
func (c *diagramCall) drawInto(name string, schedule *replay.Schedule) error {
	picture, err := c.drawSchedule(name, schedule)
	if err != nil {
		return fmt.Errorf("--diagram: %w", err)
	}
	return writePicture(c.out, picture)
}

// checkTitle checks that --title has a picture, which --diagram names.
func checkTitle(title, picture string) error {
	if title != "" && picture == "" {
		return errors.New("--title is written above a picture: add --diagram with a file for it")
	}
	return checkPicture("diagram", picture)
}

// run draws a run or a schedule.
func (c *diagramCall) run(ctx context.Context, a *app, of *subject) error {
	var picture string
	var err error
	if of.schedule != nil {
		picture, err = c.drawSchedule(of.path, of.schedule)
	} else {
		picture, err = c.drawRun(ctx, of.folder)
	}
	if err != nil {
		return err
	}
	return c.give(a, picture)
}

// give writes a picture to the file that the user names, or prints it.
func (c *pictureCall) give(a *app, picture string) error {
	if c.out == "" {
		_, err := io.WriteString(a.stdout, picture)
		return err
	}
	return writePicture(c.out, picture)
}

// writePicture writes a picture to a file.
func writePicture(path, picture string) error {
	err := results.WriteFile(path, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader([]byte(picture)))
		return err
	})
	if err != nil {
		return failure{err, unwritten}
	}
	return nil
}

// window returns the window that the flags ask for.
func (c *diagramCall) window() section.Window {
	w := section.Window{From: int64(c.from), To: int64(c.to)}
	if c.to == 0 {
		w.To = math.MaxInt64
	}
	return w
}

// drawSchedule draws what happens when a schedule is played. The name is that of the schedule, such as its
// path.
func (c *diagramCall) drawSchedule(name string, schedule *replay.Schedule) (string, error) {
	played, err := replay.Play(schedule)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	title := schedule.Spec.Name + ", " + name
	if v := played.Violation; v != nil {
		title = schedule.Spec.Name + ": " + v.Says
	}
	fault := played.Cuts.Fault
	return c.draw(title, played.Stack, true, fault, func(w section.Window) (*spacetime.Extract, error) {
		fold := spacetime.New(played.History.Header(), played.Stack, w)
		played.History.Run(fold)
		return &fold.Extract, nil
	})
}

// openPast opens a trial of a stored run. Its errors are about the run, or about --trial.
func (k known) openPast(folder *results.Folder, trial int) (*runs.Past, error) {
	past, err := runs.OpenPast(k.Table, folder, trial)
	switch {
	case errors.As(err, new(runs.NoTrial)):
		return nil, fmt.Errorf("--trial: %w", err)
	case errors.Is(err, fs.ErrNotExist):
		err = withoutRecord(folder, err)
	}
	if err != nil {
		return nil, failure{err, check.Inconclusive.ExitCode()}
	}
	return past, nil
}

// open opens the trial of a run that the flags name, and returns the title of its picture.
func (c *pictureCall) open(folder *results.Folder) (past *runs.Past, title string, err error) {
	if past, err = c.openPast(folder, c.trial); err != nil {
		return nil, "", err
	}
	if title = folder.Ref(); past.Trials > 1 {
		title += fmt.Sprintf(", trial %d", c.trial)
	}
	return past, title, nil
}

// drawRun draws a trial of a stored run.
func (c *diagramCall) drawRun(ctx context.Context, folder *results.Folder) (string, error) {
	past, title, err := c.open(folder)
	if err != nil {
		return "", err
	}
	return c.draw(title, past.Stack, false, past.Fault, func(w section.Window) (*spacetime.Extract, error) {
		x, err := past.Extract(ctx, w, true)
		if err != nil {
			err = failure{err, check.Inconclusive.ExitCode()}
		}
		return x, err
	})
}

// draw draws the window that the flags ask for. extract returns the events in a window. It refuses nodes that
// do not exist, or too many nodes, before it reads any event.
func (c *diagramCall) draw(title string, stack *algorithm.Stack, steps bool, fault func(uint32) string,
	extract func(section.Window) (*spacetime.Extract, error)) (string, error) {
	if err := c.nodes.Check(stack.Total()); err != nil {
		return "", fmt.Errorf("--nodes: %w", err)
	}
	count := len(c.nodes)
	if c.nodes == nil {
		count = stack.Total()
	}
	if err := diagram.CheckNodes(count); err != nil {
		return "", err
	}
	window := c.window()
	if c.around != "" {
		window = section.Window{To: math.MaxInt64}
	}
	x, err := extract(window)
	if err != nil {
		return "", err
	}
	if c.around != "" {
		if window, err = c.windowAround(x); err != nil {
			return "", err
		}
		if x, err = extract(window); err != nil {
			return "", err
		}
	}
	if x.Window.From > x.End {
		return "", fmt.Errorf("--from: %v is after the end of the run, %v", time.Duration(x.Window.From),
			time.Duration(x.End))
	}
	x.Window.To = min(x.Window.To, x.End)
	return diagram.Draw(x, diagram.Options{Title: cmp.Or(c.title, title), Slide: c.title != "", Played: steps,
		Nodes: c.nodes, Heartbeats: c.beats, Fault: fault, Instead: c.instead})
}

// windowAround returns the window around what --around names, given the extract of the whole run.
func (c *diagramCall) windowAround(x *spacetime.Extract) (section.Window, error) {
	if c.fault == 0 {
		if x.First == nil {
			return section.Window{}, errors.New("--around: the history shows no violation: see the findings of verify")
		}
		return diagram.Around(x, *x.First), nil
	}
	var took nodes.Group
	for _, f := range x.Faults {
		if f.Number == c.fault {
			return diagram.AroundFault(x, f), nil
		}
		took = append(took, nodes.ID(f.Number))
	}
	if len(took) == 0 {
		return section.Window{}, errors.New("--around: no fault took place: leave it out for the whole run")
	}
	slices.Sort(took)
	return section.Window{}, fmt.Errorf("--around: fault %d did not take place: the run had %s, %s", c.fault,
		english.Count(len(took), "fault", "faults"), took.Short())
}
