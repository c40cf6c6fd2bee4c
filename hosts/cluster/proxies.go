package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"turnstile/internal/broker"
	"turnstile/internal/relay"
	"turnstile/nodes/port"
)

// Proxies are TCP proxies on the loopback addresses of hosts, one process per host. Without hosts there are
// no proxies: connections are direct, and suffer no faults.
type Proxies struct {
	workers []*Worker         // by host: the process of its proxies
	on      map[string]int    // host of each proxy, by name
	at      map[string]string // address of each proxy, by name
	in      map[int][]int     // hosts on which a fault is in force, by the number of the fault
}

// ErrNoProxies is the error for a fault of connections in a run without proxies.
var ErrNoProxies = errors.New("connections and routes run through no proxies in this run: " +
	"begin it with --proxies")

// LaunchProxies starts a process for proxies on each host. It runs the program, which must call ServeProxies.
// Add makes the proxies.
func LaunchProxies(ctx context.Context, hosts []Host, program []string) (*Proxies, error) {
	p := &Proxies{on: map[string]int{}, at: map[string]string{}, in: map[int][]int{}}
	for i, host := range hosts {
		name := "the process of the proxies"
		if len(hosts) > 1 {
			name = fmt.Sprintf("the process of the proxies of host %d", i)
		}
		s, err := StartWorker(host, name, program)
		if err == nil {
			p.workers = append(p.workers, s)
			_, err = p.report(ctx, i) // the process is up once it answers
		}
		if err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// Processes returns the processes of the proxies, by host.
func (p *Proxies) Processes() (all []Process) {
	for _, s := range p.workers {
		all = append(all, s)
	}
	return all
}

// Close ends the proxies and their connections.
func (p *Proxies) Close() {
	for _, s := range p.workers {
		s.End()
	}
}

// Any reports whether the run has proxies.
func (p *Proxies) Any() bool { return len(p.workers) > 0 }

// Add makes a proxy on a host that forwards connections to an address such as 127.0.0.1:4222, and returns the
// address of the proxy. Without proxies, it returns the upstream address.
func (p *Proxies) Add(ctx context.Context, host int, name, upstream string) (address string, err error) {
	if !p.Any() {
		return upstream, nil
	}
	err = p.workers[host].Ask(ctx, proxyOrder{Do: addProxy, Name: name, Upstream: upstream}, &address)
	if err == nil {
		p.on[name], p.at[name] = host, address
	}
	return address, err
}

// Before returns the address of the proxy with this name. If there is no such proxy, Before returns upstream.
func (p *Proxies) Before(name, upstream string) string { return cmp.Or(p.at[name], upstream) }

// Begin begins a fault, which is in force when Begin returns nil.
func (p *Proxies) Begin(ctx context.Context, f ConnectionFault) error {
	if !p.Any() {
		return ErrNoProxies
	}
	of := map[int][]string{}
	for _, name := range f.Names {
		of[p.on[name]] = append(of[p.on[name]], name)
	}
	if len(of) == 0 { // the fault hits no proxy: host 0 will report the error
		of[0] = nil
	}
	for _, host := range slices.Sorted(maps.Keys(of)) {
		f.Names = of[host]
		if err := p.workers[host].Ask(ctx, proxyOrder{Do: beginFault, Fault: f}, nil); err != nil {
			return err
		}
		p.in[f.Number] = append(p.in[f.Number], host)
	}
	return nil
}

// Heal ends the fault with that number, and no other. When it returns nil, the proxies pass on what they held
// up, and accept connections again.
func (p *Proxies) Heal(ctx context.Context, number int) error {
	if !p.Any() {
		return ErrNoProxies
	}
	hosts := p.in[number]
	if len(hosts) == 0 { // the fault is not in force: host 0 will report the error
		hosts = []int{0}
	}
	for _, host := range hosts {
		order := proxyOrder{Do: healFault, Fault: ConnectionFault{Number: number}}
		if err := p.workers[host].Ask(ctx, order, nil); err != nil {
			return err
		}
	}
	delete(p.in, number)
	return nil
}

// Lost returns which answers a fault has lost.
func (p *Proxies) Lost(ctx context.Context, number int) (all port.Lost, err error) {
	for _, host := range p.in[number] {
		var lost port.Lost
		order := proxyOrder{Do: countLost, Fault: ConnectionFault{Number: number}}
		if err := p.workers[host].Ask(ctx, order, &lost); err != nil {
			return all, err
		}
		all = all.And(lost)
	}
	return all, nil
}

// Bytes returns how many bytes have come to the proxies whose names contain a text, on all hosts.
func (p *Proxies) Bytes(ctx context.Context, about string) (sum uint64, err error) {
	for _, w := range p.workers {
		var bytes uint64
		if err := w.Ask(ctx, proxyOrder{Do: countBytes, Name: about}, &bytes); err != nil {
			return 0, err
		}
		sum += bytes
	}
	return sum, nil
}

// LastOf returns the index of the name whose proxy was the last to receive data from its server; -1: no proxy
// has received any. All the proxies must be on one host.
func (p *Proxies) LastOf(ctx context.Context, names []string) (which int, err error) {
	if !p.Any() {
		return -1, ErrNoProxies
	}
	which = -1
	var latest time.Duration
	for i, name := range names {
		var at time.Duration
		if err := p.workers[p.on[name]].Ask(ctx, proxyOrder{Do: lastAnswer, Name: name}, &at); err != nil {
			return -1, err
		}
		if at > latest {
			which, latest = i, at
		}
	}
	return which, nil
}

// InForce returns the numbers of the faults in force. It returns an error if some proxy holds up data though
// no fault is in force.
func (p *Proxies) InForce(ctx context.Context) (numbers []int, err error) {
	for host := range p.workers {
		r, err := p.report(ctx, host)
		switch {
		case err != nil:
			return nil, err
		case len(r.Faults) == 0 && len(r.Hit) > 0:
			return nil, errors.New("no fault is in force, but proxies hold up data: " +
				strings.Join(r.Hit, ", "))
		}
		numbers = append(numbers, r.Faults...)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}

// report asks the proxies of a host for their state.
func (p *Proxies) report(ctx context.Context, host int) (r proxyReport, err error) {
	err = p.workers[host].Ask(ctx, proxyOrder{Do: reportProxy}, &r)
	return r, err
}

// A ConnectionFault is a fault of connections that run through proxies, until it is healed. If several faults
// hit one connection, their latencies add up, and the least bandwidth applies.
type ConnectionFault struct {
	Number int      `json:"number"` // number of the fault, from 1
	Names  []string `json:"names"`  // names of the proxies that the fault hits

	Latency   time.Duration `json:"latency,omitempty"`   // additional latency in each direction
	Bandwidth int64         `json:"bandwidth,omitempty"` // bytes per second in each direction
	// Stall: nothing passes, though the connection stays open. Held data passes once the fault is healed.
	Stall bool `json:"stall,omitempty"`
	// Drop: data is read and dropped. A connection that has lost data is closed once the fault is healed, since
	// TCP would have sent the data again.
	Drop bool `json:"drop,omitempty"`
	// Answer makes some clients lose one answer each; nil: no answer is lost.
	Answer *AnswerFault `json:"answer,omitempty"`
	// Reset: connections are closed at once, with all data in transit, and new ones are refused.
	Reset bool `json:"reset,omitempty"`
}

// check returns an error if the fault is invalid.
func (f *ConnectionFault) check() error {
	switch {
	case f.Number < 1:
		return fmt.Errorf("a fault has the number %d: they count from 1", f.Number)
	case len(f.Names) == 0:
		return fmt.Errorf("fault %d hits no connection", f.Number)
	case f.Latency < 0:
		return fmt.Errorf("fault %d: a latency of %v: it must be 0s or longer", f.Number, f.Latency)
	case f.Bandwidth < 0:
		return fmt.Errorf("fault %d: %d bytes per second: it must be 1 or more", f.Number, f.Bandwidth)
	case f.Latency == 0 && f.Bandwidth == 0 && !f.Stall && !f.Drop && !f.Reset && f.Answer == nil:
		return fmt.Errorf("fault %d does nothing: it takes a latency, a bandwidth, a stall, a drop, an answer or "+
			"a reset", f.Number)
	}
	return nil
}

// An AnswerFault loses the nth answer to each client, counted over all proxies of the client since the fault
// began. An answer is what the server sends after the client has sent something.
type AnswerFault struct {
	Nth uint64            `json:"nth"`
	Of  map[string]string `json:"of"` // name of the client of each proxy, by name of the proxy
	// Close closes the connection in place of the answer. Otherwise the client receives nothing more on that
	// connection, and the proxy closes the connection once the fault is healed.
	Close bool `json:"close,omitempty"`

	// Hold: the nth request is held for so long, and no answer is lost; 0: no request is held. A request is what
	// the client sends first, or after the server's last answer.
	Hold time.Duration `json:"hold,omitempty"`

	losses map[string]*answerLoss // by client: how the fault affects the client
}

// An answerLoss is the effect of an AnswerFault on one client.
type answerLoss struct {
	nth   uint64
	close bool
	hold  time.Duration
	seen  atomic.Uint64
	at    atomic.Int64 // when it was lost or held, in nanoseconds since the process began; 0: not yet
}

// begin starts counting the answers to each client.
func (f *AnswerFault) begin() {
	if f == nil {
		return
	}
	f.losses = map[string]*answerLoss{}
	for _, client := range f.Of {
		f.losses[client] = &answerLoss{nth: f.Nth, close: f.Close, hold: f.Hold}
	}
}

// of returns the effect of the fault on the client of a proxy.
func (f *AnswerFault) of(proxy string) []*answerLoss {
	if f == nil {
		return nil
	}
	return []*answerLoss{f.losses[f.Of[proxy]]}
}

// lost returns which answers were lost, or which requests were held.
func (f *AnswerFault) lost() (all port.Lost) {
	if f == nil {
		return all
	}
	for _, l := range f.losses {
		if at := l.at.Load(); at > 0 {
			ago := time.Since(begun) - time.Duration(at)
			all = all.And(port.Lost{Answers: 1, First: ago, Last: ago})
		}
	}
	return all
}

// A proxyOrder is an order to the process of the proxies.
type proxyOrder struct {
	Do       string          `json:"do"`
	Name     string          `json:"name,omitempty"`     // proxy's name; for the order bytes: the text to find
	Upstream string          `json:"upstream,omitempty"` // for the order add: where the proxy connects to
	Fault    ConnectionFault `json:"fault,omitzero"`     // for begin; for heal, only the number of the fault
}

// The orders.
const (
	addProxy    = "add" // the answer is the address of the proxy
	beginFault  = "begin"
	healFault   = "heal"
	reportProxy = "report" // the answer is a proxyReport
	countLost   = "lost"   // returns which answers a fault has lost, as a port.Lost
	countBytes  = "bytes"  // the answer is how many bytes came to proxies with a text in their names
	lastAnswer  = "last"   // the answer is the time of the server's last answer, or 0
)

// A proxyReport is the state of the proxies. Hit is read from what the proxies do, not from the orders.
type proxyReport struct {
	Faults []int    `json:"faults"` // numbers of the faults in force
	Hit    []string `json:"hit"`    // proxies that delay, hold up or drop data
}

// ServeProxies runs TCP proxies on the loopback address, as a process started by a Launcher (see
// LaunchProxies). It returns when the input ends.
func ServeProxies(in io.Reader, out io.Writer) error {
	s := proxyServer{proxies: map[string]*proxy{}, faults: map[int]ConnectionFault{}}
	return ServeOrders(in, out, s.obey)
}

// A proxyServer has the proxies of a process.
type proxyServer struct {
	proxies map[string]*proxy
	faults  map[int]ConnectionFault
}

// A proxy forwards connections to one address.
type proxy struct {
	relay.Relay
	port  *Port
	rule  atomic.Pointer[rule] // how faults affect all its connections
	asked sync.Map             // by the net.Conn of the client: see line
	bytes atomic.Uint64        // number of bytes received, in both directions
	// answered is the time of the server's last data, in nanoseconds since the process began; 0: no data yet.
	answered atomic.Int64
}

func (s *proxyServer) obey(order json.RawMessage) (any, error) {
	var o proxyOrder
	if err := json.Unmarshal(order, &o); err != nil {
		return nil, fmt.Errorf("reading an order for the proxies: %w", err)
	}
	switch o.Do {
	case addProxy:
		return s.add(o.Name, o.Upstream)
	case beginFault:
		return nil, s.begin(o.Fault)
	case healFault:
		return nil, s.heal(o.Fault.Number)
	case reportProxy:
		return s.report(), nil
	case countBytes:
		return s.bytes(o.Name), nil
	case lastAnswer:
		if s.proxies[o.Name] == nil {
			return nil, fmt.Errorf("there is no proxy %s", o.Name)
		}
		return s.proxies[o.Name].answered.Load(), nil
	case countLost:
		return s.faults[o.Fault.Number].Answer.lost(), nil
	}
	return nil, fmt.Errorf("there is no order %q for the proxies", o.Do)
}

// add makes a proxy and returns its address.
func (s *proxyServer) add(name, upstream string) (string, error) {
	if s.proxies[name] != nil {
		return "", fmt.Errorf("there is a proxy %s already", name)
	}
	held, err := HoldPort()
	if err != nil {
		return "", err
	}
	p := &proxy{Relay: relay.Relay{Address: broker.Address(held.Number), Dial: relay.To(upstream)}, port: held}
	p.Pass = func(ctx context.Context, to, from net.Conn, up bool) error {
		client := from
		if !up {
			client = to
		}
		defer p.asked.Delete(client)
		asked, _ := p.asked.LoadOrStore(client, new(atomic.Bool))
		return (&line{p, !up, asked.(*atomic.Bool)}).pass(ctx, to, from)
	}
	p.rule.Store(&rule{changed: make(chan struct{})})
	if err := p.Start(); err != nil {
		held.Release()
		return "", fmt.Errorf("starting the proxy %s: %w", name, err)
	}
	s.proxies[name] = p
	return p.Address, nil
}

// begin begins a fault at all of its proxies, or at none of them.
func (s *proxyServer) begin(f ConnectionFault) error {
	if err := f.check(); err != nil {
		return err
	}
	if _, is := s.faults[f.Number]; is {
		return fmt.Errorf("fault %d is in force already", f.Number)
	}
	for _, name := range f.Names {
		if s.proxies[name] == nil {
			return fmt.Errorf("fault %d: there is no proxy %s", f.Number, name)
		}
	}
	f.Answer.begin()
	s.faults[f.Number] = f
	return s.apply(f.Names)
}

// heal ends a fault.
func (s *proxyServer) heal(number int) error {
	f, is := s.faults[number]
	if !is {
		return fmt.Errorf("no fault %d is in force", number)
	}
	delete(s.faults, number)
	return s.apply(f.Names)
}

// apply makes some proxies follow all the faults that are in force.
func (s *proxyServer) apply(names []string) error {
	var errs []error
	for _, name := range names {
		p, reset := s.proxies[name], false
		next := &rule{changed: make(chan struct{})}
		for _, f := range s.faults {
			if slices.Contains(f.Names, name) {
				reset = reset || f.Reset
				next.add(f)
				next.answers = append(next.answers, f.Answer.of(name)...)
			}
		}
		close(p.rule.Swap(next).changed)
		if reset {
			p.Stop()
		} else {
			errs = append(errs, p.Start())
		}
	}
	return errors.Join(errs...)
}

// add adds the effect of a fault to a rule.
func (r *rule) add(f ConnectionFault) {
	r.latency += f.Latency
	if f.Bandwidth > 0 && (r.bandwidth == 0 || f.Bandwidth < r.bandwidth) {
		r.bandwidth = f.Bandwidth
	}
	r.stall, r.drop = r.stall || f.Stall, r.drop || f.Drop
}

// bytes returns how many bytes have come to the proxies whose names contain a text.
func (s *proxyServer) bytes(about string) (sum uint64) {
	for name, p := range s.proxies {
		if strings.Contains(name, about) {
			sum += p.bytes.Load()
		}
	}
	return sum
}

// report returns the state of the proxies.
func (s *proxyServer) report() proxyReport {
	r := proxyReport{Faults: slices.Sorted(maps.Keys(s.faults))}
	for name, p := range s.proxies {
		if at := p.rule.Load(); at.latency > 0 || at.bandwidth > 0 || at.stall || at.drop || !p.Open() {
			r.Hit = append(r.Hit, name)
		}
	}
	slices.Sort(r.Hit)
	return r
}

// A line is one direction of a connection through a proxy. It follows the current rule of the proxy.
type line struct {
	*proxy
	answers bool // the line carries data from the server to the client
	// asked is set if the client has sent something since the server's last answer. Both lines of a connection
	// have it.
	asked *atomic.Bool
}

// A chunk is the data of one read.
type chunk struct {
	data []byte
	came time.Time
	held time.Time // until when it is held; zero: it is not
	err  error     // why no more data comes; io.EOF: the sender has closed its side
}

// read sends the data of a connection to chunks, until the connection ends.
func read(ctx context.Context, from net.Conn, chunks chan<- chunk) {
	for b := make([]byte, 32<<10); ; {
		n, err := from.Read(b)
		select {
		case chunks <- chunk{data: slices.Clone(b[:n]), came: time.Now(), err: err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// A rule is the effect of faults on all connections of one proxy, in both directions.
type rule struct {
	latency   time.Duration
	bandwidth int64 // bytes per second; 0: unlimited
	stall     bool
	drop      bool          // data is dropped
	answers   []*answerLoss // faults that make a client lose one answer each
	changed   chan struct{} // closed when another rule replaces this one
}

// inTransit is how many bytes one direction of a connection holds at most. More data waits at the sender.
const inTransit = 16 << 20

// slack is how far a stream may fall behind its bandwidth and still catch up.
const slack = 100 * time.Millisecond

// errCut is why the proxy closes a connection that has lost data.
var errCut = errors.New("the proxy has lost what came")

// pass forwards data from one end, until that end is closed or the connection must be closed.
func (l *line) pass(ctx context.Context, to, from net.Conn) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	chunks, pieces := make(chan chunk), make(chan []byte)
	var ends sync.WaitGroup
	ends.Go(func() { read(ctx, from, chunks) })
	ends.Go(func() {
		for b := range pieces {
			if _, err := to.Write(b); err != nil {
				stop()
				return
			}
		}
	})
	err := l.pump(ctx, chunks, pieces)
	if err != nil {
		stop()
		from.Close()
		to.Close()
	}
	close(pieces)
	ends.Wait()
	return err
}

// pump turns chunks into pieces, delayed or dropped as the rule demands.
func (l *line) pump(ctx context.Context, chunks <-chan chunk, pieces chan<- []byte) error {
	var f flow
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		r := l.rule.Load()
		f.lose(r)
		switch {
		case f.closed || f.lost && (f.ended != nil || !f.drops(r)):
			return errCut
		case f.ended == io.EOF && len(f.waiting) == 0:
			return nil
		case f.ended != nil && len(f.waiting) == 0:
			return f.ended
		}
		var input <-chan chunk
		if f.ended == nil && f.bytes < inTransit {
			input = chunks
		}
		var output chan<- []byte
		var next []byte
		var due <-chan time.Time
		if len(f.waiting) > 0 && !r.stall {
			if wait := f.wait(r); wait > 0 {
				timer.Reset(wait)
				due = timer.C
			} else {
				output, next = pieces, f.piece(r)
			}
		}
		select {
		case c := <-input:
			f.take(c)
			l.note(c, r, &f)
		case output <- next:
			f.passed(len(next), r)
		case <-due:
		case <-r.changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A flow is the data in transit in one direction of a connection, in order.
type flow struct {
	waiting []chunk
	bytes   int
	ended   error // why no more data comes; nil: more may come
	lost    bool  // some data was dropped
	closed  bool  // the connection is closed in place of an answer

	silencedBy *answerLoss // the fault by which the client receives nothing more
	free       time.Time   // when the bandwidth allows the next piece
}

// drops reports whether data must be dropped.
func (f *flow) drops(r *rule) bool {
	return r.drop || f.silencedBy != nil && slices.Contains(r.answers, f.silencedBy)
}

// lose drops the waiting data, if the rule demands it.
func (f *flow) lose(r *rule) {
	if f.drops(r) && len(f.waiting) > 0 {
		f.lost, f.waiting, f.bytes = true, nil, 0
	}
}

// take adds a chunk.
func (f *flow) take(c chunk) {
	if len(c.data) > 0 {
		f.waiting = append(f.waiting, c)
		f.bytes += len(c.data)
	}
	f.ended = c.err
}

// wait returns how long the first chunk must still wait.
func (f *flow) wait(r *rule) time.Duration {
	held := f.waiting[0].held
	if r.latency == 0 && r.bandwidth == 0 && held.IsZero() {
		return 0
	}
	due := f.waiting[0].came.Add(r.latency)
	if held.After(due) {
		due = held
	}
	if r.bandwidth > 0 && f.free.After(due) {
		due = f.free
	}
	return time.Until(due)
}

// piece returns what passes next: the first chunk, or as much of it as the bandwidth allows in 50 ms.
func (f *flow) piece(r *rule) []byte {
	b := f.waiting[0].data
	if most := max(1, r.bandwidth/20); r.bandwidth > 0 && int64(len(b)) > most {
		b = b[:most]
	}
	return b
}

// passed removes n bytes that have passed.
func (f *flow) passed(n int, r *rule) {
	f.bytes -= n
	if first := &f.waiting[0]; n < len(first.data) {
		first.data = first.data[n:]
	} else {
		*first = chunk{}
		f.waiting = f.waiting[1:]
	}
	if r.bandwidth > 0 {
		if behind := time.Now().Add(-slack); f.free.Before(behind) {
			f.free = behind
		}
		f.free = f.free.Add(time.Duration(float64(n) / float64(r.bandwidth) * float64(time.Second)))
	}
}

// begun is when this process began.
var begun = time.Now()

// hold has the latest chunk, which begins a request, held if a fault says so.
func (l *line) hold(r *rule, f *flow) {
	for _, loss := range r.answers {
		if loss.hold > 0 && loss.seen.Add(1) == loss.nth {
			loss.at.Store(int64(time.Since(begun)))
			f.waiting[len(f.waiting)-1].held = time.Now().Add(loss.hold)
		}
	}
}

// note counts data that has come, and in it requests and answers. It marks the flow if a fault loses the
// answer, and its latest chunk if a fault holds the request.
func (l *line) note(c chunk, r *rule, f *flow) {
	if len(c.data) == 0 {
		return
	}
	l.bytes.Add(uint64(len(c.data)))
	if !l.answers {
		if !l.asked.Swap(true) {
			l.hold(r, f)
		}
		return
	}
	l.answered.Store(int64(time.Since(begun)))
	if !l.asked.Swap(false) || len(r.answers) == 0 {
		return
	}
	for _, loss := range r.answers {
		if loss.hold == 0 && loss.seen.Add(1) == loss.nth {
			loss.at.Store(int64(time.Since(begun)))
			f.closed, f.silencedBy = loss.close, loss
		}
	}
}
