package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"turnstile/nodes"
)

// crashForms is what ParseCrash takes, for its errors and for help texts.
const crashForms = "2@30ms (node 2 goes down after 30ms), 2@30ms+5ms (and comes up 5ms later) or " +
	"2@30ms+5ms,amnesia (and has forgotten what it saved)"

// latestCrash is when the last node may be up again. What comes after it must have room in a time too.
const latestCrash = 100 * 365 * 24 * time.Hour

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
	if c.At > latestCrash || c.Restart > latestCrash-c.At {
		return Crash{}, fmt.Errorf("%q is too late: a node goes down, and comes up again, within %.0fh (100 years)",
			text, latestCrash.Hours())
	}
	return c, nil
}

// CheckCrashes finds a node that is to crash again after a crash that it does not come up from.
func CheckCrashes(crashes []Crash) error {
	for _, last := range crashes {
		for _, next := range crashes {
			if last.Node != next.Node || last.Restart > 0 || next.At <= last.At {
				continue
			}
			better := last
			better.Restart = (next.At - last.At) / 2
			return fmt.Errorf("node %d is to crash at %v, and at %v it went down for good: "+
				"leave out one of the two, or have it come up in between, as in %v",
				next.Node, next.At, last.At, better)
		}
	}
	return nil
}

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
