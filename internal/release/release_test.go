package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// An archive is the same whatever the order of its files, and whenever and where it is made.
func TestArchivesAreReproducible(t *testing.T) {
	files := []file{{"program", 0o755, []byte("a program")}, {"man/man1/program.1", 0o644, []byte("a page")}}
	date := time.Unix(1_790_000_000, 0)
	var made [][]byte
	for range 2 {
		name := filepath.Join(t.TempDir(), "x.tar.gz")
		if err := pack(name, "x-0.1.0", files, date); err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, body)
		slices.Reverse(files)
		date = date.In(time.FixedZone("elsewhere", 3600))
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("two archives of the same files differ")
	}
	all, err := unpack(made[0])
	if err != nil {
		t.Fatal(err)
	}
	if f := all["x-0.1.0/program"]; f.mode != 0o755 || string(f.body) != "a program" || len(all) != 2 {
		t.Errorf("the archive holds %v", all)
	}
}

// A file that was changed after the sums were written is named.
func TestSums(t *testing.T) {
	dir := t.TempDir()
	archive, sums := filepath.Join(dir, "a.tar.gz"), filepath.Join(dir, sumsFile)
	if err := os.WriteFile(archive, []byte("abc"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeSums(sums, []string{archive}); err != nil {
		t.Fatal(err)
	}
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a.tar.gz\n"
	if got, _ := os.ReadFile(sums); string(got) != want {
		t.Errorf("the sums are %q", got)
	}
	if all, err := checkSums(sums); err != nil || string(all["a.tar.gz"]) != "abc" {
		t.Errorf("checking the sums: %v, %v", all, err)
	}
	if err := os.WriteFile(archive, []byte("abd"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := checkSums(sums); err == nil || !strings.Contains(err.Error(), "the sum of a.tar.gz is") {
		t.Errorf("after a change: %v", err)
	}
}

// checkProgram returns an error for each fault that a program of a release must not have.
func TestCheckProgram(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module p\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	amd64 := platform{"linux", "amd64"}
	built := func(flags ...string) []byte {
		cmd := exec.Command("go", append(append([]string{"build", "-o", "p"}, flags...), ".")...)
		cmd.Dir, cmd.Env = dir, environment(amd64)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", flags, err, out)
		}
		body, err := os.ReadFile(filepath.Join(dir, "p"))
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	good := built("-trimpath", "-ldflags=-s -w")
	large := slices.Concat(good, make([]byte, most-len(good)))
	for says, f := range map[string]file{
		"": {"p", 0o755, good},
		"its mode 644 does not let every user execute it": {"p", 0o644, good},
		"it has 35000000 bytes":                           {"p", 0o755, large},
		"it is not stripped":                              {"p", 0o755, built("-trimpath")},
		"built without -trimpath":                         {"p", 0o755, built("-ldflags=-s -w")},
		"it is not static: it asks":                       {"p", 0o755, dynamic(t)},
	} {
		if err := checkProgram(amd64, f); (err == nil) != (says == "") || err != nil && f.body != nil &&
			!strings.Contains(err.Error(), says) {
			t.Errorf("of a program about which it should say %q it says %v", says, err)
		}
	}
	err := checkProgram(platform{"linux", "arm64"}, file{"p", 0o755, good})
	if err == nil || !strings.Contains(err.Error(), "it is for EM_X86_64") {
		t.Errorf("of a program for another processor: %v", err)
	}
}

// dynamic returns a dynamic program, if this machine has one.
func dynamic(t *testing.T) []byte {
	body, err := os.ReadFile("/bin/sh")
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" || err != nil {
		t.Log("SKIPPED: /bin/sh is no program for linux/amd64, so dynamic programs are not tested")
		return nil
	}
	return body
}

// Every command has a page with its whole help, and pages keep what stands in columns.
func TestManPages(t *testing.T) {
	pages, err := manPages(&release{version: "0.1.0", date: time.Unix(0, 0).UTC()})
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, p := range pages {
		text[p.name] = string(p.body)
	}
	for name, has := range map[string]string{
		"orchestrator":              "orchestrator-bench(1)",
		"orchestrator-bench":        "\n  sequential  one request at a time",
		"orchestrator-runs-publish": "Make a folder",
		"orchestrator-hosts-join":   "--name",
	} {
		if page := text[manFolder+"/"+name+".1"]; !strings.Contains(page, has) {
			t.Errorf("the page of %s does not have %q:\n%.2000s", name, has, page)
		}
	}
	for name := range text {
		if strings.Contains(name, "proxy") || strings.Contains(name, "-host.") {
			t.Errorf("there is a page %s about a command that help hides", name)
		}
	}
	scripts, err := completions()
	for _, s := range scripts {
		if err != nil || !bytes.Contains(s.body, []byte("__complete")) {
			t.Errorf("%s completes nothing, %v", s.name, err)
		}
	}
}

func TestBlocks(t *testing.T) {
	for text, want := range map[string]string{
		"one\ntwo":            "one\ntwo",
		"Loads:\n  a  b\n  c": "Loads:\n\n```\n  a  b\n  c\n```\n",
		"x\n  a\n\n  b\ny":    "x\n\n```\n  a\n\n  b\n```\n\ny",
	} {
		if got := blocks(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
