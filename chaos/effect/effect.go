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

// An Effect is what a fault does. It is a pointer to a struct.
type Effect interface {
	// Idle reports whether the rate of the effect is zero, so that it changes nothing.
	Idle() bool
	// Leaves returns how long the effect may still have consequences after its heal, given how long it lasted
	// (0: to the end of the run). chance.Longest means unbounded.
	Leaves(lasts time.Duration) time.Duration
	// ForGood reports whether the effect is never healed if the plan does not give the key for.
	ForGood() bool
	// Check returns an error about the value of a key of the effect, and that key. lasts is how long the fault
	// lasts (0: to the end), and waits whether it waits for a moment.
	Check(lasts time.Duration, waits bool) (key string, wrong error)
	more() []string  // describes the values of all keys but the first
	role() port.Role // role of the members that the effect hits
}

// plain has the defaults of most effects.
type plain struct{}

func (plain) Idle() bool                                { return false }
func (plain) Leaves(time.Duration) time.Duration        { return 0 }
func (plain) ForGood() bool                             { return false }
func (plain) Check(time.Duration, bool) (string, error) { return "", nil }
func (plain) more() []string                            { return nil }
func (plain) role() port.Role                           { return port.Node }

// A Kind is one kind of fault: an effect on members of a role.
type Kind struct {
	Key     string // key of the fault in plans
	Role    port.Role
	Layer   string // one of the layers below
	Says    string // describes the fault
	Example string // a fault of this kind, as in a plan
	Breaks  nodes.Assumption
	Filters []string // keys of chaos.Filter that the kind takes
	Without []string // keys of its effect that the kind does not take
	Flag    string   // help of the flag for Key; empty: another kind with the same key has the flag
	More    []Key    // further keys of the effect

	// What happens while a fault of this kind is in force.
	Downs bool // members are down
	Stops bool // members stand still all the time
	Holds bool // processes or connections stand still, perhaps longer than timeouts allow for
	Sets  bool // clocks are wrong
	Cuts  bool // nodes are cut off: links, connections or brokers pass nothing on

	// Turns stops members, or lets them go on, and returns when to call it next; nil: members do not stop and go
	// on in turns.
	Turns func(e Effect, c Cluster, of []port.Member, stop bool) (time.Duration, error)

	Proxies bool   // connections or routes must run through proxies
	Weighs  bool   // the effect depends on the size of messages
	StandIn string // describes the fault of links that stands in for this one in a simulation
	Did     string // what the fault has done once and for good, if it cannot be healed
	Zero    Effect // an effect of this kind without values
}

// The layers of faults.
const (
	OfLinks       = "link"
	ofProcesses   = "process"
	ofClocks      = "clock"
	OfConnections = "connection"
	ofBrokers     = "broker"
	ofHosts       = "host"
	OfServers     = "server" // servers of a service
)

// Kinds lists the kinds of faults. A new kind is added here.
var Kinds = []*Kind{&cutNodes, &loss, &delay, &duplicate, &reorder, &bandwidth, &killNodes, &pauseNodes,
	&slow, &clockOfNodes, &lag, &throttle, &stall, &reset, &killBrokers, &pauseBrokers, &cutBrokers, &cutHosts,
	&killServers, &pauseServers, &clockOfServers, &cutServers, &promote, &dropAnswer, &holdRequest,
	&deleteLocks, &expireSessions, &leaves}

// Name returns the key, and the role if several kinds share the key.
func (k *Kind) Name() string {
	if k.Role == port.Node || k.Flag != "" {
		return k.Key
	}
	return k.Key + " of " + k.Role.String() + "s"
}

// Carried reports whether a real run carries the fault out on connections, brokers, hosts or servers.
func (k *Kind) Carried() bool {
	return slices.Contains([]string{OfConnections, ofBrokers, ofHosts, OfServers}, k.Layer)
}

