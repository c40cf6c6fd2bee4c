package commands

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"turnstile/bench/service/local"
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
			"outside its model: the algorithm assumes that no node pauses for long"},
		{"-n 2 --duration 2s --kill 'server 0' --at 500ms --for 300ms", 0, "it hit server 0"},
		{"-n 3 --duration 3s --hold 1ms --with ttl=1s --cut holder/servers --at 200ms --for 2s", 0,
			"between clients and servers"},
		{"-n 3 --duration 4s --with members=3 --cut server_0/server_1-2 --at 500ms --for 1s", 0,
			"it hit server 0, server 1 and server 2"},
	}
	for _, x := range cases[:soak.Pick(2, len(cases), len(cases))] {
		t.Run(x.args, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := append([]string{"bench", "--service", "nats-kv", "--warmup", "0s", "--no-progress"},
				quoted(x.args)...)
			cmd := orchestrator(t, dir, args...)
			cmd.Env = append(cmd.Env, "TMPDIR="+dir)
			ends(t, cmd, x.status, x.says)
			if left, _ := filepath.Glob(filepath.Join(dir, "turnstile-servers-*")); left != nil {
				t.Errorf("folders of servers are left behind: %q", left)
			}
			ends(t, orchestrator(t, dir, "verify", "latest"), x.status, "")
		})
	}
}

// A wrong call about a service is refused before anything starts.
func TestServicesRefuse(t *testing.T) {
	t.Parallel()
	for args, says := range map[string]string{
		"bench --service nats-kv --with ttk=1s":                   "did you mean ttl?",
		"bench --service nats-kv --with ttl=1s,ttl=2s":            "given twice",
		"bench --service nats-kv --with ttl=10ms":                 "is not between 1s and 1h0m0s",
		"bench --service nats-kv --with members=2":                "which are 1, 3",
		"bench --service nats-kv --with ttl":                      "write a value, as in ttl=2s",
		"bench --service nats-kv --algo ring":                     "leave out all but one",
		"bench --with ttl=1s":                                     "add --service",
		"bench --service nats-kv --server-program /bin/sh":        "the server is within this program",
		"bench --service nats-kv --hosts 2":                       "leave out --hosts",
		"bench --service nats-kv --kill 'server 1'":               "there is no server 1",
		"bench --service nats-kv --cut server_0/server_1":         "no other to be cut off from",
		"bench --service nats-kv --promote 0":                     "promote",
		"bench --algo ring --kill 'server 0'":                     "choose a service with --service",
		"elect --service nats-kv":                                 "bench --service nats-kv runs it",
		"bench --service nats-kv --endpoint :1 --kill 'server 0'": "did not start these servers",
		"bench --service flock --endpoint :1":                     "its clients share a file",
		"bench --service flock --priority id":                     "leave it out",
		"bench --service nats-kv --latency 1ms":                   "no messages that could be late",
		"bench --service nats-kv --loss 2%":                       "as in --cut holder/servers",
		"bench --service nats-kv --fenced --cut 0/1":              "no messages that it could hit",
		"bench --service nats-kk":                                 "did you mean nats-kv?",
		"bench --client true":                                     "add --service",
		"bench --service nats-kv --foreign true":                  "of your own for a service is --client",
		"bench --service nats-kv --promises fenced":               "add --client",
		"bench --service nats-kv --with obey=on --client true":    "there remain members, ttl, durable",
		"bench --service nats-kv --client nothing.here":           `there is no program for "nothing.here"`,
		"bench --service nats-kv --client /etc/passwd":            "name its interpreter",
		"bench --service nats-kv --client false":                  "with no servers in its options",
		"bench --service nats-kv --client 'echo hello'":           "it wrote a line that is no JSON object",
		"list nats-kk": "unknown algorithm",
		"bench --service nats-kv --endpoint here":                `"here" is not the address of a server`,
		"bench --service nats-kv --endpoint :1,there:":           `"there:" is not the address of a server`,
		"bench --service nats-kv --clock 'server 0' --by 3s":     "written in Go",
		"service describe nats-kv members=1 --server-program=sh": "the server is within this program",
		"service up nothing":                                     "there is no service",
		"service":                                                "write list, or",
	} {
		ends(t, orchestrator(t, t.TempDir(), quoted(args)...), usage, says)
	}
}

