package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"turnstile/bench/claims"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
)

// A claimed is a claim, and what became of its calls.
type claimed struct {
	*claims.Claim
	calls []claimCall
	took  time.Duration
}

// A claimCall is a call of a claim, and what became of it.
type claimCall struct {
	args    []string // that were called
	lines   []string // that decide
	printed string
	wrong   error  // it is not as said
	skipped string // why it was not made, or shows nothing; empty: it does
}

// runClaims runs claims, as many at a time as there are processors or, of processes, one, and prints each
// when those before it are printed.
func (a *app) runClaims(ctx context.Context, c *claimsCall, chosen []*claims.Claim) error {
	folder, err := os.MkdirTemp("", "turnstile-claims-")
	if err != nil {
		return failure{fmt.Errorf("a folder for the runs: %w", err), check.Inconclusive.ExitCode()}
	}
	defer os.RemoveAll(folder)
	workers := runtime.GOMAXPROCS(0)
	if c.real {
		workers = 1
	}
	begun := time.Now()
	made := make([]chan claimed, len(chosen))
	for i := range made {
		made[i] = make(chan claimed, 1)
	}
	free := make(chan struct{}, workers)
	var all sync.WaitGroup
	all.Go(func() {
		for i, claim := range chosen {
			free <- struct{}{}
			all.Go(func() {
				made[i] <- c.run(ctx, claim, folder)
				<-free
			})
		}
	})
	count := claimCount{}
	for i := range chosen {
		m := <-made[i]
		if ctx.Err() != nil {
			break
		}
		a.printClaimed(c, &m)
		count.add(&m)
	}
	all.Wait() // before what they write is removed
	if ctx.Err() != nil {
		return failure{errors.New("interrupted"), check.Inconclusive.ExitCode()}
	}
	if len(chosen) > 1 {
		fmt.Fprintf(a.stdout, "%s; it took %v\n", count.says(), time.Since(begun).Round(100*time.Millisecond))
	}
	a.status = count.outcome().ExitCode()
	return nil
}

// run makes the calls of a claim.
func (c *claimsCall) run(ctx context.Context, claim *claims.Claim, folder string) claimed {
	begun := time.Now()
	m := claimed{Claim: claim}
	for _, call := range claim.Calls {
		if ctx.Err() != nil {
			break
		}
		m.calls = append(m.calls, c.call(ctx, &call, folder))
	}
	m.took = time.Since(begun)
	return m
}

// call makes a call of a claim.
func (c *claimsCall) call(ctx context.Context, call *claims.Call, folder string) (made claimCall) {
	made.args = call.Args
	if c.real {
		args, err := call.Real()
		if err != nil {
			return claimCall{args: call.Args, skipped: err.Error()}
		}
		made.args = args
	}
	status, printed := callAlone(ctx, made.args, folder)
	made.printed = printed
	switch {
	case call.Needs != "" && status == usage:
		made.skipped = fmt.Sprintf("it needs %s: %s", call.Needs,
			strings.TrimPrefix(strings.TrimSpace(printed), "orchestrator: "))
	case (c.real || call.OfProcesses()) && status != call.Status && saysNothing(status):
		made.skipped = firstVerdict(printed)
	case c.real && !call.OfProcesses():
		made.lines, made.wrong = call.AsSimulated(status, printed)
	default:
		made.lines, made.wrong = call.Shows(status, printed)
	}
	return made
}

// saysNothing reports whether a run of processes ended with a status that says neither that its promises were
// kept nor that they were not, as it may on a busy machine.
func saysNothing(status int) bool {
	return status == check.Inconclusive.ExitCode() || status == check.Overloaded.ExitCode()
}

// firstVerdict returns the line of what a run printed that has its verdict.
func firstVerdict(printed string) string {
	for line := range strings.Lines(printed) {
		for _, verdict := range []string{"INCONCLUSIVE", "OVERLOADED", "UNDER-LOADED"} {
			if strings.HasPrefix(line, verdict) {
				return strings.Join(strings.Fields(line), " ")
			}
		}
	}
	return strings.TrimSpace(printed)
}

// A claimCount counts what became of claims.
type claimCount struct{ all, asSaid, printedWrong, wrong, unshown int }

func (n *claimCount) add(m *claimed) {
	n.all++
	ran, wrong := m.ran()
	switch {
	case wrong:
		n.wrong++
	case ran == 0:
		n.unshown++
	default:
		n.asSaid++
		if m.Verdict == claims.Wrong {
			n.printedWrong++
		}
	}
}

// ran returns how many calls of a claim were made, and whether one of them is not as said.
func (m *claimed) ran() (ran int, wrong bool) {
	for _, call := range m.calls {
		if call.skipped == "" {
			ran++
		}
		wrong = wrong || call.wrong != nil
	}
	return ran, wrong
}

// outcome returns the verdict on all claims.
func (n *claimCount) outcome() check.Outcome {
	switch {
	case n.wrong > 0:
		return check.Violated
	case n.asSaid == 0:
		return check.Inconclusive
	}
	return check.Valid
}

func (n *claimCount) says() string {
	says := fmt.Sprintf("%d of %d claims as said", n.asSaid, n.all)
	if n.printedWrong > 0 {
		says += fmt.Sprintf(" (%d of them wrong as printed)", n.printedWrong)
	}
	if n.wrong > 0 {
		says += fmt.Sprintf(", %d NOT AS SAID", n.wrong)
	}
	if n.unshown > 0 {
		says += fmt.Sprintf(", %d not shown by a run", n.unshown)
	}
	return says
}

// typed returns the call of arguments as one types it.
func typed(args []string) string {
	words := []string{terminal.Invoked()}
	for _, arg := range args {
		words = append(words, terminal.ShellQuoted(arg))
	}
	return strings.Join(words, " ")
}
