package host_test

import (
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/workload"
)

// A hearer is a mutex of one node. It refuses each request once, and tells its client that the lock is lost:
// in odd entries together with the grant, in even entries a while later.
type hearer struct {
	Entries int
	Inside  bool
}

func (h *hearer) Request(env *nodes.Env) {
	h.Entries++
	env.Refuse()
	env.SetTimer(nodes.Timer{}, time.Millisecond, time.Millisecond)
}

func (h *hearer) Timeout(env *nodes.Env, _ nodes.Timer) {
	if h.Inside {
		env.TellLost()
		return
	}
	h.Inside = true
	env.Retry()
	env.Grant()
	if h.Entries%2 == 1 {
		env.TellLost()
	} else {
		env.SetTimer(nodes.Timer{}, time.Millisecond, time.Millisecond)
	}
}

func (h *hearer) Release(env *nodes.Env) {
	h.Inside = false
	env.StopTimer(nodes.Timer{})
}

func (h *hearer) Receive(*nodes.Env, nodes.ID, nodes.Message) {}

func hearers() *algorithm.Algorithm {
	return toy("hearer", func() nodes.Machine { return &hearer{} })
}

// heard checks what the client of a hearer hears in a number of entries: one refusal and one loss of the lock
// for each. In even entries the loss comes when the client was inside for the time least or longer.
func heard(t *testing.T, h *history.History, entries int, least time.Duration) {
	t.Helper()
	var asked, entered int64
	inside, told, refused := false, 0, 0
	for _, e := range h.Events {
		switch e.Kind {
		case history.Requested:
			asked = e.At
		case history.TryRefused:
			refused++
			if inside || e.Value > e.At || e.Value < asked {
				t.Errorf("a try made at %d is refused at %d, inside %v; it was asked for at %d", e.Value, e.At,
					inside, asked)
			}
		case history.Entered:
			inside, entered = true, e.At
		case history.ToldLost:
			told++
			if since := time.Duration(e.At - entered); !inside || e.Entry%2 == 0 && since < least {
				t.Errorf("entry %d is told that it has lost the lock after %v, inside %v", e.Entry, since, inside)
			}
		case history.Exited:
			inside = false
		}
	}
	if told != entries || refused != entries {
		t.Errorf("%d told and %d refused in %d entries", told, refused, entries)
	}
}

func TestWhatClientsHear(t *testing.T) {
	tr := trial{instances: []algorithm.Instance{instance(hearers(), 1)}, entries: 10,
		workload: workload.Workload{Load: workload.Saturated, Hold: chance.Constant(20 * time.Millisecond)}}
	tr.everywhere(t, func(t *testing.T, h *history.History) { heard(t, h, 10, time.Millisecond/2) })
	tr.explored(t)
	t.Run("with a resource process", func(t *testing.T) {
		stack := stackOf(t, hearers(), 1)
		s, _ := asking(t, stack, 10, func(c *host.Config) {
			c.Workload = workload.Workload{Load: workload.Saturated, Hold: chance.Constant(20 * time.Millisecond)}
		})
		s.order(host.Order{Do: host.Issue, Begin: 1})
		s.awaitRest(10)
		s.answers(1)
		h := s.end()
		heard(t, h, 10, 0) // 0: part of the time since the grant has passed before the client is inside
		f := check.Sections(h.Header(), check.SettingOf(stack))
		h.Run(f)
		if f.Irregular > 0 || f.Resources[0].Tries != 10 {
			t.Errorf("%d tries; %v", f.Resources[0].Tries, f.Irregularities)
		}
	})
}
