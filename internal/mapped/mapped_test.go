package mapped

import (
	"os"
	"path/filepath"
	"testing"
)

// What is written to one mapping is seen in another and in the file, and Unmap takes nil.
func TestMappingsShare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 4096), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	writer, err := ReadWrite(file, 0, 4096)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := Read(file, 0, 4096)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	writer[100] = 7
	if text, err := os.ReadFile(path); err != nil || text[100] != 7 || reader[100] != 7 {
		t.Errorf("7 was written; the other mapping has %d, the file %d (%v)", reader[100], text[100], err)
	}
	for _, b := range [][]byte{writer, reader, nil} {
		if err := Unmap(b); err != nil {
			t.Error(err)
		}
	}
}
