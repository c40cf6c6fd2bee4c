package host

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// savedPath is a variable of the environment. If it names a file, the test process only saves to this file.
const savedPath = "TURNSTILE_TEST_SAVED"

// save returns the content of the save with a number in these tests. It begins with the number, differs in
// length from the save before, and some saves are longer than all before.
func save(number uint64) []byte {
	b := make([]byte, 8+number*7919%(16+number/4))
	for i := range b {
		b[i] = byte(number + uint64(i))
	}
	binary.LittleEndian.PutUint64(b, number)
	return b
}

// checkSave returns the number of a save, and fails unless the save is whole.
func checkSave(t *testing.T, b []byte) uint64 {
	t.Helper()
	if len(b) < 8 {
		t.Fatalf("%d bytes are no save", len(b))
	}
	number := binary.LittleEndian.Uint64(b)
	if string(b) != string(save(number)) {
		t.Fatalf("save %d is not whole", number)
	}
	return number
}

// saveForLong goes on for much longer than its parent lets it live, but not for ever. It writes a byte to
// file descriptor 3 after each save.
func saveForLong(path string) error {
	done := os.NewFile(3, "done")
	f := savedFile{path: path}
	for number := uint64(1); number < 1<<16; number++ {
		if err := f.put(save(number)); err != nil {
			return err
		}
		if _, err := done.Write([]byte{1}); err != nil {
			return err
		}
	}
	return nil
}

// At whatever moment the process dies, the last save or the one being written is there, and is whole.
func TestSavesSurviveDeathAtAnyMoment(t *testing.T) {
	if path := os.Getenv(savedPath); path != "" {
		if err := saveForLong(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	for i := range 12 {
		f := savedFile{path: filepath.Join(t.TempDir(), "saved")}
		count := killWhileSaving(t, f.path, rand.IntN(1<<(i+2)))
		if err := f.open(); err != nil {
			t.Fatal(err)
		}
		b, err := f.last()
		if err != nil {
			t.Fatal(err)
		}
		if number := checkSave(t, b); number != count && number != count+1 {
			t.Errorf("of %d saves, number %d is there", count, number)
		}
		if err := f.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killWhileSaving runs a child that saves to path, kills it at some moment after a number of saves, and
// returns how many saves it had finished.
func killWhileSaving(t *testing.T, path string, after int) uint64 {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), savedPath+"="+path)
	cmd.ExtraFiles = []*os.File{write}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Start()
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(read, make([]byte, 1+after)); err != nil {
		t.Errorf("the child does not go on: %v", err)
	}
	// Its pipe is full after 65,536 saves, more than it makes, so it does not wait for its parent.
	for until := time.Now().Add(rand.N(200 * time.Microsecond)); time.Now().Before(until); {
	}
	cmd.Process.Kill()
	rest, err := io.ReadAll(read)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil && !strings.Contains(err.Error(), "killed") {
		t.Errorf("the child has failed: %v: %s", err, out.String())
	}
	return uint64(1 + after + len(rest))
}

// At each point of a save, the save before stays whole: while the new save is written to the other slot, and
// while it is written to a longer file.
func TestHalfASaveIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "saved")
	f := savedFile{path: path}
	for number := uint64(1); number < 20_000; number += 1 + number/20 {
		if err := f.put(save(number)); err != nil {
			t.Fatal(err)
		}
		slot := f.slot(f.number + 1) // all but its number is written
		for i := sumAt; i < len(slot); i++ {
			slot[i] ^= 0xff
		}
		if err := os.WriteFile(path+".new", []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
		next := savedFile{path: path}
		if err := next.open(); err != nil {
			t.Fatal(err)
		}
		b, err := next.last()
		if err != nil {
			t.Fatal(err)
		}
		if got := checkSave(t, b); got != number {
			t.Fatalf("save %d is there instead of %d", got, number)
		}
		f.close()
		f = next // which goes on
	}
	if len(f.mapped) <= 2*slotLen {
		t.Error("no save was longer than the slots at the beginning")
	}
	f.close()
}

// A file whose content is no save gives an error that says so, and is never taken for a save.
func TestGarbledSavesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "saved")
	for says, change := range map[string]func(b []byte) []byte{
		"not whole":        func(b []byte) []byte { b[slotLen+slotHead] ^= 1; return b },
		"number 0, is not": func(b []byte) []byte { return make([]byte, len(b)) },
		"number 77":        func(b []byte) []byte { b[0] = 77; return b },
		"number 1, is not": func(b []byte) []byte { b[slotLen+lengthAt+2] = 1; return b },
		"0 bytes instead":  func(b []byte) []byte { return nil },
		"4095 bytes":       func(b []byte) []byte { return b[1:] },
	} {
		f := savedFile{path: path}
		if err := f.put(save(1)); err != nil {
			t.Fatal(err)
		}
		f.close()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, change(b), 0o644); err != nil {
			t.Fatal(err)
		}
		if err = f.open(); err == nil {
			_, err = f.last()
		}
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v does not say %q", err, says)
		}
		f.close()
	}
}
