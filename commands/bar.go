package commands

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/pflag"

	"turnstile/internal/format"
	"turnstile/internal/terminal"
)

// A bar shows the progress of a command: a bar on a terminal, and a line a minute elsewhere. A nil bar shows
// nothing.
type bar struct {
	to    *progressbar.ProgressBar // draws on a terminal; nil: there is no terminal
	lines lines
	shown time.Time // when show was called last
}

// barSteps is how many steps the bar has from begin to end.
const barSteps = 1000

// long is how long a command may take without an announcement.
const long = 10 * time.Second

// newBar returns a bar, or nil if off is set. It announces a command that takes long; takes is 0 if that is
// not known in advance.
func (a *app) newBar(off bool, takes time.Duration) *bar {
	if takes >= long && !off {
		fmt.Fprintf(a.stderr, "orchestrator: this takes about %s, or longer if others use the machine\n",
			format.Duration(takes.Round(time.Second)))
	}
	return a.newBarFrom(off, firstLine(takes))
}

// firstLine returns when the first line of progress is due if there is no terminal: after a minute if the
// command was announced, else sooner.
func firstLine(takes time.Duration) time.Duration {
	if takes >= long {
		return time.Minute
	}
	return long
}

// newBarFrom is like newBar, for a command that has printed how long it takes. The first line is due after
// first.
func (a *app) newBarFrom(off bool, first time.Duration) *bar {
	if off {
		return nil
	}
	if !terminal.Is(a.stderr) {
		return &bar{lines: lines{out: a.stderr, began: time.Now(), next: time.Now().Add(first)}}
	}
	return &bar{to: progressbar.NewOptions(barSteps,
		progressbar.OptionSetWriter(terminal.Raw(a.stderr)),
		progressbar.OptionSetWidth(30),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerPadding: "░"}),
	)}
}

// show shows the share that is done, 0 to 1, and a text about the current step.
func (b *bar) show(done float64, text string) {
	if b == nil {
		return
	}
	b.shown = time.Now()
	if b.to == nil {
		b.lines.show(done, text)
		return
	}
	b.to.Set(min(int(done*barSteps), barSteps-1)) // a full bar would end
	b.to.Describe(terminal.Printable(text))
}

// due reports whether the bar may be drawn again: at most ten times a second.
func (b *bar) due() bool { return b != nil && time.Since(b.shown) >= 100*time.Millisecond }

func (b *bar) clear() {
	switch {
	case b == nil:
	case b.to == nil:
		b.lines.clear()
	default:
		b.to.Clear()
	}
}

// lines prints the current text once a minute, beginning at the time in lines.next.
type lines struct {
	out         io.Writer
	began, next time.Time

	mu    sync.Mutex
	text  string
	timer *time.Timer // prints the next line; nil: no step has begun, or the bar was cleared
}

func (l *lines) show(done float64, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text = text; done > 0 {
		l.text = fmt.Sprintf("%.0f%%, %s", 100*done, text)
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(time.Until(l.next), l.print)
	}
}

func (l *lines) print() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer == nil {
		return // the bar was cleared before
	}
	fmt.Fprintf(l.out, "orchestrator: after %s: %s\n", format.Duration(time.Since(l.began).Round(time.Second)),
		l.text)
	l.next = time.Now().Add(time.Minute)
	l.timer.Reset(time.Minute)
}

func (l *lines) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// addNoProgress adds the flag of all commands that show progress.
func addNoProgress(f *pflag.FlagSet, off *bool) {
	f.BoolVar(off, "no-progress", false, "show no progress, even on a terminal")
}
