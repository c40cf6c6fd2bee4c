package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/chaos"
	"turnstile/hosts/cluster"
	"turnstile/hosts/netcut"
	"turnstile/internal/input"
	"turnstile/internal/jsonseq"
	"turnstile/internal/proc"
	"turnstile/nodes/history"
)

// A session is a run that an agent serves.
type session struct {
	agent  *Agent
	run    string
	join   Join
	faults *chaos.SharedState // copy of the trial's fault state; nil: shared in memory, or no copy yet
	began  time.Time
	number uint64        // number of the latest order
	over   chan struct{} // closed when the session ends
	once   sync.Once

	mu        sync.Mutex // guards the following fields, and the order of events
	folder    string     // folder of the trial; empty: no trial yet
	processes map[int]*process
	ports     []*cluster.Port
	events    uint64

	cutting sync.Mutex   // guards cuts
	cuts    map[int]bool // cuts of the network in force
}

// A process is a process of the run.
type process struct {
	cluster.Node
	number  int
	log     string           // path of its log; empty: the process is not a node
	watched *history.Watched // its counters; nil: they are not known yet
	turns   uint32           // the latest value of Turns that was reported
	reader  *jsonseq.Reader[json.RawMessage]
}

// summary describes the run as text.
func (s *session) summary() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%s by %s since %s (%d processes)", s.join.What, s.join.User,
		s.began.Format("15:04:05"), len(s.processes))
}

// tell sends an event to the orchestrator.
func (s *session) tell(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events++
	e.Number, e.Boot = s.events, s.agent.boot
	b, err := json.Marshal(e)
	if err == nil {
		err = s.agent.conn.Publish(eventSubject(s.run, s.agent.Name), b)
	}
	if err != nil {
		s.agent.logf("an event of the run %s is lost: %v", s.run, err)
	}
}

// trial returns the folder of the trial; empty: no trial yet.
func (s *session) trial() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.folder
}

// add adds a process or a port to the run. It returns false if the run is over by now.
func (s *session) add(p *process, port *cluster.Port) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.over:
		return false
	default:
	}
	if p != nil {
		s.processes[p.number] = p
	}
	if port != nil {
		s.ports = append(s.ports, port)
	}
	return true
}

// obey carries out an order.
func (s *session) obey(o *order) (reply, error) {
	switch o.Do {
	case doTrial:
		return s.begin(o)
	case doHold:
		return s.hold()
	case doStart:
		s.start(o)
		return reply{}, nil
	case doTell:
		return reply{}, s.hand(o)
	case doSignal:
		return s.signal(o)
	case doCount:
		return reply{Counts: s.count()}, nil
	case doUse:
		return s.use(), nil
	case doFaults:
		return s.followFaults(o)
	case doCut:
		return reply{}, s.cut(o)
	case doHeal:
		return reply{}, s.heal(o.Cut)
	case doProbe:
		return s.probe(o.File)
	case doAnswer:
		return reply{}, nil
	case doFiles:
		files, err := filesIn(s.trial())
		return reply{Files: files}, err
	case doDigest:
		return s.digest(o)
	case doPiece:
		return s.piece(o)
	case doEnd:
		s.end("its orchestrator has ended it", false)
		return reply{}, nil
	case doClear:
		return reply{}, s.clear()
	}
	return reply{}, s.agent.refuse(o, "there is no order %.20q", o.Do)
}

// begin begins a trial.
func (s *session) begin(o *order) (reply, error) {
	if !fileName().MatchString(o.File) {
		return reply{}, s.agent.refuse(o, "%.40q is not a name for a folder", o.File)
	}
	folder := filepath.Join(s.agent.Folder, o.File)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return reply{}, fmt.Errorf("host %s: making the folder of a trial: %w", s.agent.Name, err)
	}
	if err := s.agent.open(folder, 0o777|os.ModeSticky); err != nil {
		return reply{}, fmt.Errorf("host %s: %w", s.agent.Name, err)
	}
	s.mu.Lock()
	s.folder, s.faults = folder, nil
	s.mu.Unlock()
	s.keep(folder, "has not ended, unless its agent was killed")
	return reply{Folder: folder}, nil
}

