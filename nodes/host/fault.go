package host

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"turnstile/internal/proc"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
)

// tellFaults passes an event at the node to the faults that wait for one, and carries out their action.
func (h *host) tellFaults(what port.HookKind, kind uint8) {
	if h.config.Watcher != nil {
		h.tellFaultsOf(port.Hook{What: what, Kind: kind})
	}
}

// watch sets the watcher of events; it may be nil.
func (h *host) watch(w port.Watcher) {
	h.config.Watcher = w
	if w != nil && w.MidInput() {
		h.process.Runtime().TellBetween(func(_ *nodes.Process, done int) {
			h.tellFaultsOf(port.Hook{What: port.OnMidInput, Done: done})
		})
	}
}

// tellFaultsOf is tellFaults for any Hook.
func (h *host) tellFaultsOf(m port.Hook) {
	if h.config.Watcher == nil || h.err != nil {
		return
	}
	m.At, m.Node = h.clock.Now(), h.config.Node
	switch h.config.Watcher.Watch(&m) {
	case port.KillNode:
		h.die()
	case port.PauseNode:
		h.pause()
	}
}

// tellRequests tells the watcher of each request once the client waits: if a program stands for the machine,
// once its line was written to the program, which may have a release to do first.
func (h *host) tellRequests() {
	for _, c := range h.clients {
		if !c.untold || h.bridge != nil && (h.bridge.gathers || !h.bridge.machine.Asks()) {
			continue
		}
		if c.untold = false; c.state() == nodes.Waiting {
			h.tellFaults(port.OnRequest, 0)
		}
	}
}

// pause makes the node do nothing until the fault is healed. Meanwhile the orchestrator stops the process.
// The node does not stop itself, since its SIGSTOP might come after the orchestrator's SIGCONT.
func (h *host) pause() {
	h.traffic.flush(time.Second)
	for h.config.Watcher.Stands(h.clock.Now()) {
		time.Sleep(100 * time.Microsecond)
	}
}

// die kills the process at once. Messages that it has sent are on their way. It records its death first, so
// that readers know that the log is complete.
func (h *host) die() {
	h.traffic.flush(time.Second) // an error means that a broker is gone
	h.record(history.Event{Kind: history.Killed})
	if h.bridge != nil { // the trial kills the process group, which some children of programs leave
		proc.SignalAll(proc.Descendants(os.Getpid()), syscall.SIGKILL)
	}
	if err := signalOwnThread(syscall.SIGKILL); err != nil && h.err == nil {
		h.err = fmt.Errorf("carrying out a fault: %w", err)
	}
}

// setClock sets the clock of the timers of machines, and plans running timers anew.
func (h *host) setClock(jump time.Duration, rate float64) {
	if h.bridge != nil {
		running, ever := h.bridge.machine.Timers()
		if h.bridge.reads { // which counts as a timer that always runs
			running, ever = running+1, ever+1
		}
		h.record(history.Event{Kind: history.ClockSet, Instance: uint16(h.bridge.instance), Count: uint32(running),
			Value: ever})
	}
	h.skew = h.skew.Set(h.clock.Now(), jump, rate)
	was := h.tasks
	h.tasks = newTasks()
	for was.Len() > 0 {
		t := was.Pop()
		if t.what == toTimeout {
			t.at = h.skew.When(t.local)
		}
		h.tasks.add(t)
	}
	h.alarm = 0
}

// takeFault adds a fault to the node during the run. Packets are numbered from when a shaper is first set.
func (h *host) takeFault(o Order) {
	if h.config.Faults == nil {
		h.err = errors.New("a fault is announced to a node that takes none")
		return
	}
	shaper, watcher, err := h.config.Faults.TakeFault(o.Number, o.Fault)
	if err != nil {
		h.err = err
		return
	}
	h.watch(watcher)
	h.traffic.reshape(shaper)
}
