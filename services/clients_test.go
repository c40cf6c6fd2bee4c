package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// programs builds the programs of runs, and returns their folder. It is removed when the tests are over.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "turnstile-clients")
	if err != nil {
		return "", err
	}
	for name, of := range map[string]string{"orchestrator": "../cmd/orchestrator", "node": "../cmd/node",
		"services": "."} {
		build := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(dir, name), of)
		if says, err := build.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("building %s: %w: %s", name, err, says)
		}
	}
	return dir, os.Chmod(dir, 0o711) // servers start from it, as another user
})

// A twin is a change of the text of an example that makes another client of it.
type twin struct{ was, is string }

var (
	late   = &twin{"left.wait(self.ttl / 3000)", "left.wait(self.ttl / 700)"} // it renews too late
	silent = &twin{"return testbed.lost()",
		"return"} // it does not say that it lost the lock
	deaf  = &twin{"state != kazoo.KazooState.CONNECTED", "False"}             // the same
	thief = &twin{"if not self.free(self.keys[:1], [self.mine])", "if False"} // it releases nothing
)

// Each client of examples/clients is valid in a calm run, and in another run it shows what is known of its
// library. Broken twins of the clients are found.
var clientRuns = []struct {
	command, service, file string
	of                     *twin
	args                   string
	status                 int
	says                   string
}{
	{"bench", "redis", "redis_lock.py", nil, "--hold 1ms --duration 500ms", 0, "no two were inside together"},
	{"bench", "redis", "redis_lock.py", nil, "--hold 500ms --duration 1s --with px=200ms", 1,
		"no client was told that it had lost the lock"},
	{"bench", "redis", "redis_lock.js", nil, "--hold 1ms --duration 500ms", 0, "no two were inside together"},
	{"bench", "redis", "redis_lock.js", nil, "--hold 500ms --duration 1s --with px=200ms", 1,
		"no client was told that it had lost the lock"},
	{"bench", "redis", "mylock.py", nil, "--hold 700ms --duration 1s --with px=600ms", 0, "no two were inside"},
	{"bench", "redis", "mylock.py", late, "--hold 2s --duration 2s --with px=600ms", 1, "were inside together"},
	{"bench", "redis", "mylock.py", nil,
		"--hold 2s --duration 4s --with px=900ms --cut holder/servers --at 500ms " +
			"--for 2s", 0, "the client left as soon as it was told"},
	{"bench", "redis", "mylock.py", silent,
		"--hold 2s --duration 4s --with px=900ms --cut holder/servers --at 500ms " +
			"--for 2s", 1, "no client was told that it had lost the lock"},
	{"bench", "redis", "mylock.py", thief, "--hold 1ms --duration 1s --with px=1m", 2, "nothing moves"},
	{"bench", "zookeeper", "kazoo_lock.py", nil, "--hold 1ms --duration 500ms", 0,
		"no two were inside together"},
	{"bench", "zookeeper", "kazoo_lock.py", nil, "--hold 5ms --duration 5s --with session=1s --pause holder " +
		"--at 500ms --for 3s", 1, "outside its model: the algorithm assumes that no node pauses for long"},
	{"bench", "zookeeper", "kazoo_lock.py", nil,
		"--hold 3s --duration 4s --cut holder/servers --at 300ms --for 2s",
		0, "the client left as soon as it was told"},
	{"bench", "zookeeper", "kazoo_lock.py", deaf,
		"--hold 6s --duration 7s --cut holder/servers --at 300ms --for 5s",
		1, "no client was told that it had lost the lock"},
	{"elect", "zookeeper", "kazoo_election.py", nil, "--duration 1s", 0, "all agreed on node"},
	{"elect", "zookeeper", "kazoo_election.py", nil,
		"--duration 6s --with session=1s --pause leader --at 500ms " +
			"--for 2s", 0, "more while one of the two was paused"},
	{"bench", "etcd", "etcd3_lock.py", nil, "--hold 1ms --duration 500ms", 0, "no two were inside together"},
	{"bench", "etcd", "etcd3_lock.py", nil, "--hold 4s --duration 5s --with ttl=2s", 1,
		"no client was told that it had lost the lock"},
	{"bench", "postgres", "psycopg_lock.py", nil, "--hold 1ms --duration 500ms", 0,
		"no two were inside together"},
	{"bench", "postgres", "psycopg_lock.py", nil,
		"--hold 3s --duration 4s --kill 'server 0' --at 500ms --for 100ms",
		1, "outside its model: the algorithm assumes that all servers are up"},
}

func TestClients(t *testing.T) {
	dir, err := programs()
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range clientRuns {
		name := x.file + " " + x.args
		if x.of != nil {
			name = "twin of " + x.file + ", " + x.of.is
		}
		t.Run(name, func(t *testing.T) {
			command := clientOf(t, x.file, x.of)
			words := fmt.Sprintf("%s %s --service %s --client \"$CLIENT\" --pass NODE_PATH -n 3 "+
				"--warmup 0s --no-progress %s",
				filepath.Join(dir, "orchestrator"), x.command, x.service, x.args)
			run := exec.Command("sh", "-c", words)
			run.Dir, run.Env = t.TempDir(), append(os.Environ(), "CLIENT="+command, "NODE_PATH=/usr/share/nodejs")
			says, _ := run.CombinedOutput()
			switch status := run.ProcessState.ExitCode(); {
			case strings.Contains(string(says), "apt-get install") || strings.Contains(string(says), "Debian package"):
				t.Skipf("%s IS NOT TESTED: %s", x.file, says)
			case status != x.status || !strings.Contains(string(says), x.says):
				t.Errorf("the status is %d, and should be %d with %q:\n%s", status, x.status, x.says, says)
			}
		})
	}
}

// clientOf returns the command of an example, or of a twin of it, which is written to a folder of its own.
func clientOf(t *testing.T, file string, of *twin) string {
	t.Helper()
	dir, err := filepath.Abs("../examples/clients")
	if err != nil {
		t.Fatal(err)
	}
	interpreter := "/usr/bin/python3"
	if strings.HasSuffix(file, ".js") {
		interpreter = "node"
	}
	if _, err := exec.LookPath(interpreter); err != nil {
		t.Skipf("%s IS NOT TESTED: there is no %s", file, interpreter)
	}
	if of == nil {
		return interpreter + " '" + filepath.Join(dir, file) + "'"
	}
	to := t.TempDir()
	for _, name := range []string{file, "testbed.py"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), of.was, of.is, 1)
		if name == file && changed == string(text) {
			t.Fatalf("%s has no %q", file, of.was)
		}
		if err := os.WriteFile(filepath.Join(to, name), []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return interpreter + " '" + filepath.Join(to, file) + "'"
}
