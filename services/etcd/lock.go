package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/v3/concurrency"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// A lock is one node's client of the service.
type lock struct {
	*sessions
	name    string
	retried bool // whether failed unlocks are tried again
	session *concurrency.Session
	mutex   *concurrency.Mutex // locked by Acquire
}

func openLock(ctx context.Context, s program.Init, v service.Values) (*lock, error) {
	all, err := openSessions(ctx, s, v)
	if err != nil {
		return nil, err
	}
	return &lock{sessions: all, name: s.Options.Prefix + "lock", retried: v[unlockOption] == "retried"}, nil
}

// Acquire implements program.Lock. If the session is over, it starts another.
func (l *lock) Acquire(ctx context.Context) (program.Grant, error) {
	for {
		s, err := l.get()
		if err != nil {
			return program.Grant{}, err
		}
		m := concurrency.NewMutex(s, l.name)
		err = m.Lock(ctx)
		switch {
		case err == nil:
			l.session, l.mutex = s, m
			return program.Grant{Fence: uint64(m.Header().Revision), Lost: s.Done()}, nil
		case errors.Is(err, concurrency.ErrSessionExpired), errors.Is(err, rpctypes.ErrLeaseNotFound), over(s):
			l.drop()
		default:
			if ctx.Err() != nil && m.Key() != deleted { // the key may wait on; it is deleted together with the session
				l.fail()
			}
			return program.Grant{}, err
		}
	}
}

// deleted is the key of a Mutex that has deleted its key.
const deleted = "\x00"

// unlockLimit is how long an unlock may take before it counts as failed.
const unlockLimit = time.Second

// Release implements program.Lock. The library does not report whether Unlock found the key. So Release
// reports that the lock is lost if the session is over.
func (l *lock) Release(ctx context.Context) error {
	if over(l.session) {
		return program.ErrLost
	}
	m := l.mutex
	err := unlock(ctx, m)
	switch {
	case err == nil:
	case l.retried:
		go func() {
			for err != nil && l.life.Err() == nil {
				time.Sleep(unlockAgain)
				err = unlock(l.life, m)
			}
		}()
	default: // the key may still exist; it is deleted together with the session
		fmt.Fprintln(os.Stderr, "unlock:", err)
		l.fail()
	}
	return nil
}

// unlockAgain is the time between two tries to unlock.
const unlockAgain = 500 * time.Millisecond

func unlock(ctx context.Context, m *concurrency.Mutex) error {
	ctx, cancel := context.WithTimeout(ctx, unlockLimit)
	defer cancel()
	return m.Unlock(ctx)
}

func (l *lock) Close() error { return l.client.Close() }