// A user's own client takes the place of the service's client. It gets the servers, the options and the
// prefix. The run is judged by the client's declaration, and verify and a repetition work on it.
func TestOwnClient(t *testing.T) {
	t.Parallel()
	shared, err := os.ReadFile("../examples/clients/testbed.py")
	if err != nil {
		t.Fatal(err)
	}
	client := `
import fcntl, socket, testbed
class Lock:
    def __init__(self, options):
        assert options["hold_ms"] == 2 and options["with"] == {} and "ttl_ms" not in options, options
        host, port = options["servers"][0].split(":")
        with socket.create_connection((host, port)) as keeper:
            folder = keeper.makefile().read()
        self.file = open(folder + "/" + options["prefix"].replace("/", "_"), "w")
    def acquire(self):
        fcntl.flock(self.file, fcntl.LOCK_EX)
    def release(self):
        fcntl.flock(self.file, fcntl.LOCK_UN)
testbed.lock(Lock, live=[], grace_ms=2000)
`
	for _, x := range []struct {
		name, was, is string
		args          string
		status        int
		says          string
	}{
		{"sound.py", "", "", "--kill holder --at 100ms --for 100ms", 0, "flock with sound.py, 3 nodes"},
		{"broken.py", "LOCK_EX", "LOCK_SH", "", 1, "were inside together"},
		{"lost.py", "self.file =", "raise OSError('no such server'); self.file =", "", 2, "no such server"},
		{"fenced.py", "live=[]", "fenced=True", "--fenced", 2, "says entered without a fence"},
		{"stale.py", "fcntl.LOCK_EX)", "fcntl.LOCK_SH)\n        return 5", "--promises fenced --fenced", 1,
			"the account lost"},
		{"chatty.py", "LOCK_UN)", "LOCK_UN)\n        testbed.out.write(" +
			`'{"src":"%s","dest":"n1","body":{"type":"ask"}}\n' % testbed.me)`, "", 2,
			"declares no kinds of messages to other nodes"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range map[string]string{"testbed.py": string(shared),
				x.name: strings.Replace(client, x.was, x.is, 1)} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			command := python(t, filepath.Join(dir, x.name))
			args := append([]string{"bench", "--service", "flock", "--client", command, "-n", "3", "--hold", "2ms",
				"--duration", "500ms", "--warmup", "0s", "--no-progress"}, strings.Fields(x.args)...)
			ends(t, orchestrator(t, dir, args...), x.status, x.says)
			ends(t, orchestrator(t, dir, "verify", "latest"), x.status, "client "+command)
		})
	}
}

// Servers that cannot be reached are reported before a run begins.
func TestServiceOutOfReach(t *testing.T) {
	t.Parallel()
	cmd := orchestrator(t, t.TempDir(), "bench", "--service", "nats-kv", "--endpoint", "127.0.0.1:1", "-n", "1",
		"--no-progress")
	ends(t, cmd, unreached, "the endpoint 127.0.0.1:1 is out of reach: ")
}

// If a server does not speak the protocol of the service, the run ends before a client requests, with the
// error of the client library.
func TestServiceDoesNotSpeak(t *testing.T) {
	t.Parallel()
	l := listen(t)
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
	ends(t, cmd, 2, "connecting to NATS at "+at)
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
	ends(t, cmd, 0, "no injected latency")
}

// If a service of another program is named as an algorithm, the error says how to run it. list prints what
// the program tells of it.
func TestServiceIsNoAlgorithm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	description := `#!/bin/sh
test "$1" = tell && echo '{"name":"elsewhere","promise":"One holds it.","options":["ttl=2s: of a lock"]}' ||
	echo '{"protocol":5,"service":"elsewhere","declaration":{"elects":true,"safe":[],"live":[]}}'
`
	if err := os.WriteFile(filepath.Join(dir, "services"), []byte(description), 0o755); err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")
	cmd := orchestrator(t, dir, "bench", "--algo", "elsewhere")
	cmd.Env = append(cmd.Env, path)
	ends(t, cmd, usage, "orchestrator elect --service elsewhere runs it, and list elsewhere describes it")
	cmd = orchestrator(t, dir, "list", "elsewhere")
	cmd.Env = append(cmd.Env, path)
	says := ends(t, cmd, 0, "promises       One holds it.\n")
	if !strings.Contains(says, "option         --with ttl=2s: of a lock\n") {
		t.Errorf("%s", says)
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

// python returns the command of a Python program. Where there is no python3, the test is skipped.
func python(t testing.TB, path string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not on this machine: NO FOREIGN PROGRAM IN PYTHON IS TESTED")
	}
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return "python3 '" + full + "' '" + strings.Join(args, "' '") + "'"
}

