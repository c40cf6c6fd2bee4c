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

// A Fault is one fault of a run: what goes wrong, when, and for how long. In a plan, the keys of all its
// parts are in one mapping: see form.
type Fault struct {
	Name   string        `yaml:"name"` // shown to readers, and otherwise unused
	Effect effect.Effect // its kind is one of effect.Kinds
	Filter
	Schedule

	// Hit is the node that the fault hit, if the run determined it.
	Hit *nodes.ID `yaml:"hit"`
	// HitServers are the servers of the service that the fault hit, if the run determined them.
	HitServers nodes.Group `yaml:"hit-servers"`
	// Seed is the seed of the fault's random draws. Resolve gives every fault one.
	Seed uint64 `yaml:"seed"`
	// Again means that the fault repeats the one before it: the key every made it. Resolve sets it.
	Again bool `yaml:"again"`
	// StandIn describes the fault of links that stands in for this one in a simulation, which has neither
	// connections nor brokers. Resolve sets it.
	StandIn string `yaml:"stand-in"`

	// Resolve sets the following fields.
	among     int // how many brokers the first network has, or would have in a real run
	servers   int // how many servers the service has
	placement *place.Placement

	lines map[string]int // line of each key in the file of the plan
	keys  []string       // keys of all effects, if a plan gives the fault several
	extra []string       // keys that do not suit the effect
}

// A Filter says which messages a fault of links hits.
type Filter struct {
	Between effect.Cut `yaml:"between"` // the links that the fault is on; zero: all
	// Kind is the name of a kind of message, or token or permit; empty: all kinds.
	Kind string `yaml:"kind"`
	Nth  uint64 `yaml:"nth"` // only the nth message that suits the filter is hit; 0: all
	// Instance is the only instance at each node that is hit, such as 1 for the detector beside an algorithm;
	// nil: all.
	Instance *int32 `yaml:"instance"`
	// Network is the only network that is hit; nil: both. For a fault of connections or brokers, nil is the
	// first.
	Network *effect.Net `yaml:"network"`
}

// A Schedule says when a fault begins, and how long it lasts.
type Schedule struct {
	At     time.Duration `yaml:"at"`     // when the fault begins, since measuring began
	When   When          `yaml:"when"`   // the fault begins at the first such moment from At on; zero: at At
	After  time.Duration `yaml:"after"`  // how long after the moment the fault begins
	For    time.Duration `yaml:"for"`    // how long the fault lasts; 0: to the end
	Every  time.Duration `yaml:"every"`  // time between repeated beginnings; 0: no repetition
	Repeat int           `yaml:"repeat"` // how often the fault begins in all; 0: as often as fits
	Jitter time.Duration `yaml:"jitter"` // longest random delay of each beginning
}

// hasEffect reports whether the effect of a fault is of type E.
func hasEffect[E effect.Effect](f *Fault) bool {
	_, has := f.Effect.(E)
	return has
}

// onMembers returns the effect if it strikes members of the cluster, or nil.
func (f *Fault) onMembers() effect.OnMembers {
	e, _ := f.Effect.(effect.OnMembers)
	return e
}

// kind returns the kind of the fault.
func (f *Fault) kind() *effect.Kind { return effect.KindOf(f.Effect) }

// carried reports whether a real run carries the fault out on connections, brokers, hosts or servers.
func (f *Fault) carried() bool { return f.kind().Carried() && f.StandIn == "" }

// downs reports whether nodes are down while the fault is in force.
func (f *Fault) downs() bool { return f.kind().Downs && f.kind().Role == port.Node }

// cut returns the cut of the fault, or an empty cut.
func (f *Fault) cut() *effect.Cut {
	if c := effect.CutOf(f.Effect); c != nil {
		return c
	}
	return &effect.Cut{}
}

// target returns the nodes that the fault hits; empty if it hits links or brokers.
func (f *Fault) target() *effect.Target {
	if t := effect.TargetOf(f.Effect); t != nil {
		return t
	}
	return &effect.Target{}
}

// Breaks returns the assumptions that the fault breaks: see effect.BreaksOf.
func (f *Fault) Breaks() nodes.Assumption {
	return effect.BreaksOf(f.Effect)
}