// followFaults copies the decisions about faults to this host, and returns what its nodes wrote to the copy.
// The first call in a trial creates the copy.
func (s *session) followFaults(o *order) (r reply, err error) {
	if s.faults == nil {
		if o.Clients < 1 || o.Clients > 1<<20 || s.folder == "" {
			return r, s.agent.refuse(o, "a state of faults cannot have %d clients", o.Clients)
		}
		if s.faults, err = chaos.OpenMirror(filepath.Join(s.folder, FaultsFile), o.Clients); err != nil {
			return r, fmt.Errorf("host %s: %w", s.agent.Name, err)
		}
		if err := s.agent.open(filepath.Join(s.folder, FaultsFile), 0o666); err != nil {
			return r, fmt.Errorf("host %s: %w", s.agent.Name, err)
		}
	}
	if err := s.faults.Follow(o.Text); err != nil {
		return r, err
	}
	return reply{Text: s.faults.Seen()}, nil
}

// FaultsFile is the name of the file with the fault state, in the folder of a trial.
const FaultsFile = "faults"

// clear removes the files of the trial, which were copied elsewhere.
func (s *session) clear() error {
	s.mu.Lock()
	folder := s.folder
	s.folder = ""
	s.mu.Unlock()
	if folder == "" {
		return nil
	}
	return os.RemoveAll(folder)
}

// hold holds a port until the run is over.
func (s *session) hold() (reply, error) {
	port, err := cluster.HoldPortAt(s.agent.Address)
	if err != nil {
		return reply{}, err
	}
	if !s.add(nil, port) {
		port.Release()
	}
	return reply{Port: port.Number}, nil
}

// commandOf returns the command to start, or an error that refuses it.
func (s *session) commandOf(o *order) (c cluster.Command, err error) {
	a, start := s.agent, o.Start
	if start == nil {
		return c, a.refuse(o, "it does not say what to start")
	}
	c = cluster.Command{Name: start.Name, Program: a.Programs[start.Program], Env: start.Env, Input: start.Input}
	switch {
	case c.Program == nil:
		return c, a.refuse(o, "the program %.20q is unknown", start.Program)
	case start.Path != "" && (start.Program != NodeProgram || !slices.Contains(a.AllowPrograms, start.Path)):
		return c, a.refuse(o, "it starts only node programs of its own version, and not %s: start the agent "+
			"with --allow-program %[1]s", start.Path)
	case start.Path != "":
		c.Program = []string{start.Path}
	}
	if start.LogFile != "" {
		if !fileName().MatchString(start.LogFile) {
			return c, a.refuse(o, "%.40q is not a name for a log", start.LogFile)
		}
		c.Log = filepath.Join(s.trial(), start.LogFile)
	}
	return c, nil
}

// start starts a process, and reports its end.
func (s *session) start(o *order) {
	p := &process{number: o.Process}
	c, err := s.commandOf(o)
	if err == nil {
		p.log = c.Log
		p.reader = &jsonseq.Reader[json.RawMessage]{On: func(said json.RawMessage) { s.said(p, said) }}
		s.mu.Lock()
		_, taken := s.processes[o.Process]
		s.mu.Unlock()
		if taken {
			err = s.agent.refuse(o, "there is a process %d already", o.Process)
		} else {
			p.Node, err = s.agent.launcher.Start(c, p.reader.Sift)
		}
	}
	if err != nil {
		s.tell(event{Process: o.Process, Ended: &ending{Fate: proc.Fate{Says: err.Error()}}})
		return
	}
	if !s.add(p, nil) {
		p.Dismiss()
	}
	go s.see(p)
}

// said reports the output of a process. The first note of a node also reports its counters.
func (s *session) said(p *process, said json.RawMessage) {
	e := event{Process: p.number, Said: said}
	s.mu.Lock()
	if p.log != "" && p.watched == nil {
		if w, err := history.Watch(p.log); err == nil {
			p.watched = w
			e.Counts = w.Snapshot(nil)
		}
	}
	s.mu.Unlock()
	s.tell(e)
}

// see reports how a process ended.
func (s *session) see(p *process) {
	<-p.Ended()
	e := ending{Fate: p.Fate(), Uses: useOf(p)}
	var counts []byte
	s.mu.Lock()
	if p.watched != nil {
		counts = p.watched.Snapshot(nil)
		p.watched.Close()
		p.watched = nil
	}
	delete(s.processes, p.number)
	s.mu.Unlock()
	if p.log != "" && e.Killed {
		var err error
		if e.Seen, err = p.LastSeen(); err != nil {
			e.NotSeen = err.Error()
		}
	}
	s.tell(event{Process: p.number, Counts: counts, Ended: &e})
}

// process returns the running process with a number, or nil.
func (s *session) process(number int) *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processes[number]
}

// hand writes an order to the standard input of a process.
func (s *session) hand(o *order) error {
	p := s.process(o.Process)
	if p == nil {
		return nil // the process has ended, and its end is reported anyway
	}
	return p.Tell(o.Text)
}

