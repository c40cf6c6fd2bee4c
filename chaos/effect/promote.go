package effect

import (
	"errors"
	"time"

	"turnstile/nodes"
)

// Promote has a replica or standby of a service become the primary.
type Promote struct {
	plain
	Which oneServer `yaml:"promote"`
}

var promote = Kind{Key: "promote", Layer: OfServers,
	Says:    "a replica or standby becomes the primary, once and for good; what was not replicated is forgotten",
	Example: "promote: 1", Breaks: nodes.NoAmnesia, Zero: new(Promote),
	Flag: "have a `server` of the service that is a replica become the primary"}

func (*Promote) ForGood() bool { return true }

func (*Promote) Check(lasts time.Duration, _ bool) (string, error) {
	if lasts > 0 {
		return "for", errors.New("a promotion is for good: leave out for")
	}
	return "", nil
}

// Begin promotes the server, unless it is down or stands still.
func (p *Promote) Begin(c *Carrier, of Group) (int, error) {
	return 0, c.takeServers(p.Which.ServersOf, of, c.PromoteServer)
}

// Heal does nothing.
func (*Promote) Heal(*Carrier) error { return nil }
