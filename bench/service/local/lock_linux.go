package local

import (
	"context"
	"errors"
	"math"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// A lock is the client of one node.
type lock struct {
	file *os.File
	page []byte // the mapped file; nil: only its lock is used
	take func(ctx context.Context) error
	give func() error
}

// Acquire implements program.Lock.
func (l *lock) Acquire(ctx context.Context) (program.Grant, error) {
	return program.Grant{}, l.take(ctx)
}

// Release implements program.Lock.
func (l *lock) Release(context.Context) error { return l.give() }

// Close implements program.Lock. The memory stays mapped until the process ends: a call of before may use
// it.
func (l *lock) Close() error { return l.file.Close() }

// open opens the file of a lock and maps it.
func open(ctx context.Context, s program.Setting) (*lock, error) {
	file, err := openFile(ctx, s)
	if err != nil {
		return nil, err
	}
	page, err := syscall.Mmap(int(file.Fd()), 0, mapped, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("mmap", err), file.Close())
	}
	return &lock{file: file, page: page}, nil
}

// word returns one of the words of the page, each in a cache line of its own.
func (l *lock) word(number int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&l.page[64*number]))
}

func openFlock(ctx context.Context, s program.Setting, _ service.Values) (*lock, error) {
	file, err := openFile(ctx, s)
	if err != nil {
		return nil, err
	}
	return &lock{file: file,
		take: func(ctx context.Context) error {
			done := make(chan error, 1)
			go func() { done <- flock(file, syscall.LOCK_EX) }()
			select {
			case err := <-done:
				return err
			case <-ctx.Done(): // the process ends, and with it the call
				return ctx.Err()
			}
		},
		give: func() error { return flock(file, syscall.LOCK_UN) }}, nil
}

// flock calls flock(2) again while a signal interrupts it.
func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}

// openWord is test-and-set: who finds the word set yields, and tries again once it reads as clear (test and
// test-and-set), so that waiting writes no cache line.
func openWord(ctx context.Context, s program.Setting, _ service.Values) (*lock, error) {
	l, err := open(ctx, s)
	if err != nil {
		return nil, err
	}
	word := l.word(0)
	l.take = func(ctx context.Context) error {
		for !word.CompareAndSwap(0, 1) {
			for word.Load() != 0 {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
			}
		}
		return nil
	}
	l.give = func() error {
		word.Store(0)
		return nil
	}
	return l, nil
}

// tickets is a ticket lock. It has two words: the next number, and the number that is served. A client takes
// the next number, waits until that number is served, and increments the number served when it leaves. So
// clients enter in the order of their numbers. A client that dies with a number blocks all others. (J. M.
// Mellor-Crummey and M. L. Scott, "Algorithms for scalable synchronization on shared-memory multiprocessors",
// ACM TOCS 9(1), 1991.)
func tickets(number func(next *atomic.Uint32) uint32) service.Opener[*lock] {
	return func(ctx context.Context, s program.Setting, _ service.Values) (*lock, error) {
		l, err := open(ctx, s)
		if err != nil {
			return nil, err
		}
		next, served := l.word(0), l.word(1)
		l.take = func(ctx context.Context) error {
			ours := number(next)
			for now := served.Load(); now != ours; now = served.Load() {
				if err := wait(ctx, served, now); err != nil {
					return err
				}
			}
			return nil
		}
		l.give = func() error {
			served.Add(1)
			return wakeAll(served) // each waits for a number of its own
		}
		return l, nil
	}
}

// fetchAndAdd takes the next number in one instruction, which cannot fail.
func fetchAndAdd(next *atomic.Uint32) uint32 { return next.Add(1) - 1 }

// compareAndSwap takes the next number if no other client takes it first, and tries again otherwise.
func compareAndSwap(next *atomic.Uint32) uint32 {
	for {
		if number := next.Load(); next.CompareAndSwap(number, number+1) {
			return number
		}
	}
}

