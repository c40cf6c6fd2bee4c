package servicetest

import (
	"context"
	"testing"
	"time"

	"turnstile/nodes/foreign/program"
)

// Retry acquires a lock as the testbed does: it tries again after an error. It fails the test if that takes
// too long.
func Retry(t *testing.T, l program.Lock, within time.Duration) program.Grant {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for {
		g, err := l.Acquire(ctx)
		if err == nil {
			return g
		}
		if ctx.Err() != nil {
			t.Fatalf("the lock was not acquired within %v: %v", within, err)
		}
		time.Sleep(10 * time.Millisecond) // as long as the testbed waits between tries
	}
}

// Refused fails the test if a lock is acquired within a time.
func Refused(t *testing.T, l program.Lock, within time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if _, err := l.Acquire(ctx); err == nil {
		t.Fatal("the lock was acquired while another client held it")
	}
}

// Release releases a lock, or fails the test.
func Release(t *testing.T, l program.Lock) {
	t.Helper()
	if err := l.Release(t.Context()); err != nil {
		t.Fatalf("releasing the lock: %v", err)
	}
}

// Lost fails the test unless the client library reports the loss of the lock within a time.
func Lost(t *testing.T, g program.Grant, within time.Duration) {
	t.Helper()
	select {
	case <-g.Lost:
		return
	default:
	}
	select {
	case <-g.Lost:
	case <-time.After(within):
		t.Fatalf("the holder was not told within %v that the lock is lost", within)
	}
}

// Kept fails the test if the client library reports the loss of the lock within a time.
func Kept(t *testing.T, g program.Grant, within time.Duration) {
	t.Helper()
	time.Sleep(within)
	select {
	case <-g.Lost:
		t.Fatal("the holder was told that the lock is lost")
	default:
	}
}
