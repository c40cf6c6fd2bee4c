package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"turnstile/bench"
	"turnstile/internal/figure"
	"turnstile/judge/check"
	"turnstile/results"
)

// A Hunt looks for failures of services that nobody has listed: it draws plans and options, makes a run of
// each on real processes, and judges it by what the documentation of the service promises. It goes on with
// the journal that it began.
type Hunt struct {
	Experiment
	Services []string // they take turns
	Plans    int
	First    int           // the number of the first plan, from 0
	Limit    time.Duration // after which no plan begins; 0: there is none
	Workers  int           // how many runs are made at a time
	Tries    int           // how many runs it may take to shrink a finding; 0: none is shrunk
	// Subject returns what a run must know of a service with options; Command the command that makes a job,
	// with its faults in a file unless that is empty.
	Subject func(ctx context.Context, service string, words []string, nodes int) (*ServiceSubject, error)
	Command func(j *bench.Job, plan string) string
	// Told is called after each run, by one goroutine at a time.
	Told func(done int, one *Hunted)
	// Done are the plans of which it is known what came of them, by number.
	Done map[int]*Hunted

	file *os.File
	mu   sync.Mutex
	err  error // the first of writing the journal
}

// huntLimit is how long one run may take: none has taken half as long that came to an end.
const huntLimit = 4 * time.Minute

// Read reads the journal. It is an error if that is of another seed or of other services.
func (h *Hunt) Read() error { return h.read() }

// Run makes the runs that the journal lacks. If ctx is done, it returns its error.
func (h *Hunt) Run(ctx context.Context) error {
	if err := h.open(); err != nil {
		return err
	}
	defer h.file.Close()
	var left []int
	for number := h.First; number < h.First+h.Plans; number++ {
		if h.Done[number] == nil {
			left = append(left, number)
		}
	}
	began := time.Now()
	pool(ctx, max(1, h.Workers), len(left), func(i int) {
		if h.Limit > 0 && time.Since(began) > h.Limit {
			return
		}
		if one := h.one(ctx, left[i]); ctx.Err() == nil {
			h.keep(one)
		}
	})
	if err := cmp.Or(h.err, ctx.Err()); err != nil || h.Tries == 0 {
		return err
	}
	return cmp.Or(h.shrinkAll(ctx), h.err, ctx.Err())
}

// keep puts what came of a plan on record.
func (h *Hunt) keep(one *Hunted) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Done[one.Plan] = one
	h.err = cmp.Or(h.err, h.write(one))
	if h.Told != nil {
		h.Told(len(h.Done), one)
	}
}

// one draws a plan and makes its run.
func (h *Hunt) one(ctx context.Context, number int) *Hunted {
	l, j, err := h.draw(ctx, number)
	if err != nil {
		return &Hunted{Plan: number, Service: h.Services[number%len(h.Services)], Class: HuntFinding,
			About: huntEnded, Says: err.Error()}
	}
	one := h.try(ctx, fmt.Sprintf("plan-%04d", number), l, j)
	one.Plan = number
	return one
}

// try makes a run. What it leaves is kept if it is a finding, or would be one on another machine.
func (h *Hunt) try(ctx context.Context, name string, l *ServiceLine, j *bench.Job) *Hunted {
	setup, began := h.Setup, time.Now()
	setup.Name = name
	limited, cancel := context.WithTimeout(ctx, huntLimit)
	defer cancel()
	slept := sleepBeside(limited)
	r, err := bench.Make(limited, j, setup)
	if limited.Err() != nil && ctx.Err() == nil {
		err = errors.Join(fmt.Errorf("the run has not ended within %v", huntLimit), err)
	}
	one := &Hunted{Service: l.Service, With: l.With, Faults: l.FaultTexts()}
	longest := slept()
	one.Class, one.About, one.Says = judgeHunt(r, err, longest)
	one.Seconds, one.LateMS = time.Since(began).Seconds(), float64(longest)/1e6
	if r == nil {
		return one
	}
	if len(r.Trials) > 0 {
		one.Refused = valueOf(r.Trials[0].Row.RefusedFree)
		one.Story = storyOf(r.Trials[0], one)
	}
	if ctx.Err() != nil || one.Class != HuntFinding && one.Class != HuntBusy {
		if err := os.RemoveAll(r.Folder.Path); err != nil {
			h.mu.Lock()
			h.err = cmp.Or(h.err, err)
			h.mu.Unlock()
		}
		one.Story = nil
		return one
	}
	one.Folder = r.Folder.Ref()
	h.describe(one, l, j, r.Folder)
	return one
}

// describe writes the faults of a finding into its folder, and the command that makes it again.
func (h *Hunt) describe(one *Hunted, l *ServiceLine, j *bench.Job, folder *results.Folder) {
	plan := ""
	if len(l.Faults) > 0 {
		s := shrunk{Reason: one.Says, Faults: l.Faults, From: len(l.Faults)}
		text, err := s.File()
		if err == nil {
			err = folder.WriteText(huntPlan, text)
		}
		if err != nil {
			one.Says += fmt.Sprintf("; its plan could not be written: %v", err)
			return
		}
		plan = folder.File(huntPlan)
	}
	one.Command = h.Command(j, plan)
}

// huntPlan is the file of the faults of a finding, in the folder of its run.
const huntPlan = "plan.yaml"

func valueOf(f figure.Figure) float64 {
	x, _ := f.Value()
	return x
}

// storyOf tells a run: what went wrong in it, and what the check says that found it.
func storyOf(t *bench.Trial, one *Hunted) (lines []string) {
	for i := range t.Verdict.Findings {
		f := &t.Verdict.Findings[i]
		switch {
		case f.About() == check.AboutFaults:
			lines = slices.Concat(f.Witness, lines)
		case f.Check == one.About:
			lines = append(append(lines, f.Says), f.Witness...)
		}
	}
	return lines
}

// sleepBeside sleeps for short times until it is called again, and returns by how much the longest sleep was
// too long: for so long a process that had something to do may not have run.
func sleepBeside(ctx context.Context) func() time.Duration {
	const nap = 5 * time.Millisecond
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan time.Duration)
	go func() {
		longest := time.Duration(0)
		for ctx.Err() == nil {
			began := time.Now()
			time.Sleep(nap)
			longest = max(longest, time.Since(began)-nap)
		}
		over <- longest
	}()
	return func() time.Duration {
		cancel()
		return <-over
	}
}
