package explore

import "turnstile/nodes"

// The effects of a process go into the outcome of the current stimulus.
var _ nodes.Host = (*parts)(nil)

// Send implements nodes.Host.
func (ps *parts) Send(p *nodes.Process, e *nodes.Effect) {
	ps.out.sends = append(ps.out.sends, ps.word(p.ID(), e.To, e))
}

// Broadcast implements nodes.Host.
func (ps *parts) Broadcast(p *nodes.Process, e *nodes.Effect) {
	for to := range p.Hearers() {
		ps.out.sends = append(ps.out.sends, ps.word(p.ID(), to, e))
	}
}

// SetTimer implements nodes.Host.
func (ps *parts) SetTimer(_ *nodes.Process, e *nodes.Effect) {
	ps.set = append(ps.set, ps.o.Timing.Timer(e))
}

// Save implements nodes.Host: the process itself holds what it has saved.
func (ps *parts) Save(*nodes.Process, *nodes.Effect) {}

// Enter implements nodes.Host.
func (ps *parts) Enter(_ *nodes.Process, e *nodes.Effect) {
	for r, instance := range ps.stack.Mutexes() {
		if instance != e.Instance {
			continue
		}
		ps.out.entered |= 1 << r
		if ps.stack.Fenced(instance) {
			if ps.out.fences == nil {
				ps.out.fences = make([]uint64, len(ps.stack.Mutexes()))
			}
			ps.out.fences[r] = e.Number
		}
	}
}

// Elect implements nodes.Host.
func (ps *parts) Elect(p *nodes.Process, e *nodes.Effect) {
	if ps.rules.Elects && e.Instance == 0 {
		back, _ := ps.next.Declare(p.ID(), e.To, e.Number, ps.rules.Terms)
		ps.out.back = ps.out.back || back
	}
}

// Revoke, Inform and Suspect implement nodes.Host: what they change is in the state of the process.
func (ps *parts) Revoke(*nodes.Process, *nodes.Effect)        {}
func (ps *parts) Inform(*nodes.Process, *nodes.Effect)        {}
func (ps *parts) Suspect(*nodes.Process, *nodes.Effect, bool) {}
