package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"turnstile/internal/soak"
)

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
		{"bench", "ra.py", []string{"-n", "2", "--hold", "5ms", "--duration", "200ms"}, 0,
			"neither simulated nor explored"},
		{"bench", "ra_broken.py", []string{"-n", "2", "--hold", "5ms", "--duration", "200ms"}, 1,
			"were inside together"},
		{"elect", "bully.py", []string{"-n", "3", "--duration", "300ms"}, 0, "all agreed on node 2"},
		{"elect", "bully_broken.py", []string{"-n", "3", "--initiators", "lowest", "--duration", "1800ms"}, 1,
			"two leaders"},
	} {
		if x.command == "elect" && soak.Pick(true, false, false) {
			continue
		}
		dir := t.TempDir()
		program := python(t, "../../docs/foreign/"+x.program)
		status, says := ranForeign(t, dir, x.command, program, x.args...)
		for range 2 { // on a busy machine a run may show nothing
			if status == 2 {
				status, says = ranForeign(t, dir, x.command, program, x.args...)
			}
		}
		if status != x.status || !strings.Contains(says, x.says) {
			t.Errorf("%s: status %d: %s", x.program, status, says)
		}
		if x.program != "ra.py" {
			continue
		}
		again := orchestrator(t, dir, "verify")
		again.Stderr = nil
		if out, _ := again.CombinedOutput(); again.ProcessState.ExitCode() != status {
			t.Errorf("%s: verify says %d: %s", x.program, again.ProcessState.ExitCode(), out)
		}
	}
}

// The templates of docs/foreign.md work as they stand there, and what they print beside their lines does no
// harm.
func TestForeignTemplates(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/foreign.md")
	if err != nil {
		t.Fatal(err)
	}
	templates := regexp.MustCompile("(?s)```(python|go)\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(templates) != 2 {
		t.Fatalf("docs/foreign.md has %d templates", len(templates))
	}
	for _, x := range templates {
		source := filepath.Join(t.TempDir(), "main."+map[string]string{"python": "py", "go": "go"}[x[1]])
		if err := os.WriteFile(source, []byte(x[2]), 0o644); err != nil {
			t.Fatal(err)
		}
		program := strings.TrimSuffix(source, ".go")
		if x[1] == "python" {
			program = python(t, source)
		} else if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		args := []string{"-n", "2", "--duration", "200ms"}
		status, says := ranForeign(t, t.TempDir(), "bench", program, args...)
		for range 2 { // on a busy machine a run may show nothing
			if status == 2 {
				status, says = ranForeign(t, t.TempDir(), "bench", program, args...)
			}
		}
		if status != 0 || !strings.Contains(says, "yours:permit") {
			t.Errorf("%s: status %d: %s", x[1], status, says)
		}
	}
}

// Clients lose their lock to a lease, and are told or not. One run says who was inside together, and what
// fence numbers would have done about it; with --fenced that is its verdict.
func TestForeignLocksAreLost(t *testing.T) {
	t.Parallel()
	const together, apart = "were inside together", "a resource that demands fence numbers keeps them apart"
	for _, x := range []struct {
		how, numbers string
		args         []string
		status       int
		says         []string
	}{
		{"stays", "rising", nil, 1, []string{together, apart, " after it was told that the lock was lost\n",
			"the lock refused "}},
		{"stays", "rising", []string{"--fenced"}, 0, []string{"nothing was accepted under a fence number", apart}},
		{"stays", "same", nil, 1, []string{together, "a resource that demands fence numbers does not keep "}},
		{"stays", "same", []string{"--fenced"}, 1, []string{"the resource accepted what node",
			"a resource that demands fence numbers does not keep "}},
		{"leaves", "rising", nil, 0, []string{"the client left as soon as it was told that the lock was lost\n"}},
		{"silent", "rising", nil, 1, []string{together, "no client was told that it had lost the lock\n"}},
	} {
		if len(x.args) > 0 && testing.Short() {
			continue
		}
		args := append([]string{"-n", "2", "--hold", "80ms", "--think", "5ms", "--duration", "500ms"}, x.args...)
		program := python(t, "testdata/foreign/leasing.py", x.how, x.numbers)
		status, says := ranForeign(t, t.TempDir(), "bench", program, args...)
		for range 2 { // on a busy machine a run may show nothing
			if status == 2 {
				status, says = ranForeign(t, t.TempDir(), "bench", program, args...)
			}
		}
		for _, want := range x.says {
			if status != x.status || !strings.Contains(says, want) {
				t.Errorf("%s, %s, %q: status %d, and no %q: %s", x.how, x.numbers, x.args, status, want, says)
			}
		}
	}
}

