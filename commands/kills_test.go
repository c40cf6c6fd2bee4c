//go:build linux

package commands

import (
	"bytes"
	"cmp"
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

	"turnstile/bench/runs"
	"turnstile/hosts/agent"
	"turnstile/internal/soak"
	"turnstile/nodes/history"
	"turnstile/results"
)

// underPlans are the faults of runs in which a process is also killed from outside.
var underPlans = []string{"", "--kill random --at 200ms --for 200ms", "--kill holder --at 300ms",
	"--pause 0-1 --at 100ms --for 500ms", "--cut 0/1-2 --at 100ms --for 300ms",
	"--slow 0 --share 50% --at 100ms --for 500ms", "--kill 'broker 0' --at 200ms --for 200ms"}

// Whatever is killed, and when, no process is left behind and every result set can be read.
func TestKillsAtRandomMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 1))
	for i := range soak.Pick(1, 3, 100) {
		algorithm := []string{"ricart", "ring", "central", "suzuki"}[r.IntN(4)]
		plan := underPlans[r.IntN(len(underPlans))]
		victim := []string{"orchestrator", "broker", "node"}[i%3]
		moment := time.Duration(100+r.IntN(900)) * time.Millisecond
		killAt(t, fmt.Sprintf("%s %s, %s after %v", algorithm, plan, victim, moment),
			append([]string{"bench", "--algo", algorithm, "-n", "3", "--duration", "800ms", "--warmup",
				"100ms", "--patience", "300ms", "--no-progress"}, quoted(plan)...), victim, moment)
	}
}

// killAt makes a run one of whose processes is killed at a moment, and looks at what is left of it.
func killAt(t *testing.T, name string, args []string, victim string, moment time.Duration) {
	t.Helper()
	dir := t.TempDir()
	cmd := orchestrator(t, dir, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(moment)
	for _, pid := range append(children(cmd.Process.Pid), cmd.Process.Pid) {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		words := append(strings.Split(string(command), "\x00"), "")
		is := filepath.Base(words[0])
		if words[1] == "broker" || words[1] == "proxy" {
			is = words[1]
		}
		if is == victim {
			syscall.Kill(pid, syscall.SIGKILL)
			break
		}
	}
	over := time.AfterFunc(time.Minute, func() {
		t.Errorf("%s: the run does not end", name)
		cmd.Process.Kill()
	})
	cmd.Wait()
	over.Stop()
	for range 100 { // those that are killed with it take a moment
		if len(processesIn(dir)) == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if left := processesIn(dir); len(left) > 0 {
		t.Errorf("%s: the processes %v are left behind", name, left)
	}
	if _, err := os.Stat(filepath.Join(dir, "results", "latest")); err != nil {
		return // it was killed before it had a folder
	}
	for _, command := range []string{"show", "verify"} {
		out, err := orchestrator(t, dir, command).CombinedOutput()
		says := string(out)
		failed := err != nil && !strings.Contains(says, "INCONCLUSIVE") &&
			!strings.Contains(says, "holds no history")
		if failed || strings.Contains(says, "goroutine ") || strings.Contains(says, "VIOLATED") {
			t.Errorf("%s: %s says\n%s", name, command, says)
		}
	}
}

// hostVictims are what is killed in turn.
var hostVictims = []string{"agent", "orchestrator", "control", "broker", "node"}

// Whatever is killed of runs over hosts, and when, nothing is left on any host, and every result set can be
// read. With -run and the number of a kill, that one is drawn again.
func TestKillsOfHostsAtRandomMoments(t *testing.T) {
	build(t)
	plans := append([]string{"", "", ""}, underPlans[1:5]...)
	for i := range soak.Pick(1, 5, 100) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(22, uint64(i)))
			algorithm := []string{"ricart", "ring", "central", "suzuki"}[r.IntN(4)]
			plan := plans[r.IntN(len(plans))]
			moment := time.Duration(100+r.IntN(1400)) * time.Millisecond
			f := newField(t)
			f.victim, f.at = hostVictims[i%len(hostVictims)], i/len(hostVictims)%2
			f.name = fmt.Sprintf("%s %s, %s (host %d) after %v", algorithm, plan, f.victim, f.at, moment)
			f.run = f.start("me", append([]string{"bench", "--control", f.url, "--hosts", "2", "-n", "4", "--algo",
				algorithm, "--duration", "800ms", "--warmup", "100ms", "--patience", "300ms", "--no-progress"},
				quoted(plan)...)...)
			time.Sleep(moment)
			f.kill()
			f.end()
			f.readable()
			f.cleared()
		})
	}
}

