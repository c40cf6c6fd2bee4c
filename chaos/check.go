package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// A Scene is the run that faults are for.
type Scene struct {
	Spec      *nodes.Spec
	Config    nodes.Config
	Stack     *nodes.Stack  // what all nodes are made of; nil: of Spec alone
	Measured  time.Duration // how long it is measured; 0: entries end it, and times count from its beginning
	Simulated bool
	Brokers   int  // of the run's own, nodes spread over them in turn; 0: one
	Foreign   bool // the broker is not one of the run's own
	// Campaigns is how long after each campaign the initiators campaign again; 0: they do so once.
	Campaigns time.Duration
}

// total returns how many nodes there are, servers included.
func (s *Scene) total() int {
	if s.Stack != nil {
		return s.Stack.Total()
	}
	return s.Config.N + s.Spec.ServerCount(s.Config)
}

// end returns when the run ends, in the time of faults, at the latest.
func (s *Scene) end() time.Duration {
	if s.Measured == 0 {
		return chance.Longest
	}
	return s.Measured
}

// codec returns the codec of all messages.
func (s *Scene) codec() *nodes.Codec {
	if s.Stack != nil {
		return s.Stack.Codec()
	}
	return s.Spec.Codec()
}

// A Mistake is what is wrong with a fault.
type Mistake struct {
	Key  string // of the plan that is wrong; empty: the fault as a whole
	Line int    // in the file of the plan; 0: there is none
	Err  error
}

func (m *Mistake) Error() string {
	if m.Line > 0 {
		return fmt.Sprintf("line %d: %v", m.Line, m.Err)
	}
	return m.Err.Error()
}

func (m *Mistake) Unwrap() error { return m.Err }

// mistake says what is wrong with a key of the fault.
func (f *Fault) mistake(key, format string, args ...any) error {
	m := &Mistake{Key: key, Line: f.lines[key], Err: fmt.Errorf(format, args...)}
	if m.Line == 0 {
		m.Line = f.lines[""]
	}
	return m
}

// qualifiers are the keys that only some faults take.
var qualifiers = []string{"between", "kind", "nth", "instance", "network", "forget", "share", "by", "rate",
	"to", "mid-input"}

// Check says what is wrong with the fault in a run, if anything is.
func (f *Fault) Check(s *Scene) error {
	if err := f.checkKind(); err != nil {
		return err
	}
	if err := f.checkTimes(s); err != nil {
		return err
	}
	if err := f.checkTarget(s); err != nil {
		return err
	}
	if err := f.checkNetwork(s); err != nil {
		return err
	}
	if err := f.checkTransport(s); err != nil {
		return err
	}
	return f.checkMessages(s)
}

// checkKind checks whether it is one fault, with keys that suit it.
func (f *Fault) checkKind() error {
	var keys, all []string
	for i := range Kinds {
		all = append(all, Kinds[i].Key)
		if Kinds[i].given(f) {
			keys = append(keys, Kinds[i].Key)
		}
	}
	switch len(keys) {
	case 0:
		return f.mistake("", "this says nothing that goes wrong: add one of %s", strings.Join(all, ", "))
	case 1:
	default:
		return f.mistake(keys[1], "this is %s: write them as two faults, with the same at and for",
			strings.Join(keys, " and "))
	}
	k := f.kind()
	for _, q := range qualifiers {
		if f.has(q) && !slices.Contains(k.Takes, q) {
			return f.mistake(q, "%s takes no %s%s", k.Key, q, beside(k.Takes))
		}
	}
	switch {
	case f.Between.word != "":
		return f.mistake("between", "between takes groups of nodes, as in 0-1/2-4 or 0>1")
	case k.Key == "slow" && (f.Share <= 0 || f.Share >= 1):
		return f.mistake("share",
			"slow takes the share of the time that the process stands still, as in share: 50%%")
	case k.Key == "clock" && f.By == 0 && f.Rate == 0:
		return f.mistake("", "clock takes how far it jumps, as in by: 3s or by: -3s, "+
			"or the rate at which it runs, as in rate: 1.1")
	case f.Rate != 0 && !(f.Rate >= 0.01 && f.Rate <= 100):
		return f.mistake("rate", "a rate of %v: a clock runs at 0.01 to 100 times the right rate", f.Rate)
	case f.By > 24*time.Hour || f.By < -24*time.Hour:
		return f.mistake("by", "a jump of %v: a clock jumps by 24h at most", f.By)
	case f.MidInput < 0:
		return f.mistake("mid-input", "mid-input takes how often the node has saved or sent because of the input, "+
			"from 1, and not %d", f.MidInput)
	case f.MidInput > 0 && !f.When.IsZero():
		return f.mistake("when", "%s: that is a moment of its own: leave out when, or mid-input", f.What())
	case f.MidInput > 0 && (len(f.Kill.Nodes) > 1 || f.Kill.Many > 1 ||
		f.Kill.Word != "" && f.Kill.Word != "random" && f.Kill.Word != "coordinator"):
		return f.mistake("kill", "%s: mid-input takes one node that is known before, as in kill: 2, kill: random "+
			"or kill: coordinator", f.What())
	case f.Forget && f.For == 0:
		return f.mistake("forget", "who forgets comes up again: say after how long, as in for: 500ms")
	}
	return f.checkTransportKeys(k)
}

