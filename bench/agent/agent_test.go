//go:build linux

package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/bench/cluster"
	"turnstile/nodes/history"
)

// entries returns how many entries a node has counted, as it is known.
func (n *heardNode) entries() uint64 {
	n.t.Helper()
	w, err := n.Counters()
	if err != nil || w == nil {
		n.t.Fatalf("it counts nothing: %v", err)
	}
	return w.Instances[0].Entries.Load()
}

// A node on another host is told, counts, stands still and ends as one on this machine does.
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

// How a process on another host has ended is told as it is, with its last words.
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
	for program, says := range map[string]string{"none": "no such file", "sh": `there is no program "sh"`} {
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

// A node program that is not the agent's own is started if its user has allowed that.
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
	if !strings.Contains(s.log.String(), "/bin/sh is none") {
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
	for name, says := range map[string]string{"a": "there is a host a already", "a.b": "no name of a host",
		"": "no name of a host", "alive": "cannot be the name of a host", "../x": "no name of a host"} {
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

// The counters that a process leaves at its end are final. An older answer that comes later changes nothing.
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
