package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/nodes"
)

// Brokers is a list of NATS servers of a run, which count from 0. Node i is at broker i mod their number.
type Brokers struct{ Group }

// ParseBrokers reads a list of brokers: 0, 0-1 or 0,2.
func ParseBrokers(text string) (Brokers, error) {
	g, err := ParseGroup(text)
	if err != nil {
		return Brokers{}, fmt.Errorf("%q names no brokers: write 0, 0-1 or 0,2, each once", text)
	}
	return Brokers{g}, nil
}

// IsZero reports whether the list is empty.
func (b Brokers) IsZero() bool { return len(b.Group) == 0 }

// UnmarshalText is ParseBrokers in place.
func (b *Brokers) UnmarshalText(text []byte) (err error) {
	*b, err = ParseBrokers(string(text))
	return err
}

// Set is ParseBrokers in place, for flags.
func (b *Brokers) Set(text string) error { return b.UnmarshalText([]byte(text)) }

// Type names the value of a flag.
func (b *Brokers) Type() string { return "brokers" }

// Routes are those between brokers of different groups.
type Routes struct{ Cut }

// ParseRoutes reads groups of brokers with / between them: 0/1-2.
func ParseRoutes(text string) (Routes, error) {
	c, err := ParseCut(text)
	if err != nil || len(c.groups) == 0 || c.oneWay {
		return Routes{}, fmt.Errorf("%q names no routes: write groups of brokers, each broker once, "+
			"as in 0/1-2, or 0/1/2", text)
	}
	return Routes{c}, nil
}

// UnmarshalText is ParseRoutes in place. Nothing names no routes.
func (r *Routes) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*r = Routes{}
		return nil
	}
	*r, err = ParseRoutes(string(text))
	return err
}

// Set is ParseRoutes in place, for flags.
func (r *Routes) Set(text string) error { return r.UnmarshalText([]byte(text)) }

// numbers returns the brokers of each group.
func (r *Routes) numbers() (groups [][]int) {
	for _, g := range r.groups {
		var group []int
		for _, i := range g {
			group = append(group, int(i))
		}
		groups = append(groups, group)
	}
	return groups
}

// The layers of faults of what carries messages in a real run.
const (
	connectionLayer = "connection"
	brokerLayer     = "broker"
)

// reconnecting is how long nodes and brokers may take to find each other again, on a slow machine.
const reconnecting = 10 * time.Second

// transportKinds are the faults of what carries messages in a real run.
var transportKinds = []FaultKind{
	{Key: "lag", Layer: connectionLayer, Says: "what passes the connections of nodes to their brokers " +
		"comes later, both ways", Example: "lag: 2, by: 50ms", Takes: []string{"by", "network"},
		Breaks:  nodes.Timing,
		standIn: "a delay on their links",
		given:   func(f *Fault) bool { return !f.Lag.IsZero() },
		value:   func(f *Fault) fmt.Stringer { return f.Lag },
		target:  func(f *Fault) *Target { return &f.Lag }},
	{Key: "throttle", Layer: connectionLayer, Says: "so many bytes pass the connections of nodes to their " +
		"brokers in a second, each way", Example: "throttle: 2, to: 100KB", Takes: []string{"to", "network"},
		Breaks: nodes.Timing, standIn: "a bandwidth of their links together",
		given:  func(f *Fault) bool { return !f.Throttle.IsZero() },
		value:  func(f *Fault) fmt.Stringer { return f.Throttle },
		target: func(f *Fault) *Target { return &f.Throttle }},
	{Key: "stall", Layer: connectionLayer, Says: "nothing passes the connections of nodes to their " +
		"brokers, and it all comes once they are healed", Example: "stall: 2, for: 500ms",
		Takes:  []string{"network"},
		Breaks: nodes.NoPause | nodes.Timing, standIn: "links that hold all back",
		given:  func(f *Fault) bool { return !f.Stall.IsZero() },
		value:  func(f *Fault) fmt.Stringer { return f.Stall },
		target: func(f *Fault) *Target { return &f.Stall }},
	{Key: "reset", Layer: connectionLayer, Says: "the connections of nodes to their brokers are closed, " +
		"with all that is on its way, and new ones refused for the time that it lasts",
		Example: "reset: 2, for: 100ms", Takes: []string{"network"},
		Breaks:  nodes.NoLoss | nodes.Timing,
		standIn: "a cut of all their links",
		given:   func(f *Fault) bool { return !f.Reset.IsZero() },
		value:   func(f *Fault) fmt.Stringer { return f.Reset },
		target:  func(f *Fault) *Target { return &f.Reset }},
	{Key: "kill-broker", Layer: brokerLayer, Says: "brokers are killed (SIGKILL), and restarted after the " +
		"time that it lasts", Example: "kill-broker: 0, for: 500ms", Takes: []string{"network"},
		Breaks:  nodes.NoLoss | nodes.Timing,
		standIn: "a cut of all links of the nodes there",
		given:   func(f *Fault) bool { return !f.KillBroker.IsZero() },
		value:   func(f *Fault) fmt.Stringer { return f.KillBroker }},
	{Key: "pause-broker", Layer: brokerLayer, Says: "brokers stand still (SIGSTOP)",
		Example: "pause-broker: 0, for: 500ms", Takes: []string{"network"},
		Breaks:  nodes.NoPause | nodes.Timing,
		standIn: "links of the nodes there that hold all back",
		given:   func(f *Fault) bool { return !f.PauseBroker.IsZero() },
		value:   func(f *Fault) fmt.Stringer { return f.PauseBroker }},
	{Key: "cut-routes", Layer: brokerLayer, Says: "the routes between groups of brokers are closed, and " +
		"messages that would pass them are lost; it takes --brokers 3", Example: "cut-routes: 0/1-2",
		Breaks:  nodes.NoLoss | nodes.Timing,
		standIn: "a cut between the nodes there",
		given:   func(f *Fault) bool { return !f.CutRoutes.IsZero() },
		value:   func(f *Fault) fmt.Stringer { return f.CutRoutes }},
}

