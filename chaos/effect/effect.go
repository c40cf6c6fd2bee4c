package effect

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// An Effect is what goes wrong. It is a pointer to a struct.
type Effect interface {
	// Idle reports whether its rate is zero, so that it breaks nothing.
	Idle() bool
	// Leaves returns for how long what it has done may last once it is healed: chance.Longest if that is not
	// bounded.
	Leaves() time.Duration
	// ForGood reports whether it is not healed if the plan does not say how long it lasts.
	ForGood() bool
	// Check returns what is wrong with a value of its keys, and the key. The fault lasts so long, 0: to the
	// end, and may wait for a moment.
	Check(lasts time.Duration, waits bool) (key string, wrong error)
	more() []string // what its other keys say, for people
}

// plain is what most effects have in common.
type plain struct{}

func (plain) Idle() bool                                { return false }
func (plain) Leaves() time.Duration                     { return 0 }
func (plain) ForGood() bool                             { return false }
func (plain) Check(time.Duration, bool) (string, error) { return "", nil }
func (plain) more() []string                            { return nil }

// A Kind is one kind of fault.
type Kind struct {
	Key     string // that says it
	Layer   string // one of the constants
	Says    string // what happens
	Example string // of a fault, as in a plan
	Breaks  nodes.Assumption
	Filters []string // which keys of the messages or the network that it is for it takes
	Flag    string   // the help of the flag of its key
	More    []Key    // that say more of it
	Holds   bool     // processes or connections stand still
	Cuts    bool     // nodes are cut off: links, connections or brokers pass nothing on
	Weighs  bool     // it depends on how many bytes messages have
	StandIn string   // which fault of links stands in for it in a simulation
	Zero    Effect   // without a value
	// Random draws one for a random plan, which has one at most of all kinds that say how; nil: plans draw it
	// otherwise.
	Random func(d *Draw) Effect
}

// A Draw is what chance has said of a fault of a random plan before its kind is known.
type Draw struct {
	Who    Target
	Broker nodes.ID
	Later  time.Duration   // short beside the run
	For    time.Duration   // how long it lasts
	Below  func(n int) int // draws a number
}

// The layers of faults.
const (
	OfLinks       = "link"
	ofProcesses   = "process"
	ofClocks      = "clock"
	OfConnections = "connection"
	ofBrokers     = "broker"
	ofHosts       = "host"
	OfServers     = "server" // of a service
)

// Kinds lists the faults. A new one is added here.
var Kinds = []*Kind{&cutLinks, &loss, &delay, &duplicate, &reorder, &bandwidth, &kill, &pause, &slow, &clock,
	&lag, &throttle, &stall, &reset, &killBroker, &pauseBroker, &cutRoutes, &cutNetwork,
	&killServer, &pauseServer, &clockServer, &cutServer, &promote, &dropAnswer}

// A Key is a key of plans, and the flag that says the same.
type Key struct {
	Name string
	Says string // the help of its flag
	Flag string // its name, if it is not the key's
	// Value is what its help calls the value, if that is not the name of its type.
	Value string
	// Why a zero, which means the same as no key, is refused in a plan and by the flag; empty: it is not.
	NoZero, NoZeroFlag string
}

// FlagName returns the name of its flag.
func (k *Key) FlagName() string {
	if k.Flag != "" {
		return k.Flag
	}
	return k.Name
}

// Takes lists the keys that a fault takes beside its own, and beside those that say when.
func (k *Kind) Takes() []string {
	var own []string
	Each(reflect.ValueOf(k.Zero).Elem(), func(key string, _ reflect.Value) {
		if key != k.Key {
			own = append(own, key)
		}
	})
	return append(own, k.Filters...)
}

// Each calls do with the fields of a struct that are keys of plans, in order, those of its embedded structs
// included.
func Each(of reflect.Value, do func(key string, field reflect.Value)) {
	for i := range of.NumField() {
		field := of.Type().Field(i)
		key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case key != "":
			do(key, of.Field(i))
		case field.Anonymous && field.Type.Kind() == reflect.Struct:
			Each(of.Field(i), do)
		}
	}
}

// kindOf has the kinds of effects by their types.
var kindOf = func() map[reflect.Type]*Kind {
	of := map[reflect.Type]*Kind{}
	for _, k := range Kinds {
		of[reflect.TypeOf(k.Zero)] = k
	}
	return of
}()

// KindOf returns the kind of an effect.
func KindOf(e Effect) *Kind { return kindOf[reflect.TypeOf(e)] }

// valueOf returns a pointer to the value of the effect's own key, which is its first.
func valueOf(e Effect) (value any) {
	Each(reflect.ValueOf(e).Elem(), func(_ string, field reflect.Value) {
		if value == nil {
			value = field.Addr().Interface()
		}
	})
	return value
}

