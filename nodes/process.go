package nodes

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
)

// A Host carries out the effects of its processes, in order. An effect is valid only during the call.
type Host interface {
	// Send sends e.Message to e.To, a node other than p.
	Send(p *Process, e *Effect)
	// Broadcast sends e.Message to every client but p: see Process.Hearers.
	Broadcast(p *Process, e *Effect)
	// SetTimer makes e.Timer run out once, as generation e.Gen, after e.Min to e.Max. The process ignores a
	// timer that was stopped or set again since.
	SetTimer(p *Process, e *Effect)
	// Save makes e.Message durable before any later Send. Process keeps it for Restart as well.
	Save(p *Process, e *Effect)
	// Enter lets the client into its critical section under the fence number e.Number.
	Enter(p *Process, e *Effect)
	// Revoke makes the client leave its critical section without a Release.
	Revoke(p *Process, e *Effect)
	// Inform records that the client hears about the lock: e.Op is OpTellLost, OpRefuse, OpRetry, OpGiveUp or
	// OpLeft.
	Inform(p *Process, e *Effect)
	// Elect records that the machine has chosen the leader e.To in the term e.Number.
	Elect(p *Process, e *Effect)
	// Suspect records that the failure detector of p suspects e.To or, if suspects is false, trusts it again.
	Suspect(p *Process, e *Effect, suspects bool)
}

// A Runtime is shared by the processes of one host.
type Runtime struct {
	stack   *Stack
	host    Host
	choose  Choose
	effects []Effect // effects of the current input: shared, so that nodes stay small
	between func(p *Process, done int)
	left    int    // saves and sends of the current input after the current effect, if between is set
	detects []bool // by instance: it is a failure detector; nil: the stack has none
}

// Choose answers Env.Choose of an instance on a node with a number from 0 to n-1.
type Choose func(id ID, instance int32, n int) int

// NewRuntime returns the runtime of the processes of stack. host carries out their effects, and choose
// answers Env.Choose.
func NewRuntime(stack *Stack, host Host, choose Choose) *Runtime {
	return &Runtime{stack: stack, host: host, choose: choose, detects: stack.Detectors()}
}

// TellBetween has f called between two saves or sends of one input; done is how many came before. If f takes
// the process down, the remaining effects are dropped. Effects of failure detectors do not count. Nil turns
// the calls off.
func (rt *Runtime) TellBetween(f func(p *Process, done int)) { rt.between = f }

// Left returns how many saves or sends of the current input come after the effect that is carried out now. It
// is known while TellBetween is on.
func (rt *Runtime) Left() int { return rt.left }

// A Process is a Node through its lives: it boots, crashes, and comes up again with what it saved.
type Process struct {
	Node
	rt    *Runtime
	up    bool
	saved Saved
}

// Process initialises p as the process id, up but not booted.
func (rt *Runtime) Process(p *Process, id ID) {
	*p = Process{Node: Node{id: id}, rt: rt}
	p.begin(0)
}

// Runtime returns the runtime that the process shares with others.
func (p *Process) Runtime() *Runtime { return p.rt }

// Stack returns the stack of the process.
func (p *Process) Stack() *Stack { return p.rt.stack }

// Boot starts the machines or, after a restart, has them recover from what they saved.
func (p *Process) Boot() {
	if p.incarnation == 0 {
		p.Handle(&Input{Kind: Start})
		return
	}
	p.Handle(&Input{Kind: Recover, Message: p.saved})
}

// begin makes fresh machines.
func (p *Process) begin(incarnation uint32) {
	p.up = true
	p.init(p.rt.stack, p.id, incarnation, p.rt.choose)
}

// Up reports whether the process is up.
func (p *Process) Up() bool { return p.up }

// Crash takes the process down; all that it has not saved is lost. The host reads the states of its clients
// before the call, and ends their open requests.
func (p *Process) Crash() { p.up = false }

// Forgets reports whether a restart loses state that peers may rely on: see Stack.Forgets.
func (p *Process) Forgets(forget bool) bool { return p.rt.stack.Forgets(p.id, forget) }

// Listens reports whether a machine of the process hears of suspicions.
func (p *Process) Listens() bool {
	for i := range p.rt.stack.Instances() {
		if _, is := p.Machine(int32(i)).(Suspecter); is {
			return true
		}
	}
	return false
}

// Restart brings the process up again, with what it saved unless forget is set.
func (p *Process) Restart(forget bool) {
	saved := p.saved
	if forget {
		saved = nil
	}
	p.Resume(p.incarnation+1, saved)
	p.Boot()
}

