package chaos

import (
	"fmt"

	"turnstile/nodes"
)

// A Net is one of the networks of an algorithm (see nodes.Kind.Net): first or second.
type Net uint8

var netNames = [...]string{"first", "second"}

// UnmarshalText reads first or second; or their numbers, 0 and 1.
func (n *Net) UnmarshalText(text []byte) error {
	for i, name := range netNames {
		if string(text) == name || string(text) == fmt.Sprint(i) {
			*n = Net(i)
			return nil
		}
	}
	return fmt.Errorf("%q is no network: write first or second", text)
}

// MarshalText writes first or second.
func (n Net) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

func (n Net) String() string { return netNames[min(int(n), len(netNames)-1)] }

// net returns which network the fault is of, if it is one of connections or brokers.
func (f *Fault) net() Net {
	if f.Network == nil {
		return 0
	}
	return *f.Network
}

// isOn reports whether the fault is for messages on a network: all, or those on one alone.
func (f *Fault) isOn(network uint8) bool {
	if f.Network == nil && !f.ofTransport() {
		return true
	}
	return uint8(f.net()) == network
}

// broker returns the number of a broker that the fault names, among all of the run: that of a second network
// comes after those of the first, of which there are so many.
func (f *Fault) broker(i nodes.ID, first int) nodes.ID {
	if f.net() > 0 {
		return i + nodes.ID(first)
	}
	return i
}

// checkNetwork checks whether there is the network that the fault names.
func (f *Fault) checkNetwork(s *Scene) error {
	if int(f.net()) < s.codec().Networks() {
		return nil
	}
	return f.mistake("network", "%s: %s has one network alone: leave out network, or take an algorithm that "+
		"has two (bully-second-network)", f.What(), s.Spec.Name)
}
