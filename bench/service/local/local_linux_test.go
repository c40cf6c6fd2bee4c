package local

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// kept starts a keeper, and returns the setting of a client.
func kept(t *testing.T) program.Init {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	dir := t.TempDir()
	ended := make(chan error, 1)
	ctx, end := context.WithCancel(context.Background())
	go func() { ended <- keep(ctx, []string{dir, address}) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Errorf("the keeper: %v", err)
		}
	})
	for late := time.Now().Add(10 * time.Second); ; {
		_, err := ask(t.Context(), address)
		if err == nil {
			return program.Init{Name: "n0", Options: program.Options{Servers: []string{address}, Prefix: "test/"}}
		}
		if time.Now().After(late) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

// opened opens a client.
func opened(t *testing.T, x *service.Service, s program.Init) program.Lock {
	t.Helper()
	l, err := x.Open(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func eachLock(t *testing.T, try func(t *testing.T, x *service.Service, s program.Init)) {
	for _, x := range Services {
		t.Run(x.Name, func(t *testing.T) {
			t.Parallel()
			try(t, x, kept(t))
		})
	}
}

// Clients that share nothing but the file are inside one at a time, and all get their turns.
func TestLocksExclude(t *testing.T) {
	eachLock(t, func(t *testing.T, x *service.Service, s program.Init) {
		const clients, entries = 4, 300
		var inside, together, sum atomic.Int32
		var all sync.WaitGroup
		for range clients {
			l := opened(t, x, s)
			all.Go(func() {
				defer l.Close()
				for range entries {
					if _, err := l.Acquire(t.Context()); err != nil {
						t.Error(err)
						return
					}
					if inside.Add(1) > 1 {
						together.Add(1)
					}
					sum.Store(sum.Load() + 1) // loses additions if two clients are inside
					inside.Add(-1)
					if err := l.Release(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if sum.Load() != clients*entries || together.Load() > 0 {
			t.Errorf("%d of %d entries are counted, and in %d two were inside", sum.Load(), clients*entries,
				together.Load())
		}
	})
}

// Each number is handed out once, and there are no gaps, even if several clients take a number at the same
// time.
func TestTicketsAreNumbered(t *testing.T) {
	for name, number := range map[string]func(*word) uint32{"fetch-and-add": fetchAndAdd,
		"compare-and-swap": compareAndSwap} {
		const clients, each = 4, 2000
		var next word
		var taken [clients * each]atomic.Uint32
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				for range each {
					taken[number(&next)].Add(1)
				}
			})
		}
		all.Wait()
		for n := range taken {
			if taken[n].Load() != 1 {
				t.Fatalf("%s: number %d was handed out %d times", name, n, taken[n].Load())
			}
		}
	}
}

// Clients are served in the order of their numbers.
func TestTicketsAreServedInOrder(t *testing.T) {
	for _, x := range Services {
		if x.Name != "fetch-and-add" && x.Name != "compare-and-swap" {
			continue
		}
		s := kept(t)
		holder := opened(t, x, s)
		if _, err := holder.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		const clients = 4
		var all sync.WaitGroup
		served := make(chan int, clients)
		next := &holder.(*lock).words[0]
		for number := range clients {
			l := opened(t, x, s)
			all.Go(func() {
				if _, err := l.Acquire(t.Context()); err != nil {
					t.Error(err)
				}
				served <- number
				if err := l.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
			for next.Load() != uint32(number)+2 { // until the client has taken its number
				time.Sleep(time.Millisecond)
			}
		}
		if err := holder.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		for number := range clients {
			if got := <-served; got != number {
				t.Errorf("%s: client %d is served where it is the turn of %d", x.Name, got, number)
			}
		}
	}
}

// Locks of other runs at the same keeper are independent, and a client that must end stops waiting.
func TestLocksAreOfOneRun(t *testing.T) {
	eachLock(t, func(t *testing.T, x *service.Service, s program.Init) {
		holder, waiter := opened(t, x, s), opened(t, x, s)
		if _, err := holder.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer end()
		if _, err := waiter.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("beside the holder a client gets %v, want to wait until its time is over", err)
		}
		s.Options.Prefix = "other/"
		if _, err := opened(t, x, s).Acquire(t.Context()); err != nil {
			t.Errorf("a client of another run: %v", err)
		}
	})
}

// The end of a process closes its files and unmaps its memory, and nothing else. This frees flock; the other
// locks are words of a file, which stay as they are.
func TestDeadHolders(t *testing.T) {
	eachLock(t, func(t *testing.T, x *service.Service, s program.Init) {
		dead := opened(t, x, s).(*lock)
		if _, err := dead.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		syscall.Syscall(syscall.SYS_MUNMAP, uintptr(unsafe.Pointer(dead.words)), unsafe.Sizeof(*dead.words), 0)
		dead.Close()
		ctx, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer end()
		_, err := opened(t, x, s).Acquire(ctx)
		if frees := len(x.Declare(nil).Live) == 0; frees != (err == nil) {
			t.Errorf("the next client gets %v, and the lock is to be free: %t", err, frees)
		}
	})
}

// A server that is not a keeper is reported as such.
func TestOthersAreNoKeepers(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go func() {
		if conn, err := other.Accept(); err == nil {
			conn.Close()
		}
	}()
	s := program.Init{Options: program.Options{Servers: []string{other.Addr().String()}, Prefix: "test/"}}
	if _, err := Services[0].Open(t.Context(), s, nil); err == nil {
		t.Error("another server passes for a keeper")
	}
}
