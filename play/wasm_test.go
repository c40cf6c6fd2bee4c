//go:build !js

package play

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"turnstile/algorithms/catalog"
	"turnstile/nodes"
)

// driver is a program for Node: it loads a program for browsers, and makes the calls that the lines of its
// input name.
const driver = `globalThis.crypto ??= require("crypto");
require(process.argv[2]);
const go = new Go(), wasm = require("fs").readFileSync(process.argv[3]);
WebAssembly.instantiate(wasm, go.importObject).then(made => {
go.run(made.instance);
for (const line of require("fs").readFileSync(0, "utf8").split("\n")) {
const at = line.indexOf(" ");
if (at > 0) process.stdout.write(turnstile(line.slice(0, at), line.slice(at + 1)) + "\n", () => {});
}
process.stdout.write("", () => process.exit(0));
});
`

// A simulated run of every algorithm, played to its end, is the same in a browser's WebAssembly as here: the
// states of all nodes, messages and fields, and the verdict.
func TestWebAssemblyPlaysTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("make play-test plays as WebAssembly")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("SKIPPED: Node is not installed, so WebAssembly is not tested")
	}
	var lines []string
	for _, algo := range (catalog.Table{}).Algorithms() {
		for _, n := range []int{3, 5, 16} {
			if algo.Validate(nodes.Config{N: n}) != nil {
				continue
			}
			lines = append(lines, runOf(t, algo.Name, n, algo.Kind == nodes.Election)...)
		}
	}
	page, err := built()
	if err != nil {
		t.Fatal(err)
	}
	wasm, script := strings.TrimSuffix(page, ".html")+".wasm", filepath.Join(t.TempDir(), "driver.js")
	if err := os.WriteFile(script, []byte(driver), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js")
	there := exec.Command(node, script, exe, wasm)
	there.Stdin, there.Stderr = strings.NewReader(strings.Join(lines, "\n")), os.Stderr
	out, err := there.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d calls", len(answers), len(lines))
	}
	for i, line := range lines {
		name, args, _ := strings.Cut(line, " ")
		if here := Call(name, []byte(args)); !bytes.Equal(here, answers[i]) {
			t.Errorf("%s: here %.400s, as WebAssembly %.400s", line, here, answers[i])
		}
	}
}

// runOf returns the calls that simulate a run, go to its end, and judge it.
func runOf(t *testing.T, algorithm string, n int, elects bool) []string {
	t.Helper()
	args := map[string]any{"algorithm": algorithm, "n": n, "seed": 3, "latency": "exponential:1ms"}
	if elects {
		args["options"] = map[string]string{"duration": "200ms"}
	} else {
		args["entries"] = 3 * n
	}
	text, _ := json.Marshal(args) // plain values have no error
	var made struct{ OK *State }
	if answer := Call("simulate", text); json.Unmarshal(answer, &made) != nil || made.OK == nil {
		t.Errorf("simulate %s: %.300s", text, answer)
		return nil
	}
	return []string{"simulate " + string(text), fmt.Sprintf(`back {"to":%d}`, made.OK.Steps), "verdict {}"}
}
