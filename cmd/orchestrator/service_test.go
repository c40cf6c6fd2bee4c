package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"turnstile/bench/cluster"
	"turnstile/internal/soak"
)

// Runs about the service that this program has itself: one that is valid, one whose holder stands still for
// longer than the key lives, and one whose server is killed. What is stored is judged again to the same end.
func TestServiceRuns(t *testing.T) {
	t.Parallel()
	cases := []struct {
		args   string
		status int
		says   string
	}{
		{"-n 2 --duration 300ms", 0, "server-version 2"},
		{"-n 3 --duration 3s --hold 1ms --with ttl=1s --pause holder --at 200ms --for 1700ms", 1,
			"outside its model: it needs no pause"},
		{"-n 2 --duration 2s --kill-server 0 --at 500ms --for 300ms", 0, "it hit server 0"},
		{"-n 3 --duration 3s --hold 1ms --with ttl=1s --cut-server holder/servers --at 200ms --for 2s", 0,
			"between clients and servers"},
	}
	for _, x := range cases[:soak.Pick(2, len(cases), len(cases))] {
		t.Run(x.args, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := append([]string{"bench", "--service", "nats-kv", "--warmup", "0s", "--no-progress"},
				strings.Fields(x.args)...)
			cmd := orchestrator(t, dir, args...)
			cmd.Env = append(cmd.Env, "TMPDIR="+dir)
			out, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != x.status || !strings.Contains(string(out), x.says) {
				t.Fatalf("bench %s: status %d, and it is to say %q:\n%s", x.args, got, x.says, out)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "turnstile-servers-*")); left != nil {
				t.Errorf("folders of servers are left behind: %q", left)
			}
			again := orchestrator(t, dir, "verify", "latest")
			if out, _ := again.CombinedOutput(); again.ProcessState.ExitCode() != x.status {
				t.Errorf("verify: status %d, want %d:\n%s", again.ProcessState.ExitCode(), x.status, out)
			}
		})
	}
}

// A wrong call about a service is refused before anything starts.
func TestServicesRefuse(t *testing.T) {
	t.Parallel()
	for args, says := range map[string]string{
		"bench --service nats-kv --with ttk=1s":                  "did you mean ttl?",
		"bench --service nats-kv --with ttl=1s,ttl=2s":           "given twice",
		"bench --service nats-kv --with ttl=10ms":                "is not between 1s and 1h0m0s",
		"bench --service nats-kv --with members=2":               "there are 1, 3",
		"bench --service nats-kv --with ttl":                     "write a value, as in ttl=2s",
		"bench --service nats-kv --algo ring":                    "leave out all but one",
		"bench --with ttl=1s":                                    "add --service",
		"bench --service nats-kv --server-program /bin/sh":       "the server is within this program",
		"bench --service nats-kv --hosts 2":                      "leave out --hosts",
		"bench --service nats-kv --kill-server 1":                "there is no server 1",
		"bench --service nats-kv --promote 0":                    "promote",
		"bench --algo ring --kill-server 0":                      "choose a service with --service",
		"elect --service nats-kv":                                "bench --service nats-kv runs it",
		"bench --service nats-kv --endpoint :1 --kill-server 0":  "not the run's own",
		"bench --service flock --endpoint :1":                    "its clients share a file",
		"bench --service flock --priority id":                    "leave it out",
		"bench --service nats-kv --latency 1ms":                  "no messages that could be late",
		"bench --service nats-kv --loss 2%":                      "as in --cut-server holder/servers",
		"bench --service nats-kv --fenced --cut 0/1":             "no messages that it could hit",
		"bench --service nats-kk":                                "did you mean nats-kv?",
		"list nats-kk":                                           "unknown algorithm",
		"bench --service nats-kv --endpoint here":                `"here" is no address of a server`,
		"bench --service nats-kv --endpoint :1,there:":           `"there:" is no address of a server`,
		"bench --service nats-kv --clock-server 0 --by 3s":       "written in Go",
		"service describe nats-kv members=1 --server-program=sh": "the server is within this program",
		"service up nothing":                                     "there is no service",
		"service":                                                "write list, or",
	} {
		cmd := orchestrator(t, t.TempDir(), strings.Fields(args)...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 64 || !strings.Contains(string(out), says) {
			t.Errorf("%s: status %d, and it is to say %q:\n%s", args, cmd.ProcessState.ExitCode(), says, out)
		}
	}
}

// Servers that are not there are said before a run is begun.
func TestServiceOutOfReach(t *testing.T) {
	t.Parallel()
	cmd := orchestrator(t, t.TempDir(), "bench", "--service", "nats-kv", "--endpoint", "127.0.0.1:1", "-n", "1",
		"--no-progress")
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 69 ||
		!strings.Contains(string(out), "the endpoint 127.0.0.1:1 is out of reach: ") {
		t.Errorf("status %d:\n%s", cmd.ProcessState.ExitCode(), out)
	}
}

// A server that does not speak as the service does ends the run before anybody asks, with what the client
// library says.
func TestServiceDoesNotSpeak(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	at := l.Addr().String()
	cmd := orchestrator(t, t.TempDir(), "bench", "--service", "nats-kv", "--endpoint", at, "-n", "1",
		"--no-progress")
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "connecting to NATS at "+at) {
		t.Errorf("status %d:\n%s", cmd.ProcessState.ExitCode(), out)
	}
}

