package main

import (
	"slices"
	"testing"
	"time"

	"turnstile/nodes/foreign/program"
	"turnstile/services/servicetest"
)

// A client that gives up while it waits leaves no place in the queue: when the holder is gone, the next
// client enters before any lease or session is over, and so does the client that gave up.
func TestGivingUp(t *testing.T) {
	for _, s := range all {
		if s.Open == nil || !s.Declare(servicetest.Values(t, s)).Cancels {
			continue
		}
		var words []string
		for _, o := range s.Options {
			if slices.Contains([]string{"px", "ttl", "session"}, o.Name) && o.Values == nil {
				words = append(words, o.Name+"=20s")
			}
		}
		t.Run(s.Name, func(t *testing.T) {
			r, v := servicetest.Start(t, s, words...), servicetest.Values(t, s, words...)
			client := func(name string) program.Lock {
				l, err := s.Open(t.Context(), servicetest.Setting(name, r.Addresses...), v)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { l.Close() })
				return l
			}
			holder, waiter, next := client("n0"), client("n1"), client("n2")
			servicetest.Acquire(t, holder, 10*time.Second)
			servicetest.Refused(t, waiter, 300*time.Millisecond)
			servicetest.Release(t, holder)
			for _, l := range []program.Lock{next, waiter} {
				servicetest.Acquire(t, l, 10*time.Second)
				servicetest.Release(t, l)
			}
		})
	}
}
