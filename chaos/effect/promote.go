package effect

import (
	"errors"
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Promote makes a replica or standby of a service the primary.
type Promote struct {
	plain
	Which oneServer `yaml:"promote"`
}

var promote = Kind{Key: "promote", Role: port.Server, Layer: OfServers,
	Says:    "a replica or standby becomes the primary, once and for good; data that was not replicated is lost",
	Example: "promote: server 1", Breaks: nodes.NoAmnesia, Did: "has promoted a server", Zero: new(Promote),
	Flag: "have a `server` of the service that is a replica become the primary"}

func (*Promote) role() port.Role { return port.Server }
func (*Promote) ForGood() bool   { return true }

func (*Promote) Check(lasts time.Duration, _ bool) (string, error) {
	if lasts > 0 {
		return "for", errors.New("a promotion is permanent: leave out `for`")
	}
	return "", nil
}

func (*Promote) Strike(c Cluster, m port.Member) error { return c.Promote(m) }

// Undo does nothing: a promotion is for good.
func (*Promote) Undo(Cluster, port.Member) error { return nil }

// A oneServer is one server of a service.
type oneServer struct{ Target }

// UnmarshalText reads the number of a server: 1 or server 1.
func (s *oneServer) UnmarshalText(text []byte) (err error) {
	if s.Target, err = parseMembers(port.Server, string(text)); err != nil || len(s.List) != 1 {
		return fmt.Errorf("%q names no server: write one number, as in 1", text)
	}
	return nil
}
