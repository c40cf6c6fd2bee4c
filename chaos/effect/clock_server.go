package effect

import (
	"errors"
	"fmt"
	"time"

	"turnstile/nodes"
)

// ClockServer has the clocks of servers of a service jump.
type ClockServer struct {
	plain
	Which ServersOf     `yaml:"clock-server"`
	By    time.Duration `yaml:"by"` // how far they jump
}

var clockServer = Kind{Key: "clock-server", Layer: OfServers,
	Says: "the clocks of servers jump ahead, or back, by libfaketime, once and for good; of services whose " +
		"servers ask libc for the time: redis, redlock and postgres",
	Example: "clock-server: 0, by: 3s", Breaks: nodes.Timing, Zero: new(ClockServer),
	Flag: "have the clocks of `servers` of the service jump by --by, as in 0 or leader"}

func (c *ClockServer) Leaves() time.Duration { return max(0, -c.By) }
func (*ClockServer) ForGood() bool           { return true }

func (c *ClockServer) more() (more []string) {
	if c.By != 0 {
		more = append(more, "by "+c.By.String())
	}
	return more
}

func (c *ClockServer) Check(lasts time.Duration, _ bool) (string, error) {
	switch {
	case c.By == 0:
		return "", errors.New("the clock of a server jumps by a length of time: say which, as in by: 3s or " +
			"by: -3s")
	case lasts > 0:
		return "for", fmt.Errorf("the clock of a server jumps once: leave out for, and let it jump back by "+
			"another fault, as in by: %v", -c.By)
	}
	return checkBy(c.By)
}

// Begin sets the clocks, unless a server is down or stands still.
func (c *ClockServer) Begin(on *Carrier, of Group) (int, error) {
	return 0, on.takeServers(c.Which, of, func(i int) error { return on.SkewServer(i, c.By) })
}

// Heal does nothing.
func (*ClockServer) Heal(*Carrier) error { return nil }
