package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// storedMagic begins the uncompressed content of a stored history; the logs follow, each behind its
// length as an unsigned 64-bit number.
const storedMagic = "TURNHIST"

// What a stored history may ask of its reader: bytes in all, and bytes to look back on, which are
// allocated on the word of a few bytes.
const (
	maxStored = 8 << 30
	maxWindow = 16 << 20
)

// LogPattern matches the names of the logs in the folder of a trial.
const LogPattern = "*.log"

// Store packs the logs in the folder dir into one compressed file at path. The file appears whole or
// not at all, and the logs stay.
func Store(path, dir string) error {
	return store(path, func(w io.Writer) error {
		return eachLog(dir, func(_ string, length int64, log io.Reader) error { return packLog(w, length, log) })
	})
}

// Save writes a history that no process has logged, as Store does.
func (h *History) Save(path string) error { return store(path, h.Encode) }

// Encode writes the logs of a history that no process has logged, each behind its length: the content of
// what Save stores. Equal histories give equal bytes.
func (h *History) Encode(w io.Writer) error {
	var b []byte
	for _, l := range h.Logs {
		b = l.append(b[:0], len(h.Logs)-1)
		if err := packLog(w, int64(len(b)), bytes.NewReader(b)); err != nil {
			return err
		}
	}
	return nil
}

func packLog(w io.Writer, length int64, log io.Reader) error {
	if err := binary.Write(w, binary.LittleEndian, length); err != nil {
		return err
	}
	_, err := io.CopyN(w, log, length)
	return err
}

// append writes out a log of a run of so many nodes.
func (l *NodeLog) append(b []byte, nodeCount int) []byte {
	// The oldest place of a trace counts as half-written once the trace is full: this one never is.
	p := preamble{node: l.Node, nodes: uint32(nodeCount), instances: uint32(len(l.Instances)),
		trace: uint32(len(l.Trace) + 1), errNS: l.StampError}
	p.header = p.headerLen()
	b = append(b, make([]byte, preambleLen)...)
	p.put(b)
	totals := l.Totals
	totals.TraceNext, totals.EventCount = uint64(len(l.Trace)), uint64(len(l.Events))
	b, _ = binary.Append(b, binary.LittleEndian, &totals) // fails for types that are not plain alone
	b = append(b, make([]byte, preambleLen+int(countersLen)-len(b))...)
	for i := range l.Instances {
		b = l.Instances[i].append(b)
	}
	late := l.Late
	if late == nil {
		late = make([]uint64, LatenessBuckets)
	}
	for _, n := range late {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	at := len(b)
	b = append(b, make([]byte, int(p.offset(len(l.Events)))-at)...)
	for i := range l.Trace {
		putMessageRecord(b[at+i*messageRecordLen:], &l.Trace[i])
	}
	for i := range l.Events {
		at := b[p.offset(i):]
		binary.LittleEndian.PutUint32(at[EventLen-4:], putEvent(at, uint64(i), &l.Events[i]))
	}
	return b
}

// store compresses what pack writes into a file at path.
func store(path string, pack func(io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("storing the history: %w", err)
		}
	}()
	file, err := os.CreateTemp(filepath.Dir(path), ".history-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // fails when all went well: it has its name by then
	defer file.Close()
	packer, err := zstd.NewWriter(file, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	_, err = io.WriteString(packer, storedMagic)
	if err == nil {
		err = pack(packer)
	}
	if closed := packer.Close(); err == nil { // or else it says the same again
		err = closed
	}
	if err == nil {
		err = errors.Join(file.Chmod(0o644), file.Sync())
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// eachLog opens one log of a folder after another, and gives it to do. It passes over those whose process
// died before they had begun.
func eachLog(dir string, do func(path string, length int64, log io.Reader) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	count := 0
	for _, entry := range entries {
		if ok, _ := filepath.Match(LogPattern, entry.Name()); !ok {
			continue
		}
		there, err := withLog(filepath.Join(dir, entry.Name()), do)
		if err != nil {
			return err
		}
		if there {
			count++
		}
	}
	if count == 0 {
		return fmt.Errorf("%s holds no logs", dir)
	}
	return nil
}

// withLog gives the log at path to do, if it has begun.
func withLog(path string, do func(path string, length int64, log io.Reader) error) (there bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	if there, err := begun(file); !there {
		return false, err
	}
	return true, do(path, info.Size(), file)
}

// begun reports whether a log has its preamble. What died before has no magic yet, nor anything
// after the preamble.
func begun(log io.ReaderAt) (bool, error) {
	for _, part := range []*io.SectionReader{
		io.NewSectionReader(log, 0, int64(len(magic))),
		io.NewSectionReader(log, preambleLen, math.MaxInt64-preambleLen),
	} {
		if zeros, err := onlyZeros(part); !zeros || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// Load reads a history: a file that Store wrote, or a folder of logs as the nodes left them.
func Load(path string) (*History, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	if info.IsDir() {
		return loadFolder(path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	defer file.Close()
	return Decode(path, file)
}

func loadFolder(dir string) (*History, error) {
	h := &History{}
	err := eachLog(dir, func(path string, length int64, log io.Reader) error {
		l, err := decodeLog(path, 0, length, log)
		if err == nil {
			h.Logs = append(h.Logs, l)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	return h.sorted(), nil
}

// Decode reads what Store wrote; name is what errors call it.
func Decode(name string, r io.Reader) (*History, error) {
	unpacker, err := zstd.NewReader(r,
		zstd.WithDecoderMaxMemory(maxStored), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	defer unpacker.Close()
	counted := &countingReader{r: bufio.NewReader(unpacker)}
	fail := func(what string, err error) (*History, error) {
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			what += ": " + err.Error()
		}
		return nil, &FormatError{name, counted.n, what}
	}
	start := make([]byte, len(storedMagic))
	if _, err := io.ReadFull(counted, start); err != nil || string(start) != storedMagic {
		return fail("this is no history of Turnstile", err)
	}
	h := &History{}
	for {
		var length uint64
		if err := binary.Read(counted, binary.LittleEndian, &length); err == io.EOF {
			return h.sorted(), nil
		} else if err != nil {
			return fail("the history is cut off or garbled", err)
		}
		base := counted.n
		l, err := decodeLog(name, base, int64(min(length, 1<<62)), counted)
		var wrong *FormatError
		switch {
		case errors.As(err, &wrong):
			return nil, err
		case err != nil || uint64(counted.n-base) < length:
			return fail("the history is cut off or garbled", err)
		}
		h.Logs = append(h.Logs, l)
	}
}

func (h *History) sorted() *History {
	slices.SortStableFunc(h.Logs, func(a, b *NodeLog) int { return cmp.Compare(a.Node, b.Node) })
	return h
}

// countingReader says how far it has read.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}
