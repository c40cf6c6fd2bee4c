package commands

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/hosts/control"
)

// composed is what runs over containers have in common: make test-compose makes them, where a Docker engine
// answers.
type composed struct {
	*testing.T
	project, results, keys string
}

// overContainers builds the image. All that the test starts is removed in the end.
func overContainers(t *testing.T) *composed {
	t.Helper()
	if os.Getenv("COMPOSE") == "" {
		t.Skip("make test-compose runs it: it takes a Docker engine, and a minute")
	}
	if out, err := exec.Command("docker", "version").CombinedOutput(); err != nil {
		fmt.Fprintln(os.Stderr, "SKIPPED: no Docker engine answers, so no run was made over containers")
		t.Skipf("no Docker engine answers: %s", out)
	}
	if exec.Command("docker", "compose", "version").Run() != nil &&
		exec.Command("docker-compose", "version").Run() != nil {
		fmt.Fprintln(os.Stderr, "SKIPPED: there is neither docker compose nor docker-compose, so no run was made "+
			"over containers")
		t.Skip("there is no compose")
	}
	dir := t.TempDir()
	c := &composed{t, fmt.Sprintf("turnstile-test-%d", os.Getpid()), filepath.Join(dir, "results"),
		filepath.Join(dir, "keys")}
	if says, err := c.make(t.Context(), "image"); err != nil {
		t.Fatalf("make image: %v\n%s", err, says)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("docker", "rmi", c.project).CombinedOutput(); err != nil {
			t.Errorf("removing the image: %v: %s", err, out)
		}
	})
	return c
}

// make calls make at the top of the tree, and returns all that it prints.
func (c *composed) make(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "make", append(args, "IMAGE="+c.project)...)
	cmd.Dir = ".."
	cmd.Env = append(cleanEnv(), "MAKEFLAGS=", "MAKELEVEL=0", "PROJECT="+c.project)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// wants makes a run and checks that it prints some texts and leaves nothing but its results.
func (c *composed) wants(args string, texts ...string) {
	c.Helper()
	words := strings.Fields(args)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "_1", " 1")
	}
	says, _ := c.make(c.Context(), append(words, "RESULTS="+c.results, "KEYS="+c.keys)...)
	if strings.Contains(says, "this kernel cannot drop packets") {
		fmt.Fprintf(os.Stderr, "SKIPPED: the kernel of this machine cuts no network: %s\n", says)
		texts = nil
	}
	for _, text := range texts {
		if !strings.Contains(says, text) {
			c.Errorf("make %s does not say %q:\n%s", args, text, says)
		}
	}
	c.leavesNothing("make " + args)
}

// leavesNothing checks that no container, network or volume of the project is there.
func (c *composed) leavesNothing(call string) {
	c.Helper()
	for _, list := range []string{"ps -aq", "network ls -q", "volume ls -q"} {
		words := append(strings.Fields(list), "--filter", "label=com.docker.compose.project="+c.project)
		if left, err := exec.Command("docker", words...).Output(); err != nil || len(left) > 0 {
			c.Errorf("left behind by %s, as docker %s says: %s, %v", call, list, left, err)
		}
	}
}

// Runs over four containers are judged like others, with the kernel cutting one off, and with one killed.
func TestCompose(t *testing.T) {
	c := overContainers(t)
	c.wants("compose-bench ALGO=ricart N=32 DURATION=1s", "VALID",
		"together           62.000", "4 hosts")
	c.wants("compose-elect FAULTS=1 SCHEME=raft-election N=5 DURATION=5s CUT=host_1 KERNEL=true AT=1s "+
		"FOR=1500ms", "VALID", "it hit 1 node", "after the heal")
	c.wants("compose-bench FAULTS=1 ALGO=majority N=8 DURATION=5s CUT=host_1 KERNEL=true AT=1s FOR=1500ms",
		"VALID", "it hit 2 nodes", "after it")
	// Each of the two that are cut off may enter once, by votes that were given before.
	if rows := c.latest("show", "--json"); !inMinority.MatchString(rows) {
		c.Errorf("more than two entries were made in a minority:\n%s", rows)
	}
	c.killed()
}

