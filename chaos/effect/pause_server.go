package effect

import (
	"time"

	"turnstile/nodes"
)

// PauseServer has servers of a service stand still.
type PauseServer struct {
	plain
	Which ServersOf `yaml:"pause-server"`
}

var pauseServer = Kind{Key: "pause-server", Layer: OfServers, Says: "servers stand still (SIGSTOP)",
	Example: "pause-server: 0, for: 1s", Breaks: nodes.ServersUp | nodes.ServerMajority, Zero: new(PauseServer),
	Flag: "have `servers` of the service stand still for some time"}

func (*PauseServer) Leaves() time.Duration { return reconnecting }

func (p *PauseServer) Begin(c *Carrier, of Group) (int, error) {
	return 0, c.takeServers(p.Which, of, c.PauseServer)
}

func (*PauseServer) Heal(c *Carrier) error { return c.giveServersBack(c.ResumeServer) }
