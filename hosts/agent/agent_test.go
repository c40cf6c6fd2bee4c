//go:build linux

package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"

	"turnstile/hosts/cluster"
	"turnstile/internal/broker"
	"turnstile/internal/jsonseq"
	"turnstile/internal/proc"
	"turnstile/internal/soak"
	"turnstile/nodes/history"
)

// entries returns the known count of a node's entries.
func (n *heardNode) entries() uint64 {
	n.t.Helper()
	w, err := n.Counters()
	if err != nil || w == nil {
		n.t.Fatalf("it counts nothing: %v", err)
	}
	return w.Instances[0].Entries.Load()
}

// A node on another host takes orders, counts, stops and ends like one on this machine.
func TestANodeOnAHost(t *testing.T) {
	url := controlPlane(t)
	serve(t, url, nil)
	p := joined(t, url, "a")
	n := p.node("node-0.log")
	if n.says().PID == 0 || n.entries() != 0 {
		t.Error("what it counts is not known once it is ready")
	}
	for i := range 500 {
		n.tell(fmt.Sprint("word", i))
	}
	for i := range 500 {
		if got := n.says().Heard; got != fmt.Sprint("word", i) {
			t.Fatalf("word %d is %s", i, got)
		}
	}
	if !p.host.Refresh(t.Context(), time.Second) || n.entries() != 500 {
		t.Errorf("it has counted %d entries", n.entries())
	}
	for turn, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := n.Signal(s); err != nil {
			t.Fatal(err)
		}
		until(t, "its turn is told", func() bool { return n.Turns() == uint32(turn+1) })
	}
	if p.Stops.Load() != 2 {
		t.Errorf("%d changes", p.Stops.Load())
	}
	p.host.Use(t.Context())
	if kb, known := n.PeakResidentKB(); !known || kb < 1000 {
		t.Errorf("it takes %d KB", kb)
	}
	n.tell("more")
	n.says()
	if err := n.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if f := n.ends(); !f.Killed || f.Dismissed || f.Gone || !strings.Contains(f.Says, "signal: killed") {
		t.Errorf("killed, it ended as %+v", f)
	}
	if at, err := n.LastSeen(); at != 50_100 || err != nil || n.entries() != 501 {
		t.Errorf("it was last seen at %d, after %d entries: %v", at, n.entries(), err)
	}
	if err := n.Signal(syscall.SIGSTOP); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a signal after its end: %v", err)
	}
	if cpu, known := n.CPUTime(); !known || cpu == 0 {
		t.Errorf("it has spent %v, known: %v", cpu, known)
	}
}

