package chaos

import (
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
)

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

func TestReadRegionsSaysWhatIsWrong(t *testing.T) {
	for text, says := range map[string]string{
		"":                                       "no regions",
		"regions: []":                            "there are no regions",
		"regions: [a, b]\nlatency: [[1ms, 1ms]]": "2 regions take 2 rows",
		"regions: [a, b]\nlatency: [[1ms, 1ms], [1ms]]": "from b there are 1 latencies",
		"regions: [a]\nlatency: [[-1ms]]":               "negative",
		"regions: [a]\nlatencies: [[1ms]]":              "line 2: there is no key latencies: did you mean latency?",
		"regions: [a]\nlatency: [[fast]]":               `line 2: latency[0][0]: "fast" is no length of time`,
		"regions: [a, ' ']":                             "region 2 has no name",
		"regions: [a, a]":                               "two regions are called a",
		"root:x:0:0":                                    "a text is not keys with values; write regions: [eu, us]",
		"regions: eu":                                   `line 1: regions: "eu" is not a list`,
	} {
		if _, err := ReadRegions(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(),
			says) {
			t.Errorf("%q gives %v, which does not say %q", text, err, says)
		}
	}
}
