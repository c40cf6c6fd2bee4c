package nodes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A silentHost does nothing that its processes ask for.
type silentHost struct{}

func (silentHost) Send(*Process, *Effect)          {}
func (silentHost) Broadcast(*Process, *Effect)     {}
func (silentHost) SetTimer(*Process, *Effect)      {}
func (silentHost) Save(*Process, *Effect)          {}
func (silentHost) Enter(*Process, *Effect)         {}
func (silentHost) Revoke(*Process, *Effect)        {}
func (silentHost) Inform(*Process, *Effect)        {}
func (silentHost) Elect(*Process, *Effect)         {}
func (silentHost) Suspect(*Process, *Effect, bool) {}

// process returns node 1 of 3. The given objects are its machines in each incarnation.
func process(machines ...Machine) *Process {
	var p Process
	NewRuntime(toys(3, machines...), silentHost{}, nil).Process(&p, 1)
	return &p
}

func TestUnknownOperationsPanic(t *testing.T) {
	defer func() {
		if said := fmt.Sprint(recover()); !strings.Contains(said, "operation 99") {
			t.Errorf("an operation that there is not: %s", said)
		}
	}()
	process(&diarist{}).do(&Effect{Op: 99})
}

// A process comes up again with what each of its machines has saved, if that machine recovers; and with
// nothing if it is to forget.
func TestProcessLives(t *testing.T) {
	amnesic, a, b := &diarist{}, &gossip{}, &gossip{}
	saves := func(number int) func(*Env, string) {
		return func(env *Env, event string) {
			if event == "start" {
				env.Save(tySelf{number})
			}
		}
	}
	amnesic.do, a.do, b.do = saves(1), saves(2), saves(3)
	p := process(amnesic, a, b)
	p.Boot()
	if p.Saved(0) != (tySelf{1}) || p.Saved(2) != (tySelf{3}) || !p.Forgets(false) {
		t.Errorf("saved %v, %v; forgets %v", p.Saved(0), p.Saved(2), p.Forgets(false))
	}
	p.Crash()
	if p.Up() {
		t.Error("it is up after a crash")
	}
	p.Restart(false)
	if !p.Up() || p.Incarnation() != 1 {
		t.Errorf("it is up: %v, in incarnation %d", p.Up(), p.Incarnation())
	}
	amnesic.expect(t, "start", "start")
	a.expect(t, "start", "recover {2}")
	b.expect(t, "start", "recover {3}")
	p.Crash()
	p.Restart(true)
	if a.diary[2] != "recover <nil>" || p.Saved(1) != nil {
		t.Errorf("it heard %q and has saved %v", a.diary, p.Saved(1))
	}
	if process(a, b).Forgets(false) || !process(a, b).Forgets(true) {
		t.Error("machines that recover forget only if they are to")
	}
}

// A host may restart a node in a new process, and resume it with the messages that the host has kept.
func TestProcessResumes(t *testing.T) {
	amnesic, a, b := &diarist{}, &gossip{}, &gossip{}
	p := process(amnesic, a, b)
	p.Resume(4, Saved{tySelf{1}, tySelf{2}, nil})
	if !p.Up() || p.Incarnation() != 4 || p.Saved(0) != nil || p.Saved(1) != (tySelf{2}) {
		t.Errorf("up: %v, in incarnation %d, with %v", p.Up(), p.Incarnation(), p.saved)
	}
	p.Boot()
	amnesic.expect(t, "start")
	a.expect(t, "recover {2}")
	b.expect(t, "recover <nil>")
}

// A change of a clone does not change the original, and equal processes have equal states.
func TestProcessClones(t *testing.T) {
	p := process(&toggle{})
	p.Boot()
	q := p.Clone()
	if !slices.Equal(p.AppendState(nil), q.AppendState(nil)) {
		t.Error("a clone has another state")
	}
	q.Handle(&Input{Kind: Request})
	if p.Client(0) != Idle || q.Client(0) != Waiting || slices.Equal(p.AppendState(nil), q.AppendState(nil)) {
		t.Error("what happens to the clone happens to the original")
	}
}

// A toggle counts its requests.
type toggle struct{ Requests int }

func (t *toggle) Request(*Env)              { t.Requests++ }
func (t *toggle) Release(*Env)              {}
func (t *toggle) Receive(*Env, ID, Message) {}

// A doing is a host that notes some of the effects.
type doing struct {
	silentHost
	done []string
}

func (d *doing) Send(_ *Process, e *Effect)  { d.done = append(d.done, fmt.Sprint("send ", e.To)) }
func (d *doing) Save(*Process, *Effect)      { d.done = append(d.done, "save") }
func (d *doing) SetTimer(*Process, *Effect)  { d.done = append(d.done, "set") }
func (d *doing) Elect(_ *Process, e *Effect) { d.done = append(d.done, "elect") }

// A process that goes down in the middle of an input has carried out the effects before that place, and no
// later ones. A place lies between two saves or sends.
func TestCrashInTheMiddleOfAnInput(t *testing.T) {
	for after, want := range []string{"set save elect send 0 set send 2 set", "set save",
		"set save elect send 0"} {
		host, places := &doing{}, []int{}
		m := &gossip{}
		m.do = func(env *Env, event string) {
			if event != "start" {
				return
			}
			env.SetTimer(Timer{}, 1, 1)
			env.Save(tySelf{7})
			env.Elect(None, 1)
			env.Send(0, tySelf{})
			env.SetTimer(Timer{}, 2, 2)
			env.Send(2, tySelf{})
			env.SetTimer(Timer{}, 3, 3)
		}
		var p Process
		rt := NewRuntime(toys(3, m), host, nil)
		rt.Process(&p, 1)
		rt.TellBetween(func(p *Process, done int) {
			if places = append(places, done); done == after {
				p.Crash()
			}
		})
		p.Boot()
		got := strings.Join(host.done, " ")
		if got != want || p.Up() != (after == 0) || p.Saved(0) != (tySelf{7}) ||
			after == 0 && !slices.Equal(places, []int{1, 2}) {
			t.Errorf("after %d: it has done %s, and %v; up: %v, saved %v", after, got, places, p.Up(), p.Saved(0))
		}
	}
}
