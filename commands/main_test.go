package commands

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/bench/benchtest"
	"turnstile/bench/runs"
	"turnstile/nodes"
	"turnstile/results"
)

const limit = 30 * time.Second // generous: the machine may be busy

// programs is the folder of the programs under test: the real ones, run as people run them.
var programs string

// forgetServices takes folders with the program services out of PATH. Some tests build this program, and
// others want the error that says that it is missing.
func forgetServices() {
	path := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		return exists(filepath.Join(dir, "services"))
	})
	os.Setenv("PATH", strings.Join(path, string(os.PathListSeparator)))
}

func TestMain(m *testing.M) {
	if os.Getenv(interruptedVariable) != "" {
		beInterrupted()
	}
	if os.Getenv(spareVariable) != "" {
		beOrchestratorWithSpare()
	}
	dir, err := os.MkdirTemp("", "turnstile")
	if err == nil {
		err = os.Chmod(dir, 0o711) // servers of services start from it, as another user
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programs = dir
	forgetServices()
	moreAtOnce()
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// moreAtOnce has four tests run at once, unless the call says how many: most of them wait for processes.
func moreAtOnce() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		flag.Set("test.parallel", "4")
	}
}

// buildOnce builds the programs, which takes seconds. If the coverage of tests is measured (make cover), the
// programs measure their own coverage too.
var buildOnce = sync.OnceValue(func() error {
	// As make build does, but without the commit, so that a printed version has the same width in any clone.
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", programs + "/"}
	if testing.CoverMode() != "" {
		args = append(args, "-cover", "-coverpkg=turnstile/...")
	}
	cmd := exec.Command("go", append(args, "turnstile/cmd/orchestrator", "turnstile/cmd/node")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	return nil
})

func build(t *testing.T) {
	t.Helper()
	if err := buildOnce(); err != nil {
		t.Fatal(err)
	}
}

// orchestrator returns the command to run the orchestrator in a folder.
func orchestrator(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	build(t)
	cmd := exec.Command(filepath.Join(programs, "orchestrator"), args...)
	cmd.Env, cmd.Dir = cleanEnv(), dir
	return cmd
}

// ends runs a command to its end, and wants this exit status and these words. It returns what was printed. If
// the command ends otherwise because its processes waited for processors, the test is skipped.
func ends(t *testing.T, cmd *exec.Cmd, status int, says string) string {
	t.Helper()
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != status || !strings.Contains(string(out), says) {
		skipIfBusy(t, cmd.Dir)
		t.Errorf("%q: the status is %d, and should be %d with %q:\n%s", cmd.Args[1:], got, status, says, out)
	}
	return string(out)
}

// listen returns a listener on a free port, which is closed after the test.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestScripts(t *testing.T) {
	build(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", programs+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("GOCOVERDIR", os.Getenv("GOCOVERDIR"))
			e.Values[scriptTest{}] = e.T()
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status, "cut": cut, "broker": runBroker, "seal": seal,
		},
		RequireExplicitExec: true,
	})
}

// scriptTest is the key of the value of a script that is its test.
type scriptTest struct{}

// skipIfBusy skips a test that would fail, if its latest run below a folder shows nothing because processes
// waited for processors.
func skipIfBusy(t interface{ Skip(...any) }, dir string) {
	folder, err := results.Open(filepath.Join(dir, "results"), results.LatestLink)
	if err != nil {
		return
	}
	latest, err := runs.ReadSummary(catalog.Table{}, folder)
	if err != nil || len(latest.Rows) != len(latest.Verdicts) {
		return
	}
	for i := range latest.Verdicts {
		benchtest.SkipIfBusy(t, &latest.Verdicts[i], &latest.Rows[i].Figures)
	}
}

// status runs a program and wants it to exit with a status, or one of several: status 0|3 orchestrator bench.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status number program args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if !slices.Contains(strings.Split(args[0], "|"), strconv.Itoa(got)) {
		skipIfBusy(ts.Value(scriptTest{}).(testscript.T), ts.MkAbs("."))
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

// cut cuts files off in the middle.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	for _, pattern := range args {
		paths, err := filepath.Glob(ts.MkAbs(pattern))
		ts.Check(err)
		if len(paths) == 0 {
			ts.Fatalf("no file matches %s", pattern)
		}
		for _, path := range paths {
			info, err := os.Stat(path)
			ts.Check(err)
			ts.Check(os.Truncate(path, info.Size()/2))
		}
	}
}

// seal gives a run.yaml that a script has changed the checksum of its new text.
func seal(ts *testscript.TestScript, neg bool, args []string) {
	for _, path := range args {
		text, _, _ := strings.Cut(ts.ReadFile(path), "checksum: ")
		ts.Check(os.WriteFile(ts.MkAbs(path), results.Sealed([]byte(text)), 0o644))
	}
}

// runBroker starts orchestrator broker until the script ends, and puts its URL into the environment as URL.
func runBroker(ts *testscript.TestScript, neg bool, args []string) {
	cmd := exec.Command(filepath.Join(programs, "orchestrator"), "broker")
	cmd.Env = cleanEnv()
	cmd.Dir = ts.Getenv("WORK")
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	line := make([]byte, 200)
	n, err := out.Read(line)
	ts.Check(err)
	ts.Setenv("URL", strings.TrimSpace(string(line[:n])))
}

// cleanEnv is this process's environment without what the programs would heed.
func cleanEnv() []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, envPrefix+"_") {
			env = append(env, e)
		}
	}
	return env
}

// An algorithm that a user adds may not have an option with the name of a flag: the option could not be set.
func TestOptionsOfOwnAlgorithms(t *testing.T) {
	for name, refused := range map[string]bool{"hold": true, "elsewhere": false} {
		own := *mutex.Table[0]
		own.Name, own.Aliases = "mine", nil
		own.Options = []nodes.Option{{Name: name, Usage: "an option", Default: "1"}}
		table, err := catalog.With(&own)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkOwnOptions(table); (err != nil) != refused {
			t.Errorf("the option %s: %v", name, err)
		}
	}
}
