package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"turnstile/results"
)

func TestMachinesInWords(t *testing.T) {
	m := results.Machine{OS: "linux", Arch: "amd64", Cores: 2, CPU: "Z80", CPUQuota: 1.5, MemoryMB: 2048,
		Kernel: "6.1"}
	if got, want := MachineText(m),
		"linux/amd64, 2 cores of Z80, limited to 1.5 CPUs, 2,048 MB, kernel 6.1"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	m = results.Machine{OS: "linux", Arch: "arm64", Cores: 1}
	if got, want := MachineText(m), "linux/arm64, 1 core"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// Of a run whose record is missing there are its rows, and an error.
func TestTrialsOfADamagedRun(t *testing.T) {
	folder := &results.Folder{Path: filepath.Join(t.TempDir(), "renamed")}
	if err := os.Mkdir(folder.Path, 0o755); err != nil {
		t.Fatal(err)
	}
	table := "run,trial,kind,nodes,wait_us_p99\nonce,1,bench,3,12.5\nonce,2,bench,3,13\n"
	if err := os.WriteFile(folder.File(results.RowsFile), []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
	var wrong []error
	missing := &results.Folder{Path: filepath.Join(t.TempDir(), "missing")}
	trials := StoredTrials([]*results.Folder{missing, folder}, func(_ *results.Folder, err error) {
		wrong = append(wrong, err)
	})
	if len(trials) != 2 || trials[0].Run != "renamed" || trials[1].Nodes != 3 || trials[0].Machine != "" {
		t.Errorf("%+v", trials)
	}
	if len(wrong) != 2 || !strings.Contains(wrong[1].Error(), results.RunFile) {
		t.Errorf("its record is missing, and the errors are %v", wrong)
	}
}
