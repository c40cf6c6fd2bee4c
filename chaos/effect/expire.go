package effect

import (
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Expire ends the sessions of some clients of a service.
type Expire struct {
	byHand
	Whose sessionOf `yaml:"expire"`
}

var expireSessions = Kind{Key: "expire", Layer: OfServers,
	Says:    "an operator ends the session of a client by hand, once and for good",
	Example: "expire: session of holder", Breaks: nodes.NoAmnesia, Did: "has ended a session",
	Zero: new(Expire), Flag: "have a client's `session` ended by hand, as in 'session of leader'"}

func (*Expire) Strike(c Cluster, m port.Member) error { return c.Expire(m) }

// A sessionOf names the clients whose sessions a fault hits.
type sessionOf struct{ Target }

const sessionWords = "session of "

// String writes the value as UnmarshalText reads it.
func (s sessionOf) String() string { return formatOwner(sessionWords, s.Target.String()) }

// Short writes the value for people.
func (s sessionOf) Short() string { return formatOwner(sessionWords, s.Target.Short()) }

// MarshalText writes the value as UnmarshalText reads it.
func (s sessionOf) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads session of holder, session of leader or session of 2.
func (s *sessionOf) UnmarshalText(text []byte) (err error) {
	s.Target, err = parseOwner(sessionWords, text)
	return err
}
