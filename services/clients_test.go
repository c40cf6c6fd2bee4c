package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// programs builds the programs of runs, and returns their folder. It is removed when the tests are over.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "turnstile-clients")
	if err != nil {
		return "", err
	}
	for folder, what := range map[string][]string{"..": {"./cmd/orchestrator", "./cmd/node"},
		".": {".", "./testdata/own"}} {
		build := exec.Command("go", append([]string{"build", "-buildvcs=false", "-o", dir + "/"}, what...)...)
		build.Dir = folder
		if says, err := build.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("building %q: %w: %s", what, err, says)
		}
	}
	return dir, os.Chmod(dir, 0o711) // servers start from it, as another user
})

// A twin is a change of the text of an example that makes another client of it.
type twin struct{ was, is string }

var (
	// late renews too late.
	late = &twin{"left.wait(self.ttl / 3000)", "left.wait(self.ttl / 700)"}
	// silent, deaf and mute do not say that they lost the lock.
	silent = &twin{"return testbed.lost()", "return"}
	deaf   = &twin{"testbed.lost()", "pass"}
	mute   = &twin{"Testbed.lost();", ""}
	// told says that it lost the lock when half of the time to live is over.
	told = &twin{"!== null) return", "!== null) return void setTimeout(testbed.lost, options.ttl_ms / 2)"}
	// hoards releases nothing.
	hoards = &twin{"if not self.free(self.keys[:1], [self.mine])", "if False"}
	// dies is killed while it is inside.
	dies = &twin{`lock(hashtext(%s))", self.name)`, `lock(hashtext(%s))", self.name)
        import os, threading
        threading.Timer(0.3, os.kill, (os.getpid(), 9)).start()`}
	// keeps says that it left, and keeps its lock.
	keeps = &twin{"            if inside is not None:\n                lock.release()", "            pass"}
	// stays leaves its place in the queue when it gives up.
	stays = &twin{"Lock(self.path, testbed.me)",
		"Lock(self.path, testbed.me); self.lock._best_effort_cleanup = int"}
)

// What runs say.
const (
	calm   = "no two were inside together"
	left   = "the client left as soon as it was told"
	untold = "no client was told that it had lost the lock"
)

// givesUp has clients give up again and again.
const givesUp = "--hold 200ms --think 50ms --cancel-after 300ms --duration 2s"

