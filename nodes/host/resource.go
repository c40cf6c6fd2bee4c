package host

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Resource is what the clients of a run share, in memory that all its processes map.
type Resource struct {
	*resourceWords
	shared []SharedResource
}

// Each word has a cache line of its own.
type resourceWords struct {
	Issued    atomic.Uint64 // requests issued, when a run ends by entries
	_         [7]uint64
	StoppedAt atomic.Int64 // when the last of those was issued, in the run's nanoseconds; 0: not yet
	_         [7]uint64
	LeftAt    atomic.Int64 // when the latest critical section ended, when a run ends by entries
	_         [7]uint64
	Frozen    atomic.Int64 // when a client first left while too many were inside; 0: never
	_         [7]uint64
}

// A SharedResource is what the clients of one mutex share: an account that every entry reads, and writes one
// higher when it leaves, and a register of how many units of the resource are taken. Together with the stamps
// they are witnesses of exclusion: money lost implies that sections overlapped, which implies that the
// register has exceeded the units that there are.
type SharedResource struct {
	Taken   atomic.Int64 // units
	_       [7]uint64
	Account atomic.Int64
	_       [7]uint64
}

// resourceLen returns the length of the file that holds so many resources.
func resourceLen(resources int) int {
	return int(unsafe.Sizeof(resourceWords{})) + resources*int(unsafe.Sizeof(SharedResource{}))
}

// CreateResource makes the file of so many resources at path.
func CreateResource(path string, resources int) error {
	if err := os.WriteFile(path, make([]byte, resourceLen(resources)), 0o644); err != nil {
		return fmt.Errorf("creating the shared resource: %w", err)
	}
	return nil
}

// OpenResource maps the file of so many resources at path until the process ends.
func OpenResource(path string, resources int) (*Resource, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the shared resource: %w", err)
	}
	defer file.Close()
	b, err := unix.Mmap(int(file.Fd()), 0, resourceLen(resources), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", path, err)
	}
	words := (*resourceWords)(unsafe.Pointer(&b[0]))
	first := (*SharedResource)(unsafe.Add(unsafe.Pointer(words), unsafe.Sizeof(*words)))
	return &Resource{words, unsafe.Slice(first, resources)}, nil
}

// Of returns what the clients of a mutex share, given its number among the mutexes.
func (r *Resource) Of(number int) *SharedResource { return &r.shared[number] }