// The end of a process on another host is reported in full, with its last output.
func TestHowANodeOnAHostEnds(t *testing.T) {
	url := controlPlane(t)
	serve(t, url, func(o *Options) { o.Programs["none"] = []string{"/there/is/none"} })
	p := joined(t, url, "a")
	well, fails, dismissed := p.node("node-0.log"), p.node("node-1.log"), p.node("node-2.log")
	well.tell("quit")
	if f := well.ends(); !f.Well || f.Killed || f.Dismissed {
		t.Errorf("it ended as %+v", f)
	}
	fails.tell("fail")
	if f := fails.ends(); f.Well || f.Killed || !strings.Contains(f.Says, "these are its last words") {
		t.Errorf("it ended as %+v", f)
	}
	dismissed.Dismiss()
	if f := dismissed.ends(); !f.Dismissed {
		t.Errorf("it ended as %+v", f)
	}
	for program, says := range map[string]string{"none": "no such file", "sh": `the program "sh" is unknown`} {
		q, err := p.host.Start(cluster.Command{Name: "nothing", Program: []string{program}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		await(t, "it ends", q.Ended())
		if f := q.Fate(); f.Well || f.Killed || f.Dismissed || !strings.Contains(f.Says, says) {
			t.Errorf("%s ended as %+v", program, f)
		}
	}
}

// A node program that is not the agent's own is started only if the agent's user has allowed it.
func TestOnlyAllowedProgramsAreStarted(t *testing.T) {
	url := controlPlane(t)
	allowed := filepath.Join(t.TempDir(), "allowed")
	if err := os.WriteFile(allowed, []byte("#!/bin/sh\necho it ran\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := serve(t, url, func(o *Options) { o.AllowPrograms = []string{allowed} })
	p := joined(t, url, "a")
	for program, says := range map[string]string{allowed: "it ran", "/bin/sh": "--allow-program /bin/sh"} {
		q, err := p.host.Start(cluster.Command{Name: "x", Program: []string{NodeProgram, program}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		await(t, "it ends", q.Ended())
		if !strings.Contains(q.Fate().Says, says) {
			t.Errorf("%s ended as %+v", program, q.Fate())
		}
	}
	if !strings.Contains(s.log.String(), "not /bin/sh") {
		t.Errorf("the agent's log says\n%s", s.log)
	}
}

// Two runs on one host know nothing of each other.
func TestAHostServesTwoRunsAtOnce(t *testing.T) {
	url := controlPlane(t)
	serve(t, url, nil)
	one, two := joined(t, url, "a"), joined(t, url, "a")
	first, second := one.node("node-0.log"), two.node("node-0.log")
	first.says()
	second.says()
	if d, err := Describe(one.conn, "a", time.Second); err != nil || len(d.Runs) != 2 ||
		!strings.HasPrefix(d.Runs[0], "a test by me since ") || len(d.Left) > 0 {
		t.Errorf("the host says %+v, %v", d, err)
	}
	if err := one.host.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	second.tell("on")
	if second.says().Heard != "on" {
		t.Error("the end of a run disturbs another")
	}
}

// A host has one agent, and a name without dots.
func TestAHostHasOneAgent(t *testing.T) {
	url := controlPlane(t)
	serve(t, url, func(o *Options) { o.Name = "b" })
	serve(t, url, nil)
	for name, says := range map[string]string{"a": "there is a host a already", "a.b": "not a name for a host",
		"": "not a name for a host", "alive": "cannot be the name of a host", "../x": "not a name for a host"} {
		s := serve(t, url, func(o *Options) { o.Name = name })
		select {
		case err := <-s.over:
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%q: %v", name, err)
			}
		default:
			t.Errorf("the host %q is served", name)
		}
	}
	all, err := Find(connect(t, url), time.Second)
	if err != nil || len(all) != 2 || all[0].Name != "a" || all[1].Name != "b" || all[0].Cores == 0 {
		t.Errorf("there are %+v, %v", all, err)
	}
}

// The counters at the end of a process are final: a later answer with older counters changes nothing.
func TestLateCountsChangeNothing(t *testing.T) {
	w := history.NewShadow(1)
	snapshot := func(entries uint64) []byte {
		w.Instances[0].Entries.Store(entries)
		return w.Snapshot(nil)
	}
	p := &remote{ended: make(chan struct{})}
	old, last := snapshot(3), snapshot(4)
	p.take(&event{Counts: last, Ended: &ending{}})
	rest, err := p.count(append(old, "rest"...), false)
	if got := p.counts.Load().Instances[0].Entries.Load(); got != 4 || string(rest) != "rest" || err != nil {
		t.Errorf("it has counted %d; left is %q, %v", got, rest, err)
	}
}

// give gives an order as any client could, and returns the answer.
func (p *played) give(o order) reply {
	p.Helper()
	var r reply
	b, err := json.Marshal(o)
	if err != nil {
		p.Fatal(err)
	}
	m, err := p.conn.Request(orderSubject("a"), b, 20*time.Second)
	if err == nil {
		err = json.Unmarshal(m.Data, &r)
	}
	if err != nil {
		p.Fatal(err)
	}
	return r
}

// refused requires an order to be refused and logged.
func (p *played) refused(s *served, what string, o order, says string) {
	p.Helper()
	before := len(s.log.String())
	got := p.give(o).Error
	if !strings.Contains(got, says) {
		p.Errorf("%s: the answer is %q, not %q", what, got, says)
	}
	if log := s.log.String()[before:]; !strings.Contains(log, says) {
		p.Errorf("%s: the agent's log says %q", what, log)
	}
}

// An agent refuses an order that is old or repeated, or for another run or another start of the agent.
func TestOrdersAreNotReplayed(t *testing.T) {
	url := controlPlane(t)
	s := serve(t, url, nil)
	p := joined(t, url, "a")
	o := order{Run: p.Name, Boot: p.host.Boot, Number: 100, Do: doAnswer}
	if got := p.give(o); got.Error != "" {
		t.Fatalf("refused: %s", got.Error)
	}
	p.refused(s, "the same again", o, "order 100 of the run "+p.Name+" was received before")
	o.Number = 99
	p.refused(s, "an older one", o, "order 99 of the run "+p.Name+" was received before")
	o.Number, o.Boot = 101, "yesterday"
	p.refused(s, "to another start", o, "an earlier start of the agent")
	o.Boot, o.Run = p.host.Boot, "another"
	p.refused(s, "of another run", o, "the host does not serve the run another")
	o.Run = "../../etc"
	p.refused(s, "of no run", o, `"../../etc" is not a name for a run`)
	o.Run, o.Do = p.Name, "format"
	p.refused(s, "unknown", o, `there is no order "format"`)
	o.Number, o.Do = 102, doJoin
	p.refused(s, "joining again", o, `there is no order "join"`)
	o.Run, o.Number = "fresh", 1
	p.refused(s, "joining for nothing", o, "the order does not describe the run")
	o.Join = &Join{Protocol: Protocol, Version: "8"}
	p.refused(s, "another version", o, "the host has Turnstile 7 (protocol 1), and the orchestrator 8 "+
		"(protocol 1): install the same on both")
	o.Join = &Join{Protocol: 99, Version: "7"}
	p.refused(s, "another protocol", o, "the orchestrator 7 (protocol 99)")
	if err := p.host.Begin(t.Context(), "next"); err == nil {
		t.Error("the run goes on, whose numbers somebody else has used")
	}
}

// An agent refuses all orders of a run that has ended, even if they start again from the first.
func TestRunsThatAreOverAreNotReplayed(t *testing.T) {
	url := controlPlane(t)
	s := serve(t, url, nil)
	p := joined(t, url, "a")
	if err := p.host.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := order{Run: p.Name, Boot: p.host.Boot, Number: 1, Do: doJoin,
		Join: &Join{Protocol: Protocol, Version: "7"}}
	p.refused(s, "joining again", o, "the run "+p.Name+" is over")
	o.Number, o.Do = 2, doAnswer
	p.refused(s, "going on", o, "the run "+p.Name+" is over")
}

// No name leads out of the folders of an agent.
func TestNamesAreCheckedBeforeTheyTouchAPath(t *testing.T) {
	url := controlPlane(t)
	s := serve(t, url, nil)
	p := joined(t, url, "a")
	secret := filepath.Join(s.Folder, "secret.log")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	number := uint64(100)
	give := func(what string, o order, says string) {
		t.Helper()
		number++
		o.Run, o.Boot, o.Number = p.Name, p.host.Boot, number
		p.refused(s, what, o, says)
	}
	for _, name := range []string{"", ".", "..", "../x", "a/b", "/etc", "a\x00b", ".hidden", "a b", "é",
		strings.Repeat("a", 200)} {
		give("a folder "+name, order{Do: doTrial, File: name}, "is not a name for a folder")
		give("a log "+name, order{Do: doPiece, File: name + ".log", Length: 10}, "is not a log")
		give("a digest "+name, order{Do: doDigest, File: name}, "is not a log")
		give("another run "+name, order{Do: doSignal, Process: 0, Signal: 15, File: name}, "")
		e := order{Do: doStart, Process: 7, Start: &command{Program: NodeProgram, LogFile: name + "\n"}}
		e.Run, e.Boot = p.Name, p.host.Boot
		number++
		e.Number = number
		before := len(s.log.String())
		if p.give(e); !strings.Contains(s.log.String()[before:], "is not a name for a log") {
			t.Errorf("a node may have a log %q", name)
		}
	}
	for _, path := range []string{"/etc/passwd", "probe", SharedMemory + "/probe", SharedMemory + "/other/probe",
		SharedMemory + "/" + p.Name + "/x", SharedMemory + "/" + p.Name + "/../" + p.Name + "/probe",
		SharedMemory + "/" + p.Name + "/probe\x00"} {
		give("a probe of "+path, order{Do: doProbe, File: path}, "is no file of the run")
	}
	// The last of these is the folder of a run that the host still serves.
	for _, run := range []string{"..", "../x", "nothing", "secret.log", p.Name + "-trial-1"} {
		give("adopting "+run, order{}, "there is no order")
		o := order{Run: "fresh", Boot: p.host.Boot, Number: 1, Do: doJoin, Join: &Join{Protocol: Protocol,
			Version: "7", Adopt: run}}
		p.refused(s, "adopting "+run, o, "it has no files of a run")
	}
}

// A host refuses a run that needs more memory or disk space than the host has.
func TestAHostSaysWhatItHasNot(t *testing.T) {
	url := controlPlane(t)
	serve(t, url, nil)
	p := joined(t, url, "a")
	for says, j := range map[string]Join{
		"of memory, and ":  {Version: "7", Nodes: 1 << 30},
		"and the disk of ": {Version: "7", Disk: 1 << 60},
	} {
		run, err := NewRun(p.conn, "fresh")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Join(t.Context(), p.host.Description, j); err == nil ||
			!strings.Contains(err.Error(), "host a") || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v", j, err)
		}
		run.Close()
	}
}

// gone requires that a host is gone for a reason, and that its node has crashed with it.
func (p *played) gone(n *heardNode, says string) {
	p.Helper()
	await(p.T, "the host is gone", p.host.Lost)
	if why := p.host.Gone().Error(); !strings.Contains(why, says) {
		p.Errorf("it is gone since %s, not %s", why, says)
	}
	if f := n.ends(); !f.Gone || !f.Killed || f.Dismissed || f.Heard.IsZero() {
		p.Errorf("its node ended as %+v", f)
	}
	if _, err := n.LastSeen(); err == nil {
		p.Error("it is known when the node was last seen")
	}
}

// However an agent ends, its host is gone.
func TestAnAgentThatEndsIsNoticed(t *testing.T) {
	url := controlPlane(t)
	s := serve(t, url, nil)
	p := joined(t, url, "a")
	n := p.node("node-0.log")
	pid := n.says().PID
	s.stop()
	p.gone(n, "the agent has ended")
	if !gone(pid) {
		t.Error("the node is not")
	}

	serve(t, url, nil)
	p = joined(t, url, "a")
	n = p.node("node-0.log")
	p.host.Boot = "another" // as if the agent had been started again
	p.host.Answers(t.Context(), time.Second)
	p.gone(n, "an earlier start")

	killed := agentProcess(t, url, "k")
	p = joined(t, url, "k")
	n = p.node("node-0.log")
	pid = n.says().PID
	killed.Process.Kill()
	killed.Wait()
	until(t, "the node ends with the agent", func() bool { return gone(pid) })
	until(t, "the control plane knows that", func() bool {
		return !p.host.Answers(t.Context(), 100*time.Millisecond) && p.host.Gone() != nil
	})
	p.gone(n, "its agent has ended")
	if err := n.Signal(syscall.SIGKILL); err == nil {
		t.Error("a signal finds its way")
	}
	if err := n.Tell([]byte("x\n")); err == nil || !strings.Contains(err.Error(), "host k is gone") {
		t.Errorf("it was told: %v", err)
	}
}

// A host whose agent is suspended is silent but not gone. When the agent resumes, the host answers again.
func TestAnAgentThatStandsStillGoesOn(t *testing.T) {
	url := controlPlane(t)
	stopped := agentProcess(t, url, "s")
	p := joined(t, url, "s")
	n := p.node("node-0.log")
	n.says()
	stopped.Process.Signal(syscall.SIGSTOP)
	if _, err := unix.Wait4(stopped.Process.Pid, nil, unix.WUNTRACED, nil); err != nil {
		t.Fatal(err)
	}
	n.tell("word")
	if p.host.Refresh(t.Context(), 50*time.Millisecond) || p.host.Answers(t.Context(), 50*time.Millisecond) {
		t.Error("it answers")
	}
	if silent := time.Since(p.host.Heard()); p.host.Gone() != nil || silent < 100*time.Millisecond {
		t.Errorf("gone: %v; silent for %v", p.host.Gone(), silent)
	}
	stopped.Process.Signal(syscall.SIGCONT)
	if n.says().Heard != "word" || !p.host.Refresh(t.Context(), time.Second) || n.entries() != 1 {
		t.Error("what it was told meanwhile is lost")
	}
}

// A host counts as gone once one of its events is lost.
func TestAnEventThatIsLostLosesTheHost(t *testing.T) {
	url := controlPlane(t)
	serve(t, url, nil)
	p := joined(t, url, "a")
	n := p.node("node-0.log")
	n.says()
	forge := func(e event) {
		b, err := json.Marshal(e)
		if err == nil {
			err = p.conn.Publish(eventSubject(p.Name, "a"), b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	forge(event{Number: 9, Boot: "another"})
	n.tell("word")
	n.says()
	if p.host.Gone() != nil {
		t.Fatal("an event of nobody loses the host")
	}
	forge(event{Number: 4, Boot: p.host.Boot})
	p.gone(n, "events of the host were lost: number 4 came after 2")
}

// If the orchestrator loses its connection to the control plane, all hosts are gone for it.
func TestNothingIsOrderedWithoutAControlPlane(t *testing.T) {
	url := controlPlane(t)
	serve(t, url, nil)
	p := joined(t, url, "a")
	n := p.node("node-0.log")
	n.says()
	p.conn.Close()
	if err := n.Signal(syscall.SIGKILL); err == nil {
		t.Error("a signal finds its way")
	}
	p.gone(n, "the connection to the control plane is closed")
}

// The processes of a run end within a second of their orchestrator, and its ports are released.
func TestARunEndsWithItsOrchestrator(t *testing.T) {
	url := controlPlane(t)
	s := serve(t, url, nil)
	p := joined(t, url, "a")
	pid := p.node("node-0.log").says().PID
	port, err := p.host.HoldPort()
	if err != nil {
		t.Fatal(err)
	}
	if isFree(t, port.Number) {
		t.Error("the port is not kept")
	}
	p.Run.Close()
	if took := until(t, "the node ends", func() bool { return gone(pid) }); took > time.Second {
		t.Errorf("it took %v", took)
	}
	until(t, "the port is free", func() bool { return isFree(t, port.Number) })
	until(t, "the log says so", func() bool {
		return strings.Contains(s.log.String(), "is over: its orchestrator has ended\n")
	})
}

// isFree reports whether a port of the loopback address is free.
func isFree(t *testing.T, port int) bool {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	return unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}) == nil
}

// An orchestrator may be silent for a time. After a longer silence it learns what its agents did.
func TestASilentOrchestratorIsGoneAfterATime(t *testing.T) {
	url := controlPlane(t)
	s := serve(t, url, func(o *Options) { o.OrphanAfter = 900 * time.Millisecond })
	p := joined(t, url, "a")
	n := p.node("node-0.log")
	pid := n.says().PID
	p.alive.Unsubscribe()
	if _, err := p.conn.Subscribe(aliveSubject(p.Name), func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	silent := time.Now()
	p.gone(n, "its agent has ended the run: its orchestrator has not answered for ")
	if took := time.Since(silent); took < 500*time.Millisecond {
		t.Errorf("it was over after %v", took)
	}
	until(t, "the node ends", func() bool { return gone(pid) })
	until(t, "the log says so", func() bool { return strings.Contains(s.log.String(), "has not answered for ") })
}

// A process that starts while the run ends does not outlive the run.
func TestWhatIsStartedTooLateIsEnded(t *testing.T) {
	url := controlPlane(t)
	serve(t, url, nil)
	p := joined(t, url, "a")
	late := &session{run: "late", agent: &Agent{Options: Options{Name: "a", Address: "127.0.0.1",
		Programs: map[string][]string{NodeProgram: playedProgram("node")}}, conn: p.conn, past: map[string]bool{}},
		processes: map[int]*process{}, over: make(chan struct{})}
	late.agent.launcher = cluster.NewLauncher()
	ends, err := p.conn.SubscribeSync(eventSubject("late", "a"))
	if err != nil {
		t.Fatal(err)
	}
	late.end("it has ended", false)
	late.start(&order{Process: 1, Start: &command{Name: "x", Program: NodeProgram, Input: []byte("{}\n")}})
	for {
		m, err := ends.NextMsg(20 * time.Second)
		if err != nil {
			t.Fatalf("what is started does not end: %v", err)
		}
		var e event
		if json.Unmarshal(m.Data, &e) == nil && e.Ended != nil {
			break
		}
	}
	port, err := late.hold()
	if err != nil || !isFree(t, port.Port) {
		t.Errorf("port %d is kept: %v", port.Port, err)
	}
}

// leftBy returns a host that adopts the files of a run whose orchestrator has ended: a log with varied bytes,
// and a file that is not a log.
func leftBy(t *testing.T, url, name, folder string, size int) (h *played, log []byte) {
	t.Helper()
	p := joined(t, url, name)
	for i := range size {
		log = append(log, byte(i>>16+i>>8+i))
	}
	for name, b := range map[string][]byte{"node-0.log": log, "node-0.saved": log[:9], "other.txt": log[:9]} {
		if err := os.WriteFile(filepath.Join(p.host.Folder, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.Run.Close()
	var d Description
	until(t, "the files are left", func() (is bool) {
		d, _ = Describe(p.conn, name, time.Second)
		if len(d.Left) != 1 || len(d.Runs) > 0 {
			return false
		}
		text, _ := os.ReadFile(filepath.Join(folder, d.Left[0], leftMark))
		return strings.Contains(string(text), " of me ended: its orchestrator has ended")
	})
	h = &played{T: t}
	var err error
	if h.Run, err = NewRun(connect(t, url), "adopting"); err != nil {
		t.Fatal(err)
	}
	if h.host, err = h.join(name, Join{Version: "7", Adopt: d.Left[0]}); err != nil {
		t.Fatal(err)
	}
	return h, log
}

// Another run fetches the logs that a run has left. It fetches them in pieces, continues where an earlier
// call has stopped, and checks the digests. Then it removes them.
func TestFilesThatARunHasLeft(t *testing.T) {
	url := controlPlane(t)
	s := serve(t, url, nil)
	h, log := leftBy(t, url, "a", s.Folder, 3*longestPiece+17)
	to := t.TempDir()
	begun := filepath.Join(to, "node-0.log.part")
	wrong := bytes.Clone(log[:longestPiece])
	wrong[77]++
	if err := os.WriteFile(begun, wrong, 0o644); err != nil {
		t.Fatal(err)
	}
	err := h.host.Fetch(t.Context(), to)
	if err == nil || !strings.Contains(err.Error(), "its digest differs") {
		t.Errorf("what was begun is another file: %v", err)
	}
	if _, err := os.Stat(begun); err == nil {
		t.Error("what is wrong is kept")
	}
	for range 2 { // the second call finds all files there
		if err := h.host.Fetch(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		files, _ := os.ReadDir(to)
		got, err := os.ReadFile(filepath.Join(to, "node-0.log"))
		if err != nil || !bytes.Equal(got, log) || len(files) != 1 {
			t.Errorf("fetched are %d bytes of %d, in %v: %v", len(got), len(log), files, err)
		}
	}
	os.WriteFile(begun, append(bytes.Clone(log), 1), 0o644)
	os.Remove(filepath.Join(to, "node-0.log"))
	if err := h.host.Fetch(t.Context(), to); err == nil {
		t.Error("what was begun is longer than the file")
	}
	if err := h.host.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.Folder, "*-trial-*")); len(left) > 0 {
		t.Errorf("%v are left behind", left)
	}
}

// After an interruption, fetch copies only what is missing.
func TestFetchingGoesOnWhereItStopped(t *testing.T) {
	url := controlPlane(t)
	s := serve(t, url, nil)
	h, log := leftBy(t, url, "a", s.Folder, 4*longestPiece)
	to := t.TempDir()
	if err := os.WriteFile(filepath.Join(to, "node-0.log.part"), log[:3*longestPiece], 0o644); err != nil {
		t.Fatal(err)
	}
	before := h.host.number
	if err := h.host.Fetch(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if asked := h.host.number - before; asked != 3 { // for the list, one piece, and the digest
		t.Errorf("it took %d questions", asked)
	}
}

// Copying a log takes little memory, however long it is, and continues after the agent was suspended. The
// long form copies 1 GB, and logs how long that takes.
func TestShippingTakesLittleMemory(t *testing.T) {
	url := controlPlane(t)
	cmd := agentProcess(t, url, "s")
	p := joined(t, url, "s")
	size, stands := soak.Pick(8<<20, 8<<20, 1<<30), soak.Pick(300, 300, 5000)*int(time.Millisecond)
	log, err := os.Create(filepath.Join(p.host.Folder, "node-0.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for r, written := rand.New(rand.NewPCG(1, 2)), 0; written < size; written += 1 << 20 {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 8 {
			binary.LittleEndian.PutUint64(b[i:], r.Uint64())
		}
		if _, err := log.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	to := t.TempDir()
	go func() {
		for part := filepath.Join(to, "node-0.log.part"); ; time.Sleep(time.Millisecond) {
			if info, err := os.Stat(part); err == nil && info.Size() > int64(size/4) {
				break
			}
		}
		cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(time.Duration(stands))
		cmd.Process.Signal(syscall.SIGCONT)
	}()
	debug.FreeOSMemory() // what other tests have taken
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	begun := time.Now()
	if err := p.host.Fetch(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	if took < time.Duration(stands) {
		t.Errorf("it took %v, and the agent stood still for longer", took)
	}
	mine, its := peakMB(t, os.Getpid()), peakMB(t, cmd.Process.Pid)
	t.Logf("%d MB in %v, with an agent that stood still for %v; at most %d MB of memory here, %d MB at the "+
		"agent", size>>20, took, time.Duration(stands), mine, its)
	if mine > 200 || its > 200 {
		t.Errorf("it took %d MB of memory here, and %d MB at the agent", mine, its)
	}
	if want, _ := digest(p.host.Folder, "node-0.log"); want.Bytes != int64(size) {
		t.Errorf("the log has %d bytes", want.Bytes)
	} else if got, err := digest(to, "node-0.log"); got != want {
		t.Errorf("%+v was fetched, not %+v: %v", got, want, err)
	}
}

// peakMB returns the peak of the resident memory of a process.
func peakMB(t *testing.T, pid int) (mb int) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(b), "VmHWM:")
	fmt.Sscan(after, &mb)
	return mb / 1024
}

// Files are kept for a day, even if the orchestrator never returns.
func TestFilesAreKeptForADay(t *testing.T) {
	url := controlPlane(t)
	folder := t.TempDir()
	age := func(name string, by time.Duration, mark bool) {
		path := filepath.Join(folder, name)
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if mark {
			path = filepath.Join(path, leftMark)
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(path, time.Now(), time.Now().Add(-by)); err != nil {
			t.Fatal(err)
		}
	}
	age("old", 25*time.Hour, true)
	age("new", 23*time.Hour, true)
	age("of-somebody-else", 25*time.Hour, false)
	s := serve(t, url, func(o *Options) { o.Folder = folder })
	for name, want := range map[string]bool{"old": false, "new": true, "of-somebody-else": true} {
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != want {
			t.Errorf("%s is kept: %v", name, !want)
		}
	}
	if !strings.Contains(s.log.String(), "removing old") {
		t.Errorf("the log says %s", s.log)
	}
}

// playing is the argument that makes this test program play a process of a host, or its agent.
const playing = "play"

func TestMain(m *testing.M) {
	role := ""
	switch {
	case len(os.Args) == 1:
		role = "node" // as an agent starts it
	case len(os.Args) == 3 && os.Args[1] == playing:
		role = os.Args[2]
	}
	if role != "" {
		if err := play(role); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// playedProgram returns the program that plays a role.
func playedProgram(role string) []string { return []string{os.Args[0], playing, role} }

func play(role string) error {
	switch role {
	case "agent":
		return ServePiped(context.Background(), os.Stdin, os.Stdout,
			Options{Programs: map[string][]string{BrokerProgram: playedProgram("node")}})
	case "node":
		return playNode()
	}
	return fmt.Errorf("there is no role %s", role)
}

// A playedInput is the input of a played node, and a playedNote its output.
type (
	playedInput struct {
		Log string `json:"log"`
	}
	playedNote struct {
		PID   int    `json:"pid,omitempty"`
		Heard string `json:"heard,omitempty"`
	}
)

// playNode enters at each word that it gets, at the times 100, 200 and so on, and prints the word.
func playNode() error {
	input := bufio.NewReader(os.Stdin)
	line, err := input.ReadString('\n')
	var in playedInput
	if err == nil {
		err = json.Unmarshal([]byte(line), &in)
	}
	if err != nil {
		return err
	}
	var log *history.Log
	if in.Log != "" {
		if log, err = history.Create(in.Log, history.Options{Nodes: 1, Instances: 1}); err != nil {
			return err
		}
	}
	say := func(note playedNote) {
		b, err := jsonseq.Encode(note)
		if err == nil {
			_, err = os.Stdout.Write(b)
		}
		if err != nil {
			panic(err)
		}
	}
	say(playedNote{PID: os.Getpid()})
	for count := uint64(1); ; count++ {
		word, err := input.ReadString('\n')
		switch word = strings.TrimSpace(word); {
		case err != nil:
			return err
		case word == "quit":
			return nil
		case word == "fail":
			return errors.New("these are its last words")
		}
		if log != nil {
			log.Append(history.Event{At: int64(100 * count), Kind: history.Entered})
			log.Instance(0).Entries.Store(count)
		}
		say(playedNote{Heard: word})
	}
}

// A text collects what is written to it.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (x *text) Write(b []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.Write(b)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.String()
}

// controlPlane starts a control plane, and returns its URL.
func controlPlane(t *testing.T) string {
	t.Helper()
	token := broker.NewToken()
	s, err := broker.Start(broker.Config{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return fmt.Sprintf("nats://%s@%s", token, s.Addr())
}

func connect(t *testing.T, url string) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(url, nats.Timeout(joinLimit))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// A served is an agent in this process.
type served struct {
	Options
	conn *nats.Conn
	log  *text
	stop func() // ends the agent, as its user would
	over chan error
}

// serve starts an agent, whose options may be changed, and waits until it can be found, or has ended.
func serve(t *testing.T, url string, change func(*Options)) *served {
	t.Helper()
	s := &served{conn: connect(t, url), log: &text{}, over: make(chan error, 1)}
	s.Options = Options{Name: "a", Folder: t.TempDir(), Version: "7", Log: s.log,
		Programs: map[string][]string{NodeProgram: playedProgram("node")}}
	if change != nil {
		change(&s.Options)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan bool), make(chan bool)
	s.stop = func() { cancel(); <-ended }
	go func() {
		defer close(ended)
		s.over <- Serve(ctx, s.conn, s.Options, func() { close(ready) })
	}()
	t.Cleanup(s.stop)
	select {
	case <-ready:
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the agent does not come up")
	}
	return s
}

// A played is a run with one host.
type played struct {
	*testing.T
	*Run
	host *Machine
}

// joined returns a run that a named host serves, in its first trial.
func joined(t *testing.T, url, name string) *played {
	t.Helper()
	p := &played{T: t}
	var err error
	if p.Run, err = NewRun(connect(t, url), broker.NewToken()[:12]); err != nil {
		t.Fatal(err)
	}
	if p.host, err = p.join(name, Join{Version: "7", User: "me", What: "a test", Nodes: 2}); err == nil {
		err = p.host.Begin(t.Context(), p.Name+"-trial-1")
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *played) join(name string, j Join) (*Machine, error) {
	d, err := Describe(p.conn, name, time.Second)
	if err != nil {
		p.Fatal(err)
	}
	return p.Run.Join(p.Context(), d, j)
}

// A heardNode is a node on the host, with its output.
type heardNode struct {
	cluster.Node
	t     *testing.T
	notes chan playedNote
}

// node starts a node with a log.
func (p *played) node(log string) *heardNode {
	p.Helper()
	n := &heardNode{t: p.T, notes: make(chan playedNote, 10_000)}
	reader := &jsonseq.Reader[playedNote]{On: func(note playedNote) { n.notes <- note }}
	c := cluster.Command{Name: "a node", Program: []string{NodeProgram}, Log: p.host.Folder + "/" + log}
	input, err := json.Marshal(playedInput{c.Log})
	if err == nil {
		c.Input = append(input, '\n')
		n.Node, err = p.host.Start(c, reader.Sift)
	}
	if err != nil {
		p.Fatal(err)
	}
	return n
}

// says returns the next note of the node.
func (n *heardNode) says() playedNote {
	n.t.Helper()
	select {
	case note := <-n.notes:
		return note
	case <-n.Ended():
		n.t.Fatalf("it has ended: %+v", n.Fate())
	case <-time.After(20 * time.Second):
		n.t.Fatal("it says nothing")
	}
	return playedNote{}
}

// tell sends an order to the node.
func (n *heardNode) tell(what string) {
	n.t.Helper()
	if err := n.Tell([]byte(what + "\n")); err != nil {
		n.t.Fatal(err)
	}
}

// ends waits until the node has ended, and returns how.
func (n *heardNode) ends() proc.Fate {
	n.t.Helper()
	await(n.t, "the node ends", n.Ended())
	return n.Fate()
}

func await(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("not within 20s: " + what)
	}
}

// until waits until a condition holds, and returns how long that took.
func until(t *testing.T, what string, so func() bool) time.Duration {
	t.Helper()
	begun := time.Now()
	for !so() {
		if time.Since(begun) > 20*time.Second {
			t.Fatal("not within 20s: " + what)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(begun)
}

// gone reports whether a process has ended.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(b), ") Z ")
}

// agentProcess starts an agent in a separate process.
func agentProcess(t *testing.T, url, name string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], playing, "agent")
	token, at, _ := strings.Cut(strings.TrimPrefix(url, "nats://"), "@")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	err = json.NewEncoder(in).Encode(Piped{URL: "nats://" + at, Token: token, Name: name, Version: "7",
		Folder: t.TempDir(), Node: []string{os.Args[0]}})
	if err == nil {
		_, err = io.ReadFull(out, make([]byte, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd
}