// A Key is a further key of plans, with its flag.
type Key struct {
	Name string
	Says string // help of its flag
	Flag string // name of its flag; empty: the flag is called Name
	// Value names the value in the help; empty: the type of the value does.
	Value string
	// NoZero is the end of the error about a zero in a plan, and NoZeroFlag of the error about a zero of the
	// flag; empty: zero is allowed.
	NoZero, NoZeroFlag string
}

// FlagName returns the name of the flag for the key.
func (k *Key) FlagName() string {
	if k.Flag != "" {
		return k.Flag
	}
	return k.Name
}

// Takes lists the keys that a fault of this kind takes besides Key and the keys of its schedule.
func (k *Kind) Takes() []string {
	var own []string
	Each(reflect.ValueOf(k.Zero).Elem(), func(key string, _ reflect.Value) {
		if key != k.Key && !slices.Contains(k.Without, key) {
			own = append(own, key)
		}
	})
	return append(own, k.Filters...)
}

// Each calls do with the fields of a struct that are keys of plans, in order, including embedded structs.
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

// KindOf returns the kind of an effect. If the effect names members that it cannot hit, it returns the first
// kind with its key.
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

// Takers names the members that faults with a key hit, as in "nodes and servers".
func Takers(key string) string {
	var roles []string
	for _, k := range Kinds {
		if k.Key == key {
			roles = append(roles, k.Role.String()+"s")
		}
	}
	return strings.Join(roles, " and ")
}

// Given returns the keys of an effect that have a value, without the key of its kind.
func Given(e Effect) (keys []string) {
	own := KindOf(e).Key
	Each(reflect.ValueOf(e).Elem(), func(key string, field reflect.Value) {
		if key != own && !field.IsZero() {
			keys = append(keys, key)
		}
	})
	return keys
}

// valueOf returns a pointer to the value for the key of the effect's kind, which is the first field.
func valueOf(e Effect) (value any) {
	Each(reflect.ValueOf(e).Elem(), func(_ string, field reflect.Value) {
		if value == nil {
			value = field.Addr().Interface()
		}
	})
	return value
}

// TargetOf returns the nodes that an effect hits, or that determine which server it hits. It returns nil if
// the effect hits links, or brokers or servers that it names itself.
func TargetOf(e Effect) *Target {
	switch of := valueOf(e).(type) {
	case *Target:
		if of.Role == port.Node {
			return of
		}
	case *lockOf:
		return &of.Target
	case *sessionOf:
		return &of.Target
	case *Cut:
		if RoleOf(e) != port.Host && !of.Of.IsZero() { // the nodes to cut off, until the groups are resolved
			return &of.Of
		}
	}
	if slices.ContainsFunc(MembersIn(e), func(t Target) bool { return t.Word == ServerOfHolder }) {
		return &Target{Word: "holder"}
	}
	return nil
}

// CutOf returns the cut of an effect that cuts links, else nil.
func CutOf(e Effect) *Cut {
	if p, is := e.(*Partition); is && p.role() == port.Node {
		return &p.Cut
	}
	return nil
}

// Separated returns the cut between nodes that kernels of hosts carry out; nil: kernels do not carry it out.
// hosts is how many hosts there are, and on returns the nodes on a host.
func Separated(e Effect, hosts int, on func(host int) nodes.Group) *Cut {
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
	case *DropAnswer, *HoldRequest:
		return true
	}
	return false
}

// ByChance reports whether the effect hits a random part of the messages.
func ByChance(e Effect) bool {
	switch e := e.(type) {
	case *Loss:
		return e.Of.Rate < 1
	case *Duplicate:
		return e.Of < 1
	}
	return false
}

// Surely returns the effect with a rate of at least share if it has a rate, and a delay instead of a
// bandwidth. It reports whether the effect is a loss or a duplication.
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

// MidInput returns after how many saves and sends, in the middle of an input, the effect kills a node; 0: not
// in the middle of an input.
func MidInput(e Effect) int {
	if k, is := e.(*Kill); is {
		return k.MidInput
	}
	return 0
}

