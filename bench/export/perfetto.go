package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"turnstile/judge/spacetime"
	"turnstile/nodes"
)

// The tracks of a node.
const (
	clientTrack = iota + 1
	leaderTrack
	messageTrack
	lifeTrack
)

// faultsProcess is the number of the process under which faults go; nodes have the numbers from 1 on.
const faultsProcess = 100_000_000

// A traceEvent is an event of Chrome's trace format. Times are in microseconds.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"` // X: lasts; i: a moment; s and f: the ends of an arrow; M: names something
	Cat   string         `json:"cat,omitempty"`
	At    float64        `json:"ts"`
	Dur   *float64       `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	ID    int            `json:"id,omitempty"`
	Bind  string         `json:"bp,omitempty"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// A trace writes events, the first error stays.
type trace struct {
	*spacetime.Extract
	w     *bufio.Writer
	count int
	err   error
}

// Perfetto writes an extract in Chrome's trace format: a process for each node, with tracks for its client,
// leadership, messages and crashes; an arrow for each message. fault names a fault by its number.
func Perfetto(w io.Writer, x *spacetime.Extract, fault func(number uint32) string) error {
	t := &trace{Extract: x, w: bufio.NewWriter(w)}
	t.w.WriteString(`{"displayTimeUnit":"ns","traceEvents":[`)
	for id := range nodes.ID(x.Stack.Total()) {
		t.name(id)
	}
	t.clients()
	t.lives()
	t.messages()
	for i := range x.Faults {
		f := &x.Faults[i]
		t.lasts(fmt.Sprintf("fault %d: %s", f.Number, fault(f.Number)), faultsProcess, int(f.Number), f.From, f.To,
			nil)
	}
	if len(x.Faults) > 0 {
		t.put(traceEvent{Name: "process_name", Phase: "M", PID: faultsProcess,
			Args: map[string]any{"name": "faults"}})
	}
	t.w.WriteString("\n]}\n")
	if err := t.w.Flush(); t.err == nil {
		t.err = err
	}
	return t.err
}

func (t *trace) put(e traceEvent) {
	b, err := json.Marshal(e)
	if t.err == nil {
		t.err = err
	}
	if t.count++; t.count > 1 {
		t.w.WriteByte(',')
	}
	t.w.WriteByte('\n')
	t.w.Write(b)
}

func micros(ns int64) float64 { return float64(ns) / 1e3 }

// lasts puts what lasted from one time to another, as far as the extract goes.
func (t *trace) lasts(name string, pid, tid int, from, to int64, args map[string]any) {
	from, to = max(from, t.Window.From), min(to, t.Window.To, t.End)
	if to >= from {
		length := micros(to - from)
		t.put(traceEvent{Name: name, Phase: "X", At: micros(from), Dur: &length, PID: pid, TID: tid, Args: args})
	}
}

// name names the tracks of a node.
func (t *trace) name(id nodes.ID) {
	pid := int(id) + 1
	says := func(what string, track int, key string, value any) {
		t.put(traceEvent{Name: what, Phase: "M", PID: pid, TID: track, Args: map[string]any{key: value}})
	}
	says("process_name", 0, "name", host(t.Extract, id))
	says("process_sort_index", 0, "sort_index", pid)
	for track, name := range []string{clientTrack: "client", leaderTrack: "leads", messageTrack: "messages",
		lifeTrack: "down or stopped"} {
		if name != "" {
			says("thread_name", track, "name", name)
		}
	}
}

// clients puts requests, and critical sections within them.
func (t *trace) clients() {
	for i := range t.Sections {
		s := &t.Sections[i]
		pid, args := int(s.Node)+1, map[string]any{"entry": s.Entry}
		t.lasts(fmt.Sprintf("request %d", s.Entry), pid, clientTrack, s.Asked, s.Ended, args)
		if s.Served() {
			if s.Fence != 0 {
				args["fence"] = s.Fence
			}
			t.lasts("inside", pid, clientTrack, s.Entered, s.Ended, args)
		}
	}
}

// lives puts who led, crashed and stood still.
func (t *trace) lives() {
	for _, r := range t.Reigns {
		t.lasts("leads", int(r.Node)+1, leaderTrack, r.From, r.To, map[string]any{"term": r.Term})
	}
	for _, d := range t.Deaths {
		t.lasts("down", int(d.Node)+1, lifeTrack, d.At, d.Back, nil)
	}
	for _, p := range t.Pauses {
		if int(p.Process) < t.Stack.Total() {
			t.lasts("stands still", int(p.Process)+1, lifeTrack, p.From, p.To, nil)
		}
	}
}

// longestStep is how long a step of a node is drawn, in nanoseconds, unless another follows earlier.
const longestStep = 1000

// messages puts a short slice for each message at both ends, and an arrow between them.
func (t *trace) messages() {
	for id, steps := range t.Steps() {
		for i := range steps {
			s := &steps[i]
			if s.Event != nil {
				continue
			}
			until := s.At + longestStep
			for j := i + 1; j < len(steps) && steps[j].At < until; j++ {
				if steps[j].At > s.At {
					until = steps[j].At
				}
			}
			t.step(id+1, s, until)
		}
	}
}

// step puts a step of a node about messages.
func (t *trace) step(pid int, s *spacetime.Step, until int64) {
	length := micros(until - s.At)
	slice := traceEvent{Name: says(t.Extract, s), Phase: "X", At: micros(s.At), Dur: &length, PID: pid,
		TID: messageTrack}
	if body := body(t.Extract, s); body != "" {
		slice.Args = map[string]any{"says": body}
	}
	t.put(slice)
	for _, i := range s.Messages {
		m := &t.Extract.Messages[i]
		kind := t.Name(m)
		arrow := traceEvent{Name: kind, Cat: "message", At: micros(s.At), PID: pid, TID: messageTrack,
			ID: int(i) + 1}
		switch {
		case s.Receipt:
			if arrow.Phase, arrow.Bind = "f", "e"; m.Sent != math.MinInt64 {
				t.put(arrow)
			}
		case m.Fate == spacetime.Handled:
			arrow.Phase = "s"
			t.put(arrow)
		case m.Fate == spacetime.Lost:
			t.put(traceEvent{Name: "lost: " + kind, Phase: "i", Scope: "t", At: micros(m.Over), PID: int(m.To) + 1,
				TID: messageTrack})
		}
	}
}
