package section

import (
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A workDone is what clients have done with a resource while they were inside: see workload.Work.
type workDone struct {
	steps, spoilt uint64
	undone        uint64 // updates of the account by nodes that died before their client asked again
}

// step takes what a client has done that leaves.
func (w *workDone) step(e *history.Event) {
	done, spoilt := e.Worked()
	w.steps += uint64(done)
	w.spoilt += uint64(spoilt)
}

// Worked returns how much clients have done whose work is w: its steps or, if it has none, updates of the
// account. Others have spoilt so many of them, or overwritten.
func (r *Resource) Worked(w workload.Work) (done, spoilt uint64) {
	if w.Steps() > 0 {
		return r.steps, r.spoilt
	}
	return r.Exits + r.writesOfDead, r.Lost()
}

// Undone returns how many updates of the account were by nodes that died before their client asked again. If
// each update takes a share of some work, which its client does once it has left, these are never done.
func (r *Resource) Undone() uint64 { return r.undone + r.writesOfDead }

// updated notes that a client has left and written the account.
func (r *Resource) updated(c *Client) {
	r.Exits++
	c.updated = true
}

// lose takes the death of a client.
func (r *Resource) lose(c *Client) {
	if c.updated {
		c.updated = false
		r.undone++
	}
}
