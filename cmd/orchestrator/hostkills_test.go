//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/bench/agent"
	"turnstile/internal/soak"
	"turnstile/results"
)

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
				strings.Fields(plan)...)...)
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
	name   string // of what is done to it
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
		f.hosts = append(f.hosts, f.start(name, "host", "--join", f.url, "--name", name, "--folder", "files",
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
			if killed := f.victim == "agent" && f.at == i; !killed { // it serves the next run
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
