package nodes

import (
	"fmt"
	"testing"
	"time"
)

// slowAlgorithm has a timeout that must cover two messages, and another that must be at least twice as long.
func slowAlgorithm() *Spec {
	short := Option{Name: "short", Default: "100ms",
		Check: func(_ Config, value string) error { return from(value, time.Millisecond, time.Minute) },
		Bound: &TimeoutBound{Formula: "2T",
			Covers: func(_ Config, d Delays) time.Duration { return 2 * d.Message }}}
	long := Option{Name: "long", Default: "200ms",
		Check: func(c Config, value string) error {
			least := 2 * c.Duration(short)
			return from(value, least, time.Hour)
		},
		Bound: &TimeoutBound{Suits: func(c Config, _ Delays) time.Duration { return 2 * c.Duration(short) }}}
	return &Spec{Name: "slow", Options: []Option{short, long}}
}

// from returns an error unless a value is a length of time from least to most.
func from(value string, least, most time.Duration) error {
	if d, err := time.ParseDuration(value); err != nil || d < least || d > most {
		return fmt.Errorf("%s is not from %v to %v", value, least, most)
	}
	return nil
}

// A timeout without a given value is as long as the delays of the run demand. A given timeout is too short
// unless it is longer than the delays that it has to cover.
func TestTimeoutsFollowDelays(t *testing.T) {
	spec := slowAlgorithm()
	for _, test := range []struct {
		n           int
		message     time.Duration
		short, long string // the given values
		want        [2]string
		hurried     string // what the timeout has to cover, if it is too short
	}{
		{3, 0, "", "", [2]string{"100ms", "200ms"}, ""},
		{3, 40 * time.Millisecond, "", "", [2]string{"100ms", "200ms"}, ""},
		{3, 41 * time.Millisecond, "", "", [2]string{"110ms", "220ms"}, ""},
		{3, 2 * time.Second, "", "", [2]string{"5s", "10s"}, ""},
		{3, 49 * time.Millisecond, "100ms", "", [2]string{"100ms", "200ms"}, ""},
		{3, 50 * time.Millisecond, "100ms", "", [2]string{"100ms", "200ms"}, "2T, here 100ms"},
		{3, 50 * time.Millisecond, "300ms", "", [2]string{"300ms", "200ms"}, ""},                // refused values
		{3, 100 * time.Millisecond, "", "250ms", [2]string{"100ms", "250ms"}, "2T, here 200ms"}, // no value fits
		{3, time.Minute, "", "", [2]string{"100ms", "200ms"}, "2T, here 2m0s"},
	} {
		c := Config{N: test.n}.With("short", test.short).With("long", test.long)
		d := Delays{Message: test.message}
		in := Instance{spec, spec.Fitted(c, d)}
		got := [2]string{in.Config.Options["short"], in.Config.Options["long"]}
		hurried := ""
		for _, s := range in.Short(d) {
			hurried = s.Covers
		}
		if got != test.want || hurried != test.hurried {
			t.Errorf("%+v: %v, short of %q", test, got, hurried)
		}
	}
	in := Instance{spec, Config{N: 3}.With("short", "100ms").With("long", "200ms")}
	if got := in.Lengthened(Delays{Message: time.Second}).String(); got != "slow:long=5s,short=2.5s" {
		t.Error(got)
	}
}

// A timeout also covers how long messages wait for applications. Messages of failure detectors do not wait.
func TestTimeoutsCoverWhatWaits(t *testing.T) {
	spec, d := slowAlgorithm(), Delays{Message: 2 * time.Second, Waits: 2*time.Second - time.Millisecond}
	for kind, want := range map[Kind]string{MutualExclusion: "5s", Detection: "100ms"} {
		spec.Kind = kind
		in := Instance{spec, spec.Fitted(Config{N: 3}, d)}
		if got := in.Config.Options["short"]; got != want || len(in.Short(d)) > 0 {
			t.Errorf("%v: %s, which is short: %v", kind, got, in.Short(d))
		}
	}
}

func TestRound(t *testing.T) {
	d := Delays{Message: time.Millisecond, Hold: time.Second}
	if got, want := d.Round(3), 3003*time.Millisecond; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	d.Alone = true
	if got, want := d.Round(3), 1003*time.Millisecond; got != want {
		t.Errorf("one request at a time: %v, want %v", got, want)
	}
}
