package proc

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A later process removes the temporary folder of a process that was killed, and no other folder.
func TestTemporaryFoldersOfTheDead(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	cmd := exec.Command(os.Args[0], playing, "temporary")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	dir, _, _ := strings.Cut(line, " ")
	own, err := TempDir("test")
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.MkdirTemp("", "turnstile-1000-host-")
	if err != nil {
		t.Fatal(err)
	}
	check := func(when string, all ...string) {
		for _, path := range all {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
	}
	RemoveDead()
	check("while its process lives", dir, own, other)
	cmd.Process.Kill()
	cmd.Wait()
	RemoveDead()
	check("after another process has died", own, other)
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s of a process that was killed is left", dir)
	}
	if err := RemoveTemp(own); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) != 1 {
		t.Errorf("these are left: %v", left)
	}
}
