package effect

import "fmt"

// A Net is one of the networks of an algorithm (see nodes.MessageKind.Net): first or second.
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
	return fmt.Errorf("%q is not a network: write first or second", text)
}

// MarshalText writes first or second.
func (n Net) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

func (n Net) String() string { return netNames[min(int(n), len(netNames)-1)] }