func beside(takes []string) string {
	if len(takes) == 0 {
		return ""
	}
	return ": beside the times it takes " + strings.Join(takes, ", ")
}

// checkTimes checks whether the fault takes place while the run is measured.
func (f *Fault) checkTimes(s *Scene) error {
	if longest := max(f.At, f.For, f.After, f.Every, f.Jitter); longest > chance.Longest {
		return f.mistake("at", "%s: no time of a fault is longer than 100 years, and %v is", f.What(),
			longest)
	}
	switch {
	case f.At < 0 || f.For < 0 || f.After < 0 || f.Every < 0 || f.Jitter < 0 || f.Repeat < 0:
		return f.mistake("at", "%s: a fault begins at 0s or later, and no time of it is negative", f.What())
	case f.At >= s.end():
		return f.mistake("at", "%s at %v: the run is measured for %v: let the fault begin before, "+
			"or measure for longer, with --duration", f.What(), f.At, s.Measured)
	case f.After > 0 && f.When.IsZero():
		return f.mistake("after", "after %v of what? It counts from a moment, as in when: any enters; "+
			"at counts from the beginning", f.After)
	case f.Repeat > 0 && f.Every == 0:
		return f.mistake("repeat", "repeat takes every, as in every: 500ms")
	case f.Every > 0 && !f.Timed() && !(f.awaits("leader") && f.When.IsZero()):
		return f.mistake("every",
			"a fault that waits for a moment takes place once: leave out every, or write it again")
	case f.Jitter > 0 && !f.Timed():
		return f.mistake("jitter", "a fault that waits for a moment has no jitter: leave it out")
	case !f.Clock.IsZero() && f.Rate == 0 && f.For > 0:
		return f.mistake("for", "%s: a jump takes no time: leave out for, or add a rate", f.What())
	case f.Nth > 0 && f.For > 0:
		return f.mistake("for", "%s hits one message, which takes no time: leave out for", f.What())
	case f.Every > 0 && f.For >= f.Every:
		return f.mistake("every", "%s lasts for %v and comes every %v, and would not be healed in between: "+
			"let it come less often, or last for less", f.What(), f.For, f.Every)
	case f.Every > 0 && f.For == 0 && !f.ForGood():
		return f.mistake("every", "%s comes every %v: say how long it lasts, as in for: %v", f.What(),
			f.Every, f.Every/2)
	}
	if s.Measured == 0 && f.Every > 0 && f.Repeat == 0 {
		return f.mistake("every", "%s comes every %v, and this run ends by entries: "+
			"say how often, as in repeat: 3", f.What(), f.Every)
	}
	if f.Repeat > mostFaults {
		return f.mistake("repeat", "%s: a run has %d faults at most: let it come less often", f.What(),
			mostFaults)
	}
	last := float64(f.At) + float64(max(0, f.Repeat-1))*float64(f.Every)
	if !f.fits(last, s) {
		end := last + max(float64(f.After)+float64(f.Jitter)+float64(f.For), float64(time.Millisecond))
		return f.mistake("for", "%v: the run is measured for %v: let the fault end by then, "+
			"or measure for longer, with --duration %v", f, s.end(),
			time.Duration(min(end, float64(chance.Longest))))
	}
	return nil
}

// fits reports whether a fault that is planned for some time begins before the run ends, however late chance
// lets it begin, and is over by then.
func (f *Fault) fits(at float64, s *Scene) bool {
	latest := at + float64(f.After) + float64(f.Jitter)
	return latest+float64(f.For) <= float64(s.end()) && at < float64(s.end())
}

