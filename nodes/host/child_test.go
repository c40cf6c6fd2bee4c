//go:build linux

package host

import (
	"errors"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/foreign"
	"turnstile/nodes/port"
)

// initOK is a command of the shell that writes a line to standard error, and answers init.
const initOK = `echo last words >&2; ` +
	`echo "{\"src\":\"n0\",\"dest\":\"c0\",\"body\":{\"type\":\"init_ok\"}}"; `

const noteLine = `{\"src\":\"n0\",\"dest\":\"n1\",\"body\":{\"type\":\"x\"}}`

// A program of several processes is late for no longer than the time in which they waited.
func TestProgramsAreLateSinceTheLastLook(t *testing.T) {
	for waited, late := range map[time.Duration]int64{20e6: 20e6, 250e6: 100e6} {
		if l := lagOf(waited, 100e6, 1e9); l.To != 1e9 || l.To-l.From != late {
			t.Errorf("processes that waited for %v together in 100 ms were late by %d ns", waited, l.To-l.From)
		}
	}
}

// A program that misbehaves is found, and the error quotes what it wrote last to its standard error.
func TestChildrenThatMisbehave(t *testing.T) {
	for name, x := range map[string]struct{ does, says string }{
		"nonsense":     {initOK + "echo hello; cat", `with src, dest and body: "hello"`},
		"dies":         {initOK + "exit 7", "ended by itself: exit status 7"},
		"killed":       {initOK + "kill -9 $$", "ended by itself: signal: killed"},
		"long":         {initOK + "head -c 2000000 /dev/zero; cat", "a line longer than 1048576 bytes"},
		"floods":       {initOK + `yes "` + noteLine + `"`, "it writes too fast: more than 5000 lines"},
		"hangs":        {initOK + "read x; sleep 60", "it hangs: it has read nothing of its input for 2s"},
		"forgets init": {`echo last words >&2; echo "` + noteLine + `"; cat`, "it has to be init_ok"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			woken := make(chan bool, 1)
			wake := func() {
				select {
				case woken <- true:
				default:
				}
			}
			c, err := startChild("sh -c '"+x.does+"'", "", foreign.Init{N: 2}, true, wake)
			if err != nil {
				t.Fatal(err)
			}
			defer c.close()
			err = c.await()
			c.tell([]byte("one\ntwo\n"))
			for late := time.After(30 * time.Second); err == nil; {
				select {
				case <-woken:
				case <-late:
					t.Fatal("it passes for sound")
				}
				if name == "floods" { // nobody takes them, as if the node were slow
					c.mu.Lock()
					err = c.wrong
					c.mu.Unlock()
				} else if _, err = c.take(burst); err == nil {
					_, err = c.take(burst)
				}
			}
			says := c.explain(err).Error()
			if !strings.Contains(says, x.says) || !strings.Contains(says, "last words") {
				t.Error(says)
			}
			// Only an exit by itself is a breach of the contract: anybody may have sent a signal.
			if breach := new(foreign.Breach); errors.As(err, &breach) != (name == "dies") {
				t.Errorf("%s: it is a breach: %v", says, name != "dies")
			}
		})
	}
}

// A program may send its declaration in its handler of init, before it answers init.
func TestChildrenDeclareFirst(t *testing.T) {
	t.Parallel()
	declares := `echo "{\"src\":\"n0\",\"dest\":\"c0\",\"body\":{\"type\":\"declare\",\"fenced\":true}}"; `
	d, err := Declare("sh -c '"+declares+initOK+"cat >/dev/null'", "", foreign.Init{N: 2, Seed: 1})
	if err != nil || !d.Fenced {
		t.Errorf("it has declared %+v: %v", d, err)
	}
}

// Lines that do not fit in the pipe reach the program later, in order.
func TestChildrenReadAll(t *testing.T) {
	const lines = 20_000 // 640 KB
	does := initOK + `read x; wc -l >&2; echo bad`
	c, err := startChild("sh -c '"+does+"'", "", foreign.Init{N: 2}, true, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.await(); err != nil {
		t.Fatal(err)
	}
	for range lines {
		if err := c.tell([]byte(strings.Repeat("x", 31) + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		writing := c.writing
		c.mu.Unlock()
		if !writing {
			break
		}
		if time.Now().After(late) {
			t.Fatal("it has not read all")
		}
	}
	c.input.Close()
	<-c.process.Ended()
	if says := c.lastWords(); !strings.Contains(says, "20000") {
		t.Error(says)
	}
}

// An askingMachine stands for a machine whose program has, or does not have, the latest request.
type askingMachine struct {
	foreign.Bridge
	asks bool
}

func (m *askingMachine) Asks() bool { return m.asks }

// A counter is a watcher that counts what it hears.
type counter struct{ heard int }

func (w *counter) Watch(*port.Hook) port.Action { w.heard++; return port.NoAction }
func (*counter) MidInput() bool                 { return false }
func (*counter) Stands(int64) bool              { return false }

type noClock struct{}

func (noClock) Now() int64     { return 0 }
func (noClock) SetAlarm(int64) {}

// A watcher hears of a request once the program has been told, which may have to release the lock before.
func TestRequestsAreToldOnceTheProgramHasThem(t *testing.T) {
	c := nodes.Config{N: 1}.With(foreign.CommandOption, "x").With(foreign.PromisesOption, "safe=no-loss")
	algo, err := foreign.Algorithm(c)
	if err != nil {
		t.Fatal(err)
	}
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: algo, Config: c})
	if err != nil {
		t.Fatal(err)
	}
	w, m := &counter{}, &askingMachine{}
	h := &host{config: Config{Watcher: w}, clock: noClock{}, bridge: &bridge{machine: m, gathers: true}}
	h.process.Node = *nodes.NewNode(stack.Stack, 0, 0, nil)
	h.process.Node.Handle(nodes.Input{Kind: nodes.Request})
	h.clients = []*client{{host: h, untold: true}}
	for i, step := range []struct {
		asks, gathers bool
		want          int
	}{{false, false, 0}, {true, true, 0}, {true, false, 1}, {true, false, 1}} {
		m.asks, h.bridge.gathers = step.asks, step.gathers
		if h.tellRequests(); w.heard != step.want {
			t.Errorf("step %d: it has heard of %d requests, not %d", i, w.heard, step.want)
		}
	}
}