// ranForeign runs a foreign program for a moment, and returns the exit status and what was printed.
func ranForeign(t *testing.T, dir, command, program string, args ...string) (status int, says string) {
	t.Helper()
	cmd := orchestrator(t, dir, append([]string{command, "--foreign", program}, args...)...)
	cmd.Stderr = nil
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// shownForeign is like ranForeign, but makes up to two more runs while they show nothing. If the third shows
// nothing since the machine was busy, the test is skipped.
func shownForeign(t *testing.T, dir, command, program string, args ...string) (status int, says string) {
	t.Helper()
	for range 3 {
		if status, says = ranForeign(t, dir, command, program, args...); status != 2 {
			return status, says
		}
	}
	skipIfBusy(t, dir)
	return status, says
}

// The examples of docs/foreign.md are valid, and their broken forms are caught. What is stored can be judged
// again.
func TestForeignExamples(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		command, program string
		args             []string
		status           int
		says             string
	}{
		{"bench", "../examples/python/ra.py", []string{"-n", "2", "--hold", "5ms", "--duration", "200ms"}, 0,
			"no two were inside together"},
		{"bench", "../examples/python/ra_broken.py", []string{"-n", "2", "--hold", "5ms", "--duration", "200ms"}, 1,
			"were inside together"},
		{"elect", "../examples/python/bully.py", []string{"-n", "3", "--duration", "300ms"}, 0,
			"all agreed on node 2"},
		{"elect", "../examples/python/bully_broken.py", []string{"-n", "3", "--initiators", "lowest", "--duration",
			"1800ms"}, 1, "two leaders"},
		{"elect", "testdata/alllead.py", []string{"-n", "3", "--duration", "2s"}, 1, "3 leaders"},
		{"elect", "testdata/lowest_up.py", []string{"-n", "3", "--duration", "4s", "--fault", "kill: 0, at: 500ms",
			"--fault", "kill: 1, at: 1500ms, for: 300ms"}, 0, "all agreed on node 1"},
		{"elect", "testdata/lowest_up.py unaware", []string{"-n", "3", "--duration", "4s", "--kill", "0", "--at",
			"500ms"}, 2, "do not agree on a leader"},
		{"elect", "testdata/half_majority.py", []string{"-n", "4", "--duration", "3500ms", "--fault",
			"cut: 0-1/2-3, at: 1500ms, for: 1s"}, 1, "though it had reached no majority"},
		{"elect", "testdata/half_majority.py", []string{"-n", "3", "--duration", "3500ms", "--fault",
			"cut: 0/1-2, at: 1500ms, for: 1s"}, 0, "all agreed"},
	} {
		if x.command == "elect" && soak.Pick(true, false, false) {
			continue
		}
		dir := t.TempDir()
		words := strings.Fields(x.program)
		program := python(t, words[0], words[1:]...)
		status, says := shownForeign(t, dir, x.command, program, x.args...)
		noise := regexp.MustCompile(`cannot be simulated|\n  (other|on-disk) +0\.000| 0 on-disk`).FindString(says)
		if status != x.status || !strings.Contains(says, x.says) || noise != "" {
			t.Errorf("%s: status %d: %s", x.program, status, says)
		}
		if filepath.Base(x.program) != "ra.py" {
			continue
		}
		ends(t, orchestrator(t, dir, "verify"), status, "")
	}
}

// The templates of examples work as they stand there, and what they print beside their lines does no harm.
func TestForeignTemplates(t *testing.T) {
	t.Parallel()
	built := filepath.Join(t.TempDir(), "lock")
	build := exec.Command("go", "build", "-o", built, "../examples/go/lock.go")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, program := range []string{built, python(t, "../examples/python/lock.py")} {
		status, says := shownForeign(t, t.TempDir(), "bench", program, "-n", "2", "--duration", "200ms")
		if status != 0 || !strings.Contains(says, "yours:permit") {
			t.Errorf("%s: status %d: %s", program, status, says)
		}
	}
}

