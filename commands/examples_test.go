package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A run under the plan of examples/plan is valid, so each fault has hit something. examples/turnstile.yaml is
// a configuration.
func TestExampleFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string {
		full, err := filepath.Abs(filepath.Join("../examples", name))
		if err != nil {
			t.Fatal(err)
		}
		return full
	}
	ends(t, orchestrator(t, dir, "simulate", "--algo", "suzuki-kasami-ft", "-n", "5", "--seed", "1", "--plan",
		path("plan/lonely-holder.yaml")), 0, "\n3 pause holder ")
	says := ends(t, orchestrator(t, dir, "simulate", "--config", path("turnstile.yaml"), "--duration", "200ms"),
		0, "ricart-agrawala, 16 nodes")
	if !strings.Contains(says, "latency uniform:1ms,3ms") {
		t.Errorf("the configuration has another latency:\n%s", says)
	}
}

// The program of examples/python keeps clients apart, for about as many messages per entry as is published:
// N.
func TestExampleInPython(t *testing.T) {
	t.Parallel()
	status, says := shownForeign(t, t.TempDir(), "bench", python(t, "../examples/python/suzuki_kasami.py"), "-n",
		"3", "--hold", "2ms", "--duration", "300ms", "--require", "messages_per_entry<=3.5")
	if status != 0 || !strings.Contains(says, "no two were inside together") {
		t.Errorf("status %d: %s", status, says)
	}
}

// The commands of the workflow in examples/ci pass a pull request that changes no figure, and fail one that
// makes the ring of examples/algorithm forget its regions.
func TestExampleWorkflow(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git, so the workflow of examples/ci is not tested")
	}
	var workflow struct {
		Env  map[string]string
		Jobs map[string]struct{ Steps []struct{ Name, Run string } }
	}
	text, err := os.ReadFile("../examples/ci/algorithm.yml")
	if err == nil {
		err = yaml.Unmarshal(text, &workflow)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mine := filepath.Join(dir, "mine")
	if err := os.CopyFS(mine, os.DirFS("../examples/algorithm")); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err == nil {
		err = os.Symlink(root, filepath.Join(dir, "turnstile"))
	}
	if err != nil {
		t.Fatal(err)
	}
	call := func(script string) (string, error) {
		cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
		cmd.Dir, cmd.Env = mine, append(cleanEnv(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		for name, value := range workflow.Env {
			cmd.Env = append(cmd.Env, name+"="+strings.ReplaceAll(value, "origin/${{ github.base_ref }}", "base"))
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := call("go mod edit -replace turnstile=../turnstile && git init -q && git add -A && git -c " +
		"user.name=a -c user.email=a@b commit -qm a && git branch base"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	steps := 0
	for _, step := range workflow.Jobs["runs"].Steps {
		if step.Run == "" {
			continue
		}
		if out, err := call(step.Run); err != nil {
			t.Fatalf("%s: %v\n%s", step.Name, err, out)
		}
		steps++
	}
	if report, err := os.ReadFile(filepath.Join(mine, "bench.xml")); steps != 4 || err != nil ||
		!strings.Contains(string(report), `tests="2" failures="0" errors="0"`) {
		t.Errorf("%d steps, %v:\n%s", steps, err, report)
	}
	out, err := call(`sed -i -e /SortStable/d -e '/"cmp"/d' -e '/"slices"/d' ring.go && rm -r results
git worktree remove --force ../base
` + workflow.Jobs["runs"].Steps[2].Run + workflow.Jobs["runs"].Steps[5].Run)
	if err == nil || !strings.Contains(out, "FAILED: worse by more than 5%: wait_us_p50 of after") {
		t.Errorf("a ring without regions: %v\n%s", err, out)
	}
}
