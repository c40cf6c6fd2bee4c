package host

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"

	"turnstile/nodes"
)

// Notes are on the same pipe as whatever else a process prints. So each is framed as in a JSON text sequence
// (RFC 7464): a byte that no text has, the note, the end of the line.
const (
	noteBegin = 0x1e
	noteEnd   = '\n'
)

// OrdersAfter returns what follows the configuration that input has read from a process's standard input.
// When that ends, the orchestrator has ended, however that happened, and orphaned is called at once, whatever
// the node does.
func OrdersAfter(input *json.Decoder, stdin *os.File, orphaned func()) (io.Reader, error) {
	// Without this, each read would hold a thread, and the runtime would learn too late that it waits.
	fd := int(stdin.Fd())
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("preparing to read orders: %w", err)
	}
	polled := os.NewFile(uintptr(fd), stdin.Name())
	return io.MultiReader(input.Buffered(), lifeline{polled, orphaned}), nil
}

// A lifeline is a pipe whose end is told.
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
func (h *Host) readOrders(from io.Reader) {
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
func (h *Host) obey(o Order) {
	switch o.Do {
	case Issue:
		h.told = true
		if s, counts := h.config.Shaper.(nodes.Beginner); counts {
			s.Begin(o.Begin)
		}
		h.tasks.add(task{at: o.Begin, what: toBegin})
		if o.End > 0 {
			h.tasks.add(task{at: o.End, what: toEnd})
		}
	case Ask:
		h.told = true
		h.start()
		h.clients[0].ask()
	case End:
		h.tasks.add(task{at: o.End, what: toEnd})
	case Park:
		h.parked = true
	case Report:
		h.inquire(o.Round)
	case Quit:
		h.quit = true
	default:
		h.err = fmt.Errorf("there is no order %q", o.Do)
		return
	}
	h.log.Instance(0).Obeyed.Add(1)
}

// A question is the latest order to Report that is not answered yet.
type question struct {
	round int
	mark  *nats.Msg // it comes by the inbox, behind the messages to be handled before the answer
}

// inquire asks the broker for a sign of life. It comes behind all messages that the broker has for the node.
// So an answer means that the node lives, that the broker does, and that no such message is on its way any
// more.
func (h *Host) inquire(round int) {
	mark, conn := new(nats.Msg), h.traffic.conn
	h.question = question{round, mark}
	go func() {
		if conn.FlushTimeout(JoinTimeout) == nil { // otherwise there is no answer
			h.inbox <- mark
		}
	}()
}

// answer answers the question.
func (h *Host) answer() {
	h.err = h.tell(Note{Status: h.process.Status(0), Round: h.question.round})
	h.question = question{}
}

// tell sends a note to the orchestrator.
func (h *Host) tell(n Note) error {
	b, err := json.Marshal(n)
	if err == nil {
		_, err = h.notes.Write(append(append([]byte{noteBegin}, b...), noteEnd))
	}
	if err != nil {
		return fmt.Errorf("reporting to the orchestrator: %w", err)
	}
	return nil
}

// A NoteReader takes the notes out of what a process prints.
type NoteReader struct {
	On    func(Note) // is given each
	begun []byte     // of a note; empty: none has
}

// longestNote is more than any note has: what claims to be longer is none.
const longestNote = 1 << 24

// Sift takes the next piece of what a process prints, and returns it without the notes. What is no note is
// returned as it came, though perhaps later.
func (r *NoteReader) Sift(piece []byte) (rest []byte) {
	for _, c := range piece {
		switch {
		case len(r.begun) == 0 && c != noteBegin:
			rest = append(rest, c)
			continue
		case c == noteBegin: // and what came before is none
			rest = append(rest, r.begun...)
			r.begun = r.begun[:0]
		}
		r.begun = append(r.begun, c)
		if c != noteEnd && len(r.begun) < longestNote {
			continue
		}
		var n Note
		if err := json.Unmarshal(r.begun[1:], &n); err == nil {
			r.On(n)
		} else {
			rest = append(rest, r.begun...)
		}
		r.begun = r.begun[:0]
	}
	return rest
}
