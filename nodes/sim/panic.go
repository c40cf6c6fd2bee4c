package sim

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"turnstile/nodes"
)

// A Panic ends a run in which a machine panics or breaks its contract. What happened before is recorded.
type Panic struct {
	Node  nodes.ID
	At    time.Duration // of the run
	Text  string
	Where string // the line of the machine, as in lamport.go:57; empty if it is not known
}

func (p *Panic) Error() string {
	text := fmt.Sprintf("node %d panicked after %v: %s", p.Node, p.At, p.Text)
	if p.Where != "" {
		text += " (" + p.Where + ")"
	}
	return text
}

// catch, deferred, makes a panic the end of the run.
func (w *world) catch() {
	if text := recover(); text != nil {
		w.cut = &Panic{Node: w.turn, At: time.Duration(w.now), Text: fmt.Sprint(text), Where: machineLine()}
	}
}

// machineLine returns the line of the machine that panics: the first of the call stack that belongs neither
// to the runtime nor to the core. It is empty if the panic is the host's own.
func machineLine() string {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
	for more, panicking := true, false; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicking = true
		case !panicking || strings.HasPrefix(f.Function, "runtime."):
		case strings.HasPrefix(f.Function, "turnstile/nodes.(*Node)"),
			strings.HasPrefix(f.Function, "turnstile/nodes.(*Process)"),
			strings.HasPrefix(f.Function, "turnstile/nodes/sim.(*world)"):
			return ""
		case !strings.HasPrefix(f.Function, "turnstile/nodes.") &&
			!strings.HasPrefix(f.Function, "turnstile/nodes/sim."):
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
	}
	return ""
}
