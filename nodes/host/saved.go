package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"turnstile/nodes"
)

// A savedFile holds the last save of one instance of a node: a mapped file of two slots of equal length,
// which are written in turn. A slot begins with the number of its save, which is written last, and the slot
// with the higher number counts. So wherever SIGKILL ends the process, a whole save is there: the last one
// or, if it was being written, the one before. A save that is too long for a slot goes into a longer file,
// which then takes the name of the old one.
//
// The kernel keeps what a killed process has written. Saves are not synced to disk: a power failure loses the
// run.
type savedFile struct {
	path   string
	mapped []byte // nil before the first save
	number uint64 // number of the last save, from 1
}

// The head of a slot, in the byte order of the machine: the number of the save, a checksum of all after it,
// and the length of the save.
const (
	sumAt    = 8
	lengthAt = 12
	slotHead = 16
	slotLen  = 2 << 10 // least length of a slot
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// put saves b.
func (f *savedFile) put(b []byte) error {
	if slotHead+len(b) > len(f.mapped)/2 {
		return f.grow(b)
	}
	fill(f.slot(f.number+1), f.number+1, b)
	f.number++
	return nil
}

// slot returns the place of the save with a number.
func (f *savedFile) slot(number uint64) []byte {
	half := len(f.mapped) / 2
	if number%2 == 0 {
		return f.mapped[:half]
	}
	return f.mapped[half:]
}

// fill writes a save to its slot.
func fill(slot []byte, number uint64, b []byte) {
	copy(slot[slotHead:], b)
	binary.NativeEndian.PutUint32(slot[lengthAt:], uint32(len(b)))
	binary.NativeEndian.PutUint32(slot[sumAt:], crc32.Checksum(slot[lengthAt:slotHead+len(b)], castagnoli))
	numberOf(slot).Store(number)
}

func numberOf(slot []byte) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&slot[0])) }

// grow saves b in a new file, long enough for b and somewhat longer saves. All its bytes are written before
// it is mapped: writing to a mapped page without space on the disk would kill the process.
func (f *savedFile) grow(b []byte) error {
	half := slotLen
	for half < slotHead+len(b) {
		half *= 2
	}
	content := savedFile{mapped: make([]byte, 2*half), number: f.number + 1}
	fill(content.slot(content.number), content.number, b)
	fresh := savedFile{path: f.path + ".new", number: content.number}
	err := os.WriteFile(fresh.path, content.mapped, 0o644)
	if err == nil {
		err = fresh.open()
	}
	if err == nil {
		err = os.Rename(fresh.path, f.path)
	}
	if err != nil {
		os.Remove(fresh.path)
		return errors.Join(err, fresh.close())
	}
	old := *f
	*f = savedFile{f.path, fresh.mapped, fresh.number}
	return old.close()
}

// open maps the file.
func (f *savedFile) open() error {
	file, err := os.OpenFile(f.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if size := info.Size(); size < 2*slotLen || size%(2*slotLen) != 0 {
		return fmt.Errorf("%s is not a save of a node: %d bytes instead of two slots of %d or more", f.path,
			size, slotLen)
	}
	f.mapped, err = unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED)
	if err != nil {
		f.mapped = nil
		return fmt.Errorf("mapping %s: %w", f.path, err)
	}
	return nil
}

// last returns the last save. The bytes are valid until the next save.
func (f *savedFile) last() ([]byte, error) {
	even, odd := numberOf(f.slot(0)).Load(), numberOf(f.slot(1)).Load()
	f.number = max(even, odd)
	slot := f.slot(f.number)
	length := uint64(binary.NativeEndian.Uint32(slot[lengthAt:]))
	end := slotHead + length
	if f.number == 0 || numberOf(slot).Load() != f.number || end > uint64(len(slot)) ||
		binary.NativeEndian.Uint32(slot[sumAt:]) != crc32.Checksum(slot[lengthAt:end], castagnoli) {
		return nil, fmt.Errorf("%s is garbled: its last save, number %d, is not whole", f.path, f.number)
	}
	return slot[slotHead:end], nil
}

func (f *savedFile) close() error {
	if f.mapped == nil {
		return nil
	}
	err := unix.Munmap(f.mapped)
	f.mapped = nil
	return err
}

// A memory holds the saves of the machines of a node, in a file for each machine that saved. A save is the
// number of the message's kind in a byte, and the encoded message.
type memory struct {
	files  []savedFile // by instance
	codec  *nodes.Codec
	buffer []byte
}

// newMemory returns the memory of a node of stack. Its files are named path, a dot, and the number of the
// instance. If path is empty, a save is an error.
func newMemory(path string, stack *nodes.Stack) *memory {
	m := &memory{files: make([]savedFile, len(stack.Instances())), codec: stack.Codec()}
	for i := range m.files {
		if path != "" {
			m.files[i].path = fmt.Sprintf("%s.%d", path, i)
		}
	}
	return m
}

// recall returns the saves of an earlier process of the node, and continues from them.
func (m *memory) recall() (nodes.Saved, error) {
	saved := make(nodes.Saved, len(m.files))
	for i := range m.files {
		f := &m.files[i]
		if f.path == "" {
			continue
		}
		err := f.open()
		if errors.Is(err, fs.ErrNotExist) {
			continue // the instance has saved nothing
		}
		if err == nil {
			saved[i], err = m.read(f)
		}
		if err != nil {
			return nil, fmt.Errorf("reading what the node has saved: %w", err)
		}
	}
	return saved, nil
}

func (m *memory) read(f *savedFile) (nodes.Message, error) {
	b, err := f.last()
	if err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("%s is garbled: its last save is empty", f.path)
	}
	message, err := m.codec.Decoder().Decode(int(b[0]), b[1:])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return message, nil
}

// save saves a message of a kind for an instance.
func (m *memory) save(instance int32, kind uint8, message nodes.Message) error {
	f := &m.files[instance]
	if f.path == "" {
		return errors.New("a machine saves, but its node was given no file for saves")
	}
	m.buffer = m.codec.Append(append(m.buffer[:0], kind), int(kind), message)
	if err := f.put(m.buffer); err != nil {
		return fmt.Errorf("saving for a machine: %w", err)
	}
	return nil
}

func (m *memory) close() (err error) {
	for i := range m.files {
		err = errors.Join(err, m.files[i].close())
	}
	return err
}