// A field is a control server and two hosts, each in a folder of its own, and a run over these.
type field struct {
	*testing.T
	dir    string // of the folders
	url    string // of the control plane
	server *exec.Cmd
	hosts  []*exec.Cmd
	held   []int // how many sockets each had at first

	run    *exec.Cmd
	name   string // describes the run and the kill
	victim string
	at     int  // on which host
	hit    bool // it was there
}

// newField starts a control server and its hosts.
func newField(t *testing.T) *field {
	t.Helper()
	f := &field{T: t, dir: t.TempDir()}
	f.server = f.start("control", "broker")
	f.url = f.line("control")
	for i := range 2 {
		name := fmt.Sprintf("host-%d", i)
		f.hosts = append(f.hosts, f.start(name, "hosts", "join", f.url, "--name", name, "--folder", "files",
			"--orphan-after", "1s"))
		f.line(name)
		f.held = append(f.held, socketsOf(f.hosts[i].Process.Pid))
	}
	return f
}

// start starts a process of the field in its folder, and keeps what it prints beside that.
func (f *field) start(folder string, args ...string) *exec.Cmd {
	f.Helper()
	dir := filepath.Join(f.dir, folder)
	if err := os.Mkdir(dir, 0o755); err != nil {
		f.Fatal(err)
	}
	cmd := orchestrator(f.T, dir, args...)
	out, err := os.Create(dir + ".out")
	if err != nil {
		f.Fatal(err)
	}
	defer out.Close()
	log, err := os.Create(dir + ".log")
	if err != nil {
		f.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = out, log
	if err := cmd.Start(); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

// line waits for the first line that a process prints.
func (f *field) line(folder string) (first string) {
	f.Helper()
	if !within(limit, func() (whole bool) {
		first, _, whole = strings.Cut(f.printed(folder+".out"), "\n")
		return whole
	}) {
		f.Fatalf("%s prints no line: %s", folder, f.printed(folder+".log"))
	}
	return first
}

func (f *field) printed(file string) string {
	b, _ := os.ReadFile(filepath.Join(f.dir, file))
	return string(b)
}

// within reports whether something is so within a time.
func within(most time.Duration, so func() bool) bool {
	for late := time.Now().Add(most); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			return false
		}
	}
	return true
}

// socketsOf returns how many sockets a process has: its connections, and the ports that it keeps.
func socketsOf(pid int) (count int) {
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, path := range paths {
		if to, err := os.Readlink(path); err == nil && strings.HasPrefix(to, "socket:") {
			count++
		}
	}
	return count
}

// kill kills the victim, if it is there.
func (f *field) kill() {
	of := map[string]*exec.Cmd{"agent": f.hosts[f.at], "orchestrator": f.run, "control": f.server}[f.victim]
	if of != nil {
		f.hit = of.Process.Kill() == nil
		return
	}
	for _, pid := range children(f.hosts[f.at].Process.Pid) {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if is := strings.Contains(string(command), "\x00broker\x00"); is == (f.victim == "broker") {
			f.hit = syscall.Kill(pid, syscall.SIGKILL) == nil
			return
		}
	}
}

