package chaos

import (
	"slices"

	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// A Watcher fires the faults that wait for an event at a node, where the event occurs. Each node of a real
// run has a Watcher, and all Watchers share the state of the faults.
type Watcher struct {
	state    *SharedState
	triggers []trigger
	total    nodes.ID      // the number of clients
	stops    []*faultState // states of the faults that have stopped the node of this watcher
}

// A trigger is what one fault waits for.
type trigger struct {
	*Fault
	shared *faultState
	group  nodes.Group // nodes at which the event counts; nil: all
	what   port.HookKind
	kinds  []bool // by kind of message: whether it counts
	nth    uint64
	done   int // for a kill in the middle of an input: after how many saves and sends
}

// newWatcher returns the watcher of the faults of a run of so many clients.
func newWatcher(faults []Fault, b *SharedState, clients int, codec *nodes.Codec) (*Watcher, error) {
	w := &Watcher{state: b, total: nodes.ID(clients)}
	for i := range faults {
		if err := w.add(&faults[i], &b.faults[i], codec); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// MidInput implements port.Watcher.
func (w *Watcher) MidInput() bool {
	return slices.ContainsFunc(w.triggers, func(t trigger) bool { return t.what == port.OnMidInput })
}

// Idle reports whether no fault waits.
func (w *Watcher) Idle() bool { return len(w.triggers) == 0 }

// add adds the trigger of a fault, unless it is timed.
func (w *Watcher) add(f *Fault, s *faultState, codec *nodes.Codec) (err error) {
	if f.Timed() {
		return nil
	}
	t := trigger{Fault: f, shared: s, group: f.When.Who, nth: 1}
	kind := f.When.Kind
	switch {
	case effect.MidInput(f.Effect) > 0:
		t.what, t.group, t.done = port.OnMidInput, f.target().List, effect.MidInput(f.Effect)
	case f.When.IsZero():
		t.what, kind = port.OnEnter, "" // the event that determines holder and successor
		if comes, known := victimComes[f.target().Word]; known {
			t.what, kind = comes.what, comes.kind
		}
	default:
		t.what, t.nth = f.When.occasion(), uint64(f.When.Nth)
	}
	if t.kinds, err = kindsOf(kind, codec); err != nil {
		return err
	}
	w.triggers = append(w.triggers, t)
	return nil
}

// victimComes says, for targets other than holder and successor, which event determines the victim.
var victimComes = map[string]struct {
	what port.HookKind
	kind string
}{"waiter": {what: port.OnRequest}, "token": {port.OnReceive, "token"}, "leader": {what: port.OnLead}}

// Watch implements port.Watcher.
func (w *Watcher) Watch(m *port.Hook) (action port.Action) {
	switch m.What {
	case port.OnLead:
		w.state.lead(m.Node, m.Term, m.At)
	case port.OnFollow:
		w.state.follow(m.Node)
	}
	for i := range w.triggers {
		t := &w.triggers[i]
		if m.What != t.what || !since(t.shared.armed.Load(), m.At) || t.shared.claim.Load() != 0 || !t.isFor(m) ||
			t.shared.seen.Add(1) != t.nth {
			continue
		}
		if b := w.fire(t, m); b > action {
			action = b
		}
	}
	return action
}

func (t *trigger) isFor(m *port.Hook) bool {
	if len(t.group) > 0 && !contains(t.group, m.Node) {
		return false
	}
	if m.What == port.OnMidInput {
		return m.Done == t.done
	}
	return m.What != port.OnSend && m.What != port.OnReceive || t.kinds[m.Kind]
}

func contains(g nodes.Group, id nodes.ID) bool {
	for _, x := range g {
		if x == id {
			return true
		}
	}
	return false
}

// fire claims a fault for the node of its moment, and puts it in force.
func (w *Watcher) fire(t *trigger, m *port.Hook) port.Action {
	victim := m.Node
	if t.target().Word == "successor" {
		victim = (m.Node + 1) % w.total
	}
	if !t.shared.claim.CompareAndSwap(0, uint64(victim)+1) {
		return port.NoAction
	}
	from, to := m.At+int64(t.After), int64(never)
	if t.For > 0 {
		to = from + int64(t.For)
	}
	t.shared.begin(from, to)
	switch {
	case !t.strikes(m.Node):
		return port.Recheck
	case !t.downs():
		w.stops = append(w.stops, t.shared)
		return port.PauseNode
	}
	return port.KillNode
}

// Stands implements port.Watcher.
func (w *Watcher) Stands(at int64) bool {
	w.stops = slices.DeleteFunc(w.stops, func(s *faultState) bool { return at >= s.to.Load() })
	return len(w.stops) > 0
}

// strikes reports whether the watcher of the node at which the moment comes kills or stops that node itself.
func (f *Fault) strikes(id nodes.ID) bool {
	t, k := f.target(), f.kind()
	switch {
	case f.After > 0 || k.Role != port.Node || !k.Downs && !k.Stops || hasEffect[*effect.Leave](f):
		return false
	case t.ByRun():
		return t.Word != "successor"
	}
	return len(t.List) == 1 && t.List[0] == id
}
