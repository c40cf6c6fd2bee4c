// Package local has the locks of one machine: flock, a word that is tested and set, tickets, a semaphore and
// a condition variable. They need no message, and are the floor beside which distributed locks are read.
// Their words are in a mapped file and their waits in the kernel, so they keep processes apart as they keep
// threads; cgo is not needed.
package local

import (
	"os"
	"strings"

	"turnstile/bench/service"
)

// Services are the locks. They have no fence numbers, and nothing is known of a holder that died: only
// flock is freed then, by the kernel.
var Services = []*service.Service{
	made("flock", "flock(2) on one file; the kernel frees it when its holder dies",
		"The lock is released either by an explicit LOCK_UN operation on any of these duplicate file "+
			"descriptors, or when all such file descriptors have been closed.",
		"https://man7.org/linux/man-pages/man2/flock.2.html", immortal, openFlock),
	made("test-and-set", "a mapped word, tested and set in one instruction; who fails yields and tries again",
		"The compare-and-swap operation, implemented by the CompareAndSwapT functions, is the atomic equivalent "+
			"of: if *addr == old { *addr = new; return true }; return false",
		"https://pkg.go.dev/sync/atomic", mortal, openWord),
	made("fetch-and-add", "tickets from a mapped word, by one addition each; waits by futex(2)",
		"AddUint32 atomically adds delta to *addr and returns the new value.",
		"https://pkg.go.dev/sync/atomic", mortal, openFetchAndAdd),
	made("compare-and-swap", "tickets from a mapped word, by compare-and-swap; waits by futex(2)",
		"CompareAndSwapUint32 executes the compare-and-swap operation for a uint32 value.",
		"https://pkg.go.dev/sync/atomic", mortal, openCompareAndSwap),
	made("futex-semaphore", "a counting semaphore of 1 in a mapped word, its waits by futex(2)",
		"A semaphore is an integer whose value is never allowed to fall below zero.",
		"https://man7.org/linux/man-pages/man7/sem_overview.7.html", mortal, openSemaphore),
	made("futex-condition", "a condition variable and its mutex in mapped words, their waits by futex(2)",
		"These functions atomically release mutex and cause the calling thread to block on the condition "+
			"variable cond",
		"https://man7.org/linux/man-pages/man3/pthread_cond_wait.3p.html", mortal, openCondition),
}

// mortal is what locks need that nobody frees when their holder dies.
var mortal, immortal = []string{"no-crash"}, []string{}

// made returns the service of one lock. Its keeper may be killed, but its file must stay.
func made(name, summary, promise, link string, live []string, open service.Opener[*lock]) *service.Service {
	return &service.Service{Name: name, Summary: summary, Promise: promise, Link: link, Servers: &keeper,
		Declare: func(service.Values) service.Declaration {
			return service.Declaration{Safe: []string{"servers-up"}, Live: live, GraceMS: 2000}
		},
		Library: func(service.Values) string { return kernel() },
		Open:    service.Opens(open)}
}

// kernel says which kernel serves the locks.
func kernel() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown kernel"
	}
	return "Linux " + strings.TrimSpace(string(release))
}
