package commands

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/hosts/access"
)

// Flags, plans and comparisons name hosts, and the output names the nodes on them. If a flag about hosts
// lacks something, the error comes before the run.
func TestHostsAreTargets(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	text := "about: A host is cut off.\nfaults:\n  - {cut: host 0/host 1-3, at: 1s, for: 500ms}\n"
	if err := os.WriteFile(plan, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	const run, compare = "simulate -n 5 --think 100ms --algo ricart ", "split-brain --simulated --scheme bully "
	for args, says := range map[string]string{
		run + "--hosts 4 --plan " + plan:                                     "cut 0,4/1-3 at 1s for 500ms",
		run + "--hosts 2 --place blocks --pause host_1":                      "pause 3-4 at 1s for 1s",
		run + "--hosts 2 --place 0@a,1-4@b --kill host_0":                    "kill 0 at 1s",
		run + "--hosts 2 --cut host_1 --kernel --for 1s":                     "cut host 1 in the kernel (simulated",
		run + "--hosts 2 --fault delay:_5ms,_between:_host_0>host_1,_at:_1s": "delay 5ms between 0,2,4>1,3",
		run + "--hosts 6":                       "6 hosts, and the run has 5 nodes",
		run + "--hosts 2 --place 0-2@a,3@c,1@b": "names more hosts than the run has",
		run + "--place blocks":                  "add --hosts, as in --hosts 2",
		run + "--kill host_0":                   "the run has no hosts: say how many",
		run + "--hosts 2 --kill host_2":         "there is no host 2: they are 0 to 1",
		run + "--cut host_0 --kernel":           "it takes hosts with networks of their own",

		"bench --control nats://token@127.0.0.1:1": "this run has no hosts: add how many, as in --hosts 4",
		"bench --hosts 2 --key lab.key":            "add its URL, as in --control tls://control:4222",

		compare + "--hosts 3 --cut host_0/host_1-2":                                 "cut 0,3/1-2,4",
		compare + "--cut host_0/host_1":                                             "has no hosts",
		compare + "--hosts 2 --cut host_0/0":                                        "node 0 is on one",
		compare + "--hosts 9":                                                       "9 hosts, and the run has 5",
		"matrix --simulated --algo central --hosts 7":                               "7 hosts, and the run has 6",
		"matrix --simulated --runs 1 --algo central --faults split-brain --hosts 3": "1 as expected",
	} {
		if _, got := called(t, quoted(args)...); !strings.Contains(got, says) {
			t.Errorf("%s says %s\nand not %q", args, got, says)
		}
	}
}

// quoted returns the words of a call, in which _ is a space within a word.
func quoted(args string) []string {
	words := word.FindAllString(args, -1)
	for i := range words {
		words[i] = strings.ReplaceAll(strings.Trim(words[i], "'"), "_", " ")
	}
	return words
}

// word matches one word of a command, or several in quotes.
var word = regexp.MustCompile(`'[^']*'|\S+`)

// The control plane serves only clients that have a key of its folder, until a signal asks it to end.
func TestControl(t *testing.T) {
	dir := t.TempDir()
	for _, line := range []string{"hosts keys keys", "hosts keys other"} {
		if out, err := orchestrator(t, dir, strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	before, err := os.ReadDir(filepath.Join(dir, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := orchestrator(t, dir, "hosts", "control", "--keys", "keys", "--listen", "127.0.0.1:0")
	says, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(limit, func() { cmd.Process.Kill() })
	defer timer.Stop()
	url, err := bufio.NewReader(says).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = strings.TrimSpace(url)
	conn, err := access.Connect(url, filepath.Join(dir, "keys", access.LabFile))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if stranger, err := access.Connect(url, filepath.Join(dir, "other", access.LabFile)); err == nil {
		stranger.Close()
		t.Error("a key of another folder is let in")
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	want := "orchestrator: listening on " + strings.TrimPrefix(url, "tls://") +
		"; anybody with the key of the lab may connect\n"
	if !strings.HasPrefix(log.String(), want) || !strings.Contains(log.String(), "TLS handshake error") {
		t.Errorf("it logs:\n%s", &log)
	}
	after, err := os.ReadDir(filepath.Join(dir, "keys"))
	if err != nil || len(before) != len(after) {
		t.Errorf("the folder of keys has %d files, and had %d: %v", len(after), len(before), err)
	}
}
