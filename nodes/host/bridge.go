package host

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"turnstile/internal/proc"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/history"
)

// A bridge connects the machine of a foreign program with the process of the program.
type bridge struct {
	host     *host
	machine  foreign.Bridge
	instance int32
	child    *child
	active   int64        // when the latest line went to the program or came from it
	pends    bool         // the run waits until the program is quiet
	budget   int          // how many more lines to peers and services the bridge may read now
	filled   int64        // when budget was refilled last
	paused   bool         // budget is used up, and a task is planned that resumes the bridge
	gathers  bool         // lines for the program are collected until the handling of one of its lines is over
	told     []byte       // the latest line to the program
	said     foreign.Said // the latest line of the program
	reads    bool         // the program has read the clock of the node
}

// A program that writes more than linesPerMS lines a millisecond is slowed down: its peers could not take
// more. Answers to the testbed do not count, and a burst may have mostBudget lines.
const (
	linesPerMS = 30
	mostBudget = 1000
)

// quiet is the time without lines after which a program counts as at rest.
const quiet = 50 * time.Millisecond

// openBridge starts the program of the node, if it has one, and waits until it has answered init.
func (h *host) openBridge() (err error) {
	for i, in := range h.process.Stack().Instances() {
		machine, is := h.process.Machine(int32(i)).(foreign.Bridge)
		if !is {
			continue
		}
		proc.Adopt(true)
		b := &bridge{host: h, machine: machine, instance: int32(i)}
		b.child, err = startChild(machine.Command(), machine.Pass(), foreign.Init{Node: h.config.Node,
			N: in.Config.N, Seed: h.config.Seed, Incarnation: h.config.Incarnation,
			Service: h.config.Service}, false, h.wake)
		if err != nil {
			return err
		}
		h.bridge = b
		go b.measure()
		return b.child.await()
	}
	return nil
}

// measureEvery is how often a bridge looks for how long its program has waited for processors. A look took 53
// µs for a program in Python, so that a program costs a two-thousandth of a processor.
const measureEvery = 100 * time.Millisecond

// measure records, until the node ends, how long the program waits for processors: its lines may be late by
// that.
func (b *bridge) measure() {
	h, before, looked := b.host, b.child.process.Waited(), time.Now()
	for {
		select {
		case <-h.over:
			return
		case <-time.After(measureEvery):
		}
		waited := b.child.process.Waited()
		if late := waited - before; late >= history.LateFrom {
			ago := time.Since(looked)
			h.post(func() {
				h.now = h.clock.Now()
				h.append(lagOf(late, ago, h.now).Event(h.now))
			})
		}
		before, looked = waited, time.Now()
	}
}

// lagOf returns the lag of a program. waited is how long its processes waited for processors together since
// the latest look, and ago how long ago that was: several processes may have waited at once.
func lagOf(waited, ago time.Duration, now int64) history.Lag {
	return history.Lag{From: now - int64(min(waited, ago)), To: now, Sender: nodes.None}
}

// close ends the program, if there is one.
func (b *bridge) close() {
	if b != nil {
		b.child.close()
		proc.EndAdopted(nil)
	}
}

// describe puts the state of the program into a status: the latest lines to it and from it, and the end of
// its standard error.
func (b *bridge) describe(s *nodes.NodeStatus) {
	says := b.machine.Command()
	if len(b.told) > 0 {
		says += "\nwas told last: " + history.Shortened(string(b.told))
	}
	if b.said.Raw != "" {
		says += "\nwrote last: to " + b.said.Dest() + ": " + history.Shortened(b.said.Raw)
	}
	s.Machine = strings.ReplaceAll(says+"\n"+b.child.lastWords(), "\n", "\n      ")
}

// end ends the run with an error of the program, if there is one, and records a breach of the protocol.
func (b *bridge) end(wrong error) {
	h := b.host
	if wrong == nil || h.err != nil {
		return
	}
	var breach *foreign.Breach
	if errors.As(wrong, &breach) && h.config.Texts && !h.parked {
		h.log.Last(breach.Line)
		h.record(history.Event{Kind: history.Breached, Instance: uint16(b.instance), Count: breach.How})
	}
	if h.err == nil {
		h.err = b.child.explain(wrong)
	}
}

// busy makes the run wait until the program has been quiet for a time.
func (b *bridge) busy() {
	h := b.host
	if b.active = h.now; !b.pends && !h.parked {
		b.pends = true
		h.pend(task{at: h.now + int64(quiet), what: toRest})
	}
}

// rest lets the run rest, if the program has been quiet.
func (b *bridge) rest() {
	b.pends = false
	if until := b.active + int64(quiet); until > b.host.now {
		b.pends = true
		b.host.pend(task{at: until, what: toRest})
	}
}

// pass writes the lines of the machine to the program.
func (b *bridge) pass() {
	if b.gathers {
		return
	}
	lines, wrong := b.machine.Take()
	if len(lines) > 0 {
		b.busy()
		b.told = append(b.told[:0], lines[bytes.LastIndexByte(lines[:len(lines)-1], '\n')+1:len(lines)-1]...)
		if err := b.child.tell(lines); err != nil && wrong == nil {
			wrong = err
		}
	}
	b.end(wrong)
}

// refill refills the budget for the time that has passed. If the budget is empty, refill pauses the bridge
// and plans to resume.
func (b *bridge) refill() {
	now := b.host.clock.Now()
	if full := (now - b.filled) / int64(time.Millisecond); full > 0 {
		b.budget, b.filled = int(min(mostBudget, int64(b.budget)+full*linesPerMS)), now
	}
	if b.budget > 0 || b.paused {
		return
	}
	b.paused = true
	b.host.tasks.add(task{at: now + int64(time.Millisecond), what: toHear})
}

// resume takes lines again.
func (b *bridge) resume() {
	b.paused = false
	b.hear()
}

// hear hands the machine the lines of the program, once the node has begun.
func (b *bridge) hear() {
	h := b.host
	if !b.child.news.Load() || h.err != nil || h.quit {
		return
	}
	if !h.started {
		b.child.mu.Lock()
		wrong := b.child.wrong
		b.child.mu.Unlock()
		b.end(wrong)
		return
	}
	if b.refill(); b.paused {
		return
	}
	said, wrong := b.child.take(min(burst, b.budget))
	for i := range said {
		if h.parked {
			break
		}
		if h.now = h.clock.Now(); said[i].Service != foreign.Client {
			b.budget--
		}
		if said[i].ReadsClock() { // that is no work: a client may read it as long as it waits
			b.reads = true
			ahead := time.Duration(h.skew.Now(h.now) - h.now)
			b.end(b.child.tell(said[i].Time(h.config.Node, time.Now().Add(ahead))))
			continue
		}
		b.busy()
		b.gathers, b.said = true, said[i]
		h.handle(nodes.Input{Kind: nodes.Receive, Instance: b.instance, From: h.config.Node, Message: &said[i]})
		h.act()
		b.gathers = false
		if b.pass(); h.err != nil {
			return
		}
		h.tellRequests()
	}
	b.end(wrong)
	if b.child.news.Load() {
		h.wake()
	}
}