// clientRuns are runs of the clients of examples/clients, of broken twins, and without a file of a service's
// own client.
var clientRuns = []struct {
	command, service, file string
	of                     *twin
	args                   string
	status                 int
	says                   string
}{
	{"bench", "redis", "redis_lock.py", nil, "--hold 1ms --duration 500ms", 0, calm},
	{"bench", "redis", "redis_lock.py", nil, "--hold 500ms --duration 1s --with px=200ms", 1, untold},
	{"bench", "redis", "redis_lock.py", nil, "--hold 100ms --duration 2s --delete 'lock of 1' --at 500ms", 2,
		"it hit no node"},
	{"bench", "redis", "redis_lock.js", nil, "--hold 1ms --duration 500ms", 0, calm},
	{"bench", "redis", "redis_lock.js", nil, "--hold 500ms --duration 1s --with px=200ms", 1, untold},
	{"bench", "redis", "redis_lock.js", told, "--hold 500ms --duration 1s --with px=200ms", 0, left},
	{"bench", "redis", "redis_lock.js", nil, leaves, 0, "it hit node"},
	{"bench", "redis", "redis_lock.js", nil, "--hold 1s --duration 2s --with px=200ms --leave holder " +
		"--at 500ms --for 1s", 1, untold}, // its lock has ended before it leaves
	{"bench", "redis", "mylock.py", nil, "--hold 700ms --duration 1s --with px=600ms", 0, calm},
	{"bench", "redis", "mylock.py", late, "--hold 2s --duration 2s --with px=600ms", 1, "were inside together"},
	{"bench", "redis", "mylock.py", nil, "--hold 2s --duration 2s --with px=600ms --cut holder/servers " +
		"--at 0s --for 2s", 0, left},
	{"bench", "redis", "mylock.py", silent, "--hold 2s --duration 2s --with px=600ms --cut holder/servers " +
		"--at 0s --for 2s", 1, untold},
	{"bench", "redis", "mylock.py", hoards, "--hold 1ms --duration 1s --with px=1m", 1, "nothing moves"},
	{"bench", "zookeeper", "kazoo_lock.py", nil, "--hold 1ms --duration 500ms", 0, calm},
	{"bench", "zookeeper", "kazoo_lock.py", nil, "--hold 5ms --duration 5s --with session=1s --pause holder " +
		"--at 500ms --for 3s", 1, "outside its model: the algorithm assumes that no node pauses for long"},
	{"bench", "zookeeper", "kazoo_lock.py", nil, "--hold 3s --duration 3s --cut holder/servers --at 0s --for 2s",
		0, left},
	{"bench", "zookeeper", "kazoo_lock.py", deaf, "--hold 5s --duration 5s --cut holder/servers --at 0s " +
		"--for 5s", 1, untold},
	{"bench", "zookeeper", "kazoo_lock.py", nil, givesUp, 0, "given up"},
	{"bench", "zookeeper", "CuratorLock.java", nil, "--hold 1ms --duration 2s", 0, calm},
	{"bench", "zookeeper", "CuratorLock.java", nil, "--hold 3s --duration 3s --cut holder/servers " +
		"--at 0s --for 2s", 0, left},
	{"bench", "zookeeper", "CuratorLock.java", mute, "--hold 5s --duration 5s --cut holder/servers --at 0s " +
		"--for 5s", 1, untold},
	{"bench", "zookeeper", "CuratorLock.java", nil, givesUp, 0, "given up"},
	{"bench", "zookeeper", "CuratorLock.java", nil, leaves, 0, "it hit node"},
	{"bench", "zookeeper", "kazoo_lock.py", stays, givesUp, 1, "nothing moves"},
	{"bench", "zookeeper", "kazoo_lock.py", nil, leaves, 0, "it hit node"},
	{"bench", "redis", "mylock.py", nil, leaves, 0, "it hit node"},
	{"bench", "redis", "mylock.py", nil, leaves + " --linger 600ms", 1, "were inside together"},
	{"bench", "redis", "mylock.py", nil, givesUp, 0, "given up"},
	{"bench", "redis", "redis_lock.py", nil, givesUp, 0, "given up"},
	{"bench", "redis", "redis_lock.py", nil, leavesQueue, 0, "it hit node"},
	{"bench", "postgres", "psycopg_lock.py", nil, leavesQueue, 0, "it hit node"},
	{"bench", "redis", "mylock.py", keeps, leaves + " --with px=1m", 1, "no progress"},
	{"elect", "zookeeper", "kazoo_election.py", nil, "--duration 1s", 0, "all agreed on node"},
	{"elect", "zookeeper", "kazoo_election.py", nil, "--leave leader --at 1s --for 1s --duration 5s", 0,
		"it hit node"},
	{"elect", "zookeeper", "kazoo_election.py", nil, "--with members=3,session=3s --pause 'server 0' --at 1s " +
		"--for 2s --duration 16s", 0, "all agreed on node"},
	{"elect", "zookeeper", "kazoo_election.py", nil, "--delete 'lock of leader' --at 1s --duration 4s", 2,
		"two nodes or more led at once"},
	{"elect", "zookeeper", "kazoo_election.py", nil, "--duration 6s --with session=1s --pause leader " +
		"--at 500ms --for 2s", 0, "more while one of the two was paused"},
	{"bench", "etcd", "etcd3_lock.py", nil, "--hold 1ms --duration 500ms", 0, calm},
	{"bench", "etcd", "etcd3_lock.py", nil, "--hold 4s --duration 4s --with ttl=2s", 1, untold},
	{"bench", "postgres", "psycopg_lock.py", nil, "--hold 1ms --duration 500ms", 0, calm},
	{"bench", "postgres", "psycopg_lock.py", nil, "--hold 2s --duration 2s --kill 'server 0' --at 500ms " +
		"--for 100ms", 1, "outside its model: the algorithm assumes that all servers are up"},
	{"bench", "postgres", "psycopg_lock.py", dies, "--hold 1s --duration 2s", 2, "ended on its own"},
	{"bench", "nats-kv", "own lock", nil, "--hold 5ms --duration 500ms", 0, calm},
	{"bench", "nats-kv", "own lock", nil, "--hold 300ms --duration 3s --delete 'lock of holder' --at 500ms", 1,
		"outside its model: the algorithm assumes that a node that restarts remembers what it saved"},
	{"elect", "etcd-election", "", nil, "--leave leader --at 1s --linger 600ms --for 2s --duration 5s", 0,
		"two nodes or more led at once"},
	{"bench", "redis", "", nil, "--hold 300ms --leave holder --at 800ms --linger 5s --duration 1s", 1,
		"were inside together"}, // it leaves when the run is over
	{"elect", "etcd-election", "own elector", nil, "--duration 6s --pause leader --at 500ms --for 3s", 0,
		"all agreed on node"},
	{"bench", "postgres-table", "", nil, "--with ttl=5s,time=client --hold 1ms --duration 500ms", 0, calm},
	{"bench", "postgres-table", "", nil, "--with ttl=5s,time=client --hold 300ms --duration 2s --clock 0-1 " +
		"--by 6s --at 500ms", 1, "outside its model: the algorithm assumes that messages and handlers take"},
	{"bench", "postgres-table", "", nil, "--with ttl=5s --hold 300ms --duration 2s --clock 1 --by 6s --at 500ms",
		2, "it hit nothing: node 1 has set no timer, and read no clock"},
	{"bench", "postgres-table", "", nil, "--with ttl=1s --hold 200ms --duration 3s --pause holder --at 500ms " +
		"--for 2s", 1, "outside its model: the algorithm assumes that no node pauses for long"},
	{"bench", "postgres-table", "", nil, "--with ttl=500ms,release=any --hold 300ms --duration 3s " +
		"--pause holder --at 500ms --for 600ms", 1, " us\n    nodes"}, // within its model
	{"bench", "postgres-table", "", nil, "--with ttl=1s --hold 5ms --duration 2s --delete 'lock of holder' " +
		"--at 500ms", 2, "blocked: the algorithm assumes that a node that restarts remembers what it saved"},
}

