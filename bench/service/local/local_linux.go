// Package local has the locks of one machine: flock, test-and-set, tickets, a semaphore and a condition
// variable. They need no messages, and are the baseline for distributed locks. The words of a lock are in a
// mapped file, and clients wait in the kernel, so the locks exclude processes as well as threads. They need
// no cgo.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// Sources that the promises of the locks are quoted from.
const (
	manual  = "https://man7.org/linux/man-pages/"
	atomics = "https://pkg.go.dev/sync/atomic"
)

// Services are the locks. They have no fence numbers. If a holder dies, its lock stays taken, except for
// flock, which the kernel frees.
var Services = []*service.Service{
	lockService("flock", "flock(2) on one file; the kernel frees it when its holder dies",
		manual+"man2/flock.2.html",
		"The lock is released either by an explicit LOCK_UN operation on any of these duplicate file "+
			"descriptors, or when all such file descriptors have been closed.",
		(*lock).flock, (*lock).unflock),
	lockService("test-and-set",
		"a mapped word, tested and set in one instruction; a client that fails yields and tries again",
		atomics, "The compare-and-swap operation, implemented by the CompareAndSwapT functions, is the atomic "+
			"equivalent of: if *addr == old { *addr = new; return true }; return false",
		(*lock).testAndSet, (*lock).clear),
	lockService("fetch-and-add", "tickets from a mapped word, by one addition each; waits by futex(2)",
		atomics, "AddUint32 atomically adds delta to *addr and returns the new value.",
		tickets(fetchAndAdd), (*lock).serveNext),
	lockService("compare-and-swap", "tickets from a mapped word, by compare-and-swap; waits by futex(2)",
		atomics, "CompareAndSwapUint32 executes the compare-and-swap operation for a uint32 value.",
		tickets(compareAndSwap), (*lock).serveNext),
	lockService("futex-semaphore", "a counting semaphore of 1 in a mapped word, its waits by futex(2)",
		manual+"man7/sem_overview.7.html",
		"A semaphore is an integer whose value is never allowed to fall below zero.",
		(*lock).down, (*lock).up),
	lockService("futex-condition", "a condition variable and its mutex in mapped words, their waits by futex(2)",
		manual+"man3/pthread_cond_wait.3p.html",
		"These functions atomically release mutex and cause the calling thread to block on the condition "+
			"variable cond", (*lock).await, (*lock).signal),
}

// An acquirer takes a lock. It returns an error if the context ends.
type acquirer func(*lock, context.Context) error

// lockService returns the service of one lock. A kill of the keeper does not break the lock, but the file of
// the lock must remain.
func lockService(name, summary, link, promise string, take acquirer, give func(*lock)) *service.Service {
	live := []string{"no-crash"}
	if name == "flock" {
		live = []string{}
	}
	return &service.Service{Name: name, Summary: summary, Promise: promise, Link: link, Servers: &keeper,
		Declare: func(service.Values) service.Declaration {
			return service.Declaration{Safe: []string{"servers-up"}, Live: live, GraceMS: 2000}
		},
		Library: func(service.Values) string { return kernel() },
		Open: func(ctx context.Context, s program.Init, _ service.Values) (program.Lock, error) {
			dir, err := ask(ctx, s.Options.Servers[0])
			if err != nil {
				return nil, fmt.Errorf("asking for the folder of the lock: %w", err)
			}
			return open(filepath.Join(dir, strings.ReplaceAll(s.Options.Prefix, "/", "_")), take, give)
		}}
}

// kernel returns the name and version of the kernel.
func kernel() string {
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return strings.TrimSpace("Linux " + string(release))
}

// keeper is the process whose folder has the files of the locks; the folder is removed at the end of the run.
// The keeper tells clients the path of the folder, and takes no part in the lock.
var keeper = service.Servers{Ports: 1, Run: keep, NoClock: service.GoClock, Versioned: kernel,
	OnlyHere: "its clients share a file that the run makes",
	Count:    func(service.Values) int { return 1 },
	Command:  func(m *service.Member) (args, env []string) { return []string{m.Dir, m.Address(0)}, nil },
	Ready: func(ctx context.Context, m *service.Member) error {
		_, err := ask(ctx, m.Address(0))
		return err
	}}

// keep sends the path of the folder to each client that connects, until the context ends.
func keep(ctx context.Context, folderAndAddress []string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", folderAndAddress[1])
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		io.WriteString(conn, folderAndAddress[0])
		conn.Close()
	}
}

// ask returns the path of the folder from the keeper at an address.
func ask(ctx context.Context, address string) (dir string, err error) {
	const asking = 5 * time.Second
	conn, err := (&net.Dialer{Timeout: asking}).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(asking))
	text, err := io.ReadAll(conn)
	if err == nil && !filepath.IsAbs(string(text)) {
		err = fmt.Errorf("what answers at %s has no folder of locks", address)
	}
	return string(text), err
}

// A lock is the client of one node. The clients of a run share a file, which each maps. The file stays mapped
// until the process ends, since an unfinished call may still use it.
type lock struct {
	file  *os.File
	words *[64]word
	take  acquirer
	give  func(*lock)
}

