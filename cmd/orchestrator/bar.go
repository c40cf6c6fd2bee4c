package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A bar shows on a terminal how far a command has come. A nil bar shows nothing.
type bar struct {
	to    *progressbar.ProgressBar
	shown time.Time // when it last showed something
}

// barSteps is how finely the bar divides what there is to do.
const barSteps = 1000

// newBar returns a bar, or nil if it is off or there is no terminal to show it on.
func (a *app) newBar(off bool) *bar {
	if off || !isTerminal(a.stderr) {
		return nil
	}
	return &bar{to: progressbar.NewOptions(barSteps,
		progressbar.OptionSetWriter(a.stderr),
		progressbar.OptionSetWidth(30),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerPadding: "░"}),
	)}
}

// show shows that a share of all is done, 0 to 1, and what is being done.
func (b *bar) show(done float64, text string) {
	if b == nil {
		return
	}
	b.to.Set(min(int(done*barSteps), barSteps-1)) // a full bar would count as finished
	b.to.Describe(text)
	b.shown = time.Now()
}

// due reports whether the bar has something to show again: ten times a second at most.
func (b *bar) due() bool { return b != nil && time.Since(b.shown) >= 100*time.Millisecond }

func (b *bar) clear() {
	if b != nil {
		b.to.Clear()
	}
}

func isTerminal(w io.Writer) bool {
	file := fileOf(w)
	return file != nil && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}

// fileOf returns the file that w writes to, or nil.
func fileOf(w io.Writer) *os.File {
	if out, ok := w.(*output); ok {
		w = out.Writer
	}
	file, _ := w.(*os.File)
	return file
}

// widthFor returns how wide a picture on w may be: as the terminal is, within reason, or else 80 columns.
func widthFor(w io.Writer) int {
	const usual, narrowest, widest = 80, 40, 160
	if !isTerminal(w) {
		return usual
	}
	columns, _, err := term.GetSize(int(fileOf(w).Fd()))
	if err != nil || columns <= 0 {
		return usual
	}
	return min(max(columns, narrowest), widest)
}