// leaves has the holder leave in order, and come back; leavesQueue has a client leave that waits.
const (
	leaves      = "--hold 300ms --leave holder --at 300ms --for 1s --duration 3s"
	leavesQueue = "--hold 1s --leave waiter --at 300ms --for 1s --duration 3s"
)

// missing matches what a run says if a package is missing: of a client, or of the servers.
var missing = regexp.MustCompile("apt-get install|Debian package")

// Each client of examples/clients is valid in a calm run, and in another run it shows what is known of its
// library. Broken twins of the clients are found.
func TestClients(t *testing.T) {
	dir, err := programs()
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err != nil {
		t.Fatal(err)
	}
	t.Run("workflow", func(t *testing.T) { checkWorkflow(t, dir) })
	for _, x := range clientRuns {
		name := cmp.Or(x.file, x.service) + " " + x.args
		if x.of != nil {
			name = "twin of " + x.file + ", " + x.of.is
		}
		t.Run(name, func(t *testing.T) {
			command, ours := "", ""
			if x.file != "" {
				command, ours = clientOf(t, dir, x.file, x.of), "--client \"$CLIENT\" --pass NODE_PATH "
			}
			words := fmt.Sprintf("%s %s --service %s %s-n 3 --no-progress %s",
				filepath.Join(dir, "orchestrator"), x.command, x.service, ours, x.args)
			if x.command == "bench" {
				words += " --warmup 0s"
			}
			if x.status != 2 { // a busy machine makes runs inconclusive
				words += " --again 2"
			}
			run := exec.Command("sh", "-c", words)
			run.Dir = t.TempDir()
			run.Env = append(os.Environ(), "CLIENT="+command, "NODE_PATH=/usr/share/nodejs")
			says, _ := run.CombinedOutput()
			status := run.ProcessState.ExitCode()
			switch {
			case missing.Match(says):
				t.Skipf("%s IS NOT TESTED: %s", x.file, says)
			case status != x.status || !strings.Contains(string(says), x.says):
				t.Errorf("the status is %d, and should be %d with %q:\n%s", status, x.status, x.says, says)
			}
		})
	}
}

