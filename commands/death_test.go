//go:build linux

package commands

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"turnstile/bench/runs"
	"turnstile/hosts/cluster"
	"turnstile/nodes/history"
	"turnstile/results"
)

// A live is a run in progress.
type live struct {
	t       *testing.T
	cmd     *exec.Cmd
	out     bytes.Buffer
	dir     string
	brokers []int // and proxies, which are started first
	nodes   []int
}

// start starts a run that would last for a minute, and waits until its nodes enter.
func start(t *testing.T, args ...string) *live {
	t.Helper()
	const n = 4
	l := &live{t: t, dir: t.TempDir()}
	if !slices.Contains(args, "--duration") {
		args = append(args, "--duration", "1m")
	}
	args = append([]string{"bench", "-n", strconv.Itoa(n), "--warmup", "0", "--no-progress", "--results", l.dir},
		args...)
	l.cmd = orchestrator(t, l.dir, args...)
	l.cmd.Stdout, l.cmd.Stderr = &l.out, &l.out
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.cmd.Process.Kill() })
	l.await("the nodes enter", func() bool { return l.entered(n, 5) })
	for _, pid := range children(l.cmd.Process.Pid) {
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if bytes.Contains(args, []byte("--piped")) || bytes.HasSuffix(args, []byte("\x00proxy\x00")) {
			l.brokers = append(l.brokers, pid)
		} else {
			l.nodes = append(l.nodes, pid)
		}
	}
	want := 1
	if slices.Contains(args, "--proxies") {
		want = 4 // and three brokers
	}
	if len(l.brokers) != want || len(l.nodes) != n {
		t.Fatalf("there are %d brokers and %d nodes, not %d and %d", len(l.brokers), len(l.nodes), want, n)
	}
	return l
}

// entered reports whether each of n nodes has entered so often.
func (l *live) entered(n int, often uint64) bool {
	logs, _ := filepath.Glob(filepath.Join(l.dir, results.LatestLink, "trial-1", "node-*.log"))
	for _, path := range logs {
		w, err := history.Watch(path)
		if err != nil {
			return false
		}
		entries := w.Instances[0].Entries.Load()
		w.Close()
		if entries < often {
			return false
		}
	}
	return len(logs) >= n
}

func (l *live) await(what string, done func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(limit); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			l.cmd.Process.Kill()
			l.t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// end waits until the orchestrator has ended and checks that no process is left.
func (l *live) end() (exitStatus int) {
	l.t.Helper()
	ended := make(chan struct{})
	go func() {
		l.cmd.Wait()
		close(ended)
	}()
	l.await("the orchestrator ends", func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
	for _, pid := range append(l.brokers, l.nodes...) {
		l.await(fmt.Sprintf("process %d ends", pid), func() bool {
			_, state := parentOf(pid)
			return state == "" || state == "Z"
		})
	}
	return l.cmd.ProcessState.ExitCode()
}

// record returns the record of the run as it was stored.
func (l *live) record() runs.Record {
	l.t.Helper()
	folder, err := results.Open(l.dir, results.LatestLink)
	if err != nil {
		l.t.Fatal(err)
	}
	var r runs.Record
	if err := folder.ReadYAML(&r); err != nil {
		l.t.Fatal(err)
	}
	return r
}

// verify judges the run again, and returns what that printed.
func (l *live) verify() (exitStatus int, text string) {
	cmd := orchestrator(l.t, l.dir, "verify", "--results", l.dir)
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

// want checks how a run ended, and that it can be judged again, inconclusive both times.
func (l *live) want(exitStatus int, says ...string) {
	l.t.Helper()
	if got := l.end(); got != exitStatus {
		l.t.Errorf("exit status %d, want %d", got, exitStatus)
	}
	again, text := l.verify()
	if again != 2 {
		l.t.Errorf("verify: exit status %d, want 2", again)
	}
	for _, s := range says {
		if all := l.out.String() + text; !strings.Contains(all, s) {
			l.t.Errorf("%q is said nowhere in:\n%s", s, all)
		}
	}
}

func TestInterruptedRunIsKept(t *testing.T) {
	t.Parallel()
	for _, sent := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sent) {
			continue // under nohup
		}
		l := start(t)
		l.cmd.Process.Signal(sent)
		l.want(2, "INCONCLUSIVE  interrupted", "entries/s", "the stored verdict is the same")
		r := l.record()
		if r.Status != "over" || len(r.Trials) != 1 || r.Trials[0].Verdict != "inconclusive" {
			t.Errorf("after %v the record says %+v", sent, r)
		}
	}
}

// An interrupted run has figures up to the interrupt, and verify prints the same figures to the last digit.
func TestInterruptedRunIsMeasured(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{"--algo ricart", "--algo ring --trials 3", "--rate 100",
		"--load sequential"} {
		l := start(t, strings.Fields(flags)...)
		l.await("it is measured", func() bool { return l.entered(4, 50) })
		l.cmd.Process.Signal(syscall.SIGINT)
		l.want(2, "INCONCLUSIVE  ", "interrupted", "throughput  ", "waits:", "fairness  ",
			"machine  ")
		_, again := l.verify()
		if made := l.out.String(); !strings.HasPrefix(again, made) {
			t.Errorf("%s: the run prints\n%s\nand verify\n%s", flags, made, again)
		}
		if !strings.Contains(again, " while it was measured") ||
			strings.Contains(again, "ended before the measurement") ||
			strings.Contains(again, "100.0% of the requests due") {
			t.Errorf("%s: verify prints\n%s", flags, again)
		}
	}
}

// An orchestrator that gives out requests one by one is always busy, but still notices an interrupt.
func TestInterruptedSequentialRunEndsAtOnce(t *testing.T) {
	t.Parallel()
	l := start(t, "--load", "sequential", "--hold", "0")
	l.cmd.Process.Signal(syscall.SIGINT)
	l.want(2, "INCONCLUSIVE  interrupted")
}

// A run that is interrupted before its first trial has no history to be judged by.
func TestInterruptedAtOnce(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{5, 10, 20, 40, 80} {
		dir := t.TempDir()
		cmd := orchestrator(t, dir, "bench", "--results", dir)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after * time.Millisecond)
		cmd.Process.Signal(syscall.SIGTERM) // not SIGINT, which a shell may make the program ignore
		cmd.Wait()
		switch cmd.ProcessState.ExitCode() {
		case -1: // by the signal, before anything was begun
		case 2:
			if !strings.Contains(out.String(), "INCONCLUSIVE") || !strings.Contains(out.String(), "interrupted") {
				t.Errorf("interrupted after %d ms, it says:\n%s", after, &out)
			}
		default:
			t.Errorf("interrupted after %d ms, it ends with %v:\n%s", after, cmd.ProcessState, &out)
		}
	}
}

