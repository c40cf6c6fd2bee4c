package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/hosts/cluster"
	"turnstile/internal/proc"
)

// A Run is a run at the control plane. It answers the pings of agents.
type Run struct {
	Name  string
	Stops atomic.Uint64 // how often processes of the run were stopped or continued
	conn  *nats.Conn
	alive *nats.Subscription
}

// NewRun starts to answer for a run.
func NewRun(conn *nats.Conn, name string) (*Run, error) {
	r := &Run{Name: name, conn: conn}
	var err error
	r.alive, err = conn.Subscribe(aliveSubject(name), func(m *nats.Msg) { m.Respond(nil) })
	if err == nil {
		err = conn.FlushTimeout(answerLimit)
	}
	if err != nil {
		return nil, fmt.Errorf("reaching the control plane: %w", err)
	}
	return r, nil
}

// Close stops answering, so the machines end what is left of the run.
func (r *Run) Close() { r.alive.Unsubscribe() }

// Clock reads the clock of a machine.
func Clock(conn *nats.Conn, host string, within time.Duration) (r Reading, err error) {
	m, err := conn.Request(clockSubject(host), nil, within)
	if err == nil {
		err = json.Unmarshal(m.Data, &r)
	}
	return r, err
}

// Find returns the machines that answer within a time, by name.
func Find(conn *nats.Conn, within time.Duration) ([]Description, error) {
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil {
		return nil, fmt.Errorf("looking for hosts: %w", err)
	}
	defer sub.Unsubscribe()
	if err := conn.PublishRequest("$SRV.INFO."+serviceName, inbox, nil); err != nil {
		return nil, fmt.Errorf("looking for hosts: %w", err)
	}
	found := map[string]Description{}
	const quiet = 150 * time.Millisecond // after a pause of this length, no more answers are expected
	for late, next := time.Now().Add(within), within; ; next = min(quiet, time.Until(late)) {
		m, err := sub.NextMsg(next)
		switch {
		case errors.Is(err, nats.ErrTimeout), errors.Is(err, nats.ErrNoResponders):
			return slices.SortedFunc(maps.Values(found), func(a, b Description) int {
				return cmp.Compare(a.Name, b.Name)
			}), nil
		case err != nil:
			return nil, fmt.Errorf("looking for hosts: %w", err)
		}
		var info struct {
			Metadata map[string]string `json:"metadata"`
		}
		if json.Unmarshal(m.Data, &info) != nil || CheckName(info.Metadata["host"]) != nil {
			continue
		}
		if d, err := Describe(conn, info.Metadata["host"], time.Until(late)+time.Second); err == nil {
			found[d.Name] = d
		}
	}
}

// Describe asks a machine for its description.
func Describe(conn *nats.Conn, host string, within time.Duration) (d Description, err error) {
	m, err := conn.Request(describeSubject(host), nil, within)
	if err == nil {
		err = json.Unmarshal(m.Data, &d)
	}
	return d, err
}

// A Machine is a machine whose agent serves the run: a cluster.Host.
type Machine struct {
	Description
	Folder string // folder of the trial on that machine
	conn   *nats.Conn
	run    string
	inbox  string
	subs   []*nats.Subscription
	stops  *atomic.Uint64 // how often a process of the run on any machine was stopped or continued

	mu        sync.Mutex
	number    uint64 // number of the latest order
	started   int
	pending   map[uint64]chan reply // channels for open answers, by the number of the order
	processes map[int]*remote
	events    uint64 // how many events were received
	heard     time.Time
	lost      error // why the machine is gone; nil: it is not

	// Correct converts a stamp of the machine to the orchestrator's clock, in nanoseconds of the run; nil: they
	// share a clock.
	Correct func(stamp int64) int64

	// Lost is closed when the machine is gone.
	Lost chan struct{}
}

// answerLimit is how long an agent may take to answer an order.
const answerLimit = 10 * time.Second

// ErrLate is the error for an agent that does not answer an order in time.
var ErrLate = errors.New("it does not answer")

