package host

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"turnstile/nodes"
)

// The account accepts writes under the highest number that has entered, and no others: among many clients
// that enter and leave at random, each accepted write adds one.
func TestTheAccountRefusesLowerFences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resource")
	if err := CreateResource(path, 1, 1); err != nil {
		t.Fatal(err)
	}
	r, err := OpenResource(path, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	var next, accepted atomic.Uint64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 2000 {
				fence := next.Add(1)
				held := r.Of(0).EnterUnder(fence)
				if holds, refused := r.Of(0).WriteUnder(fence, held+1); !refused {
					if accepted.Add(1); holds != held+1 {
						t.Errorf("it holds %d, and %d was written", holds, held+1)
					}
				}
			}
		})
	}
	all.Wait()
	s := r.Of(0)
	if fence, account := unpack(s.Account.Load()); fence != next.Load() || account != int64(accepted.Load()) {
		t.Errorf("under %d it holds %d; %d writes were accepted, the last under %d", fence, account,
			accepted.Load(), next.Load())
	}
	if held := s.EnterUnder(nodes.MostFence); held != int64(accepted.Load()) {
		t.Errorf("under the highest number it holds %d", held)
	}
	if holds, refused := s.WriteUnder(nodes.MostFence, accountLimit-1); refused || holds != accountLimit-1 {
		t.Errorf("the highest account is %d, refused: %v", holds, refused)
	}
	if holds, refused := s.WriteUnder(nodes.MostFence-1, 5); !refused || holds != accountLimit-1 {
		t.Errorf("under a lower number %d is written, refused: %v", holds, refused)
	}
}
