package chaos

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/chaos/effect"
	"turnstile/nodes"
)

// One more message that is lost moves no decision about any other message.
func TestOneMoreLossMovesNoOtherDecision(t *testing.T) {
	link, others := nodes.Packet{From: 0, To: 1}, []nodes.Packet{{From: 1, To: 0}, {From: 0, To: 2}}
	fates := func(loss effect.Share) (mine, theirs []string) {
		var network Network
		network.Latency.Set("exponential:1ms")
		s := ruled(t, &network, Fault{Seed: 3, Effect: &effect.Loss{Of: effect.Losses{Rate: loss}}},
			Fault{Seed: 4, Effect: &effect.Duplicate{Of: 0.2}})
		for n := uint64(1); n < 200; n++ {
			link.Number = n
			mine = append(mine, fmt.Sprint(s.Shape(&link, nil)))
			for _, l := range others {
				l.Number, l.Kind = n, 1
				theirs = append(theirs, fmt.Sprint(s.Shape(&l, nil)))
			}
		}
		return mine, theirs
	}
	few, fewOthers := fates(0.1)
	more, moreOthers := fates(0.2)
	lost := 0
	for i, fate := range few {
		switch {
		case more[i] == fate:
		case more[i] == "[]":
			lost++
		default:
			t.Errorf("message %d: %s, and with more losses %s", i, fate, more[i])
		}
	}
	for i, fate := range fewOthers {
		if moreOthers[i] != fate && moreOthers[i] != "[]" {
			t.Errorf("a message of another link: %s, and with more losses %s", fate, moreOthers[i])
		}
	}
	if lost == 0 {
		t.Error("no more messages are lost at twice the rate")
	}
}

const threeRegions = `
regions: [eu, us, asia]
latency:
  - [1ms, 40ms, 90ms]
  - [41ms, 1ms, "uniform:70ms,200ms"]
  - [91ms, 71ms, 1ms]
`

func TestRegionsDelayByTheirPair(t *testing.T) {
	r, err := ReadRegions(strings.NewReader(threeRegions))
	if err != nil {
		t.Fatal(err)
	}
	for link, want := range map[nodes.Packet]time.Duration{
		{From: 0, To: 3}: time.Millisecond,
		{From: 0, To: 1}: 40 * time.Millisecond,
		{From: 1, To: 0}: 41 * time.Millisecond,
		{From: 5, To: 6}: 91 * time.Millisecond,
		{From: 3, To: 5}: 90 * time.Millisecond,
	} {
		fate := undisturbed{Network: &Network{Regions: r}}.Shape(&link, nil)
		if len(fate) != 1 || fate[0] != want {
			t.Errorf("from %d to %d it takes %v, not %v", link.From, link.To, fate, want)
		}
	}
	if r.Longest() != 200*time.Millisecond {
		t.Errorf("the longest is %v", r.Longest())
	}
}

// If regions are hosts, each region has the nodes of its host.
func TestRegionsAreHosts(t *testing.T) {
	const text = "regions: [host 2, 'host 0-1']\nlatency: [[1ms, 40ms], [41ms, 2ms]]"
	r, err := ReadRegions(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	on := placed(t, "0-1@0,2@1,3-4@2", 5, 3)
	of, err := r.Of(&on)
	if want := []int{1, 1, 1, 0, 0}; err != nil || !slices.Equal(of, want) {
		t.Errorf("the regions of the nodes are %v, and not %v: %v", of, want, err)
	}
	for link, want := range map[[2]nodes.ID]time.Duration{{0, 2}: 2, {0, 3}: 41, {4, 3}: 1, {4, 1}: 40} {
		p := nodes.Packet{From: link[0], To: link[1]}
		fate := undisturbed{Network: &Network{Regions: r, RegionOf: of}}.Shape(&p, nil)
		if len(fate) != 1 || fate[0] != want*time.Millisecond {
			t.Errorf("from %d to %d it takes %v, not %d ms", p.From, p.To, fate, want)
		}
	}
	for says, hosts := range map[string]int{"host 3 is in no region": 4, "no host 2: they are 0 to 1": 2,
		"the run has no hosts": 0} {
		on := placed(t, "", 5, hosts)
		if _, err := r.Of(&on); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("of %d hosts: %v, which does not say %q", hosts, err, says)
		}
	}
	if of, err := (&Regions{Names: []string{"eu"}}).Of(&on); of != nil || err != nil {
		t.Errorf("regions that are no hosts are %v, %v", of, err)
	}
}

func TestReadRegionsSaysWhatIsWrong(t *testing.T) {
	for text, says := range map[string]string{
		"":                                       "no regions",
		"regions: [a, b]\nlatency: [[1ms, 1ms]]": "2 regions take 2 rows",
		"regions: [a, b]\nlatency: [[1ms, 1ms], [1ms]]": "from b there are 1 latencies",
		"regions: [a]\nlatencies: [[1ms]]":              "line 2: there is no key latencies: did you mean latency?",
		"regions: [a, ' ']":                             "region 2 has no name",
		"regions: [a, a]":                               "two regions are called a",
		"regions: eu":                                   `line 1: regions: "eu" is not a list`,
		"regions: [host 0, us]":                         "region us: name hosts in all regions",
		"regions: [host 0, host 0-1]":                   "host 0 is in two regions",
		"regions: [host x]":                             "names no hosts",
	} {
		if _, err := ReadRegions(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(),
			says) {
			t.Errorf("%q gives %v, which does not say %q", text, err, says)
		}
	}
}
