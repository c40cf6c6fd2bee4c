package host

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
)

// tellFaults tells the faults that wait for something what happens at the node.
func (h *host) tellFaults(what port.HookKind, kind uint8) {
	if h.config.Watcher != nil {
		h.tellFaultsOf(port.Hook{What: what, Kind: kind})
	}
}

// watch has a watcher be told what happens from now on; nil: nobody is.
func (h *host) watch(w port.Watcher) {
	h.config.Watcher = w
	if w != nil && w.MidInput() {
		h.process.Runtime().TellBetween(func(_ *nodes.Process, done int) {
			h.tellFaultsOf(port.Hook{What: port.OnMidInput, Done: done})
		})
	}
}

// tellFaultsOf is tellFaults of a moment.
func (h *host) tellFaultsOf(m port.Hook) {
	if h.config.Watcher == nil || h.err != nil {
		return
	}
	m.At, m.Node = h.clock.Now(), h.config.Node
	switch h.config.Watcher.Watch(&m) {
	case port.KillNode:
		h.die()
	case port.PauseNode:
		h.stand()
	}
}

// stand has the node do nothing until the fault is healed. The orchestrator stops the process meanwhile. If
// the node did so itself, that might come after the orchestrator has had it go on.
func (h *host) stand() {
	h.traffic.flush(time.Second)
	for h.config.Watcher.Stands(h.clock.Now()) {
		time.Sleep(100 * time.Microsecond)
	}
}

// die kills the process before it does anything else. What it has sent is on its way. Its death is recorded
// first: otherwise nobody would know that the node did nothing after the last that its log has.
func (h *host) die() {
	h.traffic.flush(time.Second) // if that fails, a broker is gone
	h.record(history.Event{Kind: history.Killed})
	if err := signalOwnThread(syscall.SIGKILL); err != nil && h.err == nil {
		h.err = fmt.Errorf("carrying out a fault: %w", err)
	}
}

// setClock sets the clock that the timers of machines go by. Those that run come due sooner or later.
func (h *host) setClock(jump time.Duration, rate float64) {
	if h.bridge != nil {
		running, ever := h.bridge.machine.Timers()
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

// takeFault takes a fault that is added to the run. Packets are numbered from when the first rule comes.
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