// Leaves returns how long the fault may still have consequences after its heal: delayed messages arrive,
// timers that were set back expire, nodes reconnect. There is no bound for messages that wait for bandwidth.
func (f *Fault) Leaves() time.Duration {
	if f.StandIn != "" && f.Breaks()&nodes.NoLoss != 0 { // nodes do not reconnect in a simulation
		return 0
	}
	return f.Effect.Leaves(f.For)
}

// OfLinks reports whether the fault is carried out on links, by itself or by its stand-in.
func (f *Fault) OfLinks() bool {
	return f.kind().Layer == effect.OfLinks || f.StandIn != ""
}

// OfMessages reports whether the fault hits messages or answers of servers, and counts them.
func (f *Fault) OfMessages() bool { return f.OfLinks() || slices.Contains(f.kind().Filters, "nth") }

// ByChance reports whether the fault hits a random part of the messages: see effect.ByChance.
func (f *Fault) ByChance() bool { return effect.ByChance(f.Effect) }

// CutsOff reports whether the fault cuts nodes off: from each other or from brokers or, as clients of a
// service, from half of its servers or more.
func (f *Fault) CutsOff() bool {
	return f.kind().Cuts || effect.OfClients(f.Effect) &&
		slices.ContainsFunc(effect.MembersIn(f.Effect), func(t effect.Target) bool {
			return t.Word == effect.AllServers || 2*len(t.List) >= max(1, f.servers)
		})
}

// ForGood reports whether the fault is never healed: it leaves nodes down, sets a clock, closes connections
// once, or hits one message.
func (f *Fault) ForGood() bool { return f.For == 0 && f.Effect.ForGood() || f.Nth > 0 }

// ByRun reports whether the run determines what the fault hits, as for kill: holder.
func (f *Fault) ByRun() bool { return f.target().ByRun() }

// Timed reports whether time alone determines when the fault begins.
func (f *Fault) Timed() bool { return f.When.IsZero() && !f.ByRun() && effect.MidInput(f.Effect) == 0 }

// Parts returns the cut of the fault if it drops all messages across the cut, of every kind and on every
// network; otherwise nil. For a fault of hosts the placement must be known: see OnHosts.
func (f *Fault) Parts() *effect.Cut {
	switch c := effect.CutOf(f.Effect); {
	case c != nil && f.Kind == "" && f.Nth == 0 && f.Instance == nil && f.Network == nil:
		return c
	case f.placement != nil:
		return effect.Separated(f.Effect, f.placement.Hosts(), f.placement.Nodes)
	}
	return nil
}

// HitsNode returns a function that reports whether the fault hits a node, given the victim that the run
// determined, or None. A fault of brokers counts as hitting all nodes.
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

// net returns the number of the network that a fault of connections or brokers is on.
func (f *Filter) net() effect.Net {
	if f.Network == nil {
		return 0
	}
	return *f.Network
}

// brokers returns the numbers of the brokers that the fault names. The first network has brokers 0 to
// first-1; the broker of the second network comes after these.
func (f *Fault) brokers(first int) (all nodes.Group) {
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

// What describes the effect.
func (f *Fault) What() string {
	text := effect.What(f.Effect, f.Filter.words()...)
	if f.StandIn != "" {
		text += fmt.Sprintf(" (simulated as %s)", f.StandIn)
	}
	return text
}

// words describes the messages that the filter lets the fault hit.
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

// String describes the fault: its name, effect and schedule.
func (f *Fault) String() string {
	text := f.What()
	if f.Name != "" {
		text = f.Name + " (" + text + ")"
	}
	return text + f.Schedule.String()
}

// String describes the schedule, with a leading space.
func (s *Schedule) String() (text string) {
	if !s.When.IsZero() {
		text += " when " + s.When.String()
		if s.After > 0 {
			text += fmt.Sprintf(" and %v later", s.After)
		}
		text += fmt.Sprintf(", from %v on", s.At)
	} else {
		text += fmt.Sprintf(" at %v", s.At)
		if s.After > 0 { // After counts from the moment that determines the target
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
