package chaos

import "testing"

// Plans with the keys that faults of one role had earlier mean what they meant.
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
