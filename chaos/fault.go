package chaos

import (
	"fmt"
	"slices"
	"time"

	"turnstile/chaos/effect"
	"turnstile/chaos/place"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// A Fault is what goes wrong, when, and for how long. A plan has the keys of all its parts in one list: see
// form.
type Fault struct {
	Name   string        `yaml:"name"` // for people
	Effect effect.Effect // one of those that effect.Kinds lists
	Filter
	Schedule

	// Hit is whom it hit, once that has come out in the run.
	Hit *nodes.ID `yaml:"hit"`
	// HitServers are the servers of a service that it hit, once that has come out in the run.
	HitServers effect.Group `yaml:"hit-servers"`
	// Seed is that of what the fault draws by chance. A plan that is carried out has one for each.
	Seed uint64 `yaml:"seed"`
	// StandIn says which fault of links stands in for it in a simulation, which has neither connections nor
	// brokers. Resolve sets it.
	StandIn string `yaml:"stand-in"`

	among   int // how many brokers the first network has, or would have. Resolve sets it
	servers int // how many the service has. Resolve sets it
	// of nodes on hosts. Resolve sets it
	placement *place.Placement
	lines     map[string]int // of the keys in the file of the plan
	keys      []string       // that say what goes wrong, if that is none or several
	extra     []string       // keys that its effect does not take
}

// A Filter says which messages a fault of links is for.
type Filter struct {
	Between effect.Cut `yaml:"between"` // on these links; none: on all
	// of one kind, or token or permit; empty: all
	Kind string `yaml:"kind"`
	Nth  uint64 `yaml:"nth"` // the nth of these alone; 0: all
	// Those of one instance of the nodes, such as 1 for the detector beside an algorithm; nil: all.
	Instance *int32 `yaml:"instance"`
	// Those on one network; nil: on all. Of connections and brokers: that one; nil: the first.
	Network *effect.Net `yaml:"network"`
}

// A Schedule says when a fault begins, and how long it lasts.
type Schedule struct {
	At     time.Duration `yaml:"at"`     // from the beginning of what is measured
	When   When          `yaml:"when"`   // and then not before this happens
	After  time.Duration `yaml:"after"`  // and so long after that
	For    time.Duration `yaml:"for"`    // how long; 0: to the end
	Every  time.Duration `yaml:"every"`  // again, so long after it began
	Repeat int           `yaml:"repeat"` // how often in all; 0: as often as fits
	Jitter time.Duration `yaml:"jitter"` // up to so much later each time
}

// is reports whether the effect of a fault is of a type.
func is[E effect.Effect](f *Fault) bool {
	_, is := f.Effect.(E)
	return is
}

// onMembers returns the effect of a fault that strikes members of the cluster; nil: it is another.
func (f *Fault) onMembers() effect.OnMembers {
	e, _ := f.Effect.(effect.OnMembers)
	return e
}

// kind returns what kind of fault it is.
func (f *Fault) kind() *effect.Kind { return effect.KindOf(f.Effect) }

// carried reports whether a real run carries it out on connections, brokers, hosts or servers.
func (f *Fault) carried() bool { return f.kind().Carried() && f.StandIn == "" }

// downs reports whether it has nodes down while it is in force.
func (f *Fault) downs() bool { return f.kind().Downs && f.kind().Role == port.Node }

// cut returns the cut of a fault of links; one that cuts nothing of another.
func (f *Fault) cut() *effect.Cut {
	if c := effect.CutOf(f.Effect); c != nil {
		return c
	}
	return &effect.Cut{}
}

// target returns which nodes it hits; one that is nobody, if it hits links or brokers.
func (f *Fault) target() *effect.Target {
	if t := effect.TargetOf(f.Effect); t != nil {
		return t
	}
	return &effect.Target{}
}

// Breaks is effect.BreaksOf.
func (f *Fault) Breaks() nodes.Assumption {
	return effect.BreaksOf(f.Effect)
}

// Leaves returns for how long what the fault has done may last once it is over: messages that it has delayed
// come, timers run out that it has set back, and nodes connect again. What waits for bandwidth may wait for
// any time.
func (f *Fault) Leaves() time.Duration {
	if f.StandIn != "" && f.Breaks()&nodes.NoLoss != 0 { // nobody has to connect again
		return 0
	}
	return f.Effect.Leaves(f.For)
}

// OfLinks reports whether the fault is one of links, or one of links stands in for it.
func (f *Fault) OfLinks() bool {
	return f.kind().Layer == effect.OfLinks || f.StandIn != ""
}

// OfMessages reports whether the fault hits messages, those of links or answers of servers, and says how many
// once it is healed.
func (f *Fault) OfMessages() bool { return f.OfLinks() || slices.Contains(f.kind().Filters, "nth") }

// ByChance is effect.ByChance.
func (f *Fault) ByChance() bool { return effect.ByChance(f.Effect) }

// ForGood reports whether the fault is not healed: it leaves nodes down, sets a clock, closes connections
// once, or hits one message.
func (f *Fault) ForGood() bool { return f.For == 0 && f.Effect.ForGood() || f.Nth > 0 }

// ByRun reports whether it comes out in the run what the fault hits.
func (f *Fault) ByRun() bool { return f.target().ByRun() }

// Timed reports whether the time alone says when it begins.
func (f *Fault) Timed() bool { return f.When.IsZero() && !f.ByRun() && effect.MidInput(f.Effect) == 0 }

// Parts returns the cut, if the fault is one of all messages, whatever their kind and on every network, or
// nil. Of a fault of hosts it must be known where nodes are: see OnHosts.
func (f *Fault) Parts() *effect.Cut {
	switch c := effect.CutOf(f.Effect); {
	case c != nil && f.Kind == "" && f.Nth == 0 && f.Instance == nil && f.Network == nil:
		return c
	case f.placement != nil:
		return effect.Separated(f.Effect, f.placement.Hosts(), f.placement.Nodes)
	}
	return nil
}

// HitsNode returns what reports whether a fault that cuts nodes off, or of processes, hits one of the nodes,
// if it hit a victim that came out in the run, or None. Whom a broker serves is not looked at: a fault of
// brokers hits all.
func (f *Fault) HitsNode() func(id, victim nodes.ID) bool {
	switch t := effect.TargetOf(f.Effect); {
	case f.hitsVictim():
		return func(id, victim nodes.ID) bool { return id == victim }
	case effect.CutOf(f.Effect) != nil:
		cut := f.cut()
		return func(id, _ nodes.ID) bool { return cut.Names(id) }
	case t != nil && !f.ByRun():
		hit := map[nodes.ID]bool{}
		for _, id := range t.List {
			hit[id] = true
		}
		return func(id, _ nodes.ID) bool { return hit[id] }
	}
	return func(_, _ nodes.ID) bool { return true }
}

// net returns which network the fault is of, if it is one of connections or brokers.
func (f *Filter) net() effect.Net {
	if f.Network == nil {
		return 0
	}
	return *f.Network
}

// brokers returns the brokers that the fault names, by their numbers among all of a run whose first network
// has so many: that of a second network comes after those of the first.
func (f *Fault) brokers(first int) (all effect.Group) {
	if f.kind().Role != port.Broker {
		return nil
	}
	for _, t := range effect.MembersIn(f.Effect) {
		for _, i := range t.List {
			if f.net() > 0 {
				i += nodes.ID(first)
			}
			all = append(all, i)
		}
	}
	return all
}

// What says what goes wrong.
func (f *Fault) What() string {
	text := effect.What(f.Effect, f.Filter.words()...)
	if f.StandIn != "" {
		text += fmt.Sprintf(" (simulated as %s)", f.StandIn)
	}
	return text
}

// words says which messages it is for.
func (f *Filter) words() (words []string) {
	if !f.Between.IsZero() {
		words = append(words, "between "+f.Between.String())
	}
	if f.Kind != "" {
		words = append(words, "of "+f.Kind)
	}
	if f.Nth > 0 {
		words = append(words, fmt.Sprintf("#%d", f.Nth))
	}
	if f.Instance != nil {
		words = append(words, fmt.Sprintf("of instance %d", *f.Instance))
	}
	if f.Network != nil {
		words = append(words, fmt.Sprintf("on the %v network", *f.Network))
	}
	return words
}

// String says what goes wrong, and when.
func (f *Fault) String() string {
	text := f.What()
	if f.Name != "" {
		text = f.Name + " (" + text + ")"
	}
	return text + f.Schedule.String()
}

// String says when.
func (s *Schedule) String() (text string) {
	if !s.When.IsZero() {
		text += " when " + s.When.String()
		if s.After > 0 {
			text += fmt.Sprintf(" and %v later", s.After)
		}
		text += fmt.Sprintf(", from %v on", s.At)
	} else {
		text += fmt.Sprintf(" at %v", s.At)
		if s.After > 0 { // the moment is that of the target
			text += fmt.Sprintf(" and %v later", s.After)
		}
	}
	if s.For > 0 {
		text += fmt.Sprintf(" for %v", s.For)
	}
	if s.Every > 0 {
		text += fmt.Sprintf(" every %v", s.Every)
	}
	if s.Repeat > 0 {
		text += fmt.Sprintf(" %d times", s.Repeat)
	}
	if s.Jitter > 0 {
		text += fmt.Sprintf(", each up to %v later", s.Jitter)
	}
	return text
}