// checkTarget checks whether there are such nodes.
func (f *Fault) checkTarget(s *Scene) error {
	k := f.kind()
	groups := []struct {
		key string
		err error
	}{{"cut", f.Cut.Check(s.total())}, {"between", f.Between.Check(s.total())}, {"when",
		f.When.Who.Check(s.total())}}
	for _, g := range groups {
		if g.err != nil {
			return f.mistake(g.key, "%s: %w", f.What(), g.err)
		}
	}
	t := &f.Cut.of
	if k.target != nil {
		t = k.target(f)
	}
	if err := t.Nodes.Check(s.total()); err != nil {
		return f.mistake(k.Key, "%s: %w", f.What(), err)
	}
	switch n := s.Config.N; {
	case f.Cut.word != "" && (s.total() < 2 || t.Word == "all" || t.Word == "random" && t.Many >= s.total()):
		return f.mistake(k.Key, "%s: that leaves nobody to be cut off from", f.What())
	case t.Word == "minority" && n < 3, f.Cut.word == "majority" && n < 3:
		return f.mistake(k.Key, "%s: %d clients have no minority: take 3 or more", f.What(), n)
	case t.Word == "half" && s.total() < 2:
		return f.mistake(k.Key, "%s: one node has no half: take 2 or more", f.What())
	case t.Word == "random" && t.Many > n:
		return f.mistake(k.Key, "%s: there are %d clients", f.What(), n)
	case t.Word == "coordinator" && s.Spec.Coordinator == nil:
		return f.mistake(k.Key, "%s: %s has no coordinator: name the node, as in 0", f.What(), s.Spec.Name)
	case slices.Contains(critical, t.Word) && s.Spec.Leads != nil,
		t.Word == "token" && s.Spec.Leads != nil:
		return f.mistake(k.Key, "%s: %s elects leaders, and has no critical section: take leader", f.What(),
			s.Spec.Name)
	case slices.Contains(critical, f.When.What) && s.Spec.Leads != nil:
		return f.mistake("when", "%s when %v: %s elects leaders, and has no critical section: wait until one "+
			"leads, as in when: any leads", f.What(), f.When, s.Spec.Name)
	case t.Word == "token" && !carriesToken(s.Spec):
		return f.mistake(k.Key, "%s: %s has no token: take holder", f.What(), s.Spec.Name)
	case t.Word == "leader" && !elects(s):
		return f.mistake(k.Key, "%s: %s elects no leader: take holder", f.What(), s.Spec.Name)
	case t.ByRun() && !f.When.IsZero():
		return f.mistake("when", "%s when %v: who that is comes out at one moment, and this names another: "+
			"name the node, or leave out when", f.What(), f.When)
	case f.Cut.word == bridgeCut && n < 3, f.Cut.word == ringCut && n < 4:
		return f.mistake(k.Key, "%s: a bridge takes 3 clients or more, and a ring 4", f.What())
	case f.When.What == "leads" && !elects(s):
		return f.mistake("when", "%s when %v: %s elects no leader", f.What(), f.When, s.Spec.Name)
	}
	return nil
}

// carriesToken reports whether some message of an algorithm carries the privilege.
func carriesToken(s *nodes.Spec) bool {
	return slices.ContainsFunc(s.Messages, func(k nodes.Kind) bool { return k.Token })
}

// elects reports whether the algorithm of a run elects leaders.
func elects(s *Scene) bool {
	_, is := s.Spec.Machine(s.Config, 0).(nodes.Elector)
	is = is || s.Config.Elect != ""
	return is
}

// checkMessages checks whether the algorithm sends such messages.
func (f *Fault) checkMessages(s *Scene) error {
	if _, err := kindsOf(f.Kind, s.codec()); err != nil {
		return f.mistake("kind", "%s: %w", f.What(), err)
	}
	if _, err := kindsOf(f.When.Kind, s.codec()); err != nil {
		return f.mistake("when", "%s when %v: %w", f.What(), f.When, err)
	}
	return nil
}

// kindsOf returns which kinds of messages go by a name: one, those that carry a token, those that permit or,
// by none, all.
func kindsOf(name string, codec *nodes.Codec) (is []bool, err error) {
	is = make([]bool, codec.Kinds())
	found := false
	for kind := range is {
		is[kind] = name == "" || strings.EqualFold(name, codec.Name(kind)) ||
			name == "token" && codec.Kind(kind).Token || name == "permit" && codec.Kind(kind).Permit
		found = found || is[kind]
	}
	if found || name == "" {
		return is, nil
	}
	lacks := "there is no message " + name
	switch name {
	case "token":
		lacks = "no message carries a token"
	case "permit":
		lacks = "no message permits to enter"
	}
	return nil, fmt.Errorf("%s: there are %s", lacks, strings.Join(codec.Names(), ", "))
}
