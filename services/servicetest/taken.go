package servicetest

import (
	"testing"

	"turnstile/bench/service"
)

// Take takes away what the client of a node has, by service.Delete or service.Expire, and fails the test
// unless it had something. The names that the client uses begin with prefix.
func Take(t *testing.T, r *service.Running, do, name, prefix string) {
	t.Helper()
	if had, err := r.Take(t.Context(), do, service.Client{Name: name, Prefix: prefix}); err != nil || !had {
		t.Fatalf("%s at %s: %v, %v", do, name, had, err)
	}
}

// TakeNothing fails the test if the client of a node has something that Take would take away.
func TakeNothing(t *testing.T, r *service.Running, do, name, prefix string) {
	t.Helper()
	if had, err := r.Take(t.Context(), do, service.Client{Name: name, Prefix: prefix}); err != nil || had {
		t.Errorf("%s at %s: %v, %v", do, name, had, err)
	}
}
