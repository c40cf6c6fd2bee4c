package chaos

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"turnstile/chaos/effect"
	"turnstile/chaos/place"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/port"
)

// A Scene describes the run that faults are for.
type Scene struct {
	Spec      *algorithm.Algorithm
	Config    nodes.Config
	Stack     *algorithm.Stack // the instances at each node; nil: that of Spec alone
	Measured  time.Duration    // how long the run is measured; 0: entries end it
	Simulated bool
	Brokers   int             // how many brokers the run starts; nodes are spread over them in turn; 0: one
	Foreign   bool            // the run uses a broker that it did not start
	Servers   Servers         // servers of the service under test
	Placement place.Placement // which node is on which host
	// Campaigns is the time between the campaigns of an initiator; 0: each campaigns once.
	Campaigns time.Duration
}

// total returns how many nodes there are, servers included.
func (s *Scene) total() int {
	if s.Stack != nil {
		return s.Stack.Total()
	}
	return s.Config.N + s.Spec.ServerCount(s.Config)
}

// end returns the latest end of the run, from the beginning of what is measured.
func (s *Scene) end() time.Duration {
	if s.Measured == 0 {
		return chance.Longest
	}
	return s.Measured
}

// brokers returns how many brokers the first network of the run has. A second network has one.
func (s *Scene) brokers() int { return max(1, s.Brokers) }

// codec returns the codec of all messages.
func (s *Scene) codec() *nodes.Codec {
	if s.Stack != nil {
		return s.Stack.Codec()
	}
	return s.Spec.CodecIn(s.Config)
}

// A Mistake is an error in a fault of a plan.
type Mistake struct {
	Key  string // the wrong key of the plan; empty: the whole fault is wrong
	Line int    // line in the file of the plan; 0: unknown
	Err  error
}

func (m *Mistake) Error() string {
	if m.Line > 0 {
		return fmt.Sprintf("line %d: %v", m.Line, m.Err)
	}
	return m.Err.Error()
}

func (m *Mistake) Unwrap() error { return m.Err }

// mistake returns a Mistake about a key of the fault.
func (f *Fault) mistake(key, format string, args ...any) error {
	m := &Mistake{Key: key, Line: f.lines[key], Err: fmt.Errorf(format, args...)}
	if m.Line == 0 {
		m.Line = f.lines[""]
	}
	return m
}

// Check returns a Mistake if the run cannot have the fault, or nil.
func (f *Fault) Check(s *Scene) error {
	if err := f.checkKind(); err != nil {
		return err
	}
	f, err := f.placed(s)
	if err != nil {
		return err
	}
	for _, check := range []func(*Scene) error{f.checkTimes, f.checkTarget, f.checkTransport, f.checkMessages} {
		if err := check(s); err != nil {
			return err
		}
	}
	return nil
}

// checkKind checks that the fault has one effect, and only keys that the effect takes.
func (f *Fault) checkKind() error {
	switch {
	case f.keys != nil:
		return f.mistake(f.keys[1], "this is %s: write them as two faults, with the same at and for",
			strings.Join(f.keys, " and "))
	case f.Effect == nil:
		var all []string
		for _, k := range effect.Kinds {
			if k.Flag != "" { // a kind without a flag shares its key with another kind
				all = append(all, k.Key)
			}
		}
		return f.mistake("", "this does not say what goes wrong: add one of %s", strings.Join(all, ", "))
	}
	takes := f.kind().Takes()
	for _, key := range slices.Concat(f.Filter.keys(), effect.Given(f.Effect), f.extra) {
		if !slices.Contains(takes, key) {
			return f.mistake(key, "%s takes no %s%s", f.kind().Name(), key, beside(takes))
		}
	}
	if f.Between.Word != "" || f.Between.Role() != port.Node {
		return f.mistake("between", "between takes groups of nodes, as in 0-1/2-4 or 0>1")
	}
	if key, err := f.Effect.Check(f.For, !f.When.IsZero()); err != nil {
		return f.mistake(key, "%w", err)
	}
	return nil
}

// keys returns the keys that have a value.
func (f *Filter) keys() (keys []string) {
	effect.Each(reflect.ValueOf(f).Elem(), func(key string, field reflect.Value) {
		if !field.IsZero() {
			keys = append(keys, key)
		}
	})
	return keys
}

func beside(takes []string) string {
	if len(takes) == 0 {
		return ""
	}
	return "; apart from the times (at, for, every ...) it takes " + strings.Join(takes, ", ")
}