// Forgets reports whether nodes that the effect restarts have forgotten what they saved.
func Forgets(e Effect) bool {
	k, is := e.(*Kill)
	return is && k.Forget
}

// Closes reports whether the effect closes the connections that it hits.
func Closes(e Effect) bool {
	switch e := e.(type) {
	case *Partition:
		return e.Close
	case *DropAnswer:
		return e.Close
	}
	return false
}

// Remembering returns the effect without forget.
func Remembering(e Effect) Effect {
	if k, is := e.(*Kill); is {
		return &Kill{Who: k.Who, MidInput: k.MidInput}
	}
	return e
}

// RateOf returns the rate of clocks under an effect; 0: unchanged.
func RateOf(e Effect) float64 {
	if c, is := e.(*Clock); is {
		return c.Rate
	}
	return 0
}

// MembersIn returns the brokers or servers that an effect names, one target for each side of a cut; nil: it
// names only nodes.
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

// BreaksOf returns the assumptions about the system that an effect breaks; 0 if its rate is zero.
func BreaksOf(e Effect) nodes.Assumption {
	if e.Idle() {
		return 0
	}
	if by, is := e.(interface{ breaks() nodes.Assumption }); is {
		return by.breaks()
	}
	return KindOf(e).Breaks
}

// What describes an effect: its key and value, further words, and its other keys.
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
	// Start starts the effect in a run.
	Start(at *Place) Link
}

// A Link changes the fate of a packet, from the copy at index begun on. It reports whether it hit the packet.
type Link func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool)

// A Place tells an effect on links about the run.
type Place struct {
	Dice    chance.Dice
	Beneath nodes.Shaper    // decides the fate of packets without the faults
	Victim  func() nodes.ID // the victim that the run determined, or nodes.None
	Until   func() int64    // when the fault is healed, in nanoseconds since the run began
	Second  bool            // the fault is on the second network
	Brokers int             // how many brokers the first network has, or would have in a real run
	HostOf  func(nodes.ID) int
}

// OnMembers is an effect that strikes members of a cluster.
type OnMembers interface {
	Effect
	// Strike carries out the effect on a member that is up. Undo reverts it; the member may be down.
	Strike(c Cluster, m port.Member) error
	Undo(c Cluster, m port.Member) error
}

// A Cluster is the cluster that effects strike. If several faults stop a member, the member goes on when all
// are healed. A restarted member has the clock rate that other faults in force give it.
type Cluster interface {
	port.Cluster
	Rate(m port.Member) float64 // rate of the member's clock under the faults in force
}

// OnConnections is an effect that puts a strain on connections.
type OnConnections interface {
	Effect
	// Strain returns the strain. On ErrNobodyLeads the driver tries again later.
	Strain(w *Wires) (port.Strain, error)
}

// Wires tells an effect on connections about the run.
type Wires struct {
	Nodes   nodes.Group // nodes that the effect hits
	Hosts   int         // how many hosts there are
	Nth     uint64      // the only message that the fault hits; 0: all
	Members func(*Target) ([]port.Member, error)
}

// ErrNobodyLeads means that a fault of the leading server finds no server that leads.
var ErrNobodyLeads = errors.New("no server leads")

// roll names the random decision about a packet for a purpose.
func roll(purpose chance.Purpose, p *nodes.Packet) chance.Roll {
	return chance.OnLink(purpose, p.From, p.To, p.Kind, p.Number)
}

// postpone delays the copies of a packet from index begun on, and reports whether it changed anything.
func postpone(fate nodes.Fate, begun int, later time.Duration) (nodes.Fate, bool) {
	for i := range fate[begun:] {
		fate[begun+i] += later
	}
	return fate, len(fate) > begun && later > 0
}

// Find returns the first kind of fault with a key, or nil.
func Find(key string) *Kind {
	i := slices.IndexFunc(Kinds, func(k *Kind) bool { return k.Key == key })
	if i < 0 {
		return nil
	}
	return Kinds[i]
}
