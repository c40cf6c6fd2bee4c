package sim

import (
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
)

func TestCrashTextRoundTrip(t *testing.T) {
	for text, want := range map[string]Crash{
		"2@30ms":           {Node: 2, At: 30 * time.Millisecond},
		"0@0s+5ms":         {Restart: 5 * time.Millisecond},
		"7@1s+1µs,amnesia": {Node: 7, At: time.Second, Restart: time.Microsecond, Amnesia: true},
	} {
		got, err := ParseCrash(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%q is read as %+v, written %q (%v)", text, got, got, err)
		}
	}
	for _, text := range []string{"", "2", "2@", "@1s", "-1@1s", "x@1s", "2@-1s", "2@1s+", "2@1s+0s",
		"2@1s,amnesia"} {
		if _, err := ParseCrash(text); err == nil || !strings.Contains(err.Error(), "write 2@30ms") {
			t.Errorf("%q gives %v", text, err)
		}
	}
}

// A crash that adds up to more than a time can hold is none.
func TestLateCrashes(t *testing.T) {
	for _, text := range []string{"2@2562047h", "2@2562047h+2562047h", "2@1h+876000h,amnesia"} {
		if c, err := ParseCrash(text); err == nil || !strings.Contains(err.Error(), "within 876000h (100 years)") {
			t.Errorf("%q is read as %v, %v", text, c, err)
		}
	}
	if _, err := ParseCrash("2@1h+875999h"); err != nil {
		t.Error(err)
	}
}

func TestCrashesOfWhoIsDownForGood(t *testing.T) {
	lamport := options(t, "lamport", 3).Spec
	crashes := func(texts ...string) (all []Crash) {
		for _, text := range texts {
			c, err := ParseCrash(text)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		return all
	}
	for _, wrong := range [][]Crash{crashes("2@30ms", "2@50ms+1ms"), crashes("1@1s", "2@50ms", "2@30ms")} {
		const want = "node 2 is to crash at 50ms, and at 30ms it went down for good: leave out one of the two, " +
			"or have it come up in between, as in 2@30ms+10ms"
		o := Options{Spec: lamport, Config: nodes.Config{N: 3}, Crashes: wrong}
		if err := o.checkCrashes(); err == nil || err.Error() != want {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	for text, want := range map[string][]Crash{
		"node 2 is to crash at 30ms and at 32ms, and would be down already": crashes("2@32ms", "2@30ms+5ms"),
		"node 2 is to crash at 30ms and at 30ms, and would be down already": crashes("2@30ms", "2@30ms"),
		"there is no node 3 to crash: they are 0 to 2":                      crashes("3@1s"),
		"node 1 is to crash at 2s, and the run ends at 1s":                  crashes("1@2s"),
	} {
		o := Options{Spec: lamport, Config: nodes.Config{N: 3}, Duration: time.Second, Crashes: want}
		if err := o.checkCrashes(); err == nil || err.Error() != text {
			t.Errorf("%v: %v", want, err)
		}
	}
	o := Options{Spec: lamport, Config: nodes.Config{N: 3},
		Crashes: crashes("2@50ms", "2@30ms+5ms", "1@30ms", "0@60ms")}
	if err := o.checkCrashes(); err != nil {
		t.Error(err)
	}
}
