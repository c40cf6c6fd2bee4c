package host

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Resource is what the critical sections of a run are about, in memory that all its processes map:
// an account that every entry reads, and writes one higher when it leaves, and a register of how many
// are inside. Together with the stamps they are witnesses of exclusion: money lost implies that
// sections overlapped, which implies that the register has exceeded one.
type Resource struct {
	Issued    atomic.Uint64 // requests issued, when a run ends by entries
	_         [7]uint64     // each word has a cache line of its own
	StoppedAt atomic.Int64  // when the last of those was issued, in the run's nanoseconds; 0: not yet
	_         [7]uint64
	LeftAt    atomic.Int64 // when one last left, when a run ends by entries
	_         [7]uint64
	Frozen    atomic.Int64 // when one first left while another was inside; 0: never
	_         [7]uint64
	Inside    atomic.Int64
	_         [7]uint64
	Account   atomic.Int64
}

// resourceLen is the length of the file that holds a Resource.
const resourceLen = 4096

// CreateResource makes the file of a resource at path.
func CreateResource(path string) error {
	if err := os.WriteFile(path, make([]byte, resourceLen), 0o644); err != nil {
		return fmt.Errorf("creating the shared resource: %w", err)
	}
	return nil
}

// OpenResource maps the resource at path until the process ends.
func OpenResource(path string) (*Resource, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the shared resource: %w", err)
	}
	defer file.Close()
	b, err := unix.Mmap(int(file.Fd()), 0, resourceLen, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", path, err)
	}
	return (*Resource)(unsafe.Pointer(&b[0])), nil
}
