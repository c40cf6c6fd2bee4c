package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the window of the decompressor, in bytes, which a few bytes of a file determine.
const maxWindow = 16 << 20

// A File is a stored history while it is written: a Fold. The file appears whole or not at all.
type File struct {
	*Writer
	path   string
	file   *os.File
	packer *zstd.Encoder
}

// CreateFile begins to store a history as a compressed file at path.
func CreateFile(path string, h Header) (*File, error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".history-*")
	if err != nil {
		return nil, fmt.Errorf("storing the history: %w", err)
	}
	packer, err := zstd.NewWriter(file, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		panic(err) // the options are wrong
	}
	return &File{NewWriter(packer, h), path, file, packer}, nil
}

// Save gives the file its name, once the fold is closed. The error is the first that storing the history met;
// nothing is left behind then.
func (f *File) Save() error {
	err := f.Err()
	if closed := f.packer.Close(); err == nil { // otherwise it is the same error
		err = closed
	}
	if err == nil {
		err = errors.Join(f.file.Chmod(0o644), f.file.Sync())
	}
	err = errors.Join(err, f.file.Close())
	if err == nil {
		err = os.Rename(f.file.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.file.Name())
		return fmt.Errorf("storing the history: %w", err)
	}
	return nil
}

// Store merges the logs in the folder dir into one file at path. The logs stay.
func Store(path, dir string) error {
	r, err := Open(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := CreateFile(path, r.Header)
	if err != nil {
		return err
	}
	if err := r.Run(f); err != nil {
		f.Writer.err = err
	}
	return f.Save()
}

// A Reader reads a history, once.
type Reader struct {
	Header
	source source
	close  func() error
}

// A source is where a history comes from.
type source interface {
	next(e *Event) (bool, error)
	logs() []*NodeLog // after the last event
}

// Open opens a history to read it: a file that was stored, or a folder of logs as the nodes left them.
func Open(path string) (*Reader, error) {
	r, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	return r, nil
}

func open(path string) (*Reader, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		f, err := openFolder(path)
		if err != nil {
			return nil, err
		}
		h := headerOf(f.logs())
		h.Nodes, h.Origin = f.nodes, f.readers[0].origin
		return &Reader{h, f, f.close}, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := newReader(path, file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	unpack := r.close
	r.close = func() error { return errors.Join(unpack(), file.Close()) }
	return r, nil
}

// newReader reads a compressed history; name is what errors call it.
func newReader(name string, from io.Reader) (*Reader, error) {
	unpacker, err := zstd.NewReader(from, zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	s, err := newStored(name, unpacker)
	if err != nil {
		unpacker.Close()
		return nil, err
	}
	return &Reader{s.Header, s, func() error { unpacker.Close(); return nil }}, nil
}

// Close closes what the history is read from.
func (r *Reader) Close() error { return r.close() }

// Next reads the next event into e, and reports whether there was one.
func (r *Reader) Next(e *Event) (bool, error) {
	more, err := r.source.next(e)
	if err != nil {
		return false, fmt.Errorf("reading the history: %w", err)
	}
	return more, nil
}

// Logs returns what the nodes left beside their events, once Next has found no further event.
func (r *Reader) Logs() []*NodeLog { return r.source.logs() }

// Run gives the history to each of the folds. After an error they are worth nothing.
func (r *Reader) Run(folds ...Fold) error { return r.RunContext(context.Background(), folds...) }

// RunContext is Run, unless ctx is done before the end of the history: then it returns the error of ctx.
func (r *Reader) RunContext(ctx context.Context, folds ...Fold) error {
	const between = 1 << 12 // events, from one look at ctx to the next
	var e Event
	for count := 0; ; count++ {
		if count%between == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		more, err := r.Next(&e)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		for _, f := range folds {
			f.Add(e)
		}
	}
	for _, f := range folds {
		f.Close(r.Logs())
	}
	return nil
}

// Load reads a whole history into memory.
func Load(path string) (*History, error) {
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	h := &History{}
	return h, r.Run(h)
}