// Clients lose their lock to a lease, and are told or not. One run says who was inside together, and whether
// fence numbers would have kept them apart; with --fenced, its verdict depends on that.
func TestForeignLocksAreLost(t *testing.T) {
	t.Parallel()
	const together, apart = "were inside together", "a resource that checks fence numbers keeps them apart"
	const accepts = "a resource that checks fence numbers would still accept the writes of "
	for _, x := range []struct {
		how, numbers string
		args         []string
		status       int
		says         []string
	}{
		{"stays", "rising", nil, 1, []string{together, apart, " after it was told that the lock was lost\n",
			"the lock refused "}},
		{"stays", "rising", []string{"--fenced"}, 0, []string{"no write under an old fence number", apart}},
		{"stays", "same", nil, 1, []string{together, accepts}},
		{"stays", "same", []string{"--fenced"}, 1, []string{"the resource accepted what node", accepts}},
		{"leaves", "rising", nil, 0, []string{"the client left as soon as it was told that the lock was lost\n"}},
		{"silent", "rising", nil, 1, []string{together, "no client was told that it had lost the lock\n"}},
	} {
		if len(x.args) > 0 && testing.Short() {
			continue
		}
		args := append([]string{"-n", "2", "--hold", "80ms", "--think", "5ms", "--duration", "500ms"}, x.args...)
		program := python(t, "testdata/foreign/leasing.py", x.how, x.numbers)
		status, says := shownForeign(t, t.TempDir(), "bench", program, args...)
		for _, want := range x.says {
			if status != x.status || !strings.Contains(says, want) {
				t.Errorf("%s, %s, %q: status %d, and no %q: %s", x.how, x.numbers, x.args, status, want, says)
			}
		}
	}
}

// A program that misbehaves ends the run, with its last words, and what was recorded is judged. What no
// program may do is a violation; death by a signal is inconclusive, since anybody may have sent the signal.
func TestForeignProgramsThatMisbehave(t *testing.T) {
	t.Parallel()
	for how, x := range map[string]struct {
		status int
		says   string
	}{
		"dies":           {1, "VIOLATED  the program of node 0 ended by itself: exit status 7; it wrote last"},
		"finds no space": {2, "ended by itself: exit status 1, since a disk is full: free some space"},
		"enters twice":   {1, `that was inside: it wrote {"type": "entered", "in_reply_to": 2}`},
		"is killed":      {2, "ended by itself: signal: killed"},
	} {
		if testing.Short() && how == "enters twice" {
			continue
		}
		status, says := ranForeign(t, t.TempDir(), "bench", python(t, "testdata/foreign/misbehaving.py", how),
			"-n", "1", "--duration", "100ms")
		if status != x.status || !strings.Contains(says, x.says) ||
			!strings.Contains(says, "the last words of "+how) {
			t.Errorf("%s: status %d: %s", how, status, says)
		}
	}
}

// A program that does not begin is unavailable: the command line may be right.
func TestForeignProgramDoesNotBegin(t *testing.T) {
	if testing.Short() {
		t.Skip("make test-all runs it: it takes ten seconds")
	}
	status, says := called(t, "bench", "-n", "1", "--foreign", "sleep 300")
	if status != unreached || !strings.Contains(says, "it has not answered init with init_ok after 10s") {
		t.Errorf("status %d: %s", status, says)
	}
}

// A kill and a pause hit the program as well. Its disk survives the kill, and it goes on after both.
func TestForeignProgramsEndure(t *testing.T) {
	if testing.Short() {
		t.Skip("make test-all runs it: it takes seconds")
	}
	t.Parallel()
	stood := filepath.Join(t.TempDir(), "stood-still")
	status, says := ranForeign(t, t.TempDir(), "bench", python(t, "testdata/foreign/enduring.py", stood), "-n",
		"1", "--duration", "3500ms", "--think", "20ms", "--fault", "kill: 0, at: 100ms, for: 50ms", "--fault",
		"pause: 0, at: 2500ms, for: 400ms")
	if status != 0 {
		t.Errorf("status %d: %s", status, says)
	}
	if _, err := os.Stat(stood); err != nil {
		t.Errorf("the program went on while its node stood still: %v", err)
	}
}

// Messages of a program pass the links of the run, and faults find them by their declared kinds.
func TestForeignMessagesAreLost(t *testing.T) {
	if testing.Short() {
		t.Skip("make test-all runs it: it takes seconds")
	}
	t.Parallel()
	status, says := ranForeign(t, t.TempDir(), "bench", python(t, "../examples/python/ra.py"), "-n", "3",
		"--fault", "loss: 100%, kind: permit, nth: 3, at: 100ms", "--think", "10ms",
		"--duration", "500ms", "--patience", "300ms")
	if status != 2 || !strings.Contains(says, "blocked: the algorithm assumes that no message is lost, ") ||
		!strings.Contains(says, "has not answered request") ||
		!strings.Contains(says, ", and sent ra_request to ") {
		t.Errorf("status %d: %s", status, says)
	}
}

