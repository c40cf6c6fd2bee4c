package sim

import (
	"strings"
	"testing"
	"time"
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