// Resume brings p up in an incarnation, not booted, with what its instances saved earlier; nil: nothing. It
// drops what was saved by machines without Recover, which nothing reads. The process keeps and changes saved.
func (p *Process) Resume(incarnation uint32, saved Saved) {
	p.begin(incarnation)
	for i := range saved {
		if _, recovers := p.Machine(int32(i)).(Recoverer); !recovers {
			saved[i] = nil
		}
	}
	p.saved = saved
	if !slices.ContainsFunc(saved, func(m Message) bool { return m != nil }) {
		p.saved = nil
	}
}

// Saved returns what an instance has saved last, or nil.
func (p *Process) Saved(instance int32) Message {
	if p.saved == nil {
		return nil
	}
	return p.saved[instance]
}

// Handle hands the process an input, and the effects to the host. It panics when the host or a machine breaks
// its contract; the text names the node, the machine and the event.
func (p *Process) Handle(in *Input) {
	rt := p.rt
	rt.effects = p.HandleInto(rt.effects[:0], in)
	if rt.between == nil {
		for i := range rt.effects {
			if p.do(&rt.effects[i]); !p.up {
				return // a fault has taken it down in the middle
			}
		}
		return
	}
	p.doAndTell()
}

// doAndTell hands the current effects to the host, and calls rt.between in the middle: see TellBetween.
func (p *Process) doAndTell() {
	left, done := 0, 0
	for i := range p.rt.effects {
		if p.rt.outlives(&p.rt.effects[i]) {
			left++
		}
	}
	for i := range p.rt.effects {
		e := &p.rt.effects[i]
		outlives := p.rt.outlives(e)
		if outlives {
			left--
		}
		p.rt.left = left
		if p.do(e); !p.up {
			return
		}
		if !outlives {
			continue
		}
		if done++; left > 0 {
			if p.rt.between(p, done); !p.up {
				return
			}
		}
	}
}

// outlives reports whether an effect survives a crash right after it: a save or a message, but not of a
// failure detector.
func (rt *Runtime) outlives(e *Effect) bool {
	kept := e.Op == OpSave || e.Op == OpSend || e.Op == OpBroadcast
	return kept && (rt.detects == nil || !rt.detects[e.Instance])
}

func (p *Process) do(e *Effect) {
	h := p.rt.host
	switch e.Op {
	case OpSend:
		h.Send(p, e)
	case OpBroadcast:
		h.Broadcast(p, e)
	case OpSetTimer:
		h.SetTimer(p, e)
	case OpSave:
		if p.saved == nil {
			p.saved = make(Saved, p.count())
		}
		p.saved[e.Instance] = e.Message
		h.Save(p, e)
	case OpGrant:
		h.Enter(p, e)
	case OpRevoke:
		h.Revoke(p, e)
	case OpTellLost, OpRefuse, OpRetry, OpGiveUp, OpLeft:
		h.Inform(p, e)
	case OpElect:
		h.Elect(p, e)
	case OpSuspect, OpTrust:
		h.Suspect(p, e, e.Op == OpSuspect)
	default:
		panic(fmt.Sprintf("node %d: unknown operation %d", p.id, e.Op))
	}
}

// Hearers yields the receivers of a broadcast of the process: every client but itself.
func (p *Process) Hearers() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for id := range ID(p.rt.stack.N()) {
			if id != p.id && !yield(id) {
				return
			}
		}
	}
}

// HearerCount returns how many nodes Hearers yields.
func (p *Process) HearerCount() int {
	if n := p.rt.stack.N(); int(p.id) >= n {
		return n
	}
	return p.rt.stack.N() - 1
}

// Clone returns a copy of the process that shares no memory with it, except its runtime.
func (p *Process) Clone() *Process {
	fresh := &Process{}
	p.CopyTo(fresh, p.rt)
	return fresh
}

// CopyTo makes fresh a copy of the process that belongs to a runtime, perhaps of another host. The copies
// share no memory, except messages, which nobody changes.
func (p *Process) CopyTo(fresh *Process, rt *Runtime) {
	*fresh = Process{rt: rt, up: p.up, saved: slices.Clone(p.saved)}
	p.cloneInto(&fresh.Node)
	fresh.choose = rt.choose
}

// AppendState appends the state of the process, with what it saved. Equal states give equal bytes.
func (p *Process) AppendState(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(p.incarnation))
	if !p.up {
		b = append(b, 0)
	} else {
		b = p.Node.AppendState(append(b, 1))
	}
	for i := range p.saved {
		m := p.saved[i]
		if m == nil {
			b = append(b, 0)
			continue
		}
		kind := p.rt.stack.codec.KindOf(m)
		b = p.rt.stack.codec.Append(append(b, byte(kind+1)), kind, m)
	}
	return b
}
