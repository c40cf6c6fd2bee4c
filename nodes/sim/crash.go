package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// crashForms lists what ParseCrash takes, for its errors.
const crashForms = "2@30ms (node 2 goes down after 30ms), 2@30ms+5ms (and comes up 5ms later) or " +
	"2@30ms+5ms,amnesia (and has forgotten what it saved)"

// ParseCrash reads a crash: 2@30ms, 2@30ms+5ms or 2@30ms+5ms,amnesia.
func ParseCrash(text string) (Crash, error) {
	rest, amnesia := strings.CutSuffix(text, ",amnesia")
	node, times, found := strings.Cut(rest, "@")
	at, restart, restarts := strings.Cut(times, "+")
	id, err := strconv.ParseUint(node, 10, 31)
	if !found || err != nil || amnesia && !restarts {
		return Crash{}, fmt.Errorf("%q is no crash: write %s", text, crashForms)
	}
	c := Crash{Node: nodes.ID(id), Amnesia: amnesia}
	if c.At, err = time.ParseDuration(at); err == nil && restarts {
		c.Restart, err = time.ParseDuration(restart)
	}
	if err != nil || c.At < 0 || restarts && c.Restart <= 0 {
		return Crash{}, fmt.Errorf("%q is no crash: write %s", text, crashForms)
	}
	if c.At > chance.Longest || c.Restart > chance.Longest-c.At {
		return Crash{}, fmt.Errorf("%q is too late: a node goes down, and comes up again, within %.0fh (100 years)",
			text, chance.Longest.Hours())
	}
	return c, nil
}

// checkCrashes returns an error for a crash that cannot happen.
func (o *Options) checkCrashes() error {
	stack, err := o.stack()
	if err != nil {
		return err
	}
	total := stack.Total()
	for _, c := range o.Crashes {
		if c.Node < 0 || int(c.Node) >= total {
			return fmt.Errorf("there is no node %d to crash: they are 0 to %d", c.Node, total-1)
		}
		if end := o.latestStop(); o.Duration > 0 && c.At > end {
			return fmt.Errorf("node %d is to crash at %v, and the run ends at %v", c.Node, c.At, end)
		}
	}
	last := map[nodes.ID]Crash{}
	for _, c := range slices.SortedStableFunc(slices.Values(o.Crashes), earlier) {
		before, again := last[c.Node]
		last[c.Node] = c
		switch {
		case !again:
		case before.Restart == 0 && c.At > before.At:
			better := before
			better.Restart = (c.At - before.At) / 2
			return fmt.Errorf("node %d is to crash at %v, and at %v it went down for good: "+
				"leave out one of the two, or have it come up in between, as in %v",
				c.Node, c.At, before.At, better)
		case c.At <= before.At+before.Restart:
			return fmt.Errorf("node %d is to crash at %v and at %v, and would be down already",
				c.Node, before.At, c.At)
		}
	}
	return nil
}

func earlier(c, d Crash) int { return cmp.Compare(c.At, d.At) }

// String writes the crash as ParseCrash reads it.
func (c Crash) String() string {
	text := fmt.Sprintf("%d@%v", c.Node, c.At)
	if c.Restart > 0 {
		text += fmt.Sprintf("+%v", c.Restart)
	}
	if c.Amnesia {
		text += ",amnesia"
	}
	return text
}

// MarshalText writes the crash as ParseCrash reads it.
func (c Crash) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText is ParseCrash in place.
func (c *Crash) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCrash(string(text))
	return err
}
