//go:build linux

package commands

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/algorithms/mutex"
	"turnstile/hosts/control"
	"turnstile/internal/soak"
	"turnstile/results"
)

var (
	stormRuns = flag.Int("storm", 0, "how many runs TestStorm draws at random, beside those it always makes")
	stormSeed = flag.Uint64("storm-seed", 1, "the first of the seeds that they are drawn from")
)

// A storm is a run of bench with what happens to its processes meanwhile.
type storm struct {
	name  string
	args  string // of bench
	wrong string // what is wrong with its nodes (see testdata/stormnode); empty: nothing
	// fails says that the algorithm is sure to break a promise: the run must not be valid. If not, nothing is
	// wrong with the algorithm, and the run must not be violated.
	fails bool
	gusts []gust
	hogs  int  // processes that do nothing but take CPU time
	long  bool // it is left out unless -storm is given
}

// A gust is a signal to one process. SIGSTOP is followed by SIGCONT when it is over.
type gust struct {
	victim string // orchestrator, broker, or the number of a node
	signal syscall.Signal
	after  time.Duration // since the run was started
	lasts  time.Duration
}

func (g gust) String() string {
	return fmt.Sprintf("%v of %s after %v for %v", g.signal, g.victim, g.after, g.lasts)
}

// kills reports whether a gust kills the victim; empty: any process.
func (s *storm) kills(victim string) bool {
	return slices.ContainsFunc(s.gusts, func(g gust) bool {
		return g.signal == syscall.SIGKILL && (victim == "" || g.victim == victim)
	})
}

// TestStorm stops, continues and kills the processes of runs, and takes the CPU from them. A verdict is never
// violated because of that, nor valid in spite of a failure; nothing panics, hangs or is left behind.
func TestStorm(t *testing.T) {
	build(t)
	buildWrongNodes(t)
	all := slices.DeleteFunc(fixedStorms(), func(s storm) bool { return s.long && *stormRuns == 0 })
	for i := range max(*stormRuns, soak.Pick(0, 3, 3)) {
		all = append(all, drawStorm(*stormSeed+uint64(i)))
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			if testing.Short() && (s.wrong == "" || s.fails || s.hogs > 0) {
				t.Skip("make test-all runs it: a storm takes seconds")
			}
			t.Parallel()
			r := &raging{storm: s, t: t, dir: t.TempDir()}
			r.rage()
			t.Logf("%s: %s", r.said(), s.args)
			if wrong := r.wrong(); wrong != "" {
				t.Errorf("%s:\nbench %s\nwrong with nodes: %q, CPU hogs: %d, %v\nbench says (status %d):\n%s\n"+
					"verify says (status %d):\n%s", wrong, s.args, s.wrong, s.hogs, s.gusts, r.status, &r.out, r.again,
					r.verified)
			}
		})
	}
}

// buildWrongNodes builds the node program in which something is wrong.
func buildWrongNodes(t *testing.T) {
	t.Helper()
	program := filepath.Join(programs, "stormnode")
	cmd := exec.Command("go", "build", "-o", program, "./testdata/stormnode")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the wrong nodes: %v\n%s", err, out)
	}
	for _, s := range append(fixedStorms(), wrongStorms...) {
		if s.wrong != "" {
			os.Symlink("stormnode", filepath.Join(programs, s.wrong))
		}
	}
}

// A raging is a storm while it goes on, and then what came of it.
type raging struct {
	storm
	t   *testing.T
	dir string

	cmd      *exec.Cmd
	out      bytes.Buffer
	status   int // exit status of bench; -1: killed
	hung     bool
	left     []int // processes that did not end
	again    int   // exit status of verify
	verified string
}

