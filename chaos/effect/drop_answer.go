package effect

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// DropAnswer has one answer of servers to each of some clients be lost: the nth, by the filter of its fault.
type DropAnswer struct {
	plain
	Who   Target `yaml:"drop-answer"`
	Close bool   `yaml:"close"`
}

var dropAnswer = Kind{Key: "drop-answer", Layer: OfServers,
	Says: "the nth answer that servers send to a client from then on is lost, and the connection brings " +
		"nothing more; with `close: true` it is closed instead",
	Example: "drop-answer: holder, nth: 1", Filters: []string{"nth"}, Breaks: nodes.NoLoss | nodes.Timing,
	Zero: new(DropAnswer),
	Flag: "have the --nth answer of servers to `nodes` lost"}

func (*DropAnswer) Leaves() time.Duration { return reconnecting }

func (d *DropAnswer) more() (more []string) {
	if d.Close {
		more = append(more, "with the connection closed")
	}
	return more
}

func (d *DropAnswer) Begin(c *Carrier, of Group) (hit int, err error) {
	for _, id := range of {
		if c.Up(id) {
			hit++
		}
	}
	return hit, c.LoseAnswer(c.Number, port.LostAnswer{Clients: of, Nth: c.Nth, Close: d.Close})
}

// Heal notes how many answers were lost.
func (*DropAnswer) Heal(c *Carrier) (err error) {
	c.Lost, err = c.HealAnswer(c.Number)
	return err
}
