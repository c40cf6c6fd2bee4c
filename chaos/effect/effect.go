package effect

import (
	"errors"
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
	// Leaves returns for how long what it has done may last once it is healed, given how long it lasted; 0: to
	// the end. It is chance.Longest if that is not bounded.
	Leaves(lasts time.Duration) time.Duration
	// ForGood reports whether it is not healed if the plan does not say how long it lasts.
	ForGood() bool
	// Check returns what is wrong with a value of its keys, and the key. The fault lasts so long, 0: to the
	// end, and may wait for a moment.
	Check(lasts time.Duration, waits bool) (key string, wrong error)
	more() []string  // what its other keys say, for people
	role() port.Role // of the members that it is for
}

// plain is what most effects have in common.
type plain struct{}

func (plain) Idle() bool                                { return false }
func (plain) Leaves(time.Duration) time.Duration        { return 0 }
func (plain) ForGood() bool                             { return false }
func (plain) Check(time.Duration, bool) (string, error) { return "", nil }
func (plain) more() []string                            { return nil }
func (plain) role() port.Role                           { return port.Node }

// A Kind is one kind of fault: an effect on members of a role.
type Kind struct {
	Key     string // that says it
	Role    port.Role
	Layer   string // one of the constants
	Says    string // what happens
	Example string // of a fault, as in a plan
	Breaks  nodes.Assumption
	Filters []string // which keys of the messages or the network that it is for it takes
	Without []string // which keys of its effect it does not take
	Flag    string   // the help of the flag of its key; empty: another kind of that key has it
	More    []Key    // that say more of it

	// What it does while it is in force.
	Downs bool // members are down
	Stops bool // members stand still, all the time
	Holds bool // processes or connections stand still, which may be for too long
	Sets  bool // clocks are wrong
	Cuts  bool // nodes are cut off: links, connections or brokers pass nothing on

	// Turns has members stop, or go on, and returns for how long; nil: what it does, it does all the time.
	Turns func(e Effect, c Cluster, of []port.Member, stop bool) (time.Duration, error)

	Proxies bool   // it takes proxies for connections or routes
	Weighs  bool   // it depends on how many bytes messages have
	StandIn string // which fault of links stands in for it in a simulation
	Did     string // what it has done once and for good, so that there is nothing to heal
	Zero    Effect // without a value
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
var Kinds = []*Kind{&cutNodes, &loss, &delay, &duplicate, &reorder, &bandwidth, &killNodes, &pauseNodes,
	&slow, &clockOfNodes, &lag, &throttle, &stall, &reset, &killBrokers, &pauseBrokers, &cutBrokers, &cutHosts,
	&killServers, &pauseServers, &clockOfServers, &cutServers, &promote, &dropAnswer}

// Name tells the kind from others of its key.
func (k *Kind) Name() string {
	if k.Role == port.Node || k.Flag != "" {
		return k.Key
	}
	return k.Key + " of " + k.Role.String() + "s"
}

// Carried reports whether the cluster of a real run carries it out on connections, brokers, hosts or servers.
func (k *Kind) Carried() bool {
	return slices.Contains([]string{OfConnections, ofBrokers, ofHosts, OfServers}, k.Layer)
}

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
		if key != k.Key && !slices.Contains(k.Without, key) {
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

// kindsOf has the kinds of effects by their types.
var kindsOf = func() map[reflect.Type][]*Kind {
	of := map[reflect.Type][]*Kind{}
	for _, k := range Kinds {
		of[reflect.TypeOf(k.Zero)] = append(of[reflect.TypeOf(k.Zero)], k)
	}
	return of
}()

// KindOf returns the kind of an effect. If the effect names members that it cannot hit, it is the first
// kind of its key.
func KindOf(e Effect) *Kind {
	all := kindsOf[reflect.TypeOf(e)]
	for _, k := range all {
		if k.Role == e.role() {
			return k
		}
	}
	return all[0]
}

// RoleOf returns the role of the members that an effect is for.
func RoleOf(e Effect) port.Role { return e.role() }

// Takers names the members that the faults of a key take, as in "nodes and servers".
func Takers(key string) string {
	var roles []string
	for _, k := range Kinds {
		if k.Key == key {
			roles = append(roles, k.Role.String()+"s")
		}
	}
	return strings.Join(roles, " and ")
}

// Given returns the keys of an effect that have a value, beside its own.
func Given(e Effect) (keys []string) {
	own := KindOf(e).Key
	Each(reflect.ValueOf(e).Elem(), func(key string, field reflect.Value) {
		if key != own && !field.IsZero() {
			keys = append(keys, key)
		}
	})
	return keys
}

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
		if of.Role == port.Node {
			return of
		}
	case *Cut:
		if RoleOf(e) != port.Host && !of.Of.IsZero() { // who is cut off, until the groups are named
			return &of.Of
		}
	}
	if slices.ContainsFunc(MembersIn(e), func(t Target) bool { return t.Word == ServerOfHolder }) {
		return &Target{Word: "holder"}
	}
	return nil
}

