//go:build linux

package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/bench"
	"turnstile/internal/soak"
	"turnstile/nodes/history"
	"turnstile/results"
)

var (
	serviceKills = flag.Int("service-kills", 0, "how many kills TestServiceKills makes, of runs about all "+
		"services whose programs and servers are here; 0: few, about nats-kv")
	serviceSeed = flag.Uint64("service-kills-seed", 1, "what the moments of these kills are drawn from")
)

// serviceVictims are what is killed in turn.
var serviceVictims = []string{"client", "node", "server", "supervisor", "guard", "orchestrator"}

// killedServices are those whose runs are killed, with options.
var killedServices = [][]string{{"nats-kv"}, {"redis"}, {"etcd", "members=3"}, {"zookeeper"}, {"postgres"},
	{"redlock"}, {"nats-kv", "members=3"}}

// Whatever is killed of a run about a service, and when, no process and no folder of servers is left, and
// what was recorded can be judged. Nothing that was cut short is valid.
func TestServiceKills(t *testing.T) {
	build(t)
	services, count := killedServices[:1], soak.Pick(1, len(serviceVictims), 10*len(serviceVictims))
	table := &killTable{wanted: *serviceKills > 0}
	if table.wanted {
		services, count = killable(t), *serviceKills
	}
	lengths := []time.Duration{3 * time.Second}
	if table.wanted {
		lengths = nil
		for _, words := range services {
			lengths = append(lengths, (&killing{T: t, words: words}).length())
		}
	}
	t.Cleanup(table.print)
	for i := range count {
		victim := serviceVictims[i%len(serviceVictims)]
		at := i / len(serviceVictims) % len(services)
		t.Run(fmt.Sprintf("%d/%s/%s", i, strings.Join(services[at], ","), victim), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(*serviceSeed, uint64(i)))
			k := &killing{T: t, words: services[at], victim: victim}
			// Runs side by side take longer. If one was over, nothing was killed.
			for moment := lengths[at] * time.Duration(r.IntN(1500)) / 1000; k.hit == 0; moment = moment * 3 / 4 {
				k.run(moment)
			}
			k.wrong = k.judge()
			table.add(k)
			if k.wrong != "" {
				t.Errorf("%s %v after the start: %s\nbench says (status %d):\n%s\nverify says (status %d):\n%s",
					victim, k.after, k.wrong, k.status, &k.out, k.again, k.verified)
			}
		})
	}
}

// killable returns the services that can be run here, and says which cannot.
func killable(t *testing.T) (all [][]string) {
	for _, words := range killedServices {
		program := built(t, words[0])
		why := "its program is not built"
		if program != nil {
			out, err := exec.Command(program[0], append(append(program[1:], "describe"), words...)...).CombinedOutput()
			if why = ""; err != nil {
				why = strings.TrimSpace(string(out))
			}
		}
		if why != "" {
			fmt.Printf("NO RUN OF %s IS KILLED: %s\n", words[0], why)
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
	victim string   // empty: nothing is killed

	dir      string
	cmd      *exec.Cmd
	out      bytes.Buffer
	after    time.Duration // from the start of the run to the kill
	hit      int           // the process that was killed; 0: there was none yet
	phase    string        // of the run then: starting, entering or ending
	lasted   bool          // clients entered 300 ms after it
	status   int           // of bench; -1: killed
	left     []string      // of its processes
	folders  []string      // of its servers, that are left
	again    int           // the status of verify; -1: nothing was stored
	verified string
	wrong    string // with all that
}

// start starts the run. Its processes know its folder as that of temporary files.
func (k *killing) start() {
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
	args := []string{"bench", "--service", k.words[0], "-n", "3", "--duration", "2s", "--warmup", "0s",
		"--patience", "500ms", "--hold", "1ms", "--no-progress"}
	if len(k.words) > 1 {
		args = append(args, "--with", strings.Join(k.words[1:], ","))
	}
	k.cmd = orchestrator(k.T, k.dir, args...)
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		k.Fatal(err)
	}
	k.cmd.Env = append(k.cmd.Env, "TMPDIR="+k.dir, "PATH="+bin+":"+os.Getenv("PATH"))
	k.out.Reset()
	k.cmd.Stdout, k.cmd.Stderr = &k.out, &k.out
	if err := k.cmd.Start(); err != nil {
		k.Fatal(err)
	}
}

// length returns how long the run lasts if nothing is killed.
func (k *killing) length() time.Duration {
	began := time.Now()
	k.start()
	if err := k.cmd.Wait(); err != nil {
		k.Fatalf("%v is not valid though nothing is killed: %v\n%s", k.words, err, &k.out)
	}
	return time.Since(began)
}

// run makes the run, and kills the victim after a time, or as soon as there is one.
func (k *killing) run(moment time.Duration) {
	k.start()
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

// kill kills the victim, and returns its process; 0: there is none now.
func (k *killing) kill() int {
	own := k.cmd.Process.Pid
	if k.victim == "orchestrator" {
		return killPID(own)
	}
	for _, pid := range children(own) {
		line := commandLine(pid)
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case k.victim == "node" && filepath.Base(words[0]) == "node",
			k.victim == "supervisor" && strings.Contains(line, " up "+k.words[0]),
			k.victim == "guard" && strings.HasPrefix(line, "/bin/sh -c read word"):
			return killPID(pid)
		case k.victim == "client" && filepath.Base(words[0]) == "node",
			k.victim == "server" && strings.Contains(line, " up "+k.words[0]):
			for _, child := range children(pid) {
				if of := commandLine(child); of != "" && of != line { // or it is a copy that starts no program yet
					return killPID(child)
				}
			}
		}
	}
	return 0
}

// killPID kills a process, and returns it; 0: it had ended.
func killPID(pid int) int {
	if _, state := parentOf(pid); state == "" || state == "Z" || syscall.Kill(pid, syscall.SIGKILL) != nil {
		return 0
	}
	return pid
}

func commandLine(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.ReplaceAll(string(b), "\x00", " ")
}

// processes returns a process and those that it has started, those that they have started, and so on, each
// with when it began.
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
	record, err := bench.ReadRecord(folder)
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
