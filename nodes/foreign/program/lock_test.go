package program

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// A revocableLock grants at once, and can be lost.
type revocableLock struct {
	lost     chan struct{}
	released chan struct{}
}

func (r *revocableLock) Acquire(context.Context) (Grant, error) { return Grant{Lost: r.lost}, nil }
func (r *revocableLock) Release(context.Context) error          { r.released <- struct{}{}; return nil }
func (r *revocableLock) Close() error                           { return nil }

// If a client leaves because its lock is lost, the lock is released at once: the client may never ask again,
// and the service may still hold the lock for it. If the client stays, the lock is released at its exit.
func TestWhoIsToldGivesBack(t *testing.T) {
	for _, obeys := range []bool{true, false} {
		lock := &revocableLock{make(chan struct{}), make(chan struct{}, 1)}
		in, lines := io.Pipe()
		answers, out := io.Pipe()
		go io.Copy(io.Discard, answers)
		ended := make(chan error)
		go func() {
			ended <- ServeLock(in, out, nil, obeys,
				func(context.Context, Init) (Lock, error) { return lock, nil })
		}()
		say := func(body string) { fmt.Fprintf(lines, `{"src":"c0","dest":"n0","body":{%s}}`+"\n", body) }
		say(`"type":"init","msg_id":1,"node_id":"n0","node_ids":["n0"],"options":{"servers":["here"]}`)
		say(`"type":"request","msg_id":2`)
		close(lock.lost)
		within := time.Minute
		if !obeys {
			within = 50 * time.Millisecond
		}
		select {
		case <-lock.released:
			if !obeys {
				t.Error("the lock of a client that stays was given back")
			}
		case <-time.After(within):
			if obeys {
				t.Error("the lock that a client has left was not given back")
			}
		}
		say(`"type":"release","msg_id":3`)
		if !obeys {
			<-lock.released
		}
		lines.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(lock.released) > 0 {
			t.Errorf("it was given back twice (obeys: %v)", obeys)
		}
	}
}

// A busyLock is held by another client.
type busyLock struct{ revocableLock }

func (*busyLock) Acquire(ctx context.Context) (Grant, error) {
	<-ctx.Done()
	return Grant{}, ctx.Err()
}

// A line that cancels the request ends its Acquire, and the answer says that the client gave up. A line about
// an earlier request does not. A client that is told to leave gives up too.
func TestCancel(t *testing.T) {
	in, lines := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error)
	go func() {
		ended <- ServeLock(in, out, nil, true,
			func(context.Context, Init) (Lock, error) { return &busyLock{}, nil })
	}()
	read := json.NewDecoder(answers)
	var got []string
	answer := func() {
		var l struct {
			Body struct {
				Type      string
				Code      any
				InReplyTo any `json:"in_reply_to"`
			}
		}
		if err := read.Decode(&l); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %v %v", l.Body.Type, l.Body.Code, l.Body.InReplyTo))
	}
	say := func(body string) { fmt.Fprintf(lines, `{"src":"c0","dest":"n0","body":{%s}}`+"\n", body) }
	say(`"type":"init","msg_id":1,"node_id":"n0","node_ids":["n0"],"options":{"servers":["here"]}`)
	answer()
	for _, body := range []string{`"type":"request","msg_id":2`, `"type":"cancel","in_reply_to":2`} {
		say(body)
	}
	answer()
	for _, body := range []string{`"type":"request","msg_id":3`, `"type":"cancel","in_reply_to":2`,
		`"type":"cancel","in_reply_to":3`} {
		say(body)
	}
	answer()
	for _, body := range []string{`"type":"request","msg_id":4`, `"type":"leave","msg_id":5`} {
		say(body)
	}
	answer()
	answer()
	lines.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	want := []string{"init_ok <nil> 1", "error 1001 2", "error 1001 3", "error 1001 4", "leave_ok <nil> 5"}
	if !slices.Equal(got, want) {
		t.Errorf("it answered %q, want %q", got, want)
	}
}

// A stuckLock cannot be released: its servers are gone.
type stuckLock struct {
	revocableLock
	life context.Context
}

func (s *stuckLock) Release(context.Context) error {
	<-s.life.Done()
	return s.life.Err()
}

// A client that cannot give up what it has leaves all the same.
func TestLeavesWithoutServers(t *testing.T) {
	t.Parallel()
	in, lines := io.Pipe()
	answers, out := io.Pipe()
	go ServeLock(in, out, nil, true, func(life context.Context, _ Init) (Lock, error) {
		return &stuckLock{life: life}, nil
	})
	go func() {
		for _, body := range []string{
			`"type":"init","msg_id":1,"node_id":"n0","node_ids":["n0"],"options":{"servers":["here"]}`,
			`"type":"request","msg_id":2`, `"type":"leave","msg_id":3`} {
			fmt.Fprintf(lines, `{"src":"c0","dest":"n0","body":{%s}}`+"\n", body)
		}
	}()
	read := bufio.NewScanner(answers)
	for read.Scan() {
		if strings.Contains(read.Text(), "leave_ok") {
			lines.Close()
			return
		}
	}
	t.Error("it has not left")
}