var openFetchAndAdd, openCompareAndSwap = tickets(fetchAndAdd), tickets(compareAndSwap)

// openSemaphore is a semaphore whose word counts who is inside, so that a file of zeros is one of 1: wait
// waits until it is 0 and adds 1; signal takes that back and wakes one that waits.
func openSemaphore(ctx context.Context, s program.Setting, _ service.Values) (*lock, error) {
	l, err := open(ctx, s)
	if err != nil {
		return nil, err
	}
	inside := l.word(0)
	l.take = func(ctx context.Context) error {
		for !inside.CompareAndSwap(0, 1) {
			if err := wait(ctx, inside, 1); err != nil {
				return err
			}
		}
		return nil
	}
	l.give = func() error {
		inside.Store(0)
		return wake(inside)
	}
	return l, nil
}

// openCondition is a monitor: under its mutex a client waits for the condition that nobody is inside.
func openCondition(ctx context.Context, s program.Setting, _ service.Values) (*lock, error) {
	l, err := open(ctx, s)
	if err != nil {
		return nil, err
	}
	mutex, inside, signals := futexMutex{l.word(0)}, l.word(1), l.word(2)
	l.take = func(ctx context.Context) error {
		if err := mutex.lock(ctx); err != nil {
			return err
		}
		for inside.Load() != 0 {
			seen := signals.Load()
			if err := mutex.unlock(); err != nil {
				return err
			}
			// A signal between the two changes the word, so that it is not missed.
			if err := wait(ctx, signals, seen); err != nil {
				return err
			}
			if err := mutex.lock(ctx); err != nil {
				return err
			}
		}
		inside.Store(1)
		return mutex.unlock()
	}
	l.give = func() error {
		if err := mutex.lock(context.Background()); err != nil {
			return err
		}
		inside.Store(0)
		signals.Add(1)
		return errors.Join(wake(signals), mutex.unlock())
	}
	return l, nil
}

// A futexMutex is 0 if it is free, 1 if it is taken, and 2 if somebody may wait for it (U. Drepper, Futexes
// are tricky, 2011).
type futexMutex struct{ word *atomic.Uint32 }

func (m futexMutex) lock(ctx context.Context) error {
	if m.word.CompareAndSwap(0, 1) {
		return nil
	}
	for m.word.Swap(2) != 0 {
		if err := wait(ctx, m.word, 2); err != nil {
			return err
		}
	}
	return nil
}

func (m futexMutex) unlock() error {
	if m.word.Swap(0) == 2 {
		return wake(m.word)
	}
	return nil
}

// Operations of futex(2), for words that processes share.
const (
	futexWait = 0
	futexWake = 1
)

// napping is how long one call waits at most. So a process notices that it is to end, and one that was
// woken and killed before it went on keeps nobody waiting.
const napping = 100 * time.Millisecond

// wait waits while a word has a value, until somebody wakes it or some time is over; whoever calls it looks
// again. It fails if the context has ended.
func wait(ctx context.Context, word *atomic.Uint32, value uint32) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	most := syscall.NsecToTimespec(int64(napping))
	_, _, err := syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(value),
		uintptr(unsafe.Pointer(&most)), 0, 0)
	switch err {
	case 0, syscall.EAGAIN, syscall.EINTR, syscall.ETIMEDOUT:
		return nil
	}
	return os.NewSyscallError("futex", err)
}

// wake wakes one that waits for a word, and wakeAll all.
func wake(word *atomic.Uint32) error    { return wakeUp(word, 1) }
func wakeAll(word *atomic.Uint32) error { return wakeUp(word, math.MaxInt32) }

// wakeUp wakes so many that wait for a word, or as many as there are.
func wakeUp(word *atomic.Uint32, most uintptr) error {
	_, _, err := syscall.Syscall(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, most)
	if err != 0 {
		return os.NewSyscallError("futex", err)
	}
	return nil
}