// signal sends a signal to a process.
func (s *session) signal(o *order) (reply, error) {
	p := s.process(o.Process)
	if p == nil {
		return reply{Gone: true}, nil
	}
	var err error
	switch sig := syscall.Signal(o.Signal); sig {
	case syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGCONT:
		err = p.Signal(sig)
	case 0:
		p.Dismiss()
	default:
		err = s.agent.refuse(o, "it does not send signal %d", o.Signal)
	}
	if errors.Is(err, os.ErrProcessDone) {
		return reply{Gone: true}, nil
	}
	return reply{}, err
}

// follow reports processes that were stopped or continued since the last call.
func (s *session) follow() {
	var changed []event
	s.mu.Lock()
	for _, p := range s.processes {
		if turns := p.Turns(); turns != p.turns {
			p.turns = turns
			changed = append(changed, event{Process: p.number, Turns: turns})
		}
	}
	s.mu.Unlock()
	for _, e := range changed {
		s.tell(e)
	}
}

// count returns the counters of all nodes.
func (s *session) count() (b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for number, p := range s.processes {
		if p.watched != nil {
			b = p.watched.Snapshot(binary.AppendUvarint(b, uint64(number)))
		}
	}
	return b
}

// use returns the CPU times and memory of all processes.
func (s *session) use() reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := reply{Uses: map[int]uses{}}
	for number, p := range s.processes {
		r.Uses[number] = useOf(p)
	}
	r.Busy, r.Ticks = cluster.Ticks()
	return r
}

func useOf(p cluster.Node) (u uses) {
	u.CPU, u.CPUKnown = p.CPUTime()
	u.ResidentKB, _ = p.PeakResidentKB()
	return u
}

// probe returns the contents of a file, if it is a probe file in shared memory.
func (s *session) probe(path string) (reply, error) {
	if path != filepath.Join(SharedMemory, s.run, ProbeFile) {
		return reply{}, s.agent.refuse(&order{Do: doProbe}, "%.80q is no file of the run %s in %s", path, s.run,
			SharedMemory)
	}
	b, err := input.ReadFile(path, input.Limit)
	return reply{Text: b}, err
}

// SharedMemory is a folder in memory that hosts with one kernel may share, such as containers.
const SharedMemory = "/dev/shm/turnstile"

// ProbeFile is a file that an orchestrator writes to a folder. An agent that can read it shares the folder
// (see Host.Sees).
const ProbeFile = "probe"

// aliveEvery is how often an agent pings the orchestrator of a run.
const aliveEvery = 400 * time.Millisecond

// attend ends the session when its orchestrator is gone.
func (s *session) attend() {
	answered := time.Now()
	for {
		select {
		case <-s.over:
			return
		case <-time.After(aliveEvery):
		}
		_, err := s.agent.conn.Request(aliveSubject(s.run), nil, aliveEvery)
		silent := time.Since(answered)
		switch {
		case err == nil:
			answered = time.Now()
		case errors.Is(err, nats.ErrNoResponders):
			s.end("its orchestrator has ended", true)
			return
		case silent > s.agent.OrphanAfter:
			s.end(fmt.Sprintf("its orchestrator has not answered for %v", silent.Round(100*time.Millisecond)), true)
			return
		}
	}
}

// end ends all processes of the run, and the session. Files that were not removed can be fetched later.
func (s *session) end(why string, unplanned bool) {
	s.once.Do(func() {
		a := s.agent
		a.mu.Lock()
		delete(a.runs, s.run)
		a.past[s.run] = true
		a.mu.Unlock()
		if unplanned { // tell the orchestrator before its processes end
			s.tell(event{Over: why})
		}
		s.mu.Lock()
		close(s.over)
		processes, ports := s.processes, s.ports
		s.processes, s.ports = map[int]*process{}, nil
		s.mu.Unlock()
		s.healAll()
		for _, p := range processes {
			p.Dismiss()
		}
		for _, p := range processes {
			<-p.Ended()
		}
		for _, p := range ports {
			p.Release()
		}
		if unplanned {
			a.RunAs.Files(func() error { // the orchestrator, which usually removes the folder, is gone
				return os.RemoveAll(filepath.Join(SharedMemory, s.run))
			})
		}
		s.keep(s.trial(), "ended: "+why)
		a.logf("the run %s is over: %s", s.run, why)
	})
}

