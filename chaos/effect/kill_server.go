package effect

import (
	"errors"
	"time"

	"turnstile/nodes"
)

// KillServer has servers of a service killed and, after the time that it lasts, restarted.
type KillServer struct {
	plain
	Which  ServersOf `yaml:"kill-server"`
	Forget bool      `yaml:"forget"` // all that they have stored
}

var killServer = Kind{Key: "kill-server", Layer: OfServers,
	Says: "servers of a service are killed (SIGKILL), and after the time that it lasts restarted with their " +
		"data; it takes --service, as all faults of servers do",
	Example: "kill-server: leader, for: 1s", Zero: new(KillServer),
	Breaks: nodes.ServersUp | nodes.ServerMajority,
	Flag:   "have `servers` of the service killed, as in 0, 0-1, leader or of holder, and restarted with --for"}

func (*KillServer) Leaves() time.Duration { return reconnecting }
func (*KillServer) ForGood() bool         { return true }

func (k *KillServer) more() (more []string) {
	if k.Forget {
		more = append(more, "with amnesia")
	}
	return more
}

func (k *KillServer) breaks() nodes.Assumption {
	if k.Forget {
		return killServer.Breaks | nodes.NoAmnesia
	}
	return killServer.Breaks
}

func (k *KillServer) Check(lasts time.Duration, _ bool) (string, error) {
	if k.Forget && lasts == 0 {
		return "forget", errors.New("who forgets comes up again: say after how long, as in for: 500ms")
	}
	return "", nil
}

func (k *KillServer) Begin(c *Carrier, of Group) (int, error) {
	return 0, c.takeServers(k.Which, of, c.KillServer)
}

// Heal restarts the servers that it has killed.
func (k *KillServer) Heal(c *Carrier) error {
	return c.giveServersBack(func(i int) error { return c.RestartServer(i, k.Forget) })
}
