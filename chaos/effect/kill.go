package effect

import (
	"errors"
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Kill kills processes, and restarts them when the fault is healed.
type Kill struct {
	plain
	Who    Target `yaml:"kill"`
	Forget bool   `yaml:"forget"` // nodes restart without their saved state
	// MidInput kills the node in the middle of an input, after so many saves and sends; 0: not in the middle of
	// an input.
	MidInput int `yaml:"mid-input"`
}

var killNodes = Kind{Key: "kill", Layer: ofProcesses,
	Says:    "processes are killed (SIGKILL), and restarted after the time of `for`",
	Example: "kill: holder", Breaks: nodes.NoCrash, Downs: true, Zero: new(Kill),
	Flag: "have `nodes` killed, as in 2, 0-1, random, holder or token (see plans), or a broker or server, as " +
		"in 'broker 0' or 'server leader'",
	More: []Key{{Name: "forget", Says: "have killed nodes forget what they saved"},
		{Name: "mid-input",
			Says:       "have --kill strike while the node handles an input, after so `many` saves and messages",
			NoZero:     "would be before the input: write 1 for after the first save or message, or leave it out",
			NoZeroFlag: "would be before the input: write 1 for after the first save or message"}}}

var killBrokers = Kind{Key: "kill", Role: port.Broker, Layer: ofBrokers,
	Says:    "brokers are killed (SIGKILL), and restarted after the time of `for`",
	Example: "kill: broker 0, for: 500ms", Filters: []string{"network"},
	Without: []string{"forget", "mid-input"}, Breaks: nodes.NoLoss | nodes.Timing, Downs: true, Cuts: true,
	StandIn: "a cut of all links of the nodes there", Zero: new(Kill)}

var killServers = Kind{Key: "kill", Role: port.Server, Layer: OfServers,
	Says: "servers of a service are killed (SIGKILL), and restarted with their data after the time of `for`; " +
		"it needs --service, as all faults of servers do",
	Example: "kill: server leader, for: 1s", Without: []string{"mid-input"},
	Breaks: nodes.ServersUp | nodes.ServerMajority, Downs: true, Zero: new(Kill)}

func (k *Kill) role() port.Role { return k.Who.Role }
func (k *Kill) ForGood() bool   { return k.Who.Role != port.Broker }

func (k *Kill) Leaves(time.Duration) time.Duration {
	if k.Who.Role == port.Node {
		return 0
	}
	return reconnecting
}

func (k *Kill) more() (more []string) {
	if k.MidInput > 0 {
		more = append(more, fmt.Sprintf("in the middle of an input, after %d of what it saves and sends",
			k.MidInput))
	}
	if k.Forget {
		more = append(more, "with amnesia")
	}
	return more
}

func (k *Kill) breaks() nodes.Assumption {
	if k.Forget && k.Who.Role == port.Server {
		return killServers.Breaks | nodes.NoAmnesia
	}
	return KindOf(k).Breaks
}

func (k *Kill) Check(lasts time.Duration, waits bool) (string, error) {
	switch target := &k.Who; {
	case target.Role == port.Broker && lasts == 0:
		return "for", errors.New(
			"no run comes to rest without a broker: say after how long it is restarted, as in for: 500ms")
	case k.MidInput < 0:
		return "mid-input", fmt.Errorf("mid-input takes how often the node has saved or sent because of the "+
			"input, from 1, and not %d", k.MidInput)
	case k.MidInput > 0 && waits:
		return "when", fmt.Errorf("%s: that is a moment of its own: leave out when, or mid-input", What(k))
	case k.MidInput > 0 && (len(target.List) > 1 || target.Many > 1 ||
		target.Word != "" && target.Word != "random" && target.Word != "coordinator"):
		return "kill", fmt.Errorf("%s: mid-input takes one node that is known before, as in kill: 2, "+
			"kill: random or kill: coordinator", What(k))
	case k.Forget && lasts == 0:
		return "forget", errors.New("forget takes a restart: say after how long, as in for: 500ms")
	}
	return "", nil
}

func (*Kill) Strike(c Cluster, m port.Member) error { return c.Kill(m) }

func (k *Kill) Undo(c Cluster, m port.Member) error {
	if c.Up(m) {
		return nil
	}
	return c.Start(m, k.Forget)
}

// Start starts the stand-in of a killed broker: a cut of the links of its nodes.
func (k *Kill) Start(at *Place) Link { return cutOff(at.connected(k.Who.List)) }