// Join makes the machine serve the run.
func (r *Run) Join(ctx context.Context, d Description, j Join) (*Machine, error) {
	h := &Machine{Description: d, conn: r.conn, run: r.Name, inbox: r.conn.NewInbox(), stops: &r.Stops,
		pending: map[uint64]chan reply{}, processes: map[int]*remote{}, heard: time.Now(),
		Lost: make(chan struct{})}
	for subject, take := range map[string]nats.MsgHandler{
		h.inbox + ".*":               h.onReply,
		eventSubject(r.Name, d.Name): h.onEvent,
	} {
		sub, err := r.conn.Subscribe(subject, take)
		if err != nil {
			return nil, fmt.Errorf("reaching host %s: %w", d.Name, err)
		}
		sub.SetPendingLimits(-1, -1)
		h.subs = append(h.subs, sub)
	}
	j.Protocol = Protocol
	if _, err := h.ask(ctx, answerLimit, order{Do: doJoin, Join: &j}); err != nil {
		h.leave()
		return nil, fmt.Errorf("joining host %s: %w", d.Name, err)
	}
	return h, nil
}

// leave ends the subscriptions to messages of the machine.
func (h *Machine) leave() {
	for _, sub := range h.subs {
		sub.Unsubscribe()
	}
}

// Begin makes the machine begin a trial, whose files go into a folder below the agent's.
func (h *Machine) Begin(ctx context.Context, folder string) error {
	a, err := h.ask(ctx, answerLimit, order{Do: doTrial, File: folder})
	if err != nil {
		return fmt.Errorf("beginning a trial on host %s: %w", h.Name, err)
	}
	h.Folder = a.Folder
	return nil
}

// Clear makes the machine remove the files of the trial.
func (h *Machine) Clear(ctx context.Context) error {
	_, err := h.ask(ctx, answerLimit, order{Do: doClear})
	return err
}

// End makes the machine end what is left of the run.
func (h *Machine) End(ctx context.Context) error {
	_, err := h.ask(ctx, answerLimit, order{Do: doEnd})
	h.leave()
	if err != nil && h.Gone() == nil {
		return fmt.Errorf("ending the run on host %s: %w", h.Name, err)
	}
	return nil
}

// Gone returns why the machine is gone; nil: it is not, as far as known.
func (h *Machine) Gone() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}

// Heard returns when the machine last sent anything.
func (h *Machine) Heard() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.heard
}

// send publishes an order. If answer is not nil, it receives the answer.
func (h *Machine) send(o order, answer chan reply) error {
	err := h.publish(o, answer)
	if h.conn.IsClosed() {
		h.Lose(errors.New("the connection to the control plane is closed"))
	}
	return err
}

// publish is like send, but does not notice that the connection is closed.
func (h *Machine) publish(o order, answer chan reply) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != nil {
		return h.lost
	}
	h.number++
	o.Run, o.Boot, o.Number = h.run, h.Boot, h.number
	m := nats.NewMsg(orderSubject(h.Name))
	var err error
	if m.Data, err = json.Marshal(o); err != nil {
		return err
	}
	if most := h.conn.MaxPayload(); int64(len(m.Data)) > most {
		return fmt.Errorf("an order takes %d bytes, and the control server allows %d: raise its max_payload",
			len(m.Data), most)
	}
	if answer != nil {
		m.Reply = fmt.Sprintf("%s.%d", h.inbox, o.Number)
		h.pending[o.Number] = answer
	}
	return h.conn.PublishMsg(m)
}

// ask gives an order and waits for the answer.
func (h *Machine) ask(ctx context.Context, within time.Duration, o order) (reply, error) {
	answer := make(chan reply, 1)
	if err := h.send(o, answer); err != nil {
		return reply{}, err
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case a := <-answer:
		if a.Error != "" {
			return a, errors.New(a.Error)
		}
		return a, nil
	case <-h.Lost:
		return reply{}, h.Gone()
	case <-timer.C:
		h.forget(answer)
		return reply{}, ErrLate
	case <-ctx.Done():
		h.forget(answer)
		return reply{}, ctx.Err()
	}
}

// forget stops waiting for the answer on a channel.
func (h *Machine) forget(answer chan reply) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.pending, func(_ uint64, c chan reply) bool { return c == answer })
}

