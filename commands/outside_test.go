package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"turnstile/nodes/foreign"
)

// Control characters from outside are printed as escapes, and name neither runs nor sets.
func TestControlCharactersFromOutside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{"results/a\x1b[2J/b/run.yaml", "results/a/b\u202egnp/run.yaml"} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("none"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"bench", "--set", "a\x1b[2J"}, usage, `"a\x1b[2J" cannot name a set or a run`},
		{[]string{"sweep", "--algo", "ricart", "-n", "2,3", "--set", "a\u202eb"}, usage,
			`"a\u202eb" cannot name a set or a run`},
		{[]string{"simulate", "--set", "a\xff"}, usage, `"a\xff" cannot name a set or a run`},
		{[]string{"runs"}, 0, `a\x1b[2J/b`},
		{[]string{"runs", "--json"}, 0, `b\u202egnp`},
		{[]string{"bench", "--foreign", `printf 'a\033]0;b\007' >&2; false`}, usage, `a\x1b]0;b\x07`},
	} {
		out := ends(t, orchestrator(t, dir, test.args...), test.status, test.says)
		if strings.ContainsAny(out, "\x1b\u202e\x07") {
			t.Errorf("%q prints control characters:\n%q", test.args, out)
		}
	}
}

// A foreign program gets few variables, and those that --pass names. Its children end with it, even those in
// sessions of their own, whether the trial kills their node or the node kills itself.
func TestSurroundingsOfForeignPrograms(t *testing.T) {
	for _, victim := range []string{"1", "holder"} {
		t.Run(victim, func(t *testing.T) { surroundings(t, victim) })
	}
}

func surroundings(t *testing.T, victim string) {
	t.Parallel()
	dir := t.TempDir()
	script, err := os.ReadFile("../examples/python/ra.py")
	if err != nil {
		t.Fatal(err)
	}
	const begin = "import subprocess\n" +
		"p = subprocess.Popen(['sleep', '1000'], start_new_session=True, stdin=subprocess.DEVNULL, " +
		"stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n" +
		"open('pids', 'a').write(str(p.pid) + '\\n')\n"
	if err := os.WriteFile(filepath.Join(dir, "ra.py"), []byte(begin+string(script)), 0o644); err != nil {
		t.Fatal(err)
	}
	const start = "env >>env\nexec python3 ra.py\n"
	if err := os.WriteFile(filepath.Join(dir, "start"), []byte(start), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := orchestrator(t, dir, "bench", "--foreign", "sh start", "-n", "2", "--kill", victim,
		"--at", "300ms", "--for", "200ms", "--duration", "1s", "--no-progress", "--pass", "SECRET_B,SECRET_C")
	cmd.Env = append(cmd.Env, "SECRET_A=1", "SECRET_B=1", "HOME="+dir, "TZ=UTC")
	out, _ := cmd.CombinedOutput()
	env, err := os.ReadFile(filepath.Join(dir, "env"))
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	var got []string
	for line := range strings.Lines(string(env)) {
		name, _, _ := strings.Cut(line, "=")
		got = append(got, name)
	}
	for _, name := range got { // the shell adds some
		if !slices.Contains(strings.Fields("PATH HOME LANG TZ TMPDIR SECRET_B PWD OLDPWD SHLVL _"), name) {
			t.Errorf("the program gets %s", name)
		}
	}
	if !slices.Contains(got, "SECRET_B") || !slices.Contains(got, "TZ") {
		t.Errorf("the program gets only %s", got)
	}
	pids, _ := os.ReadFile(filepath.Join(dir, "pids"))
	all := strings.Fields(string(pids))
	for _, word := range all {
		pid, _ := strconv.Atoi(word)
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && len(stat) > 0 {
			t.Errorf("%d of %d children of programs lives on", pid, len(all))
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if len(all) < 4 {
		t.Errorf("the program was started %d times, not for the declaration, two nodes and a restart:\n%s",
			len(all), out)
	}
}

// The configuration file of the working directory starts no program; one that the user names does.
func TestWorkingDirectorySetsNoPrograms(t *testing.T) {
	t.Parallel()
	for _, name := range programSettings {
		dir := t.TempDir()
		program := filepath.Join(dir, "program")
		if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+dir+"/hit\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		config := filepath.Join(dir, defaultConfig)
		if err := os.WriteFile(config, []byte(name+": "+program+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		args := []string{"bench", "-n", "1", "--duration", "100ms", "--no-progress"}
		if name == "server-program" {
			args = append(args, "--service", "redis")
		}
		hit := func() bool { _, err := os.Stat(filepath.Join(dir, "hit")); return err == nil }
		cmd := orchestrator(t, dir, args...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != usage || hit() ||
			!strings.Contains(string(out), name+" is about programs") {
			t.Errorf("%s: status %d, and the program is started: %v:\n%s", name, cmd.ProcessState.ExitCode(),
				hit(), out)
		}
		out, _ = orchestrator(t, dir, append(args, "--config", config)...).CombinedOutput()
		if (name == "node-program" || name == foreign.CommandOption) && !hit() { // services has to be built
			t.Errorf("%s: --config does not set it:\n%s", name, out)
		}
	}
}
