// Package agent runs processes of a run on other hosts. An [Agent] serves one host: it starts node programs
// and brokers through package cluster, reports when they stop or end, and reads their counters. A [Host] is
// the orchestrator's end of an agent. It is a [turnstile/hosts/cluster.Host], so a run does not know where a
// process is.
//
// # The control plane
//
// Each agent has one subject for orders (ts.host.NAME.order), which keeps their order. Each order names the
// run and the incarnation of the agent, and has an increasing number; an order whose number was seen before
// is refused. Events of processes come numbered, on a subject of the run and the host (ts.run.RUN.NAME).
// Orchestrators find agents as micro services of NATS.
//
// An agent pings the orchestrator of each run (ts.run.RUN.alive). If nobody subscribes to that subject any
// more, it ends the processes of the run at once; if nobody answers, it does so after a timeout.
package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"golang.org/x/sys/unix"

	"turnstile/chaos/place"
	"turnstile/hosts/cluster"
	"turnstile/internal/broker"
	"turnstile/internal/cgroup"
	"turnstile/internal/disk"
	"turnstile/internal/offset"
	"turnstile/internal/proc"
	"turnstile/results"
)

// Options are the settings of an agent.
type Options struct {
	Name    string
	Folder  string // folder for the files of runs
	Version string
	// Programs are the command lines of the programs that the agent may start, by name. Orchestrators use these
	// names.
	Programs map[string][]string
	// AllowPrograms are other node programs that orchestrators may name.
	AllowPrograms []string
	Address       string        // where other hosts reach this one; empty: as the control server sees it
	Local         bool          // the orchestrator can read the files of runs, and fetches none
	OrphanAfter   time.Duration // how long an orchestrator may be silent
	RunAs         *Account      // user of the processes; nil: the agent's own
	Clock         func() int64  // clock of its nodes, in nanoseconds; nil: CLOCK_MONOTONIC
	Log           io.Writer     // gets a record of what the agent did; nil: no record
}

// The names of programs.
const (
	NodeProgram     = "node"
	BrokerProgram   = "broker"
	ProxyProgram    = "proxy"
	ResourceProgram = "resource"
)

// OrphanAfter is the default time that an orchestrator may be silent.
const OrphanAfter = 10 * time.Second

// keepFor is how long files are kept if nobody fetches them.
const keepFor = 24 * time.Hour

// An Agent serves one host.
type Agent struct {
	Options
	conn     *nats.Conn
	boot     string
	since    time.Time
	kernel   offset.Identity
	launcher *cluster.Launcher
	beaten   time.Time // when aliveFile was last touched, see beat
	network  string    // as in Description.Network
	netCut   string    // as in Description.NetCut

	mu   sync.Mutex
	runs map[string]*session
	past map[string]bool // runs that are over; their orders are refused
}

// Serve serves a host over a connection to the control plane, until ctx is done or the connection is closed
// for good. Then it ends all that it has started. It calls ready once the agent can be found.
func Serve(ctx context.Context, conn *nats.Conn, o Options, ready func()) error {
	a := &Agent{Options: o, conn: conn, boot: broker.NewToken()[:16], since: time.Now(), kernel: offset.Own(),
		launcher: cluster.NewLauncher(), runs: map[string]*session{}, past: map[string]bool{}}
	if err := a.prepare(); err != nil {
		return err
	}
	service, err := micro.AddService(conn, micro.Config{Name: serviceName, Version: "1.0.0",
		Description: "a host that runs processes of Turnstile", QueueGroupDisabled: true,
		Metadata: map[string]string{"host": o.Name, "version": o.Version}})
	if err != nil {
		return fmt.Errorf("registering the host: %w", err)
	}
	defer func() {
		service.Stop()
		conn.FlushTimeout(joinLimit) // after this flush, another agent may take the name
	}()
	for name, serve := range map[string]struct {
		subject string
		do      micro.HandlerFunc
	}{
		"order":    {orderSubject(o.Name), a.onOrder},
		"describe": {describeSubject(o.Name), func(r micro.Request) { r.RespondJSON(a.describe()) }},
		"clock":    {clockSubject(o.Name), a.onClock},
	} {
		if err := service.AddEndpoint(name, serve.do, micro.WithEndpointSubject(serve.subject)); err != nil {
			return fmt.Errorf("registering the host: %w", err)
		}
	}
	if err := conn.FlushTimeout(joinLimit); err != nil {
		return fmt.Errorf("registering the host: %w", err)
	}
	ready()
	ended := conn.StatusChanged(nats.CLOSED)
	tick, hourly := time.NewTicker(stopsEvery), time.NewTicker(time.Hour)
	defer tick.Stop()
	defer hourly.Stop()
	for {
		select {
		case now := <-tick.C:
			a.follow()
			a.beat(now)
		case <-hourly.C:
			a.clean()
		case <-ctx.Done():
			os.Remove(filepath.Join(a.Folder, aliveFile))
			a.endAll("the agent has ended")
			return nil
		case <-ended:
			a.endAll("the connection to the control plane is closed")
			return fmt.Errorf("the connection to the control plane is closed: %w",
				cmp.Or(conn.LastError(), nats.ErrConnectionClosed))
		}
	}
}