// rage makes the run.
func (r *raging) rage() {
	args := append([]string{"bench", "--no-progress", "--results", r.dir}, strings.Fields(r.args)...)
	if r.storm.wrong != "" {
		args = append(args, "--node-program", filepath.Join(programs, r.storm.wrong))
	}
	r.cmd = orchestrator(r.t, r.dir, args...)
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it may be stopped when the test ends
	defer r.blow()()
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	for _, g := range r.gusts {
		go r.hit(g)
	}
	r.await()
	for deadline := time.Now().Add(limit); ; time.Sleep(10 * time.Millisecond) {
		if r.left = processesIn(r.dir); len(r.left) == 0 || time.Now().After(deadline) {
			break
		}
	}
	for _, pid := range r.left {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	cmd := orchestrator(r.t, r.dir, "verify", "--results", r.dir)
	text, _ := cmd.CombinedOutput()
	r.again, r.verified = cmd.ProcessState.ExitCode(), string(text)
}

// blow starts the hogs, and returns a function that ends them.
func (r *raging) blow() (end func()) {
	var hogs []*exec.Cmd
	for range r.hogs {
		hog := exec.Command("sh", "-c", "ulimit -t 60; while :; do :; done") // it ends in any case
		if err := hog.Start(); err != nil {
			r.t.Fatal(err)
		}
		hogs = append(hogs, hog)
	}
	return func() {
		for _, hog := range hogs {
			hog.Process.Kill()
			hog.Wait()
		}
	}
}

// hit gives a process of the run its signal, if the process is there by then.
func (r *raging) hit(g gust) {
	time.Sleep(g.after)
	pid := r.find(g.victim)
	if pid == 0 || syscall.Kill(pid, g.signal) != nil || g.signal != syscall.SIGSTOP {
		return
	}
	time.Sleep(g.lasts)
	syscall.Kill(pid, syscall.SIGCONT)
}

// find returns the process of a victim, or 0 if there is none.
func (r *raging) find(victim string) int {
	if victim == "orchestrator" {
		return r.cmd.Process.Pid
	}
	var nodes []int
	for _, pid := range children(r.cmd.Process.Pid) {
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		switch {
		case !bytes.Contains(args, []byte("--piped")):
			nodes = append(nodes, pid)
		case victim == "broker":
			return pid
		}
	}
	if id, err := strconv.Atoi(victim); err == nil && id < len(nodes) {
		return nodes[id]
	}
	return 0
}

// await waits until bench has ended. If that takes too long, bench says where it is.
func (r *raging) await() {
	patience := time.Minute
	for _, g := range r.gusts {
		patience += g.lasts
	}
	ended := make(chan struct{})
	go func() {
		r.cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		r.hung = true
		r.cmd.Process.Signal(syscall.SIGQUIT)
		time.Sleep(time.Second)
		r.cmd.Process.Kill()
		<-ended
	}
	r.status = r.cmd.ProcessState.ExitCode()
}

// processesIn returns the processes whose working folder is dir. A run's processes inherit it from bench.
func processesIn(dir string) (pids []int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, path := range paths {
		if at, err := os.Readlink(path); err == nil && at == dir {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if _, state := parentOf(pid); state != "" && state != "Z" {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// said returns what bench said of the run in one word.
func (r *raging) said() string {
	switch {
	case r.hung:
		return "hung"
	case r.status < 0:
		return "killed"
	}
	return [...]string{"valid", "violated", "inconclusive", "under-loaded"}[min(r.status, 3)]
}

var crashes = regexp.MustCompile(`(?m)^(panic: |fatal error: |goroutine \d+ \[)`)

// wrong says what is wrong with what came of the storm, if anything is.
func (r *raging) wrong() string {
	const valid, violated = 0, 1
	killed := r.status < 0 && r.kills("orchestrator")
	switch {
	case r.hung:
		return "bench hangs"
	case len(r.left) > 0:
		return fmt.Sprintf("processes are left: %v", r.left)
	case crashes.Match(r.out.Bytes()) || crashes.MatchString(r.verified):
		return "a panic"
	case r.status > 3 || r.status < 0 && !killed:
		return fmt.Sprintf("bench has the exit status %d", r.status)
	case !r.fails && (r.status == violated && convicts(r.out.String()) ||
		r.again == violated && convicts(r.verified)):
		return "FALSE VIOLATED"
	case r.fails && (r.status == valid || r.again == valid) && r.entries() >= 20:
		return "FALSE VALID"
	case killed && r.again == valid:
		return "a run that was killed is valid"
	case !killed && r.again != r.status && r.status != 2:
		return "verify says something else"
	}
	return ""
}

// violations matches the lines of bench and verify that report a violation.
var violations = regexp.MustCompile(`(?m)^ *(VIOLATED|also violated:|trial \d+: violated:|violated ).*$`)

// convicts reports whether a command says that an algorithm broke a promise inside its model. A process that
// stands still may be suspected, which is outside the model of algorithms that rest on a perfect detector.
func convicts(says string) bool {
	violated := violations.FindAllString(says, -1)
	return len(violated) == 0 || slices.ContainsFunc(violated, func(line string) bool {
		return !strings.Contains(line, "(outside its model: ")
	})
}

// Only a violation inside the model shows that the algorithm is wrong.
func TestWhatShowsAViolation(t *testing.T) {
	const outside = "VIOLATED  2 entries overlapped (outside its model: y)\n"
	for says, want := range map[string]bool{
		"VIOLATED  2 entries overlapped\n": true,
		outside:                            false,
		outside + "    also violated: the account lost 1 update (outside its model: x)\n": false,
		outside + "    also violated: the account lost 1 update\n":                        true,
		outside + "  violated  exclusion  2 entries overlapped\n":                         true,
		"a status without a word of it":                                                   true,
	} {
		if convicts(says) != want {
			t.Errorf("%q: %v", says, !want)
		}
	}
}

// entries returns how many entries the run had, as far as it is known.
func (r *raging) entries() float64 {
	folder, err := results.Open(r.dir, results.LatestLink)
	if err != nil {
		return 0
	}
	rows, err := folder.Rows()
	if err != nil || len(rows) == 0 {
		return 0
	}
	entries, _ := strconv.ParseFloat(rows[0].Entries.String(), 64)
	return entries
}

// Garbled runs of real processes are judged as simulated ones are, whether they were stored or left behind by
// an orchestrator that was killed.
func TestGarbledRunsOfProcesses(t *testing.T) {
	var runs []*stored
	for _, algorithm := range []string{"ricart", "naive"} {
		var dirs []string
		for range 2 {
			dir := t.TempDir()
			cmd := orchestrator(t, dir, "bench", "--algo", algorithm, "-n", "3", "--entries", "100",
				"--results", dir)
			cmd.Run()
			dirs = append(dirs, latestIn(t, dir))
		}
		s := &stored{name: algorithm, dir: dirs[0], donor: dirs[1]}
		s.want = verifyIn(t, s.dir).verdict // the machine may be busy
		runs = append(runs, s)
	}
	var left []string
	for range 2 {
		l := start(t, "--hold", "1ms")
		l.cmd.Process.Kill()
		l.end()
		dir := latestIn(t, l.dir)
		os.Remove(filepath.Join(dir, control.SocketFile)) // it is no file to copy
		left = append(left, dir)
	}
	runs = append(runs, &stored{name: "killed", dir: left[0], donor: left[1], want: "inconclusive"})
	r := rand.New(rand.NewPCG(3, 4))
	for range soak.Pick(12, 50, 600) {
		s := runs[r.IntN(len(runs))]
		s.judge(t)
		s.garbled(t, drawGarbling(r))
	}
}

// soundStorm returns a run of a sound algorithm, without anything that happens to it.
func soundStorm(r *rand.Rand) (s storm) {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	var sound []string
	for _, algo := range mutex.Table {
		if algo.Flaw == nil {
			sound = append(sound, algo.Name)
		}
	}
	s.args = "--algo " + one(sound...) + " " +
		one("", "--load saturated", "--load one", "--load sequential", "--think exponential:5ms", "--rate 20") +
		one("", " --latency 200us", " --latency 1ms", " --latency 20ms", " --latency exponential:3ms") +
		one("", " --hold 0", " --hold 1ms", " --hold exponential:2ms") +
		one("", "", "", " --trials 2", " --warmup 0")
	if r.IntN(3) == 0 {
		s.args += fmt.Sprintf(" --entries %d", 10+r.IntN(300))
	} else {
		s.args += fmt.Sprintf(" --duration %dms", 1000+r.IntN(2000))
	}
	return s
}

// drawStorm returns a storm that follows from a seed.
func drawStorm(seed uint64) storm {
	r := rand.New(rand.NewPCG(seed, 9))
	n := 2 + r.IntN(11)
	s := soundStorm(r)
	if r.IntN(4) == 0 {
		s = wrongStorms[r.IntN(len(wrongStorms))]
		n = 3 + r.IntN(4)
	}
	s.name = fmt.Sprint("seed-", seed)
	s.args += fmt.Sprintf(" -n %d --seed %d --patience %dms", n, seed, 100<<r.IntN(6))
	if r.IntN(4) == 0 { // with timeouts that processes which stand still, or wait for a processor, exceed
		s.args += [...]string{" --detector heartbeat:period=10ms,timeout=50ms",
			" --detector probe:period=20ms,timeout=200ms", " --detector swim:period=50ms,timeout=10ms",
			" --detector phi:period=10ms,threshold=3"}[r.IntN(4)]
	}
	if r.IntN(3) == 0 {
		s.hogs = 1 + r.IntN(6)
	}
	for range r.IntN(6) {
		s.gusts = append(s.gusts, drawGusts(r, n)...)
	}
	return s
}

// drawGusts returns what happens to one process, or to all nodes: most are stopped, for 50 ms to 6 s, some
// again and again; some are killed.
func drawGusts(r *rand.Rand, n int) []gust {
	g := gust{victim: strconv.Itoa(r.IntN(n)), signal: syscall.SIGSTOP,
		after: time.Duration(r.IntN(3000)) * time.Millisecond,
		lasts: time.Duration(50<<r.IntN(8)) * time.Millisecond}
	switch r.IntN(5) {
	case 0:
		g.victim = "broker"
	case 1:
		g.victim = "orchestrator"
	}
	switch r.IntN(12) {
	case 0:
		g.signal = syscall.SIGKILL
	case 1, 2:
		g.lasts = min(g.lasts, 200*time.Millisecond)
		all := []gust{g}
		for range 10 {
			g.after += g.lasts * 3 / 2
			all = append(all, g)
		}
		return all
	case 3: // all nodes at once
		var all []gust
		for id := range n {
			g.victim = strconv.Itoa(id)
			all = append(all, g)
		}
		return all
	}
	return []gust{g}
}

// wrongStorms are runs of algorithms that are sure to fail.
var wrongStorms = []storm{
	{args: "--algo naive --latency 1ms --hold 1ms --duration 1s", fails: true},
	{args: "--algo ricart --latency 1ms --hold 1ms --duration 1s", wrong: "hasty", fails: true},
	{args: "--algo ricart --latency 1ms --duration 1s", wrong: "deaf", fails: true},
	{args: "--algo suzuki --latency 1ms --hold 1ms --duration 1s", wrong: "hasty", fails: true},
	{args: "--algo lamport --latency 1ms --duration 1s", wrong: "deaf", fails: true},
}

// stopped is one gust, that of a process that is stopped for some time.
func stopped(victim string, after, lasts time.Duration) []gust {
	return []gust{{victim, syscall.SIGSTOP, after, lasts}}
}

// killed is one gust as well.
func killed(victim string, after time.Duration) gust { return gust{victim, syscall.SIGKILL, after, 0} }

// fixedStorms are made every time: what the algorithms do under them is known.
func fixedStorms() []storm {
	const second = time.Second
	return []storm{
		{name: "a node of a broken algorithm stands still", args: "--algo naive -n 4 --latency 1ms --hold 1ms " +
			"--duration 1s", fails: true, gusts: stopped("1", second, second/2)},
		{name: "the broker of a broken algorithm stands still", args: "--algo suzuki -n 4 --latency 1ms " +
			"--hold 1ms --duration 1s", wrong: "hasty", fails: true, gusts: stopped("broker", second, second/2)},
		{name: "a deadlock among hogs", args: "--algo lamport -n 4 --latency 1ms --patience 1s", wrong: "deaf",
			fails: true, hogs: 4},
		{name: "a node is killed", args: "--algo ricart -n 4 --duration 2s",
			gusts: append(stopped("1", second/2, second), killed("2", second))},
		{name: "the broker is killed", args: "--algo raymond -n 4 --duration 2s",
			gusts: append(stopped("1", second/2, second), killed("broker", second))},
		{name: "the orchestrator is killed", args: "--algo naimi-trehel -n 4 --duration 2s",
			gusts: append(stopped("1", second/2, second), killed("orchestrator", second))},
		{name: "the orchestrator of a broken algorithm is killed", args: "--algo naive -n 4 --duration 2s",
			fails: true, gusts: []gust{killed("orchestrator", 2*second)}},
		{name: "a lap longer than patience", args: "--algo token-ring -n 25 --load one --latency 100ms " +
			"--duration 6s --patience 500ms", long: true},
		{name: "laps of sequential requests", args: "--algo token-ring -n 30 --load sequential --latency 60ms " +
			"--entries 3 --patience 300ms"},
		{name: "the broker stands still", args: "--algo ricart -n 5 --latency 50ms --duration 2s --patience 500ms",
			gusts: stopped("broker", second, 3*second)},
		{name: "the broker stands still for longer", args: "--algo ricart -n 5 --latency 100ms --duration 4s",
			gusts: stopped("broker", 2*second, 6*second), long: true},
		{name: "a node stands still", args: "--algo ricart -n 5 --latency 100ms --duration 4s --patience 1s",
			gusts: stopped("2", 2*second, 5*second), long: true},
		{name: "a node of a ring stands still", args: "--algo token-ring -n 5 --latency 20ms --duration 3s " +
			"--patience 500ms", gusts: stopped("1", 2*second, second)},
		{name: "a livelock", args: "--algo ricart -n 3 --duration 2s --patience 2s", wrong: "echoing", fails: true},
		{name: "a deadlock beside heartbeats", args: "--algo lamport -n 4 --latency 1ms --patience 1s " +
			"--detector heartbeat:period=10ms,timeout=50ms", wrong: "deaf", fails: true,
			gusts: stopped("1", second/2, second/2)},
		{name: "a livelock beside heartbeats", args: "--algo ricart -n 3 --duration 1s --patience 1s " +
			"--detector probe:period=10ms,timeout=50ms", wrong: "echoing", fails: true},
		{name: "a node stands still beside heartbeats", args: "--algo ricart -n 5 --latency 5ms --duration 2s " +
			"--patience 500ms --detector heartbeat:period=10ms,timeout=50ms", gusts: stopped("2", second, second)},
		{name: "a livelock of entries", args: "--algo ricart -n 3 --entries 100 --patience 2s", wrong: "echoing",
			fails: true, long: true},
		{name: "a slow clock", args: "--algo ricart -n 4 --duration 1s", wrong: "slow-clock"},
		{name: "an account of its own", args: "--algo ricart -n 4 --duration 1s", wrong: "own-account"},
	}
}
