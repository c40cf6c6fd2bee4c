package effect

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Pause stops processes until the fault is healed.
type Pause struct {
	plain
	Who Target `yaml:"pause"`
}

var pauseNodes = Kind{Key: "pause", Layer: ofProcesses, Says: "processes stand still (SIGSTOP)",
	Example: "pause: 2", Breaks: nodes.NoPause | nodes.Timing, Stops: true, Holds: true,
	Zero: new(Pause),
	Flag: "have `nodes` stand still for some time, as in 2, 0-1 or holder, or a broker or server, as in " +
		"'broker 0'"}

var pauseBrokers = Kind{Key: "pause", Role: port.Broker, Layer: ofBrokers,
	Says: "brokers stand still (SIGSTOP)", Example: "pause: broker 0, for: 500ms",
	Filters: []string{"network"}, Breaks: nodes.NoPause | nodes.Timing,
	Stops: true, Holds: true, Cuts: true, StandIn: "a stall of all links of its nodes",
	Zero: new(Pause)}

var pauseServers = Kind{Key: "pause", Role: port.Server, Layer: OfServers,
	Says: "servers stand still (SIGSTOP)", Example: "pause: server 0, for: 1s",
	Breaks: nodes.ServersUp | nodes.ServerMajority, Stops: true,
	Zero: new(Pause)}

func (p *Pause) role() port.Role { return p.Who.Role }

func (p *Pause) Leaves(time.Duration) time.Duration {
	if p.Who.Role == port.Server {
		return reconnecting
	}
	return 0
}

func (*Pause) Strike(c Cluster, m port.Member) error { return c.Stop(m) }
func (*Pause) Undo(c Cluster, m port.Member) error   { return c.Continue(m) }

// Start starts the stand-in of a stopped broker: the links of its nodes hold messages back.
func (p *Pause) Start(at *Place) Link { return at.holdBack(at.connected(p.Who.List)) }