const (
	joinLimit  = 10 * time.Second
	stopsEvery = 10 * time.Millisecond // time between checks whether processes were stopped
)

// prepare checks that the agent can serve its host under its name.
func (a *Agent) prepare() error {
	if err := CheckName(a.Name); err != nil {
		return err
	}
	if err := os.MkdirAll(a.Folder, 0o755); err != nil {
		return fmt.Errorf("making the folder of the host: %w", err)
	}
	a.OrphanAfter = cmp.Or(a.OrphanAfter, OrphanAfter)
	if a.Clock == nil {
		a.Clock = Monotonic
	}
	if a.RunAs != nil {
		a.launcher.As(a.RunAs.UID, a.RunAs.GID)
	}
	if a.Address == "" {
		a.Address = broker.Loopback
		if ip, err := a.conn.GetClientIP(); err == nil && !ip.IsLoopback() {
			a.Address = ip.String()
		}
	}
	switch other, err := a.conn.Request(describeSubject(a.Name), nil, 2*time.Second); {
	case err == nil:
		var d Description
		json.Unmarshal(other.Data, &d)
		return fmt.Errorf("there is a host %s already, since %s: take another --name", a.Name, d.Since)
	case !errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("asking for another host %s: %w", a.Name, err)
	}
	a.clean()
	a.clearCuts()
	return nil
}

// CheckName returns an error unless the name suits a host. The name is used in subjects and in file names.
func CheckName(name string) error {
	if !place.IsName(name) {
		return fmt.Errorf("%q is not a name for a host: take 1 to 31 lower-case letters, digits and -, and begin "+
			"with a letter or a digit", name)
	}
	if name == "alive" {
		return fmt.Errorf("%q cannot be the name of a host: the subject %s has it", name, aliveSubject("RUN"))
	}
	return nil
}

