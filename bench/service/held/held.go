// Package held tells the holder of a lock with a time to live that the lock is lost.
package held

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"
)

// A Watch tells the holder of a lock that the lock is lost: by the clock of the holder the validity time of
// the lock is over, or an extension failed.
type Watch struct {
	timer  *time.Timer
	cancel context.CancelFunc
	ended  chan struct{} // closed when no further extension will be made; nil: there was none
}

// Until returns a channel that is closed at the given time, or nil if the argument on is false.
func (w *Watch) Until(on bool, at time.Time) <-chan struct{} {
	if !on {
		return nil
	}
	lost := make(chan struct{})
	w.timer = time.AfterFunc(time.Until(at), func() { close(lost) })
	return lost
}

// Renew returns a channel that is closed when a lock that is valid until at is lost. Renew calls extend after
// each pause until End is called or the lock is lost. The function extend returns until when the lock is
// valid now, or an error if the lock was not extended.
func (w *Watch) Renew(at time.Time, pause time.Duration,
	extend func(context.Context) (time.Time, error)) <-chan struct{} {
	lost := make(chan struct{})
	tell := sync.OnceFunc(func() { close(lost) })
	timer := time.AfterFunc(time.Until(at), tell)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	w.timer, w.cancel, w.ended = timer, cancel, ended
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-lost:
				return
			case <-time.After(pause):
			}
			valid, err := extend(ctx)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				fmt.Fprintln(os.Stderr, "extend:", err)
				tell()
				return
			case !timer.Stop(): // the extension came too late
				return
			}
			timer.Reset(time.Until(valid))
		}
	}()
	return lost
}

// End stops the watch, after the extension on its way. A channel that is still open then stays open.
func (w *Watch) End() {
	if w.ended != nil {
		w.cancel()
		<-w.ended
	}
	if w.timer != nil {
		w.timer.Stop()
	}
}