// checkTimes checks that the fault takes place while the run is measured.
func (f *Fault) checkTimes(s *Scene) error {
	if longest := max(f.At, f.For, f.After, f.Every, f.Jitter); longest > chance.Longest {
		return f.mistake("at", "%s: %v is longer than 100 years, the limit of the times of a fault", f.What(),
			longest)
	}
	switch {
	case f.At < 0 || f.For < 0 || f.After < 0 || f.Every < 0 || f.Jitter < 0 || f.Repeat < 0:
		return f.mistake("at", "%s: a fault begins at 0s or later, and no time of it is negative", f.What())
	case f.At >= s.end():
		return f.mistake("at", "%s at %v: the run is measured for %v: let the fault begin before, "+
			"or measure for longer, with --duration", f.What(), f.At, s.Measured)
	case f.After > 0 && f.When.IsZero() && !f.target().AtMoment():
		return f.mistake("after", "after %v of what? It counts from a moment, as in when: any enters, or kill: "+
			"holder; at counts from the beginning", f.After)
	case f.Repeat > 0 && f.Every == 0:
		return f.mistake("repeat", "`repeat` needs `every`, as in every: 500ms")
	case f.Every > 0 && !f.Timed() && !(f.target().Word == "leader" && f.When.IsZero()):
		return f.mistake("every",
			"a fault that waits for a moment occurs once: leave out `every`, or add further faults")
	case f.Jitter > 0 && !f.Timed():
		return f.mistake("jitter", "a fault that waits for a moment has no jitter: leave out `jitter`")
	case f.kind().Sets && f.Effect.ForGood() && f.For > 0:
		return f.mistake("for", "%s: a jump has no duration: leave out `for`, or add a rate", f.What())
	case f.Nth > 0 && f.For > 0:
		return f.mistake("for", "%s hits one message, which has no duration: leave out `for`", f.What())
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

// fits reports whether a fault that is planned for a time begins before the run ends, and is over by then
// even with the longest jitter.
func (f *Fault) fits(at float64, s *Scene) bool {
	latest := at + float64(f.After) + float64(f.Jitter)
	return latest+float64(f.For) <= float64(s.end()) && at < float64(s.end())
}

// checkTarget checks that the run has the nodes, leaders or tokens that the fault names.
func (f *Fault) checkTarget(s *Scene) error {
	k, cut, t := f.kind(), f.cut(), f.target()
	for _, g := range []struct {
		key string
		err error
	}{{"cut", cut.Check(s.total())}, {"between", f.Between.Check(s.total())},
		{"when", f.When.Who.Check(s.total())}, {k.Key, t.List.Check(s.total())}} {
		if g.err != nil {
			return f.mistake(g.key, "%s: %w", f.What(), g.err)
		}
	}
	switch n := s.Config.N; {
	case k.Role == port.Node && len(effect.MembersIn(f.Effect)) > 0:
		return f.mistake(k.Key, "%s: %s takes %s: kill, pause and cut take brokers and servers", f.What(), k.Key,
			effect.Takers(k.Key))
	case hasEffect[*effect.Leave](f) && !s.Spec.Leaves:
		return f.mistake(k.Key, "%s: a node of %s has no way to leave in order, or a program does not declare "+
			"that it leaves (docs/foreign.md): kill it, or take the client of a service", f.What(), s.Spec.Name)
	case cut.Word != "" && (s.total() < 2 || t.Word == "all" || t.Word == "random" && t.Many >= s.total()):
		return f.mistake(k.Key, "%s: that leaves no node to be cut off from", f.What())
	case t.Word == "minority" && n < 3, cut.Word == "majority" && n < 3:
		return f.mistake(k.Key, "%s: %d clients have no minority: take 3 or more", f.What(), n)
	case t.Word == "half" && s.total() < 2:
		return f.mistake(k.Key, "%s: one node has no half: take 2 or more", f.What())
	case t.Word == "random" && t.Many > n:
		return f.mistake(k.Key, "%s: there are %d clients", f.What(), n)
	case t.Word == "coordinator" && s.Spec.Coordinator == nil:
		return f.mistake(k.Key, "%s: %s has no coordinator: name the node, as in 0", f.What(), s.Spec.Name)
	case s.lacks(t.Word):
		return f.mistake(k.Key, "%s: %s %s", f.What(), s.Spec.Name, kindOf(s.Spec).noTarget)
	case s.lacks(f.When.What):
		return f.mistake("when", "%s when %v: %s %s", f.What(), f.When, s.Spec.Name,
			kindOf(s.Spec).noMoment)
	case t.Word == "token" && !carriesToken(s.Spec):
		return f.mistake(k.Key, "%s: %s has no token: take holder", f.What(), s.Spec.Name)
	case t.ByRun() && !f.When.IsZero():
		return f.mistake("when", "%s when %v: the target already sets the moment: name a node by its number, or "+
			"leave out `when`", f.What(), f.When)
	case cut.Word == effect.BridgeCut && n < 3, cut.Word == effect.RingCut && n < 4:
		return f.mistake(k.Key, "%s: a bridge needs 3 clients or more, and a ring 4", f.What())
	}
	n := s.Config.N
	if _, square := effect.GridOf(n); cut.Word == effect.GridCut && !square {
		side := max(2, int(math.Sqrt(float64(n))))
		return f.mistake(k.Key, "%s: a grid needs a square number of clients, such as %d or %d, and there are "+
			"%d", f.What(), side*side, (side+1)*(side+1), n)
	}
	return nil
}

// checkTransport checks that the run has the network, brokers or hosts that the fault names, and that they
// can suffer the fault.
func (f *Fault) checkTransport(s *Scene) error {
	k := f.kind()
	switch {
	case int(f.net()) >= s.codec().Networks():
		return f.mistake("network", "%s: %s has one network only: leave out network, or take an algorithm that "+
			"has two (bully-second-network)", f.What(), s.Spec.Name)
	case f.ofServers():
		return f.checkServers(s)
	case !k.Carried():
		return nil
	case s.Foreign:
		return f.mistake(k.Key, "%s: the broker is not one of the run's own: leave out --nats", f.What())
	case k.Role == port.Host && s.Placement.Hosts() < 2:
		return f.mistake(k.Key, "%s: there is no other host to be cut off from: take --hosts 2 or more", f.What())
	case k.Role == port.Broker && k.Proxies && s.brokers() == 1:
		return f.mistake(k.Key, "%s: there is one broker, and so no route: take --brokers 3, or write "+
			"brokers: 3 in the plan, beside faults", f.What())
	case s.Simulated && f.For == 0 && f.Effect.ForGood():
		return f.mistake(k.Key, "%s: a simulation has no connections that could be closed, and cuts links "+
			"instead: say how long, as in for: 100ms", f.What())
	case s.Simulated && f.For == 0 && k.Breaks&nodes.NoPause != 0:
		return f.mistake(k.Key, "%s: a simulation must know how long it lasts, as in for: 500ms", f.What())
	case s.Measured == 0 && k.Breaks&(nodes.NoPause|nodes.NoLoss) != 0 && f.For == 0 && !f.ForGood():
		return f.mistake(k.Key, "%s: this run ends by entries, and might never have them: say how long it "+
			"lasts, as in for: 500ms", f.What())
	}
	for _, i := range f.brokers(0) {
		switch {
		case f.net() > 0 && i > 0:
			return f.mistake(k.Key, "%s: the second network has one broker, and it is 0", f.What())
		case int(i) >= s.brokers() && s.brokers() == 1:
			return f.mistake(k.Key, "%s: there is no broker %d: there is one, and it is 0", f.What(), i)
		case int(i) >= s.brokers():
			return f.mistake(k.Key, "%s: there is no broker %d: they are 0 to %d", f.What(), i, s.brokers()-1)
		}
	}
	return nil
}

// carriesToken reports whether an algorithm has a message that carries the token.
func carriesToken(s *algorithm.Algorithm) bool {
	return slices.ContainsFunc(s.Messages, func(k nodes.MessageKind) bool { return k.Token })
}

// lacks reports whether the run has no target or moment that word names.
func (s *Scene) lacks(word string) bool {
	return slices.Contains(kindOf(s.Spec).lacks, word) &&
		!(slices.Contains(ofLeaders, word) && s.elects())
}

// elects reports whether a leader is elected in the run, by its algorithm or beside it.
func (s *Scene) elects() bool {
	_, is := s.Spec.Machine(s.Config, 0).(nodes.Elector)
	return is || s.Config.Elect != ""
}

// checkMessages checks that the algorithm has the kinds of messages that the fault names.
func (f *Fault) checkMessages(s *Scene) error {
	if _, err := kindsOf(f.Kind, s.codec()); err != nil {
		return f.mistake("kind", "%s: %w", f.What(), err)
	}
	if _, err := kindsOf(f.When.Kind, s.codec()); err != nil {
		return f.mistake("when", "%s when %v: %w", f.What(), f.When, err)
	}
	return nil
}

// kindsOf returns, for each kind of message, whether a name includes the kind. The name is that of one kind,
// or token (kinds that carry a token), permit (kinds that permit to enter) or "" (all kinds).
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

// Fenced reports whether the resource demands fence numbers by default: if the algorithm hands them out and a
// fault may break an assumption of its safety. Otherwise the run must show strict exclusion, and a resource
// that refuses late writes would hide a violation.
func Fenced(spec *algorithm.Algorithm, faults []Fault) bool {
	return spec.Fenced && slices.ContainsFunc(faults, func(f Fault) bool {
		return mayBreak(&f, spec)&spec.Safe != 0
	})
}

// mayBreak returns the assumptions that the fault may break in a run of an algorithm: those of Breaks and, in
// some cases, that a restarted node remembers its state or that a detector suspects only crashed nodes.
func mayBreak(f *Fault, spec *algorithm.Algorithm) nodes.Assumption {
	broken := f.Breaks()
	if f.downs() && !f.ForGood() && (effect.Forgets(f.Effect) || !recovers(spec)) {
		broken |= nodes.NoAmnesia
	}
	spares := f.Kind != "" || f.Nth > 0 || f.Instance != nil && *f.Instance == 0 // the fault spares heartbeats
	if broken&(nodes.NoLoss|nodes.NoPause|nodes.Timing) != 0 && !spares {
		broken |= nodes.PerfectDetector | nodes.EventualDetector
	}
	return broken
}

// recovers reports whether all nodes of an algorithm save state, and recover it after a crash.
func recovers(spec *algorithm.Algorithm) bool {
	c := spec.Explicit(nodes.Config{N: 2})
	for id := range nodes.ID(c.N + spec.ServerCount(c)) {
		if _, is := spec.Machine(c, id).(nodes.Recoverer); !is {
			return false
		}
	}
	return true
}
