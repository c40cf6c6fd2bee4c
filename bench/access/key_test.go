package access

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// makeKeys makes the key of a lab, and returns the folder and the path of the key.
func makeKeys(t *testing.T) (dir, lab string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "keys")
	if made, err := Make(dir); err != nil || !made {
		t.Fatalf("it has made keys: %v, %v", made, err)
	}
	return dir, filepath.Join(dir, LabFile)
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// write writes a file that nobody else can read, and returns its path.
func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A folder of keys is for this user alone, and only the file of the server has the private key. No call
// changes a file that is there.
func TestMake(t *testing.T) {
	dir, lab := makeKeys(t)
	control := filepath.Join(dir, ControlFile)
	for path, mode := range map[string]os.FileMode{dir: 0o700, lab: 0o600, control: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has the mode %v, %v", path, info.Mode(), err)
		}
	}
	secret, private := read(t, lab), read(t, control)
	if strings.Contains(secret, "PRIVATE") || !strings.Contains(private, "PRIVATE KEY") {
		t.Errorf("the private key of the server is not where it belongs:\n%s", secret)
	}
	if made, err := Make(dir); made || err != nil {
		t.Errorf("keys that are there are made again: %v, %v", made, err)
	}
	if _, other := makeKeys(t); read(t, other) == secret {
		t.Error("two labs have one key")
	}
	for _, lost := range []string{lab, control} {
		if err := os.Rename(lost, lost+".kept"); err != nil {
			t.Fatal(err)
		}
		if _, err := Make(dir); err == nil || !strings.Contains(err.Error(), "put the other back") {
			t.Errorf("without %s: %v", lost, err)
		}
		if err := os.Rename(lost+".kept", lost); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, lab) != secret || read(t, control) != private {
		t.Error("a key has changed")
	}
	if _, err := Make(lab); err == nil {
		t.Error("a file is a folder of keys")
	}
}
