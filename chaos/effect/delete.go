package effect

import (
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Delete deletes the keys of the locks of some clients of a service.
type Delete struct {
	byHand
	Whose lockOf `yaml:"delete"`
}

var deleteLocks = Kind{Key: "delete", Layer: OfServers,
	Says:    "an operator deletes the key of a client's lock by hand, once and for good",
	Example: "delete: lock of holder", Breaks: nodes.NoAmnesia, Did: "has deleted a lock", Zero: new(Delete),
	Flag: "have the key of a client's `lock` deleted by hand, as in 'lock of holder'"}

// DeletesHeld reports whether the effect deletes the key of a client because the client is inside.
func DeletesHeld(e Effect) bool {
	d, is := e.(*Delete)
	return is && d.Whose.Word == "holder"
}

func (d *Delete) Strike(c Cluster, m port.Member) error { return c.Delete(m, DeletesHeld(d)) }

// A lockOf names the clients whose locks a fault hits.
type lockOf struct{ Target }

const lockWords = "lock of "

// String writes the value as UnmarshalText reads it.
func (l lockOf) String() string { return formatOwner(lockWords, l.Target.String()) }

// Short writes the value for people.
func (l lockOf) Short() string { return formatOwner(lockWords, l.Target.Short()) }

// MarshalText writes the value as UnmarshalText reads it.
func (l lockOf) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads lock of holder, lock of waiter or lock of 2.
func (l *lockOf) UnmarshalText(text []byte) (err error) {
	l.Target, err = parseOwner(lockWords, text)
	return err
}
