package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Flags and plans name hosts, and what is printed names the nodes there.
func TestHostsAreTargets(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	text := "about: A host is cut off.\nfaults:\n  - {cut: host 0/host 1-3, at: 1s, for: 500ms}\n"
	if err := os.WriteFile(plan, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"--hosts 4 --plan " + plan:                                     "cut 0,4/1-3 at 1s for 500ms",
		"--hosts 2 --place blocks --pause host_1":                      "pause 3-4 at 1s for 1s",
		"--hosts 2 --place 0@a,1-4@b --kill host_0":                    "kill 0 at 1s",
		"--hosts 2 --cut-network host_1 --for 1s":                      "cut-network host 1 (simulated as a cut",
		"--hosts 2 --fault delay:_5ms,_between:_host_0>host_1,_at:_1s": "delay 5ms between 0,2,4>1,3",
		"--hosts 6":                       "6 hosts, and the run has 5 nodes",
		"--hosts 2 --place 0-2@a,3@c,1@b": "names more hosts than the run has",
		"--place blocks":                  "add --hosts, as in --hosts 2",
		"--kill host_0":                   "the run has no hosts: say how many",
		"--hosts 2 --kill host_2":         "there is no host 2: they are 0 to 1",
		"--cut-network host_0":            "it takes hosts with networks of their own",
	} {
		words := strings.Fields(args)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "_", " ")
		}
		if _, got := simulated(t, append([]string{"--algo", "ricart"}, words...)...); !strings.Contains(got, says) {
			t.Errorf("simulate %s says %s\nand not %q", args, got, says)
		}
	}
}

// A flag of hosts without the flags that it needs is refused before the run. A run without hosts does not
// mention hosts.
func TestFlagsOfHostsGoTogether(t *testing.T) {
	for args, says := range map[string]string{
		"bench --control nats://token@127.0.0.1:1": "the run has none: add how many it takes, as in --hosts 4",
		"bench --hosts 2 --key lab.key":            "add its URL, as in --control tls://control:4222",
	} {
		var out, errors strings.Builder
		run(t.Context(), append(strings.Fields(args), "--results", t.TempDir()), &out, &errors)
		if got := out.String() + errors.String(); !strings.Contains(got, says) {
			t.Errorf("%s says %s\nand not %q", args, got, says)
		}
	}
	if _, got := simulated(t, "--algo", "ricart", "--hosts", "3"); strings.Contains(got, "broker") {
		t.Errorf("a simulated run has brokers:\n%s", got)
	}
}

// The comparisons take hosts, too.
func TestComparisonsTakeHosts(t *testing.T) {
	for args, says := range map[string]string{
		"split-brain --simulated --scheme bully --hosts 3 --cut host_0/host_1-2":    "cut 0,3/1-2,4",
		"split-brain --simulated --scheme bully --cut host_0/host_1":                "has no hosts",
		"split-brain --simulated --scheme bully --hosts 2 --cut host_0/0":           "node 0 is on one",
		"split-brain --simulated --scheme bully --hosts 9":                          "9 hosts, and the run has 5",
		"matrix --simulated --algo central --hosts 7":                               "7 hosts, and the run has 6",
		"matrix --simulated --runs 1 --algo central --faults split-brain --hosts 3": "0 differ",
	} {
		words := strings.Fields(args)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "_", " ")
		}
		var out, errors strings.Builder
		run(t.Context(), append(words, "--results", t.TempDir()), &out, &errors)
		if got := out.String() + errors.String(); !strings.Contains(got, says) {
			t.Errorf("%s says %s\nand not %q", args, got, says)
		}
	}
}