// end waits until the run has ended, and everything that it has started.
func (f *field) end() {
	f.Helper()
	over := time.AfterFunc(time.Minute, func() {
		f.Errorf("%s: the run does not end", f.name)
		f.run.Process.Signal(syscall.SIGQUIT)
	})
	f.run.Wait()
	over.Stop()
	if says := f.printed("me.out") + f.printed("me.log"); crashes.MatchString(says) {
		f.Errorf("%s: the run says\n%s", f.name, says)
	}
	var left []int
	if !within(5*time.Second, func() bool {
		left = processesIn(filepath.Join(f.dir, "me"))
		for i, host := range f.hosts {
			left = append(left, processesIn(filepath.Join(f.dir, fmt.Sprintf("host-%d", i)))...)
			if killed := f.victim == "agent" && f.at == i; !killed { // a living agent goes on serving
				left = slices.DeleteFunc(left, func(pid int) bool { return pid == host.Process.Pid })
			}
		}
		return len(left) == 0
	}) {
		f.Errorf("%s: the processes %v are left behind", f.name, left)
	}
}

// readable wants the result set of the run to be listed, and to be judged, if it has one.
func (f *field) readable() {
	f.Helper()
	dir := filepath.Join(f.dir, "me")
	latest, err := os.Readlink(filepath.Join(dir, "results", results.LatestLink))
	if err != nil {
		return // it was killed before it had a folder
	}
	for _, command := range []string{"show", "verify", "runs"} {
		out, err := orchestrator(f.T, dir, command).CombinedOutput()
		says := string(out)
		failed := err != nil && !strings.Contains(says, "INCONCLUSIVE") &&
			!strings.Contains(says, "holds no history") && // or it had not been judged when it was killed:
			!(command == "show" && strings.Contains(says, "to judge what was recorded: "))
		unlisted := command == "runs" && (err != nil || !strings.Contains(says, filepath.Base(latest)))
		if failed || unlisted || strings.Contains(says, "goroutine ") || strings.Contains(says, "VIOLATED") {
			f.Errorf("%s: %s says (%v)\n%s\nthe run said\n%s%s", f.name, command, err, says,
				f.printed("me.out"), f.printed("me.log"))
		}
	}
}

var servedRun = regexp.MustCompile(`serves the run (\w+) of`)

// cleared wants the hosts to keep no port and no memory of the run, and its files only where these could not
// be fetched.
func (f *field) cleared() {
	f.Helper()
	for i, host := range f.hosts {
		name := fmt.Sprintf("host-%d", i)
		if killed := f.victim == "agent" && f.at == i; !killed {
			if !within(5*time.Second, func() bool { return socketsOf(host.Process.Pid) <= f.held[i] }) {
				f.Errorf("%s: %s keeps %d sockets, not %d", f.name, name, socketsOf(host.Process.Pid), f.held[i])
			}
		}
		log := f.printed(name + ".log")
		if crashes.MatchString(log) {
			f.Errorf("%s: %s says\n%s", f.name, name, log)
		}
		for _, m := range servedRun.FindAllStringSubmatch(log, -1) {
			if !within(5*time.Second, func() bool { // an agent needs a moment to notice
				_, err := os.Stat(filepath.Join(agent.SharedMemory, m[1]))
				return err != nil
			}) {
				f.Errorf("%s: left behind: the memory of the run", f.name)
			}
		}
		files, _ := filepath.Glob(filepath.Join(f.dir, name, "files", "*-trial-*"))
		for _, path := range files {
			_, err := os.Stat(filepath.Join(path, "left.txt"))
			if fetched := f.victim == "broker" || f.victim == "node"; err != nil || fetched {
				f.Errorf("%s: %s keeps %s: %v", f.name, name, path, err)
			}
		}
	}
}

var (
	serviceKills = flag.Int("service-kills", 0, "how many kills TestServiceKills makes, of runs about all "+
		"services whose programs and servers are here; 0: few, about nats-kv")
	serviceSeed = flag.Uint64("service-kills-seed", 1, "what the moments of these kills are drawn from")
)