func TestKilledOrchestratorLeavesNoProcess(t *testing.T) {
	t.Parallel()
	l := start(t)
	l.cmd.Process.Kill()
	l.want(-1, "the orchestrator ended before the run did", "no verdict was stored")
	// A missing log is reported first.
	log := filepath.Join(l.dir, results.LatestLink, "trial-1", "node-000002.log")
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	const says = "\nINCONCLUSIVE  node 2 left no log; unfinished: the orchestrator ended before the run did"
	if _, text := l.verify(); !strings.Contains(text, says) {
		t.Errorf("without a log, verify prints\n%s", text)
	}
}

func TestKilledNodeIsReported(t *testing.T) {
	t.Parallel()
	l := start(t)
	syscall.Kill(l.nodes[2], syscall.SIGKILL)
	l.want(2, "node 2 ended on its own", "signal: killed", "it printed nothing", "INCONCLUSIVE")
}

func TestKilledBrokerIsReported(t *testing.T) {
	t.Parallel()
	l := start(t)
	syscall.Kill(l.brokers[0], syscall.SIGKILL)
	l.want(2, "the broker ended on its own", "signal: killed", "it printed nothing", "INCONCLUSIVE")
	if strings.Contains(l.out.String(), "nats://") {
		t.Errorf("the broker's URL explains nothing:\n%s", &l.out)
	}
}

// All that carries the messages is watched, and ends with the run.
func TestKilledTransportIsReported(t *testing.T) {
	t.Parallel()
	for i, says := range []string{"the process of the proxies ended on its own", "broker 0 ended on its own",
		"broker 2 ended on its own"} {
		l := start(t, "--brokers", "3", "--proxies")
		syscall.Kill(l.brokers[[]int{0, 1, 3}[i]], syscall.SIGKILL)
		l.want(2, says, "signal: killed", "INCONCLUSIVE")
	}
	l := start(t, "--brokers", "3", "--proxies")
	l.cmd.Process.Kill()
	l.want(-1, "the orchestrator ended before the run did")
}

// A broker of several that stands still is on record by its name.
func TestPausedBrokerIsNamed(t *testing.T) {
	t.Parallel()
	l := start(t, "--brokers", "3", "--proxies", "--patience", "500ms")
	syscall.Kill(l.brokers[2], syscall.SIGSTOP)
	l.want(2, "INCONCLUSIVE  broker 1 has been stopped for 10s, as by SIGSTOP")
}

