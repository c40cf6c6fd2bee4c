package zookeeper

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// mutex is the client of Curator's InterProcessMutex.
//
//go:embed Mutex.java
var mutex []byte

// A curatorLock is the client of a node, which has another process do what it is asked for.
type curatorLock struct {
	process *curatorProcess
	asked   int         // how often it was asked for something
	answers chan string // closed once the process has ended
	tells   string      // the word that says that the lock is lost

	mu   sync.Mutex
	lost chan struct{} // of the latest grant; nil: it is closed, or over
	fell bool          // the lock was lost since it was last asked for
	over bool          // the session has expired since that grant
}

// openCurator starts a client in Java, which waits for its session whenever it is asked for something.
func openCurator(ctx context.Context, s program.Setting, v service.Values) (program.Lock, error) {
	l := &curatorLock{answers: make(chan string, 1), tells: "suspended"}
	if v["lost"] == expired {
		l.tells = "lost"
	}
	path := "/" + strings.Trim(s.Options.Prefix, "/") + "/lock"
	var err error
	l.process, err = startCurator(ctx, s, mutex, v.Duration("session"), []string{path}, l.hear,
		func() { close(l.answers) })
	if err != nil {
		return nil, err
	}
	return l, nil
}

// hear takes what the process says.
func (l *curatorLock) hear(text string) {
	switch text {
	case "connected":
		l.rise()
	case "suspended", "lost":
		l.fall(text)
	default:
		l.answers <- text
	}
}

// fall takes what Curator says of the connection.
func (l *curatorLock) fall(says string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = l.over || says == "lost"
	if says != l.tells && says != "lost" {
		return
	}
	l.fell = true
	if l.lost != nil {
		close(l.lost)
		l.lost = nil
	}
}

// rise takes that there is a connection: what is granted from now on is not lost by a fall before.
func (l *curatorLock) rise() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fell = false
}

// ask has the process do something, and returns what it answers. The context ends an acquire early.
func (l *curatorLock) ask(ctx context.Context, what string) (string, error) {
	l.asked++
	number := l.asked
	if _, err := fmt.Fprintf(l.process.in, "%s %d\n", what, number); err != nil {
		return "", program.Fatal{Err: fmt.Errorf("the process of Curator has ended: %w", err)}
	}
	cancel := context.AfterFunc(ctx, func() { fmt.Fprintf(l.process.in, "cancel %d\n", number) })
	defer cancel()
	answer, is := <-l.answers
	if !is {
		return "", program.Fatal{Err: errors.New("the process of Curator has ended")}
	}
	if why, failed := strings.CutPrefix(answer, "failed "); failed {
		return "", errors.Join(ctx.Err(), fmt.Errorf("curator: %s", why))
	}
	return answer, nil
}

// Acquire implements program.Lock.
func (l *curatorLock) Acquire(ctx context.Context) (g program.Grant, err error) {
	l.mu.Lock()
	l.fell, l.over = false, false
	l.mu.Unlock()
	answer, err := l.ask(ctx, "acquire")
	if err != nil {
		return g, err
	}
	if _, err := fmt.Sscanf(answer, "granted %d", &g.Fence); err != nil {
		return g, program.Fatal{Err: fmt.Errorf("the process of Curator answers %q: %w", answer, err)}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := make(chan struct{})
	if l.lost = lost; l.fell {
		close(lost)
		l.lost = nil
	}
	g.Lost = lost
	return g, nil
}

// Release implements program.Lock.
func (l *curatorLock) Release(ctx context.Context) error {
	l.mu.Lock()
	l.lost = nil
	l.mu.Unlock()
	_, err := l.ask(context.WithoutCancel(ctx), "release")
	if l.expired() {
		err = errors.Join(program.ErrLost, err)
	}
	return err
}

// expired reports whether the session was over since the latest grant.
func (l *curatorLock) expired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// Close implements program.Lock. The process ends with its input.
func (l *curatorLock) Close() error {
	l.process.in.Close()
	for range l.answers {
	}
	return l.process.cmd.Wait()
}
