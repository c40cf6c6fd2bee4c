package detector

import (
	"slices"
	"strings"
	"testing"

	"turnstile/algorithms/mutex"
	"turnstile/judge/algotest"
	"turnstile/nodes"
)

func TestTableIsFilledIn(t *testing.T) {
	// the command list describes both tables in the same way
	algotest.Named(t, slices.Concat(mutex.Table, Table))
	for _, spec := range Table {
		if spec.Kind != nodes.Detection {
			t.Errorf("%s is no detector", spec.Name)
		}
		if err := spec.Validate(spec.Explicit(nodes.Config{N: 3})); err != nil {
			t.Errorf("%s: %v", spec.Name, err)
		}
		for _, o := range spec.Options {
			if o.Default == "" || o.Usage == "" {
				t.Errorf("%s: %+v", spec.Name, o)
			}
		}
	}
}

// Figures leave out heartbeats, so every message of a detector is a heartbeat. Its kind has no name that an
// algorithm uses: a stack would rename both kinds, and algorithm.Identity would not find its kind.
func TestMessagesOfDetectorsAreHeartbeats(t *testing.T) {
	for _, algo := range Table {
		for _, kind := range algo.Messages {
			if !kind.Heartbeat {
				t.Errorf("%s: %T is no heartbeat", algo.Name, kind.Zero)
			}
			for _, algorithm := range mutex.Table {
				if slices.Contains(algorithm.Codec().Names(), nodes.KindName(kind.Zero)) {
					t.Errorf("%s and %s both have a %s", algo.Name, algorithm.Name, nodes.KindName(kind.Zero))
				}
			}
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"heartbeat": "heartbeat:adapt=0s,period=100ms,timeout=500ms",
		"PUSH":      "heartbeat:adapt=0s,period=100ms,timeout=500ms",
		"probe:timeout=200ms, period=50ms,adapt=10ms": "probe:adapt=10ms,period=50ms,timeout=200ms",
		"perfect:delay=3ms":                           "perfect:delay=3ms",
		"accrual:threshold=16":                        "phi:deviation=50ms,period=100ms,threshold=16,window=100",
		"swim:order=random,k=0": "swim:health=8,in-step=no,k=0,order=random,period=100ms,suspicion=2," +
			"timeout=30ms",
	} {
		in, err := Parse(text, 4, nodes.Delays{})
		if err != nil || in.String() != want || in.Config.N != 4 {
			t.Errorf("%q is read as %+v, %v", text, in.Config, err)
			continue
		}
		if again, err := Parse(want, 4, nodes.Delays{}); err != nil || again.String() != want {
			t.Errorf("%q is read as %+v, %v", want, again.Config, err)
		}
	}
	for text, want := range map[string]string{
		"": `unknown failure detector ""; there are: heartbeat, probe, phi, swim, perfect`,
		"heartbat": `unknown failure detector "heartbat": did you mean heartbeat? There are: heartbeat, probe, ` +
			"phi, swim",
		"heartbeat:": `"" is no option of a failure detector: write a name and a value, as in ` +
			"heartbeat:adapt=0s,period=100ms,timeout=500ms",
		"probe:period":                    `"period" is no option of a failure detector: write a name and a value`,
		"probe:perod=1s":                  "probe has no option perod: did you mean period?",
		"probe:period=1s,period=2s":       "period is given twice: leave out one of the two",
		"probe:period=0s":                 "period: 0s is not from 1µs to 1h0m0s",
		"heartbeat:timeout=100ms":         "timeout: 100ms is not longer than the period of 100ms",
		"heartbeat:period=1ms,timeout=2s": "timeout: 2s is more than 1000 periods of 1ms: take a longer period",
		"phi:threshold=17":                "threshold: 17 is not from 1 to 16",
		"phi:window=some":                 `window: "some" is not a number, such as 2`,
		"phi:deviation=11s":               "deviation: 11s is not from 0s to 10s",
		"swim:timeout=40ms": "timeout: 40ms is more than a third of the period of 100ms, so that others would " +
			"ask too late: take 33.333333ms at most, or a longer period",
	} {
		if _, err := Parse(text, 4, nodes.Delays{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v\nwant %s", text, err, want)
		}
	}
}

// No machine takes a message of another algorithm.
func TestUnexpectedMessagesPanic(t *testing.T) {
	type xxAlien struct{}
	for _, algo := range Table {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s takes an alien message", algo.Name)
				}
			}()
			algo.New(algo.Explicit(nodes.Config{N: 3})).Receive(nil, 1, xxAlien{})
		}()
	}
}
