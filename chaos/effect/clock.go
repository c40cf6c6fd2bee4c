package effect

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Clock makes clocks jump, or run at another rate. Clocks of servers can only jump.
type Clock struct {
	Who  Target        `yaml:"clock"`
	By   time.Duration `yaml:"by"`   // how far the clock jumps; negative: back
	Rate float64       `yaml:"rate"` // rate at which the clock runs, where 1 is right; 0: unchanged
}

var clockOfNodes = Kind{Key: "clock", Layer: ofClocks,
	Says:    "the clocks of nodes jump ahead, or run at another rate",
	Example: "clock: 2, by: 3s", Breaks: nodes.Timing, Did: "has set a clock", Sets: true, Zero: new(Clock),
	Flag: "have the clocks of `nodes` jump, or run at another rate, or that of a server jump, as in " +
		"'server 0'",
	More: []Key{{Name: "by",
		Says:       "by how much --clock jumps, or --lag delays data",
		NoZero:     "would change nothing: write how far, as in by: 3s, or leave `by` out",
		NoZeroFlag: "would change nothing: write how far, as in 3s, or leave it out"},
		{Name: "rate", Flag: "clock-rate", Says: "the rate at which --clock runs, where 1 is right",
			NoZero: standsStill, NoZeroFlag: standsStill}}}

var clockOfServers = Kind{Key: "clock", Role: port.Server, Layer: OfServers,
	Says: "the clocks of servers jump ahead, or back, by libfaketime, once and for good; only for redis, " +
		"redlock, postgres and postgres-table, whose servers ask libc for the time",
	Example: "clock: server 0, by: 3s", Without: []string{"rate"}, Breaks: nodes.Timing, Did: "has set a clock",
	Sets: true, Zero: new(Clock)}

const standsStill = "would be a clock that stands still: it runs at 0.01 to 100 times the right rate"

func (c *Clock) role() port.Role                    { return c.Who.Role }
func (c *Clock) Idle() bool                         { return c.By == 0 && c.Rate == 1 }
func (c *Clock) Leaves(time.Duration) time.Duration { return max(0, -c.By) }
func (c *Clock) ForGood() bool                      { return c.Rate == 0 }

// randomClock draws a fault of the clock of one random client. Resolve names the client, and can refuse
// another fault of its clock: a clock has one rate at a time.
func randomClock(d *Draw) Effect {
	c := Clock{Who: Target{Word: "random", Many: 1}}
	if c.Rate = float64(1+d.Below(40)) / 20; d.Below(2) == 0 {
		c.Rate, c.By, d.For = 0, d.Later, 0
		if d.Below(2) == 0 {
			c.By = -d.Later
		}
	}
	return &c
}

func (c *Clock) more() (more []string) {
	if c.By != 0 {
		more = append(more, "by "+c.By.String())
	}
	if c.Rate != 0 {
		more = append(more, fmt.Sprintf("at a rate of %v", c.Rate))
	}
	return more
}

func (c *Clock) Check(lasts time.Duration, _ bool) (string, error) {
	switch ofServers := c.Who.Role == port.Server; {
	case ofServers && c.By == 0:
		return "", errors.New("the clock of a server jumps by a length of time: say which, as in by: 3s or " +
			"by: -3s")
	case ofServers && lasts > 0:
		return "for", fmt.Errorf("the clock of a server jumps once: leave out `for`, and add a second fault to "+
			"set it back, with by: %v", -c.By)
	case c.By == 0 && c.Rate == 0:
		return "", errors.New("clock takes how far it jumps, as in by: 3s or by: -3s, " +
			"or the rate at which it runs, as in rate: 1.1")
	case c.Rate != 0 && !(c.Rate >= 0.01 && c.Rate <= 100):
		return "rate", fmt.Errorf("a rate of %v: a clock runs at 0.01 to 100 times the right rate", c.Rate)
	}
	return checkBy(c.By)
}

// checkBy returns an error if a jump is longer than a day, with the key of the jump.
func checkBy(by time.Duration) (string, error) {
	if by > 24*time.Hour || by < -24*time.Hour {
		return "by", fmt.Errorf("a jump of %v: a clock jumps by 24h at most", by)
	}
	return "", nil
}

func (c *Clock) Strike(on Cluster, m port.Member) error {
	return on.SetClock(m, c.By, cmp.Or(c.Rate, on.Rate(m)))
}

func (*Clock) Undo(on Cluster, m port.Member) error {
	if !on.Up(m) {
		return nil
	}
	return on.SetClock(m, 0, on.Rate(m))
}
