package main

import (
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"turnstile/bench"
	"turnstile/internal/english"
)

// A bar shows on a terminal how far a run has come. A nil bar shows nothing.
type bar struct {
	to     *progressbar.ProgressBar
	trials int
}

// barSteps is how finely the bar divides a trial.
const barSteps = 1000

func (a *app) newBar(c *benchCall) *bar {
	if c.noProgress || !isTerminal(a.stderr) {
		return nil
	}
	return &bar{trials: c.Trials, to: progressbar.NewOptions(barSteps,
		progressbar.OptionSetWriter(a.stderr),
		progressbar.OptionSetWidth(30),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerPadding: "░"}),
	)}
}

func (b *bar) show(p bench.Progress) {
	if b == nil {
		return
	}
	text := p.Phase
	if b.trials > 1 {
		text = fmt.Sprintf("trial %d of %d: %s", p.Trial, b.trials, p.Phase)
	}
	if p.Entries > 0 {
		text += fmt.Sprintf(", %s entries", english.Thousands(float64(p.Entries)))
	}
	if p.PerSecond > 0 {
		text += fmt.Sprintf(", %s/s", english.Thousands(p.PerSecond))
	}
	b.to.Set(min(int(p.Done*barSteps), barSteps-1)) // a full bar would count as finished
	b.to.Describe(text)
}

func (b *bar) clear() {
	if b != nil {
		b.to.Clear()
	}
}

func isTerminal(w io.Writer) bool {
	if out, ok := w.(*output); ok {
		w = out.Writer
	}
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}
