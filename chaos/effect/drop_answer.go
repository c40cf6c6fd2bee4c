package effect

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// DropAnswer drops the nth answer of the servers to each of some clients. The key nth of the fault sets n.
type DropAnswer struct {
	plain
	Who   Target `yaml:"drop-answer"`
	Close bool   `yaml:"close"`
}

var dropAnswer = Kind{Key: "drop-answer", Layer: OfServers, Proxies: true,
	Says: "the nth answer of servers to a client since the fault began is lost, and the connection passes " +
		"nothing more; with `close: true` it is closed instead",
	Example: "drop-answer: holder, nth: 1", Filters: []string{"nth"}, Breaks: nodes.NoLoss | nodes.Timing,
	Zero: new(DropAnswer),
	Flag: "have the --nth answer of servers to `nodes` lost"}

func (*DropAnswer) Leaves(time.Duration) time.Duration { return reconnecting }

func (d *DropAnswer) more() (more []string) {
	if d.Close {
		more = append(more, "with the connection closed")
	}
	return more
}

func (d *DropAnswer) Strain(w *Wires) (port.Strain, error) {
	links, err := w.toServers()
	return port.Strain{Links: links, Close: d.Close, Answer: w.Nth}, err
}

// toServers returns the connections of nodes to all servers of the service.
func (w *Wires) toServers() (links []port.Link, err error) {
	all, err := w.Members(&Target{Role: port.Server, Word: AllServers})
	for _, id := range w.Nodes {
		for _, server := range all {
			links = append(links, port.Link{A: port.NodeOf(id), B: server})
		}
	}
	return links, err
}