// CutOf returns the cut of an effect that cuts links, and nil of others.
func CutOf(e Effect) *Cut {
	if p, is := e.(*Partition); is && p.role() == port.Node {
		return &p.Cut
	}
	return nil
}

// Separated returns the cut between nodes that kernels of hosts make. hosts is how many hosts there are,
// and on returns the nodes on a host. Nil: kernels do not carry out the effect.
func Separated(e Effect, hosts int, on func(host int) Group) *Cut {
	if p, is := e.(*Partition); is && p.Kernel {
		return new(p.cutOfHosts(hosts, on))
	}
	return nil
}

// OfClients reports whether an effect is on the connections between clients and servers.
func OfClients(e Effect) bool {
	switch e := e.(type) {
	case *Partition:
		return e.ofClients()
	case *DropAnswer:
		return true
	}
	return false
}

// ByChance reports whether chance decides which of the messages that the effect is for it hits.
func ByChance(e Effect) bool {
	switch e := e.(type) {
	case *Loss:
		return e.Of.Rate < 1
	case *Duplicate:
		return e.Of < 1
	}
	return false
}

// Surely returns an effect that hits a message with at least this chance, if it has a rate. In place of a
// bandwidth it returns a delay. It reports whether the effect is a loss or a duplication.
func Surely(e Effect, share Share, later func() chance.Distribution) (Effect, bool) {
	switch e := e.(type) {
	case *Loss:
		if e.Of.Rate > 0 {
			e.Of.Rate = max(e.Of.Rate, share)
		}
		return e, true
	case *Duplicate:
		e.Of = max(e.Of, share)
		return e, true
	case *Bandwidth:
		return &Delay{Later: later()}, false
	}
	return e, false
}

// MidInput returns after how much of what a node saves and sends because of one input it is killed; 0:
// between two inputs.
func MidInput(e Effect) int {
	if k, is := e.(*Kill); is {
		return k.MidInput
	}
	return 0
}

// Forgets reports whether who comes up again has forgotten what it saved.
func Forgets(e Effect) bool {
	k, is := e.(*Kill)
	return is && k.Forget
}

// Remembering returns the effect without forget.
func Remembering(e Effect) Effect {
	if k, is := e.(*Kill); is {
		return &Kill{Who: k.Who, MidInput: k.MidInput}
	}
	return e
}

// RateOf returns the rate at which an effect has clocks of nodes run; 0: it changes none.
func RateOf(e Effect) float64 {
	if c, is := e.(*Clock); is {
		return c.Rate
	}
	return 0
}

// MembersIn returns the brokers or servers that an effect names, on each side if it is a cut; nil: it is for
// none.
func MembersIn(e Effect) []Target {
	switch of := valueOf(e).(type) {
	case *Target:
		if of.Role != port.Node {
			return []Target{*of}
		}
	case *oneServer:
		return []Target{of.Target}
	case *Cut:
		return of.members
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

// OnMembers is an effect that strikes members of a cluster.
type OnMembers interface {
	Effect
	// Strike does to a member that is up what goes wrong, and Undo takes it back, whether it is up or not.
	Strike(c Cluster, m port.Member) error
	Undo(c Cluster, m port.Member) error
}

// A Cluster is what effects strike. Of several faults that stop one member it goes on when all are over, and
// who is started again has the rate of clocks that others want.
type Cluster interface {
	port.Cluster
	Rate(m port.Member) float64 // at which faults in force have a clock run
}

// OnConnections is an effect that puts a strain on connections.
type OnConnections interface {
	Effect
	// Strain returns the strain. The error is ErrNobodyLeads if it is to be tried again.
	Strain(w *Wires) (port.Strain, error)
}

// Wires is what an effect on connections must know of a run.
type Wires struct {
	Nodes   Group  // that it hits
	Hosts   int    // how many there are
	Nth     uint64 // of messages, the one that the fault is for
	Members func(*Target) ([]port.Member, error)
}

// ErrNobodyLeads says that a fault is for the server that leads, and none does now.
var ErrNobodyLeads = errors.New("no server leads")

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

// Find returns the first kind of fault that a key says, or nil.
func Find(key string) *Kind {
	i := slices.IndexFunc(Kinds, func(k *Kind) bool { return k.Key == key })
	if i < 0 {
		return nil
	}
	return Kinds[i]
}