// ofTransport reports whether the fault is one of what carries messages.
func (f *Fault) ofTransport() bool {
	layer := f.kind().Layer
	return layer == connectionLayer || layer == brokerLayer
}

// carried reports whether the fault is one that the transport of a real run carries out.
func (f *Fault) carried() bool { return f.ofTransport() && f.StandIn == "" }

// NeedsProxies reports whether connections must run through proxies for some of the faults.
func NeedsProxies(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool {
		return f.kind().Layer == connectionLayer || !f.CutRoutes.IsZero()
	})
}

// Disconnects reports whether some of the faults may take a connection, a broker or a route away.
func Disconnects(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool {
		return f.ofTransport() && f.Breaks()&nodes.NoLoss != 0
	})
}

// ends returns the brokers that the fault names, by their numbers among all of a run whose first network
// has so many.
func (f *Fault) ends(first int) (all Group) {
	all = slices.Concat(f.KillBroker.Group, f.PauseBroker.Group)
	for _, g := range f.CutRoutes.groups {
		all = append(all, g...)
	}
	for i := range all {
		all[i] = f.broker(all[i], first)
	}
	return all
}

// brokers returns how many brokers the first network of a run has. A second one has one.
func (s *Scene) brokers() int { return max(1, s.Brokers) }

// checkTransport checks whether what carries the messages can suffer the fault.
func (f *Fault) checkTransport(s *Scene) error {
	k := f.kind()
	switch {
	case !f.ofTransport():
		return nil
	case s.Foreign:
		return f.mistake(k.Key, "%s: the broker is not one of the run's own: leave out --nats", f.What())
	case !f.CutRoutes.IsZero() && s.brokers() == 1:
		return f.mistake(k.Key, "%s: there is one broker, and so no route: take --brokers 3, or write "+
			"brokers: 3 in the plan, beside faults", f.What())
	case s.Simulated && f.For == 0 && !f.Reset.IsZero():
		return f.mistake(k.Key, "%s: a simulation has no connections that could be closed, and cuts links "+
			"instead: say how long, as in for: 100ms", f.What())
	case s.Simulated && f.For == 0 && k.Breaks&nodes.NoPause != 0:
		return f.mistake(k.Key, "%s: a simulation must know how long it lasts, as in for: 500ms", f.What())
	case s.Measured == 0 && k.Breaks&(nodes.NoPause|nodes.NoLoss) != 0 && f.For == 0 && !f.ForGood():
		return f.mistake(k.Key, "%s: this run ends by entries, and might never have them: say how long it "+
			"lasts, as in for: 500ms", f.What())
	}
	for _, i := range f.ends(0) {
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

// checkTransportKeys checks the keys of a fault of what carries messages.
func (f *Fault) checkTransportKeys(k *FaultKind) error {
	switch {
	case k.Key == "lag" && f.By <= 0:
		return f.mistake("by", "lag takes how much later everything comes, as in by: 50ms")
	case k.Key == "throttle" && f.To == 0:
		return f.mistake("to", "throttle takes how many bytes pass in a second, as in to: 100KB")
	case k.Key == "kill-broker" && f.For == 0:
		return f.mistake("for",
			"no run comes to rest without a broker: say after how long it is restarted, as in for: 500ms")
	}
	return nil
}

// stops reports whether the fault has brokers do nothing.
func (f *Fault) stops() bool { return !f.KillBroker.IsZero() || !f.PauseBroker.IsZero() }

// checkBrokersTogether says which two faults of brokers cannot hold together, if any cannot: a broker that is
// down or stands still suffers nothing else.
func checkBrokersTogether(all []Fault, s *Scene) error {
	for i := range all {
		b := &all[i]
		for j := range all[:i] {
			a := &all[j]
			if !a.Timed() || !b.Timed() || !a.stops() && !b.stops() ||
				!a.span(s).touches(b.span(s)) {
				continue
			}
			for _, of := range a.ends(s.brokers()) {
				if contains(b.ends(s.brokers()), of) {
					return b.mistake("at",
						"%v cannot hold together with %v: broker %d is down or stands still then", b, a, of)
				}
			}
		}
	}
	return nil
}

// replaced returns the fault as a simulation or a real run carries it out.
func (f Fault) replaced(s *Scene) Fault {
	f.StandIn, f.among = "", s.brokers()
	if s.Simulated {
		f.StandIn = f.kind().standIn
	}
	return f
}

// saysStandIn says what stands in for the fault, if something does.
func (f *Fault) saysStandIn() string {
	if f.StandIn == "" {
		return ""
	}
	return fmt.Sprintf("(simulated as %s)", strings.TrimSpace(f.StandIn))
}
