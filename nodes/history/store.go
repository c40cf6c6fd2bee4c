package history

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"
	"turnstile/internal/input"
	"turnstile/nodes"
)

// maxWindow bounds the window of the decompressor, in bytes: a few garbled bytes could ask for any size.
const maxWindow = 16 << 20

// A File is a stored history while it is written: a Fold. The file appears whole or not at all.
type File struct {
	*Writer
	path   string
	file   *os.File
	packer *zstd.Encoder
}

// packers are compressors for reuse: each has tables of a megabyte.
var packers = sync.Pool{New: func() any {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		panic(err) // only wrong options cause an error
	}
	return packer
}}

// CreateFile begins to store a history as a compressed file at path.
func CreateFile(path string, h Header) (*File, error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".history-*")
	if err != nil {
		return nil, fmt.Errorf("storing the history: %w", err)
	}
	packer := packers.Get().(*zstd.Encoder)
	packer.Reset(file)
	return &File{NewWriter(packer, h), path, file, packer}, nil
}

// Save gives the file its name. The fold must be closed before. Save returns the first error of storing the
// history, and then leaves no file.
func (f *File) Save() error {
	err := f.Err()
	if closed := f.packer.Close(); err == nil { // otherwise Close returns the same error
		err = closed
	}
	packers.Put(f.packer)
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
	logs() []*NodeLog // valid after the last event
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
	file, err := input.Open(path)
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

// newReader reads a compressed history. Errors contain name.
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

// Close closes the file or folder of the history.
func (r *Reader) Close() error { return r.close() }

// Next reads the next event into e, and reports whether there was one.
func (r *Reader) Next(e *Event) (bool, error) {
	more, err := r.source.next(e)
	if err != nil {
		return false, fmt.Errorf("reading the history: %w", err)
	}
	return more, nil
}

// Logs returns the logs of the nodes. Call it after Next has found no further event.
func (r *Reader) Logs() []*NodeLog { return r.source.logs() }

// Run gives the history to each of the folds. After an error their results are void.
func (r *Reader) Run(folds ...Fold) error { return r.RunContext(context.Background(), folds...) }

// RunContext is Run. If ctx is done before the end of the history, it returns the error of ctx.
func (r *Reader) RunContext(ctx context.Context, folds ...Fold) error {
	const between = 1 << 12 // number of events between two looks at ctx
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

// The uncompressed content of a stored history is its magic, and then blocks: a header, events in the order
// of time, a block for each NodeLog, and an end. Each block begins with its type and its length, as 32-bit
// numbers, and a CRC-32C of both and of what follows.
const (
	storedMagic  = "TURNHIS5"
	olderMagic   = "TURNHIS4"
	olderCommit  = "22dcf549"
	blockHeadLen = 12
	headerLen    = 24
	storedLen    = EventLen // bytes of an event: as in a log, but with its node instead of a commit word
	blockLen     = perPage * storedLen
)

// The types of blocks.
const (
	headerBlock = iota + 1
	eventsBlock
	logBlock
	endBlock
)

// blockSum returns the checksum of a block, which is the last field of its head.
func blockSum(head, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum(head[:blockHeadLen-4], castagnoli), castagnoli, payload)
}

// A Writer writes a history, uncompressed. It is a Fold, and keeps its first error.
type Writer struct {
	w      io.Writer
	events []byte // the events of the current block
	count  uint64
	err    error // the first error
	whole  bool
}

// NewWriter begins to write a history to w.
func NewWriter(w io.Writer, h Header) *Writer {
	s := &Writer{w: w, events: make([]byte, 0, blockLen)}
	s.write([]byte(storedMagic))
	b := make([]byte, headerLen)
	binary.LittleEndian.PutUint32(b, uint32(h.Nodes))
	binary.LittleEndian.PutUint64(b[8:], uint64(h.StampError))
	binary.LittleEndian.PutUint64(b[16:], h.Origin)
	s.block(headerBlock, b)
	return s
}

func (s *Writer) write(b []byte) {
	if s.err == nil {
		_, s.err = s.w.Write(b)
	}
}

func (s *Writer) block(kind uint32, payload []byte) {
	head := make([]byte, blockHeadLen)
	binary.LittleEndian.PutUint32(head, kind)
	binary.LittleEndian.PutUint32(head[4:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(head[8:], blockSum(head, payload))
	s.write(head)
	s.write(payload)
}

// Add implements Fold.
func (s *Writer) Add(e Event) {
	if len(s.events) == blockLen {
		s.flush()
	}
	at := len(s.events)
	s.events = s.events[:at+storedLen]
	putFields(s.events[at:], &e)
	binary.LittleEndian.PutUint32(s.events[at+storedLen-4:], uint32(e.Node))
	s.count++
}

func (s *Writer) flush() {
	s.block(eventsBlock, s.events)
	s.events = s.events[:0]
}

// Close implements Fold.
func (s *Writer) Close(logs []*NodeLog) {
	s.flush()
	var w words
	for _, l := range logs {
		w.b = w.b[:0]
		w.log(l)
		s.block(logBlock, w.b)
	}
	end := binary.LittleEndian.AppendUint64(nil, s.count)
	s.block(endBlock, binary.LittleEndian.AppendUint64(end, uint64(len(logs))))
	s.whole = true
}

// Err returns why the history is incomplete, or nil.
func (s *Writer) Err() error {
	if s.err == nil && !s.whole {
		return errors.New("it has no end")
	}
	return s.err
}

// A stored is a stored history while it is read.
type stored struct {
	Header
	name  string
	r     *bufio.Reader
	at    int64  // where the current block is in the content
	block []byte // the payload of the block
	rest  []byte // the part of block with events that have not been read
	count uint64 // number of events read
	last  int64  // the time of the latest event
	kind  uint32 // the type of block
	found []*NodeLog
}

// newStored reads the header of a stored history. Errors contain name.
func newStored(name string, r io.Reader) (*stored, error) {
	s := &stored{name: name, r: bufio.NewReaderSize(r, pageLen)}
	magic, err := readUpTo(s.r, int64(len(storedMagic)))
	switch {
	case err == nil && string(magic) == olderMagic:
		return nil, s.fail("the history is of an older format, which Turnstile reads at commit %s", olderCommit)
	case err != nil || string(magic) != storedMagic:
		return nil, s.damage("this is no history of Turnstile", err)
	}
	s.at = int64(len(storedMagic))
	if err := s.nextBlock(); err != nil {
		return nil, err
	}
	if s.kind != headerBlock || len(s.block) != headerLen {
		return nil, s.fail("the history does not begin with its header")
	}
	s.Nodes = int(binary.LittleEndian.Uint32(s.block))
	s.StampError = int64(binary.LittleEndian.Uint64(s.block[8:]))
	s.Origin = binary.LittleEndian.Uint64(s.block[16:])
	if s.Nodes > maxNodes || s.StampError < 0 {
		return nil, s.fail("the header is out of bounds: %d nodes, stamps that err by %d ns", s.Nodes, s.StampError)
	}
	return s, nil
}

func (s *stored) fail(format string, args ...any) error {
	return &formatError{s.name, s.at, true, fmt.Sprintf(format, args...)}
}

// damage returns an error with the text what, followed by err unless err is the end of the file.
func (s *stored) damage(what string, err error) error {
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		what += ": " + err.Error()
	}
	return s.fail("%s", what)
}

// nextBlock reads a block whole.
func (s *stored) nextBlock() error {
	s.at += int64(len(s.block))
	if s.kind != 0 {
		s.at += blockHeadLen
	}
	s.block = s.block[:0]
	var head [blockHeadLen]byte
	if _, err := io.ReadFull(s.r, head[:]); err != nil {
		return s.damage("the history is cut off or garbled", err)
	}
	length := int64(binary.LittleEndian.Uint32(head[4:]))
	var err error
	if s.kind = binary.LittleEndian.Uint32(head[:]); s.kind == eventsBlock && length <= blockLen {
		s.block = append(s.block, make([]byte, length)...) // reuses the memory of the last block
		_, err = io.ReadFull(s.r, s.block)
	} else {
		s.block, err = readUpTo(s.r, length)
	}
	if err != nil || int64(len(s.block)) < length {
		return s.damage("the history is cut off or garbled", err)
	}
	if blockSum(head[:], s.block) != binary.LittleEndian.Uint32(head[8:]) {
		return s.fail("a block of the history is garbled: its checksum is another")
	}
	return nil
}

// next reads the next event or, after the last, the rest of the history.
func (s *stored) next(e *Event) (bool, error) {
	for len(s.rest) == 0 {
		if err := s.nextBlock(); err != nil {
			return false, err
		}
		if s.kind != eventsBlock {
			return false, s.end()
		}
		if len(s.block)%storedLen != 0 {
			return false, s.fail("a block of events has %d bytes", len(s.block))
		}
		s.rest = s.block
	}
	b := s.rest[:storedLen]
	s.rest = s.rest[storedLen:]
	getFields(b, e)
	e.Node = nodes.ID(binary.LittleEndian.Uint32(b[storedLen-4:]))
	switch {
	case e.Node < nodes.None || int(e.Node) >= s.Nodes:
		return false, s.fail("event %d is of node %d, but there are %d nodes", s.count, e.Node, s.Nodes)
	case e.At < s.last && s.count > 0:
		return false, s.fail("event %d is earlier than the one before it", s.count)
	}
	s.count++
	s.last = e.At
	return true, nil
}

// end reads the blocks after the events.
func (s *stored) end() error {
	for s.kind == logBlock {
		w := words{b: s.block, reading: true}
		l := &NodeLog{}
		if w.log(l); w.cutOff || len(w.b) > 0 || l.Node < nodes.None || int(l.Node) >= s.Nodes {
			return s.fail("what node %d left is garbled", l.Node)
		}
		s.found = append(s.found, l)
		if err := s.nextBlock(); err != nil {
			return err
		}
	}
	if s.kind != endBlock || len(s.block) != 16 {
		return s.fail("a block of the type %d is out of place", s.kind)
	}
	events, logs := binary.LittleEndian.Uint64(s.block), binary.LittleEndian.Uint64(s.block[8:])
	if events != s.count || logs != uint64(len(s.found)) {
		return s.fail("the history has %d events and %d logs, and counts %d and %d", s.count, len(s.found),
			events, logs)
	}
	if _, err := s.r.ReadByte(); err != io.EOF {
		return s.damage("there is more behind the end of the history", err)
	}
	return nil
}

func (s *stored) logs() []*NodeLog { return s.found }