// describe returns the current description of the host.
func (a *Agent) describe() Description {
	machine := results.ThisMachine()
	d := Description{Name: a.Name, Boot: a.boot, Protocol: Protocol, Version: a.Version, Address: a.Address,
		Kernel: a.kernel, Cores: machine.Cores, MemoryMB: machine.MemoryMB, FreeMB: freeMB(),
		Programs: len(a.AllowPrograms) > 0, Since: a.since.Format(time.RFC3339), Folder: a.Folder,
		PID: os.Getpid(), Network: a.network, NetCut: a.netCut}
	if load := results.LoadNow(); load != nil && load.Average != nil {
		d.Load = *load.Average
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, run := range slices.Sorted(maps.Keys(a.runs)) {
		d.Runs = append(d.Runs, a.runs[run].summary())
	}
	d.Left = a.left()
	return d
}

// left lists the folders whose files nobody has fetched. The caller holds the lock.
func (a *Agent) left() (names []string) {
	serving := map[string]bool{}
	for _, s := range a.runs {
		serving[filepath.Base(s.trial())] = true
	}
	entries, _ := os.ReadDir(a.Folder)
	for _, e := range entries {
		if e.IsDir() && !serving[e.Name()] && isLeft(filepath.Join(a.Folder, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names
}

// leftMark is the name of a file in the folder of a run whose files are still to be fetched. Its text
// explains why they are there.
const leftMark = "left.txt"

func isLeft(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, leftMark))
	return err == nil
}

// clean removes files that were kept for keepFor.
func (a *Agent) clean() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, name := range a.left() {
		path := filepath.Join(a.Folder, name)
		if info, err := os.Stat(filepath.Join(path, leftMark)); err == nil && time.Since(info.ModTime()) > keepFor {
			a.logf("removing %s, which nobody has fetched for %v", name, keepFor)
			os.RemoveAll(path)
		}
	}
}

// logf writes a line to the agent's log.
func (a *Agent) logf(format string, args ...any) {
	if a.Log != nil {
		fmt.Fprintf(a.Log, "%s host %s: %s\n", time.Now().Format("2006-01-02 15:04:05.000"), a.Name,
			fmt.Sprintf(format, args...))
	}
}

// onOrder handles an order. Calls are sequential.
func (a *Agent) onOrder(r micro.Request) {
	var o order
	err := json.Unmarshal(r.Data(), &o)
	var answer reply
	if err == nil {
		answer, err = a.obey(&o)
	}
	if err != nil {
		answer.Error = err.Error()
	}
	answer.Over = errors.As(err, new(overError))
	if r.Reply() != "" {
		a.answer(r, answer)
		return
	}
	if s := a.session(o.Run); err != nil && s != nil {
		s.tell(event{Process: o.Process, Failed: err.Error()})
	}
}

// answer sends an answer: a line of JSON, followed by the raw piece of a file.
func (a *Agent) answer(r micro.Request, answer reply) {
	b, err := json.Marshal(answer)
	if err == nil {
		err = r.Respond(append(append(b, '\n'), answer.Piece...))
	}
	if err != nil {
		a.logf("an answer is lost: %v", err)
	}
}

// obey carries out an order, after checking that it is new and for this start of the agent.
func (a *Agent) obey(o *order) (reply, error) {
	switch s := a.session(o.Run); {
	case o.Boot != a.boot:
		return reply{}, overError{a.refuse(o, "the order is for an earlier start of the agent")}
	case !runName().MatchString(o.Run):
		return reply{}, a.refuse(o, "%q is not a name for a run", o.Run)
	case s == nil && a.isPast(o.Run):
		return reply{}, overError{a.refuse(o, "the run %s is over", o.Run)}
	case o.Do == doJoin && s == nil:
		return a.join(o)
	case s == nil:
		return reply{}, overError{a.refuse(o, "the host does not serve the run %s, or not any more", o.Run)}
	case o.Number <= s.number:
		return reply{}, a.refuse(o, "order %d of the run %s was received before", o.Number, o.Run)
	default:
		s.number = o.Number
		return s.obey(o)
	}
}

// refuse returns an error that refuses an order, and logs it.
func (a *Agent) refuse(o *order, format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	a.logf("refused an order to %.20q: %s", o.Do, why)
	return fmt.Errorf("host %s refuses an order: %s", a.Name, why)
}

// An overError says that the agent does not serve the run.
type overError struct{ error }

// session returns the session of a run, or nil.
func (a *Agent) session(run string) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.runs[run]
}

// isPast reports whether the agent has served this run and the run is over.
func (a *Agent) isPast(run string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.past[run]
}