// serviceVictims are the processes that are hit in turn, and the signals.
var serviceVictims = []struct {
	who    string
	signal syscall.Signal
	says   string // what a run says that was under way and is inconclusive
}{
	{"client", syscall.SIGKILL, ""},
	{"node", syscall.SIGKILL, ""},
	{"server", syscall.SIGKILL, " ended on its own: signal: killed"},
	{"supervisor", syscall.SIGKILL, ""},
	{"guard", syscall.SIGKILL, ""},
	{"orchestrator", syscall.SIGKILL, ""},
	{"server", syscall.SIGTERM, " ended on its own: "},
	{"server", syscall.SIGSTOP, " stands still: a signal that is not the run's has stopped it (SIGSTOP)"},
	{"client", syscall.SIGSTOP, "it stands still: a signal that is not the run's has stopped it (SIGSTOP)"},
}

// killedServices are those whose runs are killed, with options.
var killedServices = [][]string{{"nats-kv"}, {"redis"}, {"etcd", "members=3"}, {"zookeeper"}, {"postgres"},
	{"redlock"}, {"nats-kv", "members=3"}}

// Whatever is killed of a run about a service, and when, no process and no folder of servers is left, and
// what was recorded can be judged. Nothing that was cut short is valid.
func TestServiceKills(t *testing.T) {
	build(t)
	services, count := killedServices[:1], soak.Pick(1, len(serviceVictims), 10*len(serviceVictims))
	lengths := []time.Duration{3 * time.Second}
	if *serviceKills > 0 {
		services, count = startable(t, killedServices), *serviceKills
		lengths = nil
		for _, words := range services {
			lengths = append(lengths, (&killing{T: t, words: words}).length())
		}
	}
	for i := range count {
		victim := serviceVictims[i%len(serviceVictims)]
		at := i / len(serviceVictims) % len(services)
		t.Run(fmt.Sprintf("%d/%s/%s", i, strings.Join(services[at], ","), victim.who), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(*serviceSeed, uint64(i)))
			k := &killing{T: t, words: services[at], victim: victim.who, signal: victim.signal}
			// Runs side by side take longer. If one was over, nothing was killed.
			for moment := lengths[at] * time.Duration(r.IntN(1500)) / 1000; k.hit == 0; moment = moment * 3 / 4 {
				k.run(moment)
			}
			wrong := k.judge()
			if k.phase == "entering" && k.status == 2 && !strings.Contains(k.out.String(), victim.says) {
				wrong = fmt.Sprintf("it does not say %q", victim.says)
			}
			t.Logf("%s %v %v after the start, %s: status %d, of verify %d", victim.who, victim.signal, k.after,
				k.phase, k.status, k.again)
			if wrong != "" {
				t.Errorf("%s %v after the start: %s\nbench says (status %d):\n%s\nverify says (status %d):\n%s",
					victim.who, k.after, wrong, k.status, &k.out, k.again, k.verified)
			}
		})
	}
}

// startable returns the services that can be run here, and says which cannot.
func startable(t *testing.T, services [][]string) (all [][]string) {
	for _, words := range services {
		program := built(t, words[0])
		why := "its program is not built"
		if program != nil {
			out, err := exec.Command(program[0], append(append(program[1:], "describe"), words...)...).CombinedOutput()
			if why = ""; err != nil {
				why = strings.TrimSpace(string(out))
			}
		}
		if why != "" {
			fmt.Printf("NO RUN OF %s IS DISTURBED: %s\n", words[0], why)
			continue
		}
		all = append(all, words)
	}
	return all
}

// A killing is a run about a service one of whose processes is killed, and then what came of it.
type killing struct {
	*testing.T
	words  []string // the service and its options
	victim string   // empty: nothing is hit
	signal syscall.Signal

	dir      string
	cmd      *exec.Cmd
	out      bytes.Buffer
	after    time.Duration // from the start of the run to the kill
	hit      int           // the process that was hit; 0: there was none yet
	phase    string        // of the run then: starting, entering or ending
	lasted   bool          // clients entered 300 ms after it
	status   int           // of bench; -1: killed
	left     []string      // of its processes
	folders  []string      // of its servers, that are left
	again    int           // the status of verify; -1: nothing was stored
	verified string
}