// A stall says whom a program asked, by its messages alone, who has not answered, and when that one got the
// question. What verify prints of it is the same.
func TestForeignStallSaysWhoIsSilent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	status, says := ranForeign(t, dir, "bench", python(t, "testdata/mute.py"), "-n", "3", "--load", "one",
		"--duration", "500ms", "--warmup", "0s", "--patience", "300ms")
	asked := regexp.MustCompile(`\n  node 0 requested at \d+\.\d{3} s, and sent ask to 1 and 2; ` +
		`2 has not answered \(it got that at \d+\.\d{3} s\)\n`).FindString(says)
	if status != 1 || asked == "" {
		t.Fatalf("status %d: %s", status, says)
	}
	ends(t, orchestrator(t, dir, "verify"), 1, strings.TrimSpace(asked))
}

// A program that cannot run is refused before the run, with a text that says what would be right.
func TestForeignProgramsAreRefused(t *testing.T) {
	declares := func(how string) string { return python(t, "testdata/foreign/misbehaving.py", how) }
	sound := python(t, "../examples/python/ra.py")
	for _, x := range []struct {
		args []string
		says string
	}{
		{[]string{"--foreign", sound, "--algo", "ricart"}, "leave out one of the two"},
		{[]string{"--foreign", sound, "--hosts", "2"}, "leave out --hosts"},
		{[]string{"--foreign", sound, "--fenced"}, "hands out no fence numbers"},
		{[]string{"--foreign", sound, "--kinds", "x:tokn"}, "there are token, permit and heartbeat"},
		{[]string{"--foreign", sound, "--promises", "safe=no-los"}, "did you mean no-loss?"},
		{[]string{"--kinds", "x"}, "are for a program of your own: add --foreign"},
		{[]string{"--foreign", "/no/such/program"}, "/no/such/program"},
		{[]string{"--foreign", declares("no init_ok")}, "it has to be init_ok"},
		{[]string{"--foreign", declares("bad declaration")}, `"luck", which is not one of nothing, no-loss`},
	} {
		status, says := called(t, append([]string{"bench", "-n", "2"}, x.args...)...)
		if status != usage || !strings.Contains(says, x.says) {
			t.Errorf("%q: status %d: %s", x.args, status, says)
		}
	}
	if status, says := called(t, "elect", "-n", "2", "--foreign", sound); status != usage ||
		!strings.Contains(says, "orchestrator bench --foreign runs it") {
		t.Errorf("a lock that is to elect: status %d: %s", status, says)
	}
}

// Locks of one machine run as services do, and leave nothing. If a holder is killed, only flock is freed.
func TestLocalLocks(t *testing.T) {
	t.Parallel()
	sizes := soak.Pick([]int{5}, []int{1, 5, 32}, []int{1, 5, 32})
	for _, x := range local.Services[:soak.Pick(1, len(local.Services), len(local.Services))] {
		t.Run(x.Name, func(t *testing.T) {
			t.Parallel()
			for _, n := range sizes {
				says := runLocal(t, x.Name, "-n", fmt.Sprint(n), "--duration", "300ms")
				// A client that is always passed over is no error of a lock that promises no order.
				if !strings.Contains(says, "no two were inside together") &&
					!strings.Contains(says, "got nothing in it") {
					t.Errorf("%d clients:\n%s", n, says)
				}
			}
			if x.Name == "test-and-set" && testing.Short() {
				return // waiting clients spin, which slows other tests until the run gives up
			}
			says := runLocal(t, x.Name, "-n", "3", "--hold", "5ms", "--kill", "holder", "--at", "200ms",
				"--duration", "600ms", "--patience", "1s")
			frees := len(x.Declare(nil).Live) == 0
			if frees == strings.Contains(says, "(blocked: the algorithm assumes ") {
				t.Errorf("the holder is killed, and the lock is to be free: %t:\n%s", frees, says)
			}
		})
	}
}

// runLocal makes a run of a lock of one machine and returns what it prints. It makes up to two more where the
// machine stood still in one: then a fault may not have taken place.
func runLocal(t *testing.T, name string, args ...string) (says string) {
	t.Helper()
	for range 3 {
		dir := t.TempDir()
		cmd := orchestrator(t, dir, append([]string{"bench", "--service", name, "--warmup", "0s", "--no-progress"},
			args...)...)
		cmd.Env = append(cmd.Env, "TMPDIR="+dir)
		out, _ := cmd.CombinedOutput()
		if left, _ := filepath.Glob(filepath.Join(dir, "turnstile-servers-*")); left != nil {
			t.Errorf("folders of keepers are left behind: %q", left)
		}
		if says = string(out); !strings.Contains(says, "the orchestrator stood still") {
			break
		}
	}
	return says
}