// checkWorkflow wants the runs of the workflow examples/ci/lock.yml to pass mylock.py, and one of them to
// fail a twin that stays inside.
func checkWorkflow(t *testing.T, dir string) {
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Name, Run string } }
	}
	text, err := os.ReadFile("../examples/ci/lock.yml")
	if err == nil {
		err = yaml.Unmarshal(text, &workflow)
	}
	if err != nil {
		t.Fatal(err)
	}
	call := func(script string, of *twin) (says string, ok bool) {
		run := exec.Command("bash", "-e", "-c", script)
		run.Dir = t.TempDir()
		run.Env = append(os.Environ(), "LOCK="+clientOf(t, dir, "mylock.py", of), "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := run.CombinedOutput()
		return string(out), err == nil
	}
	runs := 0
	for _, step := range workflow.Jobs["runs"].Steps {
		if !strings.HasPrefix(step.Run, "orchestrator ") {
			continue
		}
		runs++
		says, ok := call(step.Run, nil)
		if missing.MatchString(says) {
			t.Skipf("THE WORKFLOW IS NOT TESTED: %s", says)
		}
		if _, found := call(step.Run, silent); !ok || found == (runs == 2) {
			t.Errorf("%s: it is to pass; a twin that stays inside is to fail where it is cut off:\n%s",
				step.Name, says)
		}
	}
	if runs != 2 {
		t.Errorf("the workflow has %d runs, and should have 2", runs)
	}
}

// clientOf returns the command of an example, or of a twin of it, which is written to a folder of its own.
// The program own is in the folder of programs.
func clientOf(t *testing.T, programs, file string, of *twin) string {
	t.Helper()
	if strings.HasPrefix(file, "own ") {
		return filepath.Join(programs, file)
	}
	dir, err := filepath.Abs("../examples/clients")
	if err != nil {
		t.Fatal(err)
	}
	ext := filepath.Ext(file)
	if of != nil {
		dir = twinOf(t, dir, of, file, testbeds[ext])
	}
	path := "'" + filepath.Join(dir, file) + "'"
	switch ext {
	case ".java":
		to := t.TempDir()
		install(t, "javac", file)
		compile := exec.Command("sh", "-c",
			"javac -proc:none -cp '"+jars+"' -d "+to+" "+filepath.Join(dir, "*.java"))
		if says, err := compile.CombinedOutput(); err != nil {
			if bytes.Contains(says, []byte("does not exist")) {
				t.Skipf("%s IS NOT TESTED: a package is missing:\n%s", file, says)
			}
			t.Fatalf("%v:\n%s", err, says)
		}
		return "java -cp '" + to + ":" + jars + "' " + strings.TrimSuffix(file, ext)
	case ".js":
		install(t, "node", file)
		return "node " + path
	}
	install(t, "/usr/bin/python3", file)
	return "/usr/bin/python3 " + path
}

// testbeds are the files that clients share.
var testbeds = map[string]string{".py": "testbed.py", ".js": "testbed.js", ".java": "Testbed.java"}

// jars is the class path of Debian's packages.
const jars = "/usr/share/java/*"

// install skips the test of a client without the program that it needs.
func install(t *testing.T, program, file string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s IS NOT TESTED: there is no %s", file, program)
	}
}

// twinOf returns a folder with a twin of some files.
func twinOf(t *testing.T, dir string, of *twin, files ...string) string {
	t.Helper()
	to, is := t.TempDir(), false
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), of.was, of.is, 1)
		is = is || changed != string(text)
		if err := os.WriteFile(filepath.Join(to, name), []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !is {
		t.Fatalf("%v have no %q", files, of.was)
	}
	return to
}