// The command up, with the Compose file for one container, makes no run, with an image or without: it ends,
// says what to type, and leaves nothing. A run in one container leaves neither a network nor a volume.
func TestComposeOfOneContainer(t *testing.T) {
	c := overContainers(t)
	for _, image := range []string{c.project, "no-such-image"} {
		says, err := c.compose(image, "up", "--scale", "host=4")
		if err == nil || !strings.Contains(says, "type: make compose-bench ALGO=ricart N=32 HOSTS=4") {
			t.Errorf("up with the image %s: %v\n%s", image, err, says)
		}
	}
	c.leavesNothing("up")
	says, err := c.compose(c.project, "run", "--rm", "-T", "-v", c.results+":/work/results", "bench", "--algo",
		"ricart", "-n", "3", "--entries", "30")
	if err != nil || !strings.Contains(says, "VALID") {
		t.Errorf("run: %v\n%s", err, says)
	}
	c.leavesNothing("run bench")
}

// compose calls Compose with the file for one container and an image.
func (c *composed) compose(image string, args ...string) (string, error) {
	words := append([]string{"docker-compose", "-p", c.project}, args...)
	if exec.Command("docker", "compose", "version").Run() == nil {
		words = append([]string{"docker", "compose", "-p", c.project}, args...)
	}
	cmd := exec.CommandContext(c.Context(), words[0], words[1:]...)
	cmd.Dir, cmd.Env = "..", append(cleanEnv(), "IMAGE="+image)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// inMinority matches a printed row if the two nodes of a minority made at most two entries together.
var inMinority = regexp.MustCompile(`"entries_in_minority": [0-2]\b`)

// latest calls the program about the latest run.
func (c *composed) latest(command string, args ...string) string {
	c.Helper()
	args = append([]string{command, "--results", c.results}, args...)
	out, err := orchestrator(c.T, c.results, args...).Output()
	if err != nil {
		c.Errorf("%s: %v", command, err)
	}
	return string(out)
}

// killed kills the container of a host in mid-run. The run ends with a verdict.
func (c *composed) killed() {
	c.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		late := time.Now().Add(time.Minute)
		for !begun(c.results) && time.Now().Before(late) {
			time.Sleep(20 * time.Millisecond) // between two looks
		}
		if out, err := exec.Command("docker", "kill", c.hostContainer(1)).CombinedOutput(); err != nil {
			c.Errorf("killing a host: %v: %s", err, out)
		}
	}()
	c.wants("compose-bench ALGO=ricart N=8 DURATION=8s SET=killed", "INCONCLUSIVE", " is gone")
	<-done
	events := c.latest("runs", "history") // of all hosts but that one
	for id := range 8 {
		entered := strings.Contains(events, fmt.Sprintf(",%d,0,entered,", id))
		if entered == (id%4 == 1) {
			c.Errorf("of node %d there are entries: %v", id, entered)
		}
	}
}

// begun reports whether a run of the set killed takes requests, as it does once its nodes are up.
func begun(root string) bool {
	folders, _ := filepath.Glob(filepath.Join(root, "killed", "*"))
	for _, folder := range folders {
		client, err := control.Dial(folder)
		if err != nil {
			continue
		}
		defer client.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		reply, err := client.Ask(ctx, control.Request{Do: control.List})
		return err == nil && reply.Refused == "" && reply.Trial > 0
	}
	return false
}

// hostContainer returns the container of the host with a number. Hosts are numbered by their names, which
// are the IDs of their containers.
func (c *composed) hostContainer(number int) string {
	out, _ := exec.Command("docker", "ps", "-q", "--filter", "label=com.docker.compose.project="+c.project,
		"--filter", "label=com.docker.compose.service=host").Output()
	ids := slices.Sorted(strings.FieldsSeq(string(out)))
	if number >= len(ids) {
		return "none"
	}
	return ids[number]
}
