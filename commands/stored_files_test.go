//go:build linux

package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"turnstile/results"
)

// A stored file may be a pipe, an endless device or a file of the kernel: no command waits for ever or runs
// out of memory. It refuses or ignores the file, and never calls a run valid whose history it cannot read.
func TestStoredFilesThatAreNone(t *testing.T) {
	whole := simulatedRun(t, "--algo ricart -n 3 --entries 20")
	files := []string{results.RunFile, results.RowsFile, results.MessagesFile, results.VerdictFile,
		results.LatencyLog, results.LatencyProfile, "verdict.txt", "history-1.zst", "../" + results.SetFile,
		"../" + results.ReadmeFile}
	instead := map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
	}
	if os.Geteuid() == 0 {
		instead["kernel"] = func(path string) error { return os.Symlink("/proc/kmsg", path) }
	}
	for what, make := range instead {
		for _, file := range files {
			t.Run(what+" "+filepath.Base(file), func(t *testing.T) {
				run := filepath.Join(t.TempDir(), "set", filepath.Base(whole))
				if err := os.CopyFS(run, os.DirFS(whole)); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(run, file)
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				if err := make(path); err != nil {
					t.Fatal(err)
				}
				verified := verifyIn(t, run)
				if verified.status == 0 && !strings.HasPrefix(file, "../") {
					t.Errorf("verify: status 0 without %s", file)
				}
				calledIn(t, run, "show", "--json")
				if file == results.RunFile && !strings.Contains(verified.error, "only regular files are read") {
					t.Errorf("verify says %q", verified.error)
				}
			})
		}
	}
}

// readers are the source files that open files without the package input, with the reason: the program or the
// kernel has made the file, or the Makefile starts the program in a clone.
var readers = map[string]string{
	"hosts/cluster/limits.go":            "the kernel's",
	"hosts/cluster/limits_linux.go":      "the kernel's",
	"hosts/cluster/usage.go":             "the kernel's",
	"bench/publish/publish.go":           "names only: the files are read by input",
	"bench/runs/leftover.go":             "a folder",
	"bench/service/local/local_linux.go": "the kernel's, and a file that it makes for its lock",
	"bench/service/owner_linux.go":       "the kernel's",
	"bench/study/hunt.go":                "writes what input read before",
	"chaos/shared_state.go":              "a register that the run made",
	"hosts/access/key.go":                "a key that it makes, and none may be there",
	"hosts/agent/agent.go":               "the kernel's",
	"hosts/agent/machine.go":             "writes a log that it fetches",
	"hosts/control/control.go":           "a folder",
	"hosts/netcut/netcut_linux.go":       "the kernel's",
	"internal/flaky/main.go":             "of the Makefile",
	"internal/input/input.go":            "input",
	"internal/offset/offset.go":          "the kernel's",
	"internal/proc/guard.go":             "the kernel's",
	"internal/proc/process.go":           "the kernel's",
	"internal/proc/scratch.go":           "a folder that it made",
	"internal/proc/stops.go":             "the kernel's",
	"internal/proc/use.go":               "the kernel's",
	"internal/selfbench/meter.go":        "of the Makefile",
	"internal/size/main.go":              "of the Makefile",
	"internal/times/main.go":             "of the Makefile",
	"internal/times/notes.go":            "of the Makefile",
	"internal/times/pages.go":            "of the Makefile",
	"nodes/history/log.go":               "a log that it makes, and none may be there",
	"nodes/host/resource.go":             "a file that the run made",
	"nodes/host/saved.go":                "a file that the run made",
	"nodes/replay/story/story.go":        "for tests and their rewriting alone",
	"play/assemble/page.go":              "of the Makefile",
	"play/assemble/sources.go":           "of the Makefile",
	"results/folder.go":                  "folders, and what it writes",
	"results/machine.go":                 "the kernel's",
	"results/set.go":                     "a file that it makes for its lock, opened to write: that never waits",
	"services/postgres/standby.go":       "settings that it writes",
	"services/zookeeper/compile.go":      "a file that it makes for its lock",
}

// Every file that a user or a stranger can put there is read by the package input.
func TestFilesAreReadByInput(t *testing.T) {
	opens := regexp.MustCompile(`\bos\.(Open|OpenFile|ReadFile|DirFS|OpenRoot|OpenInRoot)\(`)
	found := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel("..", path)
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") ||
			slices.Contains(strings.Split(rel, "/"), "testdata") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !opens.Match(text) {
			return err
		}
		found[rel] = true
		if readers[rel] == "" {
			t.Errorf("%s has %s: read by input, or say in readers why it may", rel, opens.Find(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range readers {
		if !found[path] {
			t.Errorf("%s opens no file: remove it from readers", path)
		}
	}
}
