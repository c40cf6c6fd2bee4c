package host_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/workload"
)

// lifeDir is a variable of the environment. If it names a folder, the test process only runs a node there.
const lifeDir = "TURNSTILE_TEST_LIFE"

// firstLog and savedIn are what a node in dir leaves behind when it is killed.
func firstLog(dir string) string { return filepath.Join(dir, "first.log") }
func savedIn(dir string) string  { return filepath.Join(dir, "saved") }

// twoKeepers are two instances that save, on one node.
func twoKeepers(t *testing.T) *algorithm.Stack {
	t.Helper()
	stack, err := algorithm.Assemble(kept(1, 1), kept(2, 1))
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

// live runs the first life of a node in a child process, which its parent kills.
func live(t *testing.T, dir string) {
	s := beginStack(t, twoKeepers(t), func(c *host.Config) {
		c.Entries, c.Log, c.Saved = 1<<17, firstLog(dir), savedIn(dir)
	})
	s.order(host.Order{Do: host.Issue, Begin: 1})
	time.Sleep(30 * time.Second) // or less, if it is killed as it should be
}

// fences returns the fence number of the first and of the last entry of each instance.
func fences(t *testing.T, dir string) (first, last [2]uint64) {
	t.Helper()
	h, err := history.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range h.Events {
		if e.Kind == history.Entered {
			if first[e.Instance] == 0 {
				first[e.Instance] = e.Fence
			}
			last[e.Instance] = e.Fence
		}
	}
	return first, last
}

// A node that is killed at any moment gets back what each of its machines has saved, in a new process.
func TestKilledNodesRecoverWhatTheySaved(t *testing.T) {
	if dir := os.Getenv(lifeDir); dir != "" {
		live(t, dir)
		return
	}
	dir := t.TempDir()
	killNode(t, dir, uint64(100+rand.IntN(5000)))
	_, last := fences(t, dir)
	for incarnation := uint32(1); incarnation <= 2; incarnation++ {
		s := beginStack(t, twoKeepers(t), func(c *host.Config) {
			c.Entries, c.Incarnation, c.Saved = 40, incarnation, savedIn(dir)
		})
		s.order(host.Order{Do: host.Issue, Begin: 1})
		s.awaitRest(40)
		s.end()
		first, end := fences(t, s.dir)
		for i := range first {
			// A node that was killed between save and entry has saved once more than it has entered.
			if more := first[i] - last[i]; more != 1 && (more != 2 || incarnation > 1) {
				t.Errorf("incarnation %d: instance %d is entered under fence %d after %d", incarnation, i, first[i],
					last[i])
			}
		}
		last = end
	}
}

// killNode has a process of this test live in dir, and kills it after so many entries.
func killNode(t *testing.T, dir string, entries uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), lifeDir+"="+dir, "TMPDIR="+dir)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	alive := func() (entered uint64) {
		w, err := history.Watch(firstLog(dir))
		if err != nil {
			return 0 // not yet
		}
		defer w.Close()
		for i := range w.Instances {
			entered += w.Instances[i].Entries.Load()
		}
		return entered
	}
	for deadline := time.Now().Add(20 * time.Second); alive() < entries && time.Now().Before(deadline); {
		time.Sleep(100 * time.Microsecond)
	}
	cmd.Process.Kill()
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the node was not killed: %v: %s", err, out.String())
	}
}

// A node that forgets begins again, in a new incarnation.
func TestForgetfulNodesBeginAgain(t *testing.T) {
	s := beginStack(t, twoKeepers(t), func(c *host.Config) { c.Entries, c.Incarnation = 40, 1 })
	s.order(host.Order{Do: host.Issue, Begin: 1})
	s.awaitRest(40)
	s.end()
	if first, _ := fences(t, s.dir); first != [2]uint64{1, 1} {
		t.Errorf("it begins under the fences %v", first)
	}
}

// A node that cannot save carries out no later effect, and ends with an error that says why.
func TestNodesThatCannotSaveGoNoFurther(t *testing.T) {
	for says, path := range map[string]string{
		"nowhere/saved.":    filepath.Join(t.TempDir(), "nowhere", "saved"),
		"was given no file": "",
	} {
		s := beginStack(t, twoKeepers(t), func(c *host.Config) {
			c.Workload, c.Saved = workload.Workload{Load: workload.Saturated}, path
		})
		s.order(host.Order{Do: host.Issue, Begin: 1})
		if err := s.wait(s.ends[0]); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the host ends with %v, which does not say %q", err, says)
		}
		if _, last := fences(t, s.dir); last != [2]uint64{} {
			t.Errorf("it entered under the fences %v", last)
		}
	}
}

// A rash mutex saves, and revokes each grant at once.
type rash struct{ Times int }

type rashSaved struct{ Times int }

func (r *rash) Request(env *nodes.Env) {
	r.Times++
	env.Save(rashSaved(*r))
	env.Grant()
	env.Revoke()
}

func (*rash) Release(*nodes.Env)                          {}
func (*rash) Receive(*nodes.Env, nodes.ID, nodes.Message) {}

// A client that was not let in, since its node could not save, does not leave either: the register would be
// wrong for the others.
func TestNodesThatCannotSaveLeaveTheRegister(t *testing.T) {
	algo := toy("rash", func() nodes.Machine { return &rash{} }, rashSaved{})
	s := beginStack(t, stackOf(t, algo, 1), func(c *host.Config) { c.Saved = "" })
	s.order(host.Order{Do: host.Issue, Begin: 1})
	if err := s.wait(s.ends[0]); err == nil {
		t.Error("the host ends without an error")
	}
	shared, err := host.OpenResource(filepath.Join(s.dir, "resource"), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if taken := shared.Of(0).Taken.Load(); taken != 0 {
		t.Errorf("the register shows %d inside", taken)
	}
}

// A node does not recover what is garbled.
func TestGarbledMemoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(savedIn(dir)+".1", make([]byte, 4096), 0o644); err != nil {
		t.Fatal(err)
	}
	err := host.Run(host.Config{Run: "test", Log: firstLog(dir), Saved: savedIn(dir), Incarnation: 1,
		Resource: resourceIn(t, dir)}, twoKeepers(t).Stack, strings.NewReader(""), io.Discard)
	want := fmt.Sprintf("reading what the node has saved: %s.1 is garbled", savedIn(dir))
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("it ends with %v", err)
	}
}

func resourceIn(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "resource")
	if err := host.CreateResource(path, 2, twoKeepers(t).N()); err != nil {
		t.Fatal(err)
	}
	return path
}