// onReply handles an answer.
func (h *Machine) onReply(m *nats.Msg) {
	var number uint64
	if _, err := fmt.Sscanf(m.Subject[len(h.inbox)+1:], "%d", &number); err != nil {
		return
	}
	if m.Header.Get("Status") == "503" {
		h.Lose(errors.New("its agent has ended"))
		return
	}
	var a reply
	line, piece, _ := bytes.Cut(m.Data, []byte("\n"))
	a.Piece = piece
	if err := json.Unmarshal(line, &a); err != nil {
		a.Error = fmt.Sprintf("host %s gives an invalid answer: %v", h.Name, err)
	}
	h.mu.Lock()
	answer := h.pending[number]
	delete(h.pending, number)
	h.heard = time.Now()
	h.mu.Unlock()
	if a.Over {
		h.Lose(errors.New(a.Error))
	}
	if answer != nil {
		answer <- a
	}
}

// Lose declares the machine gone. All its processes count as killed.
func (h *Machine) Lose(why error) {
	h.mu.Lock()
	if h.lost != nil {
		h.mu.Unlock()
		return
	}
	h.lost = fmt.Errorf("host %s is gone: %w", h.Name, why)
	processes, heard := slices.Collect(maps.Values(h.processes)), h.heard
	h.mu.Unlock()
	close(h.Lost)
	for _, p := range processes {
		p.end(&ending{Fate: proc.Fate{Killed: true, Gone: true, Heard: heard, Says: h.lost.Error()}})
	}
}

// onEvent handles an event of a process.
func (h *Machine) onEvent(m *nats.Msg) {
	var e event
	if err := json.Unmarshal(m.Data, &e); err != nil || e.Boot != h.Boot {
		return // the event is not from this agent
	}
	h.mu.Lock()
	h.events++
	missing := e.Number != h.events
	p := h.processes[e.Process]
	h.heard = time.Now()
	h.mu.Unlock()
	switch {
	case e.Over != "":
		h.Lose(fmt.Errorf("its agent has ended the run: %s", e.Over))
	case missing:
		h.Lose(fmt.Errorf("events of the host were lost: number %d came after %d", e.Number, h.events-1))
	case p != nil:
		p.take(&e)
	}
}

// Start implements cluster.Host. It does not wait for the process. If the process cannot be started, the
// returned Node ends.
func (h *Machine) Start(c cluster.Command, onOutput func([]byte) []byte) (cluster.Node, error) {
	p := &remote{host: h, name: c.Name, onOutput: onOutput, ended: make(chan struct{})}
	h.mu.Lock()
	h.started++
	p.number = h.started
	h.processes[p.number] = p
	h.mu.Unlock()
	s := command{Name: c.Name, Program: c.Program[0], Env: c.Env, Input: c.Input}
	if c.Log != "" {
		s.LogFile = filepath.Base(c.Log)
	}
	if len(c.Program) > 1 {
		s.Path = c.Program[1]
	}
	if err := h.send(order{Do: doStart, Process: p.number, Start: &s}, nil); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Name, err)
	}
	return p, nil
}

// HoldPort implements cluster.Host. The agent holds the port until the run is over.
func (h *Machine) HoldPort() (*cluster.Port, error) {
	a, err := h.ask(context.Background(), answerLimit, order{Do: doHold})
	if err != nil {
		return nil, fmt.Errorf("taking a port of host %s: %w", h.Name, err)
	}
	return &cluster.Port{Number: a.Port, Release: func() {}}, nil
}

// Address implements cluster.Host.
func (h *Machine) Address() string { return h.Description.Address }

// Runs returns how many processes were started on the machine during the run.
func (h *Machine) Runs() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.started
}

// Refresh reads the counters of the nodes on the machine. It reports whether the agent has answered within a
// time.
func (h *Machine) Refresh(ctx context.Context, within time.Duration) bool {
	a, err := h.ask(ctx, within, order{Do: doCount})
	for b := a.Counts; err == nil && len(b) > 0; {
		number, n := binary.Uvarint(b)
		h.mu.Lock()
		p := h.processes[int(number)]
		h.mu.Unlock()
		if n <= 0 || p == nil {
			return false
		}
		b, err = p.count(b[n:], false)
	}
	return err == nil
}

// Answers reports whether the agent answers within a time. Once the agent has ended, the machine is gone.
func (h *Machine) Answers(ctx context.Context, within time.Duration) bool {
	_, err := h.ask(ctx, within, order{Do: doAnswer})
	return err == nil
}

