package quickpipe

import (
	"bytes"
	"io"
	"os"
	"testing"
)

// open returns both ends of a pipe.
func open(t *testing.T) (from, to *Pipe, ends [2]*os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	if from, err = New(r); err != nil {
		t.Fatal(err)
	}
	if to, err = New(w); err != nil {
		t.Fatal(err)
	}
	return from, to, [2]*os.File{r, w}
}

// A reader gets all bytes that are written, even more than the pipe has space for, and then io.EOF.
func TestPipe(t *testing.T) {
	from, to, ends := open(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<14)
	wrong := make(chan error, 1)
	go func() {
		_, err := to.Write(want)
		wrong <- err
		ends[1].Close()
	}()
	got, err := io.ReadAll(from)
	if err != nil || <-wrong != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
	}
	if n, err := from.Read(nil); n != 0 || err != nil {
		t.Errorf("reading nothing: %d, %v", n, err)
	}
}

// Put takes what there is space for, and says when nobody reads any more.
func TestPut(t *testing.T) {
	_, to, ends := open(t)
	total := 0
	for {
		n, err := to.Put(make([]byte, 4096))
		if err != nil {
			t.Fatal(err)
		}
		if total += n; n < 4096 {
			break
		}
	}
	if n, err := to.Put([]byte("x")); n != 0 || err != nil || total < 4096 {
		t.Errorf("a full pipe with %d bytes took %d more: %v", total, n, err)
	}
	ends[0].Close()
	if _, err := to.Put([]byte("x")); err == nil {
		t.Error("a pipe without a reader took a byte")
	}
	ends[1].Close()
	if _, err := to.Put([]byte("x")); err == nil {
		t.Error("a closed pipe took a byte")
	}
}
