package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"turnstile/internal/soak"
)

// What a program declares is tried. The clocks of ra_unmerged.py are not merged, which shows while clients
// think, and not under the default load.
func TestTry(t *testing.T) {
	t.Parallel()
	cases := []struct {
		program, only string
		status        int
		says          []string
	}{
		{"ra_unmerged.py", "think", 1, []string{"  X!", "WRONG  exclusion, in ", "--think exponential:40ms",
			"were inside together", "not.\nThe table is results/try/matrix.csv.\n"}},
		{"ra.py", "dead-idle,skewed-clocks", 0, []string{"\n-  skewed-clocks\nB  dead-idle\n",
			"untested  skewed-clocks: ", "2 cases: 1 as expected, 0 not, 1 untested."}},
		{"ra.py", "skewed-clocks", 2, []string{"1 case: 0 as expected, 0 not, 1 untested."}},
		{"ra.py", "think", 0, []string{"think  L  L  L  L"}},
		{"ra_unmerged.py", "saturated", 0, []string{"saturated  L  L  L  L"}},
		{"bully_broken.py", "lowest", 1, []string{"X!", "elect --foreign", "--initiators lowest"}},
		{"bully.py", "lowest,dead-leader", 0, []string{"L  L  L  L", "L  dead-leader"}},
	}
	for _, x := range cases[:soak.Pick(3, len(cases), len(cases))] {
		t.Run(x.program+" "+x.only, func(t *testing.T) {
			t.Parallel()
			says := tried(t, t.TempDir(), x.status, python(t, "../examples/python/"+x.program), "--only", x.only)
			for _, want := range x.says {
				if !strings.Contains(says, want) {
					t.Errorf("it does not say %q:\n%s", want, says)
				}
			}
		})
	}
}

// tried runs try, and returns what it prints. If the machine is so busy that programs take more than ten
// seconds to start, the test is skipped.
func tried(t *testing.T, dir string, status int, args ...string) string {
	t.Helper()
	cmd := orchestrator(t, dir, append([]string{"try", "--no-progress"}, args...)...)
	out, _ := cmd.CombinedOutput()
	if strings.Contains(string(out), "it has not answered init with init_ok after 10s") {
		t.Skip("SKIPPED: the machine was too busy for these programs")
	}
	if got := cmd.ProcessState.ExitCode(); got != status {
		t.Errorf("the status is %d, and should be %d:\n%s", got, status, out)
	}
	return string(out)
}

// A client of a service is tried under faults of clients, and broken with shared locks.
func TestTryClient(t *testing.T) {
	t.Parallel()
	shared, err := os.ReadFile("../examples/clients/testbed.py")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"testbed.py": string(shared), "sound.py": flockClient,
		"broken.py": strings.Replace(flockClient, "LOCK_EX", "LOCK_SH", 1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for program, want := range map[string]struct {
		status int
		says   string
	}{"sound.py": {0, "L  kill: holder; kill: holder, for: 300ms\n"},
		"broken.py": {1, "bench --service flock "}} {
		says := tried(t, dir, want.status, "--service", "flock", "--client", python(t, filepath.Join(dir, program)),
			"--only", "kill: holder")
		if !strings.Contains(says, want.says) || strings.Contains(says, "--promises") {
			t.Errorf("it does not say %q, or has what the program declares by itself:\n%s", want.says, says)
		}
	}
}

const flockClient = `
import fcntl, socket, testbed
class Lock:
    def __init__(self, options):
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

// Wrong calls of try are refused in one sentence.
func TestTryRefuses(t *testing.T) {
	t.Parallel()
	ra := python(t, "../examples/python/ra.py")
	for _, x := range []struct {
		says string
		args []string
	}{
		{"try needs the command of a program, as in try 'python3 ra.py'", nil},
		{"in quotes: write try 'python3 ra.py'", []string{"python3", "ra.py"}},
		{`there is no program for "nothing.here"`, []string{"nothing.here"}},
		{"name its interpreter", []string{"/etc/passwd"}},
		{`"false" ended before it answered init with init_ok: exit status 1`, []string{"false"}},
		{"it wrote a line that is no JSON object", []string{"echo hello"}},
		{"--service names servers, and no program: add --client", []string{"--service", "nats-kv"}},
		{"are for a service: add --service", []string{"--client", "true"}},
		{"CMD and --client both name a program", []string{"true", "--service", "nats-kv", "--client", "true"}},
		{`no load or fault is called "nothing": there are saturated; think`, []string{ra, "--only", "nothing"}},
		{"write a name without /", []string{ra, "--set", "a/b"}},
		{"which is not one of nothing, no-loss", []string{ra, "--promises", "safe=luck"}},
	} {
		says := tried(t, t.TempDir(), usage, x.args...)
		if !strings.Contains(says, x.says) || strings.Count(says, "orchestrator: ") != 1 {
			t.Errorf("%q: it does not say %q in one sentence: %s", x.args, x.says, says)
		}
	}
}