// Use reads the CPU times of the processes on the machine, and the ticks of its CPUs.
func (h *Machine) Use(ctx context.Context) (busy, all uint64, known bool) {
	a, err := h.ask(ctx, time.Second, order{Do: doUse})
	h.mu.Lock()
	defer h.mu.Unlock()
	for number, u := range a.Uses {
		if p := h.processes[number]; p != nil {
			p.uses.Store(&u)
		}
	}
	return a.Busy, a.Ticks, err == nil
}

// Faults copies the decided state of the faults to the machine (see chaos.SharedState), and returns what
// nodes there have seen.
func (h *Machine) Faults(ctx context.Context, decided []byte, clients int) (seen []byte, err error) {
	a, err := h.ask(ctx, answerLimit, order{Do: doFaults, Text: decided, Clients: clients})
	return a.Text, err
}

// Cut makes the kernel of the machine drop packets of some ports from and to other machines. Heal ends the
// cut with that number.
func (h *Machine) Cut(ctx context.Context, number int, ports []uint16) error {
	_, err := h.ask(ctx, answerLimit, order{Do: doCut, Cut: number, Ports: ports})
	return err
}

func (h *Machine) Heal(ctx context.Context, number int) error {
	_, err := h.ask(ctx, answerLimit, order{Do: doHeal, Cut: number})
	return err
}

// Sees reports whether the machine can read a text in a file that this orchestrator has written.
func (h *Machine) Sees(ctx context.Context, path, text string) bool {
	a, err := h.ask(ctx, answerLimit, order{Do: doProbe, File: path})
	return err == nil && string(a.Text) == text
}

var _ cluster.Host = (*Machine)(nil)

// patience is how long a machine may be silent while its files are fetched.
const patience = 30 * time.Second

// Fetch copies the logs of the run from the machine into a folder, except logs that are there already. It
// copies them in pieces, one after another, continues where an earlier call has stopped, and checks each
// file's digest.
func (h *Machine) Fetch(ctx context.Context, folder string) error {
	a, err := h.askAgain(ctx, order{Do: doFiles})
	if err != nil {
		return fmt.Errorf("listing the logs on host %s: %w", h.Name, err)
	}
	for _, f := range a.Files {
		if !isLog(f.Name) {
			return fmt.Errorf("host %s lists the log %.40q, which is not a name for a log", h.Name, f.Name)
		}
		if err := h.fetch(ctx, folder, f); err != nil {
			return fmt.Errorf("fetching %s from host %s: %w", f.Name, h.Name, err)
		}
	}
	return nil
}

// fetch copies one file.
func (h *Machine) fetch(ctx context.Context, folder string, f File) error {
	path := filepath.Join(folder, f.Name)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	begun := path + ".part"
	file, err := os.OpenFile(begun, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	for at := info.Size(); at < f.Bytes; {
		a, err := h.askAgain(ctx, order{Do: doPiece, File: f.Name, Offset: at, Length: h.pieceLen()})
		switch {
		case err != nil:
			return err
		case len(a.Piece) == 0:
			return fmt.Errorf("it ends after %d of %d bytes", at, f.Bytes)
		}
		if _, err := file.WriteAt(a.Piece, at); err != nil {
			return err
		}
		at += int64(len(a.Piece))
	}
	a, err := h.askAgain(ctx, order{Do: doDigest, File: f.Name})
	if err != nil {
		return err
	}
	switch got, err := digest(folder, filepath.Base(begun)); {
	case err != nil:
		return err
	case len(a.Files) != 1 || got.Bytes != a.Files[0].Bytes || got.SHA256 != a.Files[0].SHA256:
		return errors.Join(errors.New("its digest differs: it was changed in transit, or since"),
			os.Remove(begun))
	}
	return os.Rename(begun, path)
}

// pieceLen returns how much of a file fits into a message of the control server.
func (h *Machine) pieceLen() int {
	return int(min(longestPiece, max(1024, h.conn.MaxPayload()-4096)))
}

// askAgain repeats ask while the machine is silent, for up to patience.
func (h *Machine) askAgain(ctx context.Context, o order) (a reply, err error) {
	for late := time.Now().Add(patience); ; {
		a, err = h.ask(ctx, answerLimit, o)
		if !errors.Is(err, ErrLate) || time.Now().After(late) {
			return a, err
		}
	}
}