// TargetOf says which nodes an effect hits, or by which of them it comes out what it hits; nil: it hits
// links, brokers or servers that it names itself.
func TargetOf(e Effect) *Target {
	switch of := valueOf(e).(type) {
	case *Target:
		return of
	case *Cut:
		if !of.Of.IsZero() { // who is cut off from all others, until the groups are named
			return &of.Of
		}
	case *serverCut:
		if !of.clients.IsZero() {
			return &of.clients
		}
	}
	if slices.ContainsFunc(ServersIn(e), func(s ServersOf) bool { return s.Word == ServerOfHolder }) {
		return &Target{Word: "holder"}
	}
	return nil
}

// BreaksOf returns the assumptions about the system that an effect breaks: none, if its rate is zero.
func BreaksOf(e Effect) nodes.Assumption {
	if e.Idle() {
		return 0
	}
	if by, is := e.(interface{ breaks() nodes.Assumption }); is {
		return by.breaks()
	}
	return KindOf(e).Breaks
}

// What says what goes wrong, with further words behind the value of the effect's own key.
func What(e Effect, further ...string) string {
	value := valueOf(e)
	text := fmt.Sprint(reflect.ValueOf(value).Elem())
	if long, is := value.(interface{ Short() string }); is {
		text = long.Short()
	}
	words := slices.Concat([]string{KindOf(e).Key, text}, further, e.more())
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

// Clone returns a copy of an effect.
func Clone(e Effect) Effect {
	c := reflect.New(reflect.TypeOf(e).Elem())
	c.Elem().Set(reflect.ValueOf(e).Elem())
	return c.Interface().(Effect)
}

// OnLinks is an effect that shapes packets.
type OnLinks interface {
	Effect
	// Start returns the effect at work in a run.
	Start(at *Place) Link
}

// A Link is an effect at work on links: it changes the fate of a packet, from begun on, and reports whether
// it hits it.
type Link func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool)

// A Place is where an effect works on links.
type Place struct {
	Dice    chance.Dice
	Beneath nodes.Shaper    // what links do without it
	Victim  func() nodes.ID // who it hits as it came out in the run, or nodes.None
	Until   func() int64    // when it is healed, in the run's nanoseconds
	Second  bool            // it is on the second network
	Brokers int             // how many the first network has, or would have
	HostOf  func(nodes.ID) int
}

// OnNodes is an effect that strikes processes.
type OnNodes interface {
	Effect
	// Strike does to a node that is up what goes wrong, and Undo takes it back from a node, up or not.
	Strike(c Cluster, id nodes.ID) error
	Undo(c Cluster, id nodes.ID) error
}

// A Cluster is what effects strike. Of several faults that stop one node it goes on when all are over, and
// who is restarted has the rate of clocks that others want.
type Cluster interface {
	port.Cluster
	Stop(id nodes.ID) error
	Proceed(id nodes.ID) error
	Rate(id nodes.ID) float64 // at which faults in force have a clock run
}

// Carried is an effect that a transport carries out. If something stands in for it in a simulation, it is
// OnLinks too, of that.
type Carried interface {
	Effect
	// Begin hits the connections of some nodes, or brokers, hosts or servers that the effect names, and returns
	// how many nodes that is. The error is ErrNobodyLeads if it is to be tried again.
	Begin(c *Carrier, of Group) (hit int, err error)
	Heal(c *Carrier) error
}

// A Carrier carries out one fault of connections, brokers, hosts or servers.
type Carrier struct {
	port.Transport
	Number  int // of the fault
	Network uint8
	Up      func(nodes.ID) bool
	Stands  func(broker int) bool // because of another fault
	NodesOn func(host int) Group
	Taken   []int // brokers that it has killed or stopped

	ServerStands func(server int) bool // because of another fault
	Hit          []int                 // servers that it has hit
	Parted       [][2]int              // pairs of servers that it keeps apart
	Nth          uint64                // of messages, the one that the fault is for
	Lost         uint64                // answers, known once it is healed
}

// BrokersOf returns the brokers that an effect names, by their numbers among all of a run. That of a second
// network comes after those of the first, of which there are so many.
func BrokersOf(e Effect, second bool, first int) (all Group) {
	switch of := valueOf(e).(type) {
	case *brokerGroup:
		all = slices.Clone(of.Group)
	case *brokerCut:
		all = of.Named()
	}
	for i := range all {
		if second {
			all[i] += nodes.ID(first)
		}
	}
	return all
}

// roll returns the decision of a purpose about a packet.
func roll(purpose chance.Purpose, p *nodes.Packet) chance.Roll {
	return chance.OnLink(purpose, p.From, p.To, p.Kind, p.Number)
}

// postpone has what came of a packet arrive later.
func postpone(fate nodes.Fate, begun int, later time.Duration) (nodes.Fate, bool) {
	for i := range fate[begun:] {
		fate[begun+i] += later
	}
	return fate, len(fate) > begun && later > 0
}

// Find returns the kind of fault that a key says, or nil.
func Find(key string) *Kind {
	i := slices.IndexFunc(Kinds, func(k *Kind) bool { return k.Key == key })
	if i < 0 {
		return nil
	}
	return Kinds[i]
}
