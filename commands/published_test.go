package commands

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Nothing differs in the published sets, and they are small. If a report changes, make published-pages makes
// those of the sets again.
func TestPublishedSets(t *testing.T) {
	const most = 12_000_000 // bytes
	entries, err := os.ReadDir(published)
	if err != nil {
		t.Fatal(err)
	}
	sets := 0
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		sets++
		t.Run(e.Name(), func(t *testing.T) {
			t.Parallel()
			set, err := filepath.Abs(filepath.Join(published, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			ends(t, orchestrator(t, t.TempDir(), "verify", set), 0, "nothing that was compared in it differs")
		})
	}
	size := int64(0)
	filepath.WalkDir(published, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, _ := d.Info()
			size += info.Size()
		}
		return err
	})
	if sets == 0 || size > most {
		t.Errorf("%d sets of %d bytes together", sets, size)
	}
}