// A word is shared by processes, which can wait for it to change. It fills a cache line.
type word struct {
	atomic.Uint32
	_ [60]byte
}

// open opens and maps a file. The first client creates it, with zeros.
func open(path string, take acquirer, give func(*lock)) (*lock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	const size = int(unsafe.Sizeof([64]word{}))
	page, err := []byte(nil), file.Truncate(int64(size))
	if err == nil {
		page, err = syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_SHARED)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mapping %s: %w", path, err), file.Close())
	}
	return &lock{file, (*[64]word)(unsafe.Pointer(&page[0])), take, give}, nil
}

// Acquire, Release and Close implement program.Lock.
func (l *lock) Acquire(ctx context.Context) (program.Grant, error) {
	return program.Grant{}, l.take(l, ctx)
}

func (l *lock) Release(context.Context) error {
	l.give(l)
	return nil
}

func (l *lock) Close() error { return l.file.Close() }

func (l *lock) flock(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- os.NewSyscallError("flock", syscall.Flock(int(l.file.Fd()), syscall.LOCK_EX)) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done(): // the process will end, and with it the call
		return ctx.Err()
	}
}

func (l *lock) unflock() { syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN) }

// until calls try until it succeeds, and pause in between. It returns an error if the context ends.
func until(ctx context.Context, try func() bool, pause func()) error {
	for !try() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pause()
	}
	return nil
}

// testAndSet sets a word if it reads as clear (test and test-and-set), so that waiting writes no cache line.
func (l *lock) testAndSet(ctx context.Context) error {
	w := &l.words[0]
	return until(ctx, func() bool { return w.Load() == 0 && w.CompareAndSwap(0, 1) },
		func() { syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) })
}

func (l *lock) clear() { l.words[0].Store(0) }

// tickets takes a ticket lock. It has two words: the next number, and the number that is served. A client
// takes the next number, waits until that number is served, and increments the number served when it leaves.
// So clients enter in the order of their numbers. A client that dies with a number blocks all others. (J. M.
// Mellor-Crummey and M. L. Scott, "Algorithms for scalable synchronization on shared-memory multiprocessors",
// ACM TOCS 9(1), 1991.)
func tickets(number func(next *word) uint32) acquirer {
	return func(l *lock, ctx context.Context) error {
		ours, now := number(&l.words[0]), uint32(0)
		return until(ctx, func() bool {
			now = l.words[1].Load()
			return now == ours
		}, func() { l.words[1].wait(now) })
	}
}

// serveNext serves the next number. It wakes all waiters, since each waits for its own number.
func (l *lock) serveNext() {
	l.words[1].Add(1)
	l.words[1].wake(math.MaxInt32)
}

// fetchAndAdd takes the next number in one instruction, which cannot fail.
func fetchAndAdd(next *word) uint32 { return next.Add(1) - 1 }

// compareAndSwap takes the next number if no other client takes it first, and tries again otherwise.
func compareAndSwap(next *word) uint32 {
	for {
		if number := next.Load(); next.CompareAndSwap(number, number+1) {
			return number
		}
	}
}

// down and up make the first word a semaphore of 1, or a mutex: 0 if it is free, 1 if it is taken, and 2 if a
// client may be waiting. (U. Drepper, Futexes are tricky, 2011.)
func (l *lock) down(ctx context.Context) error {
	w := &l.words[0]
	return until(ctx, func() bool { return w.CompareAndSwap(0, 1) || w.Swap(2) == 0 }, func() { w.wait(2) })
}

func (l *lock) up() {
	if l.words[0].Swap(0) == 2 {
		l.words[0].wake(1)
	}
}

// await enters a monitor: under the mutex, a client waits until nobody is inside. The second word is 1 while
// a client is inside, and the third counts signals.
func (l *lock) await(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := l.down(ctx); err != nil {
			return err
		}
		seen, enters := l.words[2].Load(), l.words[1].CompareAndSwap(0, 1)
		if l.up(); enters {
			return nil
		}
		l.words[2].wait(seen) // returns at once if the word has changed since it was read, so no signal is missed
	}
	return ctx.Err()
}

func (l *lock) signal() {
	l.down(context.Background())
	l.words[1].Store(0)
	l.words[2].Add(1)
	l.words[2].wake(1)
	l.up()
}

// wait waits while the word has the given value, for at most 100 ms. The limit lets a process notice that it
// must end. It also helps if the process that was woken is killed: the others wake up and check again.
func (w *word) wait(value uint32) {
	most := syscall.NsecToTimespec(int64(100 * time.Millisecond))
	w.futex(0, uintptr(value), &most)
}

// wake wakes waiters of the word, at most the given number.
func (w *word) wake(most uintptr) { w.futex(1, most, nil) }

// futex calls futex(2) on a shared word: FUTEX_WAIT is 0 and FUTEX_WAKE 1.
func (w *word) futex(operation, value uintptr, most *syscall.Timespec) {
	syscall.Syscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(w)), operation, value,
		uintptr(unsafe.Pointer(most)), 0, 0)
}