// start starts a run of a duration. Its processes put temporary files into a folder; empty: the folder of the
// run.
func (k *killing) start(duration, temporary string) {
	k.Helper()
	dir, err := os.MkdirTemp("", "turnstile-kills-")
	if err != nil {
		k.Fatal(err)
	}
	k.dir = dir
	k.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(k.dir, 0o711); err != nil { // servers may run as another user
		k.Fatal(err)
	}
	args := []string{"bench", "--service", k.words[0], "-n", "3", "--duration", duration, "--warmup", "0s",
		"--patience", "500ms", "--hold", "1ms", "--no-progress"}
	if len(k.words) > 1 {
		args = append(args, "--with", strings.Join(k.words[1:], ","))
	}
	k.cmd = orchestrator(k.T, k.dir, args...)
	bin, err := filepath.Abs("../bin")
	if err != nil {
		k.Fatal(err)
	}
	k.cmd.Env = append(k.cmd.Env, "TMPDIR="+cmp.Or(temporary, k.dir), "PATH="+bin+":"+os.Getenv("PATH"))
	k.out.Reset()
	k.cmd.Stdout, k.cmd.Stderr = &k.out, &k.out
	if err := k.cmd.Start(); err != nil {
		k.Fatal(err)
	}
}

// length returns how long the run lasts if nothing is killed.
func (k *killing) length() time.Duration {
	began := time.Now()
	k.start("2s", "")
	if err := k.cmd.Wait(); err != nil {
		k.Fatalf("%v is not valid though nothing is killed: %v\n%s", k.words, err, &k.out)
	}
	return time.Since(began)
}

// run makes the run, and kills the victim after a time, or as soon as there is one.
func (k *killing) run(moment time.Duration) {
	k.start("2s", "")
	began, ended := time.Now(), make(chan struct{})
	go func() {
		k.cmd.Wait()
		close(ended)
	}()
	over := func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	}
	time.Sleep(moment)
	for k.hit = 0; k.hit == 0 && !over(); time.Sleep(5 * time.Millisecond) {
		k.hit = k.kill()
	}
	k.after, k.phase = time.Since(began), k.now()
	seen := k.processes(k.cmd.Process.Pid)
	time.Sleep(300 * time.Millisecond)
	before := k.entries()
	time.Sleep(200 * time.Millisecond)
	k.lasted = !over() && k.entries() > before
	select {
	case <-ended:
	case <-time.After(time.Minute):
		k.Errorf("%s: the run does not end", k.victim)
		k.cmd.Process.Kill()
		<-ended
	}
	k.status = k.cmd.ProcessState.ExitCode()
	within(10*time.Second, func() bool {
		k.left, k.folders = k.alive(seen), k.serverFolders()
		return k.left == nil && k.folders == nil
	})
}

// kill signals the victim, and returns its process; 0: there is none now. It sends SIGSTOP only after clients
// have entered: a run waits for a process that is stopped while it starts.
func (k *killing) kill() int {
	switch {
	case k.signal == syscall.SIGSTOP && k.entries() == 0:
		return 0
	case k.signal == syscall.SIGTERM && k.words[0] == "postgres":
		k.signal = syscall.SIGINT // after SIGTERM it serves the connections that it has
	}
	own := k.cmd.Process.Pid
	if k.victim == "orchestrator" {
		return k.send(own)
	}
	for _, pid := range children(own) {
		line := commandLine(pid)
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case k.victim == "node" && filepath.Base(words[0]) == "node",
			k.victim == "supervisor" && strings.Contains(line, " up "+k.words[0]),
			k.victim == "guard" && strings.HasPrefix(line, "/bin/sh -c read word"):
			return k.send(pid)
		case k.victim == "client" && filepath.Base(words[0]) == "node",
			k.victim == "server" && strings.Contains(line, " up "+k.words[0]):
			for _, child := range children(pid) {
				if of := commandLine(child); of != "" && of != line { // an equal line: a fork before its exec
					return k.send(child)
				}
			}
		}
	}
	return 0
}

