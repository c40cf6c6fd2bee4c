//go:build linux

package agent

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nats-io/nats.go"

	"turnstile/bench/cluster"
)

// gone wants a host to be gone for a reason, and a node of it to have crashed with it.
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

// With an agent that ends, whatever the way, its host is gone.
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
	p.gone(n, "another start")

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

// A host whose agent stands still is unknown, and goes on with it.
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

// Of a host of which something that it said was lost, too little is known.
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
	p.gone(n, "what it said was lost (4 after 2)")
}

// With the connection of the orchestrator to the control plane, all hosts are gone for it.
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

// The processes of a run end within a second after its orchestrator has, and its ports are free.
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

// isFree reports whether nobody has a port of the loopback address.
func isFree(t *testing.T, port int) bool {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	return unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}) == nil
}

// An orchestrator may be silent for a time. One that is so for longer learns, once it goes on, what its
// agents did.
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