// A latency in a file for many runs is no error beside a service, to which it does nothing.
func TestLatencyOfOtherRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "turnstile.yaml"), []byte("latency: 50ms\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := orchestrator(t, dir, "bench", "--service", "nats-kv", "-n", "1", "--warmup", "0s", "--duration",
		"300ms", "--no-progress")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "no injected latency") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// What lists a service of another program is said where an algorithm is asked for.
func TestServiceIsNoAlgorithm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	description := `#!/bin/sh
echo '{"protocol":2,"service":"elsewhere","declaration":{"elects":true,"safe":[],"live":[]}}'
`
	if err := os.WriteFile(filepath.Join(dir, "services"), []byte(description), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := orchestrator(t, dir, "list", "elsewhere")
	cmd.Env = append(cmd.Env, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	const says = "orchestrator elect --service elsewhere runs it, and services list has its options"
	if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), says) {
		t.Errorf("%s", out)
	}
}

// Servers of somebody else that go away end the run, which shows nothing from then on: that nobody is served
// is not the service's doing.
func TestEndpointGoesAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held, err := cluster.HoldPort()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	at := fmt.Sprintf("127.0.0.1:%d", held.Number)
	server := orchestrator(t, dir, "service", "server", "nats-kv", "n0", dir, "off", at, at)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	gone := sync.OnceFunc(func() {
		server.Process.Kill()
		server.Wait()
	})
	t.Cleanup(gone)
	awaitPort(t, at)
	l := &live{t: t, dir: t.TempDir()}
	l.cmd = orchestrator(t, dir, "bench", "--service", "nats-kv", "--endpoint", at, "-n", "2", "--warmup", "0s",
		"--duration", "20s", "--rate", "20", "--no-progress", "--results", l.dir)
	l.cmd.Stdout, l.cmd.Stderr = &l.out, &l.out
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.await("both nodes enter", func() bool { return l.entered(2, 1) })
	gone()
	status := l.end()
	for _, says := range []string{"INCONCLUSIVE", "the endpoint " + at + " is out of reach"} {
		if status != 2 || !strings.Contains(l.out.String(), says) {
			t.Fatalf("status %d, and it is to say %q:\n%s", status, says, l.out.String())
		}
	}
	if status, text := l.verify(); status != 2 {
		t.Errorf("verify: status %d:\n%s", status, text)
	}
}

// awaitPort waits until somebody accepts connections at an address.
func awaitPort(t *testing.T, address string) {
	t.Helper()
	for late := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(late) {
			t.Fatal(err)
		}
	}
}
