package commands

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"turnstile/judge/check"
	"turnstile/judge/section"
	"turnstile/judge/spacetime"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
	"turnstile/nodes/stall"
	"turnstile/report/diagram"
)

const waitsHelp = `Draw the wait-for graph of the nodes: in the stored stall of a run, or after the last
step of a schedule. A circle of waiting nodes is red. If clients wait for a token, the picture says where it
is. The sides of a cut that was in force while they waited have a color each.

` + runHelp + ` It may also be the path of a schedule, as explore --save writes it.

Exit status: 0, 2 if the run cannot be read, 64 bad usage or no stall is stored.`

const waitsExample = `  orchestrator diagram waits
  orchestrator diagram waits deadlock.txt --out waits.svg`

// A waitsCall is one call of diagram waits.
type waitsCall struct{ pictureCall }

// A stalled is a stall that is drawn.
type stalled struct {
	diagram.WaitOptions
	reports stall.Reports
}

func waitsCommand(k known) Command {
	c := &waitsCall{pictureCall{known: k}}
	return Command{
		Name:     "waits [RUN | SCHEDULE]",
		Short:    "Draw the wait-for graph of a stall",
		Help:     waitsHelp,
		Example:  waitsExample,
		Options:  c.addTo,
		Args:     atMostOne,
		Complete: completeRun,
		Check:    func(settings) error { return checkPicture("out", c.out) },
		Run:      onStored(&c.root, c.openSubject, c.run),
	}
}

// run draws who waits for whom.
func (c *waitsCall) run(ctx context.Context, a *app, of *subject) error {
	found, err := c.stalled(ctx, of)
	if err != nil {
		return err
	}
	found.Title, found.Slide = cmp.Or(c.title, "Waits: "+found.Title), c.title != ""
	picture, err := diagram.Waits(found.reports, found.WaitOptions)
	if err != nil {
		return err
	}
	return c.give(a, picture)
}

// stalled returns what the nodes of a run or schedule wait for.
func (c *waitsCall) stalled(ctx context.Context, of *subject) (*stalled, error) {
	if of.schedule != nil {
		played, err := replay.Play(of.schedule)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", of.path, err)
		}
		fold := spacetime.New(played.History.Header(), played.Stack, section.Window{To: math.MaxInt64})
		played.History.Run(fold)
		s := stalledOf(played.Stack, stall.Reports{played.Status}, &fold.Extract)
		s.Title, s.Cut = of.schedule.Spec.Name+", "+of.path, cutDuring(played.Cuts, &fold.Extract)
		return s, nil
	}
	past, title, err := c.open(of.folder)
	if err != nil {
		return nil, err
	}
	reports := past.Stall()
	if reports == nil {
		return nil, fmt.Errorf("%s has no stored stall: clients went on until its end", title)
	}
	// Only the sections of waiting clients last until the end of the run.
	x, err := past.Extract(ctx, section.Window{From: math.MaxInt64, To: math.MaxInt64}, false)
	if err == nil {
		x, err = past.Extract(ctx, section.Window{From: x.End, To: x.End}, false)
	}
	if err != nil {
		return nil, failure{err, check.Inconclusive.ExitCode()}
	}
	s := stalledOf(past.Stack, reports, x)
	s.Title, s.Cut = title, cutDuring(past, x)
	return s, nil
}

// stalledOf returns a stall, with the word for its permission and the client that entered last.
func stalledOf(stack *algorithm.Stack, reports stall.Reports, x *spacetime.Extract) *stalled {
	s := &stalled{reports: reports, WaitOptions: diagram.WaitOptions{Last: nodes.None}}
	switch stack.Instances()[0].Family {
	case "quorum":
		s.Permission = "vote"
	case "token":
		s.Token = true
	}
	if len(reports) == 1 {
		s.Last = x.LastIn[0]
	}
	return s
}

// cuts describes the faults of a run or schedule, and says which sides a cut has.
type cuts interface {
	Fault(number uint32) string
	Sides(number uint32, victim nodes.ID) [][]nodes.ID
}

// cutDuring returns the latest cut that was in force while clients waited, given the end of the run.
func cutDuring(of cuts, x *spacetime.Extract) (cut diagram.Cut) {
	since := x.End
	for i := range x.Sections {
		if s := &x.Sections[i]; s.State == section.Unserved {
			since = min(since, s.Asked)
		}
	}
	for _, f := range x.Faults {
		if sides := of.Sides(f.Number, f.Victim); sides != nil && f.To >= since {
			cut = diagram.Cut{What: fmt.Sprintf("%s, from %v to %v", of.Fault(f.Number), time.Duration(f.From),
				time.Duration(f.To)), Sides: sides}
		}
	}
	return cut
}