// keep marks the folder of a trial as one whose files are to be fetched, with an explanation. It ignores an
// empty name.
func (s *session) keep(folder, why string) {
	if folder == "" || s.agent.Local || s.join.Adopt != "" {
		return
	}
	text := fmt.Sprintf("%s: the run %s of %s %s\n", time.Now().Format(time.RFC3339), s.run, s.join.User, why)
	if err := os.WriteFile(filepath.Join(folder, leftMark), []byte(text), 0o644); err != nil {
		s.agent.logf("%s is not marked: %v", folder, err)
	}
}

// cut makes the kernel drop packets of the run's ports from and to other hosts. Orders to the agent pass.
func (s *session) cut(o *order) error {
	s.cutting.Lock()
	defer s.cutting.Unlock()
	select {
	case <-s.over:
		return fmt.Errorf("host %s: the run %s is over", s.agent.Name, s.run)
	default:
	}
	table, err := netcut.For(s.agent.Name)
	if err == nil {
		err = table.Cut(s.cutID(o.Cut), o.Ports)
	}
	if err != nil {
		return fmt.Errorf("host %s: %w", s.agent.Name, err)
	}
	if s.cuts == nil {
		s.cuts = map[int]bool{}
	}
	s.cuts[o.Cut] = true
	s.agent.logf("the run %s cuts the network", s.run)
	return nil
}

// healAll ends all cuts of the run, which is over.
func (s *session) healAll() {
	s.cutting.Lock()
	all := slices.Collect(maps.Keys(s.cuts))
	s.cutting.Unlock()
	for _, number := range all {
		if err := s.heal(number); err != nil {
			s.agent.logf("a cut of the network is left: %v", err)
		}
	}
}

// heal ends a cut.
func (s *session) heal(number int) error {
	s.cutting.Lock()
	defer s.cutting.Unlock()
	if !s.cuts[number] {
		return nil
	}
	table, err := netcut.For(s.agent.Name)
	if err == nil {
		err = table.Heal(s.cutID(number))
	}
	if err != nil {
		return fmt.Errorf("host %s: %w", s.agent.Name, err)
	}
	delete(s.cuts, number)
	s.agent.logf("the run %s has the network back", s.run)
	return nil
}

// cutID returns the name of a cut of the run.
func (s *session) cutID(number int) string { return fmt.Sprintf("%s-%d", s.run, number) }

// clearCuts ends cuts left by an earlier agent of this name, which may have been killed. It also checks
// whether the kernel can cut this host.
func (a *Agent) clearCuts() {
	a.network, _ = netcut.Namespace()
	if err := netcut.Check(); err != nil {
		a.netCut = err.Error()
		return
	}
	table, err := netcut.For(a.Name)
	if err == nil {
		err = table.Clear()
	}
	if err != nil {
		a.netCut = err.Error()
	}
}

// isLog reports whether a file in the folder of a run is a log.
func isLog(name string) bool { return fileName().MatchString(name) && strings.HasSuffix(name, ".log") }

// filesIn lists the logs in a folder, without digests, which take time.
func filesIn(folder string) (files []File, err error) {
	entries, err := os.ReadDir(folder)
	for i := 0; i < len(entries) && err == nil; i++ {
		if name := entries[i].Name(); isLog(name) && entries[i].Type().IsRegular() {
			var info os.FileInfo
			if info, err = entries[i].Info(); err == nil {
				files = append(files, File{Name: name, Bytes: info.Size()})
			}
		}
	}
	return files, err
}

// digest returns a file's size and digest.
func digest(folder, name string) (File, error) {
	file, err := input.Open(filepath.Join(folder, name))
	if err != nil {
		return File{}, err
	}
	defer file.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, file)
	return File{name, n, hex.EncodeToString(sum.Sum(nil))}, err
}

// digest returns the digest of a log of the run.
func (s *session) digest(o *order) (reply, error) {
	if !isLog(o.File) {
		return reply{}, s.agent.refuse(o, "%.40q is not a log", o.File)
	}
	f, err := digest(s.trial(), o.File)
	return reply{Files: []File{f}}, err
}

// piece returns a piece of a log of the run.
func (s *session) piece(o *order) (reply, error) {
	if !isLog(o.File) {
		return reply{}, s.agent.refuse(o, "%.40q is not a log", o.File)
	}
	file, err := input.Open(filepath.Join(s.trial(), o.File))
	if err != nil {
		return reply{}, err
	}
	defer file.Close()
	b := make([]byte, min(max(0, o.Length), longestPiece))
	n, err := file.ReadAt(b, o.Offset)
	if err != nil && err != io.EOF {
		return reply{}, fmt.Errorf("reading %s: %w", o.File, err)
	}
	return reply{Piece: b[:n]}, nil
}

// longestPiece is how many bytes of a file one message carries at most.
const longestPiece = 512 << 10
