package chaos

import (
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// twoNetworks is a scene of an algorithm whose messages of the kind aside use a second network.
func twoNetworks(t *testing.T) *Scene {
	t.Helper()
	s := scene(t, "central")
	spec := *s.Spec
	spec.Messages = append(slices.Clip(spec.Messages), nodes.MessageKind{Zero: aside{}, Net: 1})
	s.Spec, s.Stack = &spec, nil
	return s
}

// A fault hits only the network that it names. If it names no network, a fault of links hits both networks,
// and a fault of connections or brokers hits the first.
func TestFaultsNameNetworks(t *testing.T) {
	for text, hits := range map[string][2]bool{
		"cut: 0/1":                                    {true, true},
		"cut: 0/1, network: first":                    {true, false},
		"cut: 0/1, network: second":                   {false, true},
		"loss: 100%, network: 0":                      {true, false},
		"loss: 100%, network: 1":                      {false, true},
		"kill: broker 0, for: 1s":                     {true, false},
		"kill: broker 0, for: 1s, network: first":     {true, false},
		"kill: broker 0, for: 1s, network: second":    {false, true},
		"reset: 1, for: 1s":                           {true, false},
		"reset: 1, for: 1s, network: second":          {false, true},
		"delay: 1s, network: second":                  {false, true},
		"stall: 1, for: 1s, network: second":          {false, true},
		"pause: broker 0, for: 500ms, network: first": {true, false},
	} {
		s := twoNetworks(t)
		s.Simulated = true
		all, err := Resolve(read(t, text), s, 1)
		if err != nil {
			t.Fatal(err)
		}
		b := NewSharedState(5)
		b.faults[0].begin(1, int64(time.Second))
		n := Network{}
		shaper, err := n.Shaper(1, all, b, s.codec())
		if err != nil {
			t.Fatal(err)
		}
		for network, hit := range hits {
			p := nodes.Packet{From: 0, To: 1, Number: 1, At: 1, Net: uint8(network)}
			if got := shaper.Shape(&p, nil); slices.Equal(got, nodes.Fate{0}) == hit {
				t.Errorf("%s: on the %v network the fate is %v", text, effect.Net(network), got)
			}
		}
	}
}

func TestNetworksAreChecked(t *testing.T) {
	for text, says := range map[string]string{
		"cut: 0/1, network: second":                         "",
		"cut: 0/1, network: third":                          `"third" is not a network: write first or second`,
		"kill: broker 1, for: 1s, network: second":          "the second network has one broker, and it is 0",
		"cut: broker 0/broker 1, network: second":           "cut of brokers takes no network",
		"pause: broker 0, network: second, for: 1s, at: 1s": "",
	} {
		f, err := ParseFault(text)
		if err == nil {
			_, err = Resolve([]Fault{f}, twoNetworks(t), 1)
		}
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the error is %v, and should say %q", text, err, says)
		}
	}
	f, _ := ParseFault("cut: 0/1, network: second")
	if _, err := Resolve([]Fault{f}, scene(t, "central"), 1); err == nil ||
		!strings.Contains(err.Error(), "central has one network only") {
		t.Errorf("a second network of an algorithm that has one: %v", err)
	}
	both := read(t, "kill: broker 0, for: 1s, at: 1s", "kill: broker 0, network: second, for: 1s, at: 1s")
	if _, err := Resolve(both, twoNetworks(t), 1); err != nil {
		t.Errorf("both brokers dead: %v", err)
	}
}

// The brokers of a run are numbered across both networks, and the broker of the second network comes last.
func TestTheDriverStopsTheBrokerOfANetwork(t *testing.T) {
	s := twoNetworks(t)
	s.Brokers = 3
	c := &stageOf{now: 1, down: map[port.Member]bool{}}
	d := begun(t, s, c, 1, "kill: broker 0, network: second, at: 1s, for: 500ms")
	want := []string{"kill broker 3", "restart broker 3"}
	got := slices.DeleteFunc(c.until(t, d, 2*time.Second), func(did string) bool {
		return !strings.Contains(did, "broker")
	})
	if !slices.Equal(got, want) {
		t.Errorf("it did %q, and not %q", got, want)
	}
}
