package yamlfile_test

import (
	"strings"
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/internal/yamlfile"
)

func TestYAMLErrors(t *testing.T) {
	type part struct {
		Latency chance.Distribution `yaml:"latency"`
		Share   float64             `yaml:"share,omitempty"`
	}
	type whole struct {
		Seed     uint64            `yaml:"seed"`
		Trials   int               `yaml:"trials"`
		Hold     time.Duration     `yaml:"hold"`
		Started  time.Time         `yaml:"started"`
		Lossy    bool              `yaml:"lossy"`
		Name     string            `yaml:"name"`
		Part     *part             `yaml:"part"`
		Parts    []part            `yaml:"parts"`
		Versions map[string]string `yaml:"versions"`
	}
	for text, want := range map[string]string{
		"seed: 1\nsede: 2":                "line 2: there is no key sede: did you mean seed?",
		"part:\n  colour: red":            "line 2: there is no key part.colour; there are: latency, share",
		"seed: -1":                        `line 1: seed: "-1" is not a whole number from 0`,
		"seed: [1]":                       "line 1: seed: a list is not a whole number from 0",
		"trials: one":                     `line 1: trials: "one" is not a whole number`,
		"hold: long":                      `line 1: hold: "long" is not a length of time, such as 300ms`,
		"hold: 5":                         "line 1: hold: 5 has no unit: did you mean 5s?",
		"part:\n\tshare: 1":               "line 2 is indented by a tab: write spaces there, as YAML takes no tabs",
		"parts:\n- share: 1\n \tlatency:": "line 3 is indented by a tab: write spaces there, as YAML takes no tabs",
		"started: early":                  `line 1: started: "early" is not a time, such as 2026-01-31T14:05:09Z`,
		"lossy: maybe":                    `line 1: lossy: "maybe" is not true or false`,
		"name: {of: it}":                  "line 1: name: a mapping is not one text",
		"part: 3":                         `line 1: part: "3" is not keys with values`,
		"part:\n  share: all":             `line 2: part.share: "all" is not a number`,
		"part: {latency: [1ms]}":          "line 1: part.latency: a list is not one text",
		"parts: {}":                       "line 1: parts: a mapping is not a list",
		"parts:\n- share: 1\n- share: x":  `line 3: parts[1].share: "x" is not a number`,
		"versions: {go: [1]}":             "line 1: versions.go: a list is not one text",
		"root:x:0:0\ndaemon:x:1:1":        "line 1: a text is not keys with values",
		"lossy: " + strings.Repeat("a", 99): `line 1: lossy: "` + strings.Repeat("a", 40) +
			`..." is not true or false`,
		"- seed":           "line 1: a list is not keys with values",
		"seed: 1\nseed: 2": `line 2: mapping key "seed" already defined at line 1`,
		"part: {latency: 'uniform:2ms,1ms'}": `line 1: part.latency: "uniform:2ms,1ms" ends before it begins: ` +
			"write uniform:1ms,2ms",
	} {
		if err := yamlfile.Decode([]byte(text), &whole{}); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}