// join begins to serve a run.
func (a *Agent) join(o *order) (reply, error) {
	j := o.Join
	switch {
	case j == nil:
		return reply{}, a.refuse(o, "the order does not describe the run")
	case j.Protocol != Protocol || j.Version != a.Version:
		return reply{}, a.refuse(o, "the host has Turnstile %s (protocol %d), and the orchestrator %s "+
			"(protocol %d): install the same on both", a.Version, Protocol, j.Version, j.Protocol)
	}
	if free, needs := freeMB(), j.Nodes*NodeMB; free > 0 && free < needs {
		return reply{}, fmt.Errorf("host %s: %d nodes take about %d MB of memory, and %d are free: use fewer "+
			"nodes or more hosts", a.Name, j.Nodes, needs, free)
	}
	if err := cluster.CheckLimits(j.Nodes, j.Carriers); err != nil {
		return reply{}, fmt.Errorf("host %s: %w", a.Name, err)
	}
	if free, known := disk.Free(a.Folder); known && free < uint64(j.Disk) {
		return reply{}, fmt.Errorf("host %s: its logs may take %d MB, and the disk of %s has %d: use fewer nodes, "+
			"or another --folder", a.Name, j.Disk>>20, a.Folder, free>>20)
	}
	s := &session{agent: a, run: o.Run, join: *j, number: o.Number, began: time.Now(),
		processes: map[int]*process{}, over: make(chan struct{})}
	if j.Adopt != "" {
		a.mu.Lock()
		there := slices.Contains(a.left(), j.Adopt)
		a.mu.Unlock()
		if !there {
			return reply{}, a.refuse(o, "it has no files of a run %.60q that has ended", j.Adopt)
		}
		s.folder = filepath.Join(a.Folder, j.Adopt)
	}
	a.mu.Lock()
	a.runs[o.Run] = s
	a.mu.Unlock()
	a.logf("serves the run %s of %s: %s", o.Run, j.User, j.What)
	go s.attend()
	return reply{}, nil
}

// NodeMB is about the memory of a node process, in megabytes.
const NodeMB = 12

// follow reports processes that were stopped or continued.
func (a *Agent) follow() {
	a.mu.Lock()
	all := slices.Collect(maps.Values(a.runs))
	a.mu.Unlock()
	if len(all) == 0 {
		return
	}
	proc.NoticeStops()
	for _, s := range all {
		s.follow()
	}
}

// endAll ends all runs, for a reason.
func (a *Agent) endAll(why string) {
	a.mu.Lock()
	all := slices.Collect(maps.Values(a.runs))
	a.mu.Unlock()
	for _, s := range all {
		s.end(why, true)
	}
}

// onClock answers with the time of the clock.
func (a *Agent) onClock(r micro.Request) {
	taken := a.Clock()
	r.RespondJSON(Reading{Taken: taken, Given: a.Clock()})
}

// A Reading has the times of a host's clock when a question came, and when it was answered.
type Reading struct {
	Taken int64 `json:"taken"`
	Given int64 `json:"given"`
}

// Monotonic returns the time of CLOCK_MONOTONIC, in nanoseconds.
func Monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0 // every supported kernel has the clock
	}
	return t.Nano()
}

// freeMB returns how much memory is free for processes, in megabytes; 0: unknown.
func freeMB() int {
	b, _ := os.ReadFile("/proc/meminfo")
	kb := 0
	for line := range strings.Lines(string(b)) {
		if rest, found := strings.CutPrefix(line, "MemAvailable:"); found {
			kb, _ = strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
		}
	}
	if limit := cgroup.Read(os.DirFS("/")).Memory; limit > 0 && (kb == 0 || int(limit/1024) < kb) {
		kb = int(limit / 1024)
	}
	return kb / 1024
}

// aliveFile is the name of a file in the folder of an agent. While the agent can be found, it touches this
// file.
const aliveFile = "alive"

// beat touches aliveFile once a second, while the agent is connected.
func (a *Agent) beat(now time.Time) {
	if a.Local || now.Sub(a.beaten) < time.Second || !a.conn.IsConnected() {
		return
	}
	a.beaten = now
	os.WriteFile(filepath.Join(a.Folder, aliveFile), []byte(a.Name+"\n"), 0o644)
}

// Healthy returns an error if the agent that uses the folder has been silent for some seconds.
func Healthy(folder string) error {
	info, err := os.Stat(filepath.Join(folder, aliveFile))
	if err != nil {
		return fmt.Errorf("no agent has been there: %w", err)
	}
	if ago := time.Since(info.ModTime()); ago > 5*time.Second {
		return fmt.Errorf("the agent was last there %v ago", ago.Round(time.Second))
	}
	return nil
}