// A program that misbehaves ends the run, with its last words, and what was recorded is judged. What no
// program may do convicts it; a signal may have come from anybody.
func TestForeignProgramsThatMisbehave(t *testing.T) {
	t.Parallel()
	for how, x := range map[string]struct {
		status int
		says   string
	}{
		"dies":         {1, "VIOLATED  the program of node 0 ended by itself: exit status 7; it wrote last"},
		"enters twice": {1, `that was inside: it wrote {"type": "entered", "in_reply_to": 2}`},
		"is killed":    {2, "ended by itself: signal: killed"},
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
	status, says := ranForeign(t, t.TempDir(), "bench", python(t, "../../docs/foreign/ra.py"), "-n", "3",
		"--fault", "loss: 100%, kind: permit, nth: 3, at: 100ms", "--think", "10ms",
		"--duration", "500ms", "--patience", "300ms")
	if status != 2 || !strings.Contains(says, "as its model allows: it needs no loss") ||
		!strings.Contains(says, "has not answered request") {
		t.Errorf("status %d: %s", status, says)
	}
}

// A program that cannot run is refused before the run, with a text that says what would be right.
func TestForeignProgramsAreRefused(t *testing.T) {
	declares := func(how string) string { return python(t, "testdata/foreign/misbehaving.py", how) }
	sound := python(t, "../../docs/foreign/ra.py")
	for _, x := range []struct {
		args []string
		says string
	}{
		{[]string{"--foreign", sound, "--algo", "ricart"}, "leave out one of the two"},
		{[]string{"--foreign", sound, "--hosts", "2"}, "leave out --hosts"},
		{[]string{"--foreign", sound, "--fenced"}, "hands out no fence numbers"},
		{[]string{"--foreign", sound, "--kinds", "x:tokn"}, "there are token, permit and heartbeat"},
		{[]string{"--foreign", sound, "--promises", "safe=no-los"}, "did you mean no-loss?"},
		{[]string{"--kinds", "x"}, "--foreign names none"},
		{[]string{"--foreign", "/no/such/program"}, "/no/such/program"},
		{[]string{"--foreign", declares("no init_ok")}, "it has to be init_ok"},
		{[]string{"--foreign", declares("bad declaration")}, `"luck", which is none of nothing, no-loss`},
		{[]string{"--foreign", declares("elects")}, "orchestrator elect --foreign"},
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

// The cost of the pipe to a program: pairs of request and release of a lock that grants at once.
func BenchmarkForeignNullLock(b *testing.B) {
	if err := buildOnce(); err != nil {
		b.Fatal(err)
	}
	null := filepath.Join(programs, "nulllock")
	if out, err := exec.Command("go", "build", "-o", null, "./testdata/nulllock").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for name, program := range map[string]string{"Go": null,
		"Python": python(b, "testdata/foreign/misbehaving.py", "sound")} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				out, err := exec.Command(filepath.Join(programs, "orchestrator"), "bench", "--foreign", program,
					"-n", "1", "--hold", "0s", "--duration", "1s", "--results", b.TempDir(), "--no-progress").Output()
				found := regexp.MustCompile(`throughput +([0-9,]+) entries/s`).FindSubmatch(out)
				if err != nil || found == nil {
					b.Fatalf("%v: %s", err, out)
				}
				rate, _ := strconv.ParseFloat(strings.ReplaceAll(string(found[1]), ",", ""), 64)
				b.ReportMetric(rate, "pairs/s")
			}
		})
	}
}
