package effect

import (
	"errors"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// HoldRequest holds the nth request of each of some clients to the servers. The key nth of the fault sets n.
type HoldRequest struct {
	plain
	Who Target        `yaml:"hold-request"`
	By  time.Duration `yaml:"by"`
}

var holdRequest = Kind{Key: "hold-request", Layer: OfServers, Proxies: true,
	Says: "the nth request of a client to servers since the fault began is held for the time of `by`, with " +
		"all that follows on its connection",
	Example: "hold-request: waiter, nth: 2, by: 1s", Filters: []string{"nth"}, Breaks: nodes.Timing,
	Zero: new(HoldRequest),
	Flag: "have the --nth request of `nodes` to servers held for the time of --by"}

func (h *HoldRequest) more() []string { return []string{"by " + h.By.String()} }

func (h *HoldRequest) Leaves(time.Duration) time.Duration { return h.By + reconnecting }

func (h *HoldRequest) Check(time.Duration, bool) (string, error) {
	if h.By <= 0 {
		return "by", errors.New("hold-request takes how long the request is held, as in by: 1s")
	}
	return checkBy(h.By)
}

func (h *HoldRequest) Strain(w *Wires) (port.Strain, error) {
	links, err := w.toServers()
	return port.Strain{Links: links, Answer: w.Nth, Hold: h.By}, err
}
