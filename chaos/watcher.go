package chaos

import (
	"slices"

	"turnstile/nodes"
)

// A Watcher fires the faults of a run that wait for something to happen at a node, where it happens. Each
// node of a real run has one, and they share the board.
type Watcher struct {
	board *Board
	traps []trap
	total nodes.ID // clients
	stops []*slot  // of faults that have had the node of this watcher stand still
}

// A trap is what one fault waits for.
type trap struct {
	*Fault
	slot  *slot
	who   Group // nil: any
	what  nodes.Occasion
	kinds []bool // of messages
	nth   uint64
	done  int // in the middle of an input: how often it has saved or sent
}

// NewWatcher returns the watcher of the faults of a run of so many clients.
func NewWatcher(faults []Fault, b *Board, clients int, codec *nodes.Codec) (*Watcher, error) {
	w := &Watcher{board: b, total: nodes.ID(clients)}
	for i := range faults {
		if err := w.add(&faults[i], &b.slots[i], codec); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// MidInput implements nodes.Watcher.
func (w *Watcher) MidInput() bool {
	return slices.ContainsFunc(w.traps, func(t trap) bool { return t.what == nodes.OnMidInput })
}

// Idle reports whether it waits for nothing.
func (w *Watcher) Idle() bool { return len(w.traps) == 0 }

// add adds what a fault waits for, if it waits for something.
func (w *Watcher) add(f *Fault, s *slot, codec *nodes.Codec) (err error) {
	if f.Timed() {
		return nil
	}
	t := trap{Fault: f, slot: s, who: f.When.Who, nth: 1}
	kind := f.When.Kind
	switch {
	case f.MidInput > 0:
		t.what, t.who, t.done = nodes.OnMidInput, f.Kill.Nodes, f.MidInput
	case f.When.IsZero():
		t.what, kind = f.victimComes()
	default:
		t.what, t.nth = f.When.occasion(), uint64(f.When.Nth)
	}
	if t.kinds, err = kindsOf(kind, codec); err != nil {
		return err
	}
	w.traps = append(w.traps, t)
	return nil
}

// victimComes returns at what occasion it comes out whom the fault hits, and with which messages.
func (f *Fault) victimComes() (what nodes.Occasion, kind string) {
	word := f.Cut.of.Word
	if t := f.target(); t != nil {
		word = t.Word
	}
	switch word {
	case "waiter":
		return nodes.OnRequest, ""
	case "token":
		return nodes.OnReceive, "token"
	case "leader":
		return nodes.OnLead, ""
	}
	return nodes.OnEnter, "" // holder and successor
}

// Watch implements nodes.Watcher.
func (w *Watcher) Watch(m *nodes.Moment) (blow nodes.Blow) {
	switch m.What {
	case nodes.OnLead:
		w.board.lead(m.Node, m.Term)
	case nodes.OnFollow:
		w.board.follow(m.Node)
	}
	for i := range w.traps {
		t := &w.traps[i]
		if m.What != t.what || !since(t.slot.armed.Load(), m.At) || t.slot.claim.Load() != 0 || !t.isFor(m) ||
			t.slot.seen.Add(1) != t.nth {
			continue
		}
		if b := w.fire(t, m); b > blow {
			blow = b
		}
	}
	return blow
}

func (t *trap) isFor(m *nodes.Moment) bool {
	if len(t.who) > 0 && !contains(t.who, m.Node) {
		return false
	}
	if m.What == nodes.OnMidInput {
		return m.Done == t.done
	}
	return m.What != nodes.OnSend && m.What != nodes.OnReceive || t.kinds[m.Kind]
}

func contains(g Group, id nodes.ID) bool {
	for _, x := range g {
		if x == id {
			return true
		}
	}
	return false
}

// fire claims a fault for the node at which its moment has come, and puts it in force.
func (w *Watcher) fire(t *trap, m *nodes.Moment) nodes.Blow {
	victim := m.Node
	if target := t.target(); target != nil && target.Word == "successor" || t.Cut.of.Word == "successor" {
		victim = (m.Node + 1) % w.total
	}
	if !t.slot.claim.CompareAndSwap(0, uint64(victim)+1) {
		return nodes.NoBlow
	}
	from, to := m.At+int64(t.After), int64(never)
	if t.For > 0 {
		to = from + int64(t.For)
	}
	t.slot.begin(from, to)
	switch {
	case !t.strikes(m.Node):
		return nodes.FarBlow
	case t.Kill.IsZero():
		w.stops = append(w.stops, t.slot)
		return nodes.PauseBlow
	}
	return nodes.KillBlow
}

// Stands implements nodes.Watcher.
func (w *Watcher) Stands(at int64) bool {
	w.stops = slices.DeleteFunc(w.stops, func(s *slot) bool { return at >= s.to.Load() })
	return len(w.stops) > 0
}

// strikes reports whether the fault has the node at which its moment comes kill or stop itself then.
func (f *Fault) strikes(id nodes.ID) bool {
	t := f.target()
	switch {
	case t == nil || f.After > 0 || f.Kill.IsZero() && f.Pause.IsZero():
		return false
	case t.ByRun():
		return t.Word != "successor"
	}
	return len(t.Nodes) == 1 && t.Nodes[0] == id
}
