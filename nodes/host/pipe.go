package host

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"turnstile/internal/jsonseq"
	"turnstile/nodes"
)

// OrdersAfter returns a reader of the orders, which follow the configuration that input has read from a
// process's standard input. When the standard input ends, the orchestrator has ended, and orphaned is called
// at once.
func OrdersAfter(input *json.Decoder, stdin *os.File, orphaned func()) (io.Reader, error) {
	// Without this, each read would hold a thread, and the runtime would learn too late that the thread waits.
	fd := int(stdin.Fd())
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("preparing to read orders: %w", err)
	}
	polled := os.NewFile(uintptr(fd), stdin.Name())
	return io.MultiReader(input.Buffered(), lifeline{polled, orphaned}), nil
}

// A lifeline is a pipe that calls ended when the pipe ends.
type lifeline struct {
	pipe  io.Reader
	ended func()
}

func (l lifeline) Read(b []byte) (int, error) {
	n, err := l.pipe.Read(b)
	if err != nil {
		l.ended()
	}
	return n, err
}

// readOrders hands the loop the orders that come.
func (h *host) readOrders(from io.Reader) {
	for input := json.NewDecoder(from); ; {
		var o Order
		if err := input.Decode(&o); err != nil {
			h.fail(fmt.Errorf("reading an order: %w", err))
			return
		}
		h.orders <- o
		h.wake()
	}
}

// obey carries out an order, and then counts it.
func (h *host) obey(o Order) {
	switch o.Do {
	case Issue:
		h.told, h.since = true, cmp.Or(o.Since, o.Begin)
		h.tasks.add(task{at: o.Begin, what: toBegin})
		if o.End > 0 {
			h.tasks.add(task{at: o.End, what: toEnd})
		}
	case Ask:
		h.told = true
		h.start()
		h.clients[o.Resource].ask()
	case End:
		h.tasks.add(task{at: o.End, what: toEnd})
	case Park:
		h.parked = true
		h.hush()
		h.waiting.Open()
		h.attend()
	case Hush:
		h.hush()
	case Down, Up:
		h.detect(o)
	case Report:
		h.inquire(o.Round)
	case Outage, Parted, Restored:
		h.followOutage(o)
	case SetClock:
		h.setClock(o.Jump, o.Rate)
	case Leave:
		h.leave(o.Linger)
	case TakeFault:
		h.takeFault(o)
	case Quit:
		h.quit = true
	default:
		h.err = fmt.Errorf("there is no order %q", o.Do)
		return
	}
	h.log.Instance(0).Obeyed.Add(1)
}

// detect tells the machines that another node is down or up, once they have started.
func (h *host) detect(o Order) {
	switch {
	case !h.started:
		h.detected = append(h.detected, o)
	case !h.parked:
		in := nodes.Input{Kind: nodes.Suspect, From: o.Peer}
		if o.Do == Up {
			in.Kind = nodes.Trust
		}
		h.now = h.clock.Now()
		h.handle(in)
		h.act()
	}
}

// inquire asks the broker of each network for a sign of life, which comes after all messages that the broker
// has for the node; and the resource process, if any, in the same way. So an answer means that node and
// brokers are up, and that no such message is on its way any more. A node without a connection does not
// answer.
func (h *host) inquire(round int) {
	h.asked = round
	if !h.traffic.connected() {
		return
	}
	conns := slices.Clone(h.traffic.conns)
	go func() {
		if h.asker != nil && h.asker.ping() != nil {
			return
		}
		for _, conn := range conns {
			if conn.FlushTimeout(JoinTimeout) != nil {
				return
			}
		}
		h.post(func() { h.answer(round) })
	}()
}

// answer sends the status for a round, unless a later round was ordered.
func (h *host) answer(round int) {
	if round != h.asked {
		return
	}
	if h.runDue(); h.err == nil { // after a pause of the process, tasks may be due
		status := h.process.Status(0)
		if status.Client == nodes.Waiting.String() {
			status.Since = h.clients[0].due
		}
		if h.bridge != nil {
			h.bridge.describe(status)
		}
		h.err = h.tell(Note{Status: status, Round: round})
	}
}

// tell sends a note to the orchestrator. Other output of the process uses the same pipe.
func (h *host) tell(n Note) error {
	b, err := jsonseq.Encode(n)
	if err == nil {
		_, err = h.notes.Write(b)
	}
	if err != nil {
		return fmt.Errorf("reporting to the orchestrator: %w", err)
	}
	return nil
}

// A NoteReader extracts the notes from the output of a process.
type NoteReader = jsonseq.Reader[Note]
