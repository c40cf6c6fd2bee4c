package chaos

import (
	"fmt"
	"strings"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// A Fault is what goes wrong, when, and for how long. It is one of those that Kinds lists.
type Fault struct {
	Name string `yaml:"name,omitempty" json:"name,omitempty"` // for people

	// What links do to messages.
	Cut       Cut                  `yaml:"cut,omitempty" json:"cut,omitzero"`
	Loss      *Losses              `yaml:"loss,omitempty" json:"loss,omitempty"`
	Delay     *chance.Distribution `yaml:"delay,omitempty" json:"delay,omitempty"`
	Duplicate *Share               `yaml:"duplicate,omitempty" json:"duplicate,omitempty"`
	Reorder   *chance.Distribution `yaml:"reorder,omitempty" json:"reorder,omitempty"`
	Bandwidth Bandwidth            `yaml:"bandwidth,omitempty" json:"bandwidth,omitzero"`
	// To which of them.
	Between Cut `yaml:"between,omitempty" json:"between,omitzero"` // on these links; none: on all
	// to one kind, or to token or permit; empty: to all
	Kind string `yaml:"kind,omitempty" json:"kind,omitempty"`
	Nth  uint64 `yaml:"nth,omitempty" json:"nth,omitempty"` // to the nth of these alone; 0: to all
	// To those of one instance of the nodes, such as 1 for the detector beside an algorithm; nil: to all.
	Instance *int32 `yaml:"instance,omitempty" json:"instance,omitempty"`
	// To those on one network; nil: on all. Of connections and brokers: that one; nil: the first.
	Network *Net `yaml:"network,omitempty" json:"network,omitempty"`

	// What happens to processes and their clocks.
	Kill   Target `yaml:"kill,omitempty" json:"kill,omitzero"`
	Forget bool   `yaml:"forget,omitempty" json:"forget,omitempty"` // what they have saved
	// when it has saved or sent so often because of one input, before it does so again; 0: between two inputs
	MidInput int           `yaml:"mid-input,omitempty" json:"mid-input,omitempty"`
	Pause    Target        `yaml:"pause,omitempty" json:"pause,omitzero"`
	Slow     Target        `yaml:"slow,omitempty" json:"slow,omitzero"`
	Share    Share         `yaml:"share,omitempty" json:"share,omitzero"` // of the time that they stand still
	Clock    Target        `yaml:"clock,omitempty" json:"clock,omitzero"`
	By       time.Duration `yaml:"by,omitempty" json:"by,omitempty"`     // how far it jumps
	Rate     float64       `yaml:"rate,omitempty" json:"rate,omitempty"` // at which it runs; 0: 1

	// What happens to the connections of nodes to their brokers, and to brokers.
	Lag         Target    `yaml:"lag,omitempty" json:"lag,omitzero"` // by By
	Throttle    Target    `yaml:"throttle,omitempty" json:"throttle,omitzero"`
	To          Bandwidth `yaml:"to,omitempty" json:"to,omitzero"`
	Stall       Target    `yaml:"stall,omitempty" json:"stall,omitzero"`
	Reset       Target    `yaml:"reset,omitempty" json:"reset,omitzero"`
	KillBroker  Brokers   `yaml:"kill-broker,omitempty" json:"kill-broker,omitzero"`
	PauseBroker Brokers   `yaml:"pause-broker,omitempty" json:"pause-broker,omitzero"`
	CutRoutes   Routes    `yaml:"cut-routes,omitempty" json:"cut-routes,omitzero"`

	// When.
	// from the beginning of what is measured
	At    time.Duration `yaml:"at,omitempty" json:"at,omitempty"`
	When  When          `yaml:"when,omitempty" json:"when,omitzero"`    // and then not before this happens
	After time.Duration `yaml:"after,omitempty" json:"after,omitempty"` // and so long after that
	For   time.Duration `yaml:"for,omitempty" json:"for,omitempty"`     // how long; 0: to the end
	Every time.Duration `yaml:"every,omitempty" json:"every,omitempty"` // again, so long after it began
	// how often in all; 0: as often as fits
	Repeat int           `yaml:"repeat,omitempty" json:"repeat,omitempty"`
	Jitter time.Duration `yaml:"jitter,omitempty" json:"jitter,omitempty"` // up to so much later each time

	// Hit is whom it hit, once that has come out in the run.
	Hit *nodes.ID `yaml:"hit,omitempty" json:"hit,omitempty"`
	// Seed is that of what the fault draws by chance. A plan that is carried out has one for each.
	Seed uint64 `yaml:"seed,omitempty" json:"seed,omitempty"`
	// StandIn says which fault of links stands in for it in a simulation, which has neither connections nor
	// brokers. Resolve sets it.
	StandIn string `yaml:"stand-in,omitempty" json:"stand-in,omitempty"`
	among   int    // how many brokers the first network has, or would have. Resolve sets it

	lines map[string]int // of the keys in the file of the plan
}

// A FaultKind is one kind of fault.
type FaultKind struct {
	Key     string   // that says it
	Layer   string   // link, process, clock, connection or broker
	Says    string   // what happens
	Example string   // of a fault, as in a plan
	Takes   []string // keys beside the one that says it, and those that say when
	Breaks  nodes.Assumption

	given  func(*Fault) bool
	value  func(*Fault) fmt.Stringer
	target func(*Fault) *Target // nil: it hits links or brokers
	// of a fault of a connection or a broker: see Fault.StandIn
	standIn string
}

var ofLinks = []string{"between", "kind", "nth", "instance", "network"}

// Kinds lists the faults.
var Kinds = append([]FaultKind{
	{Key: "cut", Layer: "link", Says: "messages between groups of nodes are lost", Example: "cut: 0-1/2-4",
		Takes: []string{"kind", "instance", "network"}, Breaks: nodes.NoLoss,
		given: func(f *Fault) bool { return !f.Cut.None() },
		value: func(f *Fault) fmt.Stringer { return f.Cut }},
	{Key: "loss", Layer: "link", Says: "messages are lost, each by chance or in bursts", Example: "loss: 2%",
		Takes: ofLinks, Breaks: nodes.NoLoss,
		given: func(f *Fault) bool { return f.Loss != nil },
		value: func(f *Fault) fmt.Stringer { return f.Loss }},
	{Key: "delay", Layer: "link", Says: "messages arrive later, in order", Example: "delay: uniform:5ms,50ms",
		Takes: ofLinks, Breaks: nodes.Timing,
		given: func(f *Fault) bool { return f.Delay != nil },
		value: func(f *Fault) fmt.Stringer { return f.Delay }},
	{Key: "duplicate", Layer: "link", Says: "messages arrive twice", Example: "duplicate: 5%",
		Takes: ofLinks, Breaks: nodes.NoDuplication,
		given: func(f *Fault) bool { return f.Duplicate != nil },
		value: func(f *Fault) fmt.Stringer { return f.Duplicate }},
	{Key: "reorder", Layer: "link", Says: "messages arrive later, and overtake each other",
		Example: "reorder: uniform:0s,5ms", Takes: ofLinks, Breaks: nodes.FIFO | nodes.Timing,
		given: func(f *Fault) bool { return f.Reorder != nil },
		value: func(f *Fault) fmt.Stringer { return f.Reorder }},
	{Key: "bandwidth", Layer: "link", Says: "so many bytes pass each link in a second, and others wait",
		Example: "bandwidth: 10KB", Takes: []string{"between", "kind", "instance", "network"},
		Breaks: nodes.Timing,
		given:  func(f *Fault) bool { return f.Bandwidth > 0 },
		value:  func(f *Fault) fmt.Stringer { return f.Bandwidth }},
	{Key: "kill", Layer: "process",
		Says:    "processes are killed (SIGKILL), and after the time that it lasts restarted",
		Example: "kill: holder", Takes: []string{"forget", "mid-input"}, Breaks: nodes.NoCrash,
		given:  func(f *Fault) bool { return !f.Kill.IsZero() },
		value:  func(f *Fault) fmt.Stringer { return f.Kill },
		target: func(f *Fault) *Target { return &f.Kill }},
	{Key: "pause", Layer: "process", Says: "processes stand still (SIGSTOP)", Example: "pause: 2",
		Breaks: nodes.NoPause | nodes.Timing,
		given:  func(f *Fault) bool { return !f.Pause.IsZero() },
		value:  func(f *Fault) fmt.Stringer { return f.Pause },
		target: func(f *Fault) *Target { return &f.Pause }},
	{Key: "slow", Layer: "process", Says: "processes stand still for a share of the time, again and again",
		Example: "slow: 1, share: 50%", Takes: []string{"share"}, Breaks: nodes.NoPause | nodes.Timing,
		given:  func(f *Fault) bool { return !f.Slow.IsZero() },
		value:  func(f *Fault) fmt.Stringer { return f.Slow },
		target: func(f *Fault) *Target { return &f.Slow }},
	{Key: "clock", Layer: "clock", Says: "the clocks of nodes jump ahead, or run at another rate",
		Example: "clock: 2, by: 3s", Takes: []string{"by", "rate"}, Breaks: nodes.Timing,
		given:  func(f *Fault) bool { return !f.Clock.IsZero() },
		value:  func(f *Fault) fmt.Stringer { return f.Clock },
		target: func(f *Fault) *Target { return &f.Clock }},
}, transportKinds...)

// kind returns what kind of fault it is; nil if it is none, or several.
func (f *Fault) kind() (kind *FaultKind) {
	for i := range Kinds {
		if !Kinds[i].given(f) {
			continue
		}
		if kind != nil {
			return nil
		}
		kind = &Kinds[i]
	}
	return kind
}

// target returns which nodes it hits; nil if it hits links or brokers.
func (f *Fault) target() *Target {
	if k := f.kind(); k.target != nil {
		return k.target(f)
	}
	return nil
}

// Breaks returns the assumptions about the system that the fault breaks: none, if its rate is zero.
func (f *Fault) Breaks() nodes.Assumption {
	if f.Loss != nil && f.Loss.IsZero() || f.Duplicate != nil && *f.Duplicate == 0 ||
		f.Delay != nil && f.Delay.Zero() || f.Reorder != nil && f.Reorder.Zero() ||
		!f.Clock.IsZero() && f.By == 0 && f.Rate == 1 {
		return 0
	}
	return f.kind().Breaks
}

// Leaves returns for how long what the fault has done may last once it is over: messages that it has delayed
// come, timers run out that it has set back, and nodes connect again. What waits for bandwidth may wait for
// any time.
func (f *Fault) Leaves() time.Duration {
	switch {
	case f.Delay != nil:
		return f.Delay.Longest()
	case f.Reorder != nil:
		return f.Reorder.Longest()
	case f.Bandwidth > 0, f.To > 0:
		return chance.Longest
	case !f.Lag.IsZero():
		return 2 * f.By // of a message that passes two such connections
	case f.carried() && f.Breaks()&nodes.NoLoss != 0:
		return reconnecting
	}
	return max(0, -f.By)
}

// OfLinks reports whether the fault is one of links, or one of links stands in for it.
func (f *Fault) OfLinks() bool { return f.kind().Layer == "link" || f.StandIn != "" }

// Holds reports whether the fault has processes or connections stand still.
func (f *Fault) Holds() bool {
	return !f.Pause.IsZero() || !f.Stall.IsZero() || !f.PauseBroker.IsZero()
}

// ForGood reports whether the fault is not healed: it leaves nodes down, sets a clock, closes connections
// once, or hits one message.
func (f *Fault) ForGood() bool {
	return f.For == 0 && (!f.Kill.IsZero() || !f.Clock.IsZero() && f.Rate == 0 || !f.Reset.IsZero()) ||
		f.Nth > 0
}

// ByRun reports whether it comes out in the run what the fault hits.
func (f *Fault) ByRun() bool {
	t := f.target()
	return t != nil && t.ByRun() || f.Cut.of.ByRun()
}

// awaits reports whether a word says whom the fault hits.
func (f *Fault) awaits(word string) bool {
	t := f.target()
	return t != nil && t.Word == word || f.Cut.of.Word == word
}

// Timed reports whether the time alone says when it begins.
func (f *Fault) Timed() bool { return f.When.IsZero() && !f.ByRun() && f.MidInput == 0 }

// What says what goes wrong.
func (f *Fault) What() string {
	k := f.kind()
	words := []string{k.Key, short(k.value(f))}
	if !f.Between.None() {
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
	if f.Share > 0 {
		words = append(words, "by "+f.Share.String())
	}
	if f.By != 0 {
		words = append(words, "by "+f.By.String())
	}
	if f.To != 0 {
		words = append(words, "to "+f.To.String())
	}
	if f.Rate != 0 {
		words = append(words, fmt.Sprintf("at a rate of %v", f.Rate))
	}
	if f.MidInput > 0 {
		words = append(words, fmt.Sprintf("in the middle of an input, after %d of what it saves and sends",
			f.MidInput))
	}
	if f.Forget {
		words = append(words, "with amnesia")
	}
	if says := f.saysStandIn(); says != "" {
		words = append(words, says)
	}
	return strings.Join(words, " ")
}

// short writes a value for people: many nodes are not all named.
func short(value fmt.Stringer) string {
	switch v := value.(type) {
	case Target:
		if v.Word == "" {
			return v.Nodes.Short()
		}
	case Cut:
		return v.Short()
	}
	return value.String()
}

// String says what goes wrong, and when.
func (f *Fault) String() string {
	text := f.What()
	if f.Name != "" {
		text = f.Name + " (" + text + ")"
	}
	if !f.When.IsZero() {
		text += " when " + f.When.String()
		if f.After > 0 {
			text += fmt.Sprintf(" and %v later", f.After)
		}
		text += fmt.Sprintf(", from %v on", f.At)
	} else {
		text += fmt.Sprintf(" at %v", f.At)
	}
	if f.For > 0 {
		text += fmt.Sprintf(" for %v", f.For)
	}
	if f.Every > 0 {
		text += fmt.Sprintf(" every %v", f.Every)
	}
	if f.Repeat > 0 {
		text += fmt.Sprintf(" %d times", f.Repeat)
	}
	if f.Jitter > 0 {
		text += fmt.Sprintf(", each up to %v later", f.Jitter)
	}
	return text
}

// has reports whether a key of the plan's file is given.
func (f *Fault) has(key string) bool {
	switch key {
	case "between":
		return !f.Between.None()
	case "kind":
		return f.Kind != ""
	case "nth":
		return f.Nth > 0
	case "instance":
		return f.Instance != nil
	case "network":
		return f.Network != nil
	case "forget":
		return f.Forget
	case "mid-input":
		return f.MidInput != 0
	case "share":
		return f.Share > 0
	case "by":
		return f.By != 0
	case "rate":
		return f.Rate != 0
	case "to":
		return f.To != 0
	}
	panic("no key " + key)
}
