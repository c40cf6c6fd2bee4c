package zookeeper

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
)

// mutex is the client of Curator's InterProcessMutex.
//
//go:embed Mutex.java
var mutex []byte

// A curatorLock is one node's client of the service. A process in Java does the work.
type curatorLock struct {
	process *curatorProcess
	asked   int          // number of requests
	answers chan string  // closed once the process has ended
	tells   string       // the line by which the process reports a loss that counts
	since   atomic.Int64 // number of falls at the latest request or reconnection
	losses
}

// openCurator starts a client in Java. At each request this client waits for its session.
func openCurator(ctx context.Context, s program.Init, v service.Values) (program.Lock, error) {
	l := &curatorLock{answers: make(chan string, 1), tells: "suspended"}
	if v["lost"] == expired {
		l.tells = "lost"
	}
	path := "/" + strings.Trim(s.Options.Prefix, "/") + "/lock"
	var err error
	l.process, err = startCurator(ctx, s, "Mutex", mutex, v.Duration("session"), []string{path, s.Name}, l.hear,
		func() { close(l.answers) })
	if err != nil {
		return nil, err
	}
	return l, nil
}

// hear handles a line that the process of Curator has written.
func (l *curatorLock) hear(text string) {
	switch text {
	case "connected": // earlier falls do not affect what is granted from now on
		l.since.Store(int64(l.fallen()))
	case "suspended", "lost":
		l.fall(text == "lost", text == "lost" || text == l.tells)
	default:
		l.answers <- text
	}
}

// tell sends a request to the process of Curator, and returns the answer. The end of the context cancels an
// acquire.
func (l *curatorLock) tell(ctx context.Context, what string) (string, error) {
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
	l.since.Store(int64(l.ask()))
	answer, err := l.tell(ctx, "acquire")
	if err != nil {
		return g, err
	}
	if _, err := fmt.Sscanf(answer, "granted %d", &g.Fence); err != nil {
		return g, program.Fatal{Err: fmt.Errorf("the process of Curator answers %q: %w", answer, err)}
	}
	return l.grant(g.Fence, int(l.since.Load())), nil
}

// Release implements program.Lock.
func (l *curatorLock) Release(ctx context.Context) error {
	l.release()
	_, err := l.tell(context.WithoutCancel(ctx), "release")
	if l.release() { // the session had expired before the process released the lock
		err = errors.Join(program.ErrLost, err)
	}
	return err
}

// Close implements program.Lock. The process of Curator ends when its input does.
func (l *curatorLock) Close() error {
	l.process.in.Close()
	for range l.answers {
	}
	return l.process.ending()
}
