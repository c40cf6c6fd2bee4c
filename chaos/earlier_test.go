package chaos

import (
	"strings"
	"testing"
	"time"
)

// Plans with keys of earlier versions, such as kill-broker, still mean what they meant.
func TestEarlierKeysMeanTheSame(t *testing.T) {
	for was, is := range map[string]string{
		"kill-broker: 0-1, for: 1s":                  "kill: broker 0-1, for: 1s",
		"pause-broker: 1":                            "pause: broker 1",
		"cut-routes: 0/1-2":                          "cut: broker 0/broker 1-2",
		"cut-network: host 1":                        "cut: host 1, kernel: true",
		"kill-server: leader, for: 1s, forget: true": "kill: server leader, for: 1s, forget: true",
		"kill-server: server 0":                      "kill: server 0",
		"pause-server: of holder":                    "pause: server of holder",
		"clock-server: 0, by: 3s":                    "clock: server 0, by: 3s",
		"cut-server: holder/servers":                 "cut: holder/servers",
		"cut-server: server 0/server 1-2":            "cut: server 0/server 1-2",
		"promote: 1":                                 "promote: server 1",
		"kill: 2, at: 1s":                            "kill: 2, at: 1s",
		"cut: 0-1/2-4, for: 1s":                      "cut: 0-1/2-4, for: 1s",
		"drop-answer: 0, nth: 1":                     "drop-answer: 0, nth: 1",
		"cut-server: 0/server 1, close: true":        "cut: 0/server 1, close: true",
	} {
		a, b := read(t, was)[0], read(t, is)[0]
		if a.String() != b.String() || a.kind() != b.kind() || a.Breaks() != b.Breaks() {
			t.Errorf("%s is %v, and %s is %v", was, &a, is, &b)
		}
	}
}

// An earlier key accepts only the values that it accepted then. A value that several faults share by an alias
// does not change.
func TestEarlierKeysTakeNoMore(t *testing.T) {
	for _, text := range []string{"cut-server: 0/1-2, for: 1s", "cut-server: bridge, for: 1s",
		"cut-server: broker 0/broker 1", "kill: 0, kill-broker: 0, for: 1s",
		"kill-server: 0, kill-broker: 0, for: 1s",
		"kill-broker: ", "kill-server: broker 0", "cut-routes: [0, 1]", "cut-network: host 1, kernel: false"} {
		if f, err := ParseFault(text); err == nil {
			t.Errorf("%s is %v", text, &f)
		}
	}
	p, err := ReadPlan("p", []byte("about: x\nfaults:\n  - pause: &x 0\n    at: 1s\n"+
		"  - kill-broker: *x\n    at: 2s\n    for: 1s\n  - kill-broker: &y 1\n    for: 1s\n  - pause: *y\n"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"pause 0", "kill broker 0", "kill broker 1", "pause 1"} {
		if got := p.Faults[i].What(); got != want {
			t.Errorf("fault %d is %s, and not %s", i+1, got, want)
		}
	}
}

// A fault that begins later than planned, such as an injected one, lasts as long as it says.
func TestFaultsThatBeginLateLast(t *testing.T) {
	d, c := driven(t, "pause: 1, at: 10ms, for: 20ms")
	c.now = 45e6
	if err := d.Step(); err != nil || d.Next() != 65e6 {
		t.Fatalf("begun at 45 ms it is to end at %v, %v", time.Duration(d.Next()), err)
	}
	c.until(t, d, 80)
	if got, want := strings.Join(c.did, ", "), "45 pause 1, 45 began 1, 65 resume 1, 65 healed 1"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}
