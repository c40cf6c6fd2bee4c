package host

import (
	"slices"
	"time"

	"turnstile/nodes"
)

// A departure is the orderly stop of a node with a foreign program. Clients ask no more. One that is inside
// leaves at once, and then the program gives up what it has; or, if the application lingers, it leaves that
// long after the program has given it up. Then the process ends.
type departure struct {
	linger time.Duration // how long clients go on inside; 0: not, or no longer
	left   time.Duration // how much longer the program may take to answer; 0: it has answered
	over   bool          // the program has answered, and no client lingers
}

// leaveLimit is how long a program may take to give up what it has, while its node does not stand still. It
// is counted in ticks.
const leaveLimit, leaveTick = 10 * time.Second, time.Second

// leave begins the departure.
func (h *host) leave(linger time.Duration) {
	if h.bridge == nil || h.departs != nil {
		return
	}
	h.now = h.clock.Now()
	h.departs = &departure{linger: linger, left: leaveLimit + linger}
	h.tasks.add(task{at: h.now + int64(leaveTick), what: toMiss})
	for _, c := range h.clients {
		c.over, c.wants = true, false
	}
	h.handle(nodes.Input{Kind: nodes.Leave, Instance: h.bridge.instance, Lingers: linger > 0})
	h.hurry()
	h.act()
}

// hurry has clients that are inside leave, unless they linger.
func (h *host) hurry() {
	for _, c := range h.clients {
		if c.inside && !c.asks && h.leavesNow() {
			c.planStep()
		}
	}
}

// leavesNow reports whether clients leave their critical sections early.
func (h *host) leavesNow() bool { return h.departs != nil && h.departs.linger == 0 }

// depart ends the process once the departure is over.
func (h *host) depart() {
	inside := func(c *client) bool { return c.asks || c.state() == nodes.Inside }
	h.quit = h.quit || h.departs != nil && h.departs.over && !slices.ContainsFunc(h.clients, inside)
}

// stays counts a tick, and reports whether the program has had all its time to answer.
func (h *host) stays() bool {
	d := h.departs
	if d.left == 0 {
		return false
	}
	if d.left -= leaveTick; d.left <= 0 {
		return true
	}
	h.tasks.add(task{at: h.now + int64(leaveTick), what: toMiss})
	return false
}

// gone has clients go on for a while, once the program has given up what it had.
func (h *host) gone() {
	h.departs.left = 0
	h.pend(task{at: h.now + int64(h.departs.linger), what: toDepart})
}

// lingered ends the time for which clients go on.
func (h *host) lingered() {
	h.departs.linger, h.departs.over = 0, true
	h.handle(nodes.Input{Kind: nodes.Leave, Instance: h.bridge.instance})
	h.hurry()
	h.act()
}