// send signals a process, and returns it; 0: it had ended.
func (k *killing) send(pid int) int {
	if _, state := parentOf(pid); state == "" || state == "Z" || syscall.Kill(pid, k.signal) != nil {
		return 0
	}
	return pid
}

func commandLine(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.ReplaceAll(string(b), "\x00", " ")
}

// processes returns a process and all its descendants, each with the time at which it began, in ticks of the
// kernel.
func (k *killing) processes(pid int) map[int]uint64 {
	all := map[int]uint64{}
	for next := []int{pid}; len(next) > 0; {
		all[next[0]] = startOf(next[0])
		next = append(next[1:], children(next[0])...)
	}
	return all
}

// alive returns what is left of the processes that were seen, and of all others that have the folder of the
// run in their environment, in their command line or as the place where they work.
func (k *killing) alive(seen map[int]uint64) (left []string) {
	paths, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(path))
		if _, state := parentOf(pid); err != nil || state == "" || state == "Z" {
			continue
		}
		began, was := seen[pid]
		env, _ := os.ReadFile(path + "/environ")
		at, _ := os.Readlink(path + "/cwd")
		line := commandLine(pid)
		if was && began == startOf(pid) || strings.Contains(string(env), "TMPDIR="+k.dir+"\x00") ||
			strings.Contains(line+" "+at, k.dir) {
			left = append(left, fmt.Sprintf("%d %s", pid, strings.TrimSpace(line)))
		}
	}
	return left
}

func (k *killing) serverFolders() []string {
	folders, _ := filepath.Glob(filepath.Join(k.dir, "turnstile-servers-*"))
	return folders
}

// entries returns how many entries the nodes have recorded.
func (k *killing) entries() (sum uint64) {
	logs, _ := filepath.Glob(filepath.Join(k.dir, "results", results.LatestLink, "trial-1", "node-*.log"))
	for _, path := range logs {
		if w, err := history.Watch(path); err == nil {
			sum += w.Instances[0].Entries.Load()
			w.Close()
		}
	}
	return sum
}

// now returns the phase in which the run is.
func (k *killing) now() string {
	ended, _ := filepath.Glob(filepath.Join(k.dir, "results", results.LatestLink, "history-*"))
	switch {
	case ended != nil:
		return "ending"
	case k.entries() > 0:
		return "entering"
	}
	return "starting"
}

// judged reports whether the record of the run has its only trial: that was over before the kill.
func (k *killing) judged() bool {
	folder, err := results.Open(filepath.Join(k.dir, "results"), results.LatestLink)
	if err != nil {
		return false
	}
	record, err := runs.ReadRecord(folder)
	return err == nil && len(record.Trials) == 1
}

// judge has verify judge what is stored, and says what is wrong with what came of the kill.
func (k *killing) judge() string {
	const valid, violated = 0, 1
	k.again = -1
	if _, err := os.Stat(filepath.Join(k.dir, "results", results.LatestLink)); err == nil {
		verify := orchestrator(k.T, k.dir, "verify")
		out, _ := verify.CombinedOutput()
		k.again, k.verified = verify.ProcessState.ExitCode(), string(out)
	}
	says := k.out.String() + k.verified
	switch {
	case k.left != nil:
		return fmt.Sprintf("processes are left: %q", k.left)
	case k.folders != nil:
		return fmt.Sprintf("folders of servers are left: %q", k.folders)
	case crashes.MatchString(says):
		return "a panic"
	case k.status == violated || k.again == violated:
		return "FALSE VIOLATED"
	case k.status > 2 || k.again > 2 || k.status < 0 && k.victim != "orchestrator":
		return "a status that says nothing of this"
	case k.victim == "orchestrator" && k.again == valid && !k.judged():
		return "FALSE VALID: the run was killed"
	case k.lasted && k.victim != "guard" && (k.status == valid || k.again == valid):
		return "FALSE VALID: the run went on after the kill"
	case k.again >= 0 && k.again != 2 && k.status >= 0 && k.again != k.status:
		return "verify says something else"
	}
	return ""
}