func TestStandstillIsReported(t *testing.T) {
	t.Parallel()
	l := start(t, "--patience", "500ms")
	syscall.Kill(l.nodes[1], syscall.SIGSTOP)
	l.want(2, "INCONCLUSIVE  node 1 has been stopped for 10s, as by SIGSTOP, so the run was ended: "+
		"a process may stand still for 10s (20 times --patience, and 10s at least)")
}

// A process that is stopped and goes on delays what waits for it. Nothing is wrong with the algorithm.
func TestPausedProcessesConvictNobody(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		algorithm, says string
		pid             func(*live) int
	}{
		{"ricart", "the broker stood still for", func(l *live) int { return l.brokers[0] }},
		{"token-ring", "node 2 stood still for", func(l *live) int { return l.nodes[2] }},
	} {
		l := start(t, "--algo", test.algorithm, "--latency", "20ms", "--patience", "100ms", "--duration", "2s")
		syscall.Kill(test.pid(l), syscall.SIGSTOP)
		time.Sleep(time.Second)
		syscall.Kill(test.pid(l), syscall.SIGCONT)
		status := l.end()
		_, text := l.verify()
		if status != 0 || !strings.Contains(text, test.says) {
			t.Errorf("exit status %d, want 0 and %q:\n%s%s", status, test.says, &l.out, text)
		}
		if !strings.Contains(l.out.String(), "\n            "+test.says) {
			t.Errorf("the summary does not say which process stood still:\n%s", &l.out)
		}
	}
}

// If a node of a run of a sweep was killed, the sweep says why, and the same call makes the run again. The
// exit status is that of the whole set.
func TestSweepMakesFailedRunsAgain(t *testing.T) {
	dir := t.TempDir()
	sweep := func(kill bool) (status int, says string) {
		cmd := orchestrator(t, dir, "sweep", "--algo", "ring", "-n", "2", "--trials", "2", "--duration", "500ms",
			"--no-progress")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for kill && cmd.ProcessState == nil {
			if !within(limit, func() bool {
				logs, _ := filepath.Glob(filepath.Join(dir, "results", "sweep", "*", "trial-1", "node-*.log"))
				return len(logs) == 2
			}) {
				t.Fatal("no run begins")
			}
			for _, pid := range children(cmd.Process.Pid) {
				if strings.Contains(commandLine(pid), "node") && kill {
					kill = syscall.Kill(pid, syscall.SIGKILL) != nil
				}
			}
		}
		cmd.Wait()
		return cmd.ProcessState.ExitCode(), out.String()
	}
	for i, x := range []struct {
		status int
		says   []string
	}{
		{2, []string{"a run of token-ring with -n 2 could not be made, and the same command makes it again: node ",
			" ended on its own at ", "signal: killed", "2 runs: 1 could not be made, 1 valid."}},
		{0, []string{"1 run: 1 valid."}},
		{0, []string{"0 runs: the set has them all."}},
	} {
		status, says := sweep(i == 0)
		for _, want := range x.says {
			if status != x.status || !strings.Contains(says, want) {
				t.Errorf("call %d: status %d, and it is to be %d and to say %q:\n%s", i, status, x.status, want, says)
			}
		}
	}
}

// children returns the processes that process parent has started, in the order in which they began.
func children(parent int) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if of, _ := parentOf(pid); of == parent {
				pids = append(pids, pid)
			}
		}
	}
	slices.SortFunc(pids, func(a, b int) int { return cmp.Or(cmp.Compare(startOf(a), startOf(b)), a-b) })
	return pids
}

// startOf returns when a process began, in ticks of the kernel. PIDs give no order, since they are reused.
func startOf(pid int) (ticks uint64) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(b), ") ")
	if fields := strings.Fields(after); len(fields) > 19 {
		ticks, _ = strconv.ParseUint(fields[19], 10, 64)
	}
	return ticks
}

// parentOf returns the parent of a process and the letter of its state, which is empty if it is gone.
func parentOf(pid int) (parent int, state string) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, ""
	}
	_, after, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(after)
	if len(fields) < 2 {
		return 0, ""
	}
	parent, _ = strconv.Atoi(fields[1])
	return parent, fields[0]
}

// If servers that the run did not start go away, the run ends inconclusive: the service is not the reason why
// no client is served from then on.
func TestEndpointGoesAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held, err := cluster.HoldPort()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	at := fmt.Sprintf("127.0.0.1:%d", held.Number)
	server := orchestrator(t, dir, "service", "server", "nats-kv", "n0", dir, "off", "", at, at)
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
