//go:build linux

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/bench/option"
	"turnstile/chaos"
	"turnstile/judge/check"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// overHosts returns the options of a short run of an algorithm over hosts.
func overHosts(algorithm string, n, hosts int) Options {
	o := option.Defaults()
	o.Algorithm, o.Config.N, o.Hosts = algorithm, n, hosts
	o.Warmup, o.WarmupLimit, o.Duration, o.Patience = 0, 0, 200*time.Millisecond, impatience
	return o
}

// faulty parses a fault.
func faulty(t *testing.T, text string) chaos.Fault {
	t.Helper()
	f, err := chaos.ParseFault(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A run over several hosts is judged, and takes as many messages, as one on this machine.
func TestRunsOverAgents(t *testing.T) {
	for name, test := range map[string]struct {
		options  Options
		change   func(*Options)
		messages string // per entry; empty: that depends
	}{
		"two trials": {overHosts("ricart-agrawala", 6, 3), func(o *Options) { o.Trials = 2 }, "10"},
		"one request at a time": {overHosts("ricart-agrawala", 4, 2), func(o *Options) {
			o.Workload.Load, o.Entries, o.Duration = workload.Sequential, 10, 0
		}, "6"},
		"one broker": {overHosts("ricart-agrawala", 4, 4), func(o *Options) { o.Brokers = 1 }, "6"},
		"elections": {overHosts("bully", 4, 2), func(o *Options) {
			o.Workload = workload.Workload{Load: workload.Campaign}
		}, ""},
		"a node that is killed": {overHosts("ricart-agrawala-ft", 4, 2), func(o *Options) {
			o.Faults = []chaos.Fault{faulty(t, "kill: 1, at: 50ms, for: 100ms")}
			o.Detector = "heartbeat:period=10ms,timeout=400ms"
		}, ""},
		"a node that is paused": {overHosts("ricart-agrawala", 4, 2), func(o *Options) {
			o.Faults = []chaos.Fault{faulty(t, "pause: 1, at: 50ms, for: 100ms")}
		}, "6"},
	} {
		t.Run(name, func(t *testing.T) {
			o := test.options
			if test.change != nil {
				test.change(&o)
			}
			r, err := makeRun(t, o)
			if err != nil {
				t.Error(err)
			}
			if len(r.Trials) != o.Trials {
				t.Errorf("%d trials", len(r.Trials))
			}
			for _, tr := range r.Trials {
				if v := tr.Verdict; v.Outcome != check.Valid {
					t.Errorf("trial %d: %v: %s", tr.Number, v.Outcome, v.Reason)
				}
				if got := tr.Row.MessagesPerEntry.String(); test.messages != "" && got != test.messages {
					t.Errorf("trial %d takes %s messages per entry, not %s", tr.Number, got, test.messages)
				}
			}
		})
	}
}

// Nodes ask a resource process over hosts, and all speak TLS.
func TestHostsSpeakTLS(t *testing.T) {
	o := overHosts("ricart-agrawala", 4, 2)
	o.Resource = option.ResourceProcess
	r := takeApart(t, o)
	got, err := r.make(t.Context(), t)
	if err != nil {
		t.Fatal(err)
	}
	if v := got.Verdict; v.Outcome != check.Valid || got.Row.MessagesPerEntry.String() != "6" {
		t.Errorf("%v, with %v messages per entry: %s", v.Outcome, got.Row.MessagesPerEntry, v.Reason)
	}
	url := r.trial.transport.url(0, 0)
	if conn, err := nats.Connect(url, nats.Token(r.trial.transport.token())); err == nil {
		conn.Close()
		t.Errorf("%s lets a client in that does not know its certificate", url)
	}
}

// A hit is done to an agent of a run of one trial while that is measured.
type hit struct {
	*takenApart
	at  time.Time
	its []int // processes that the agent has started
}

// hitHost does something, once, to the agent of host 1.
func hitHost(t *testing.T, o Options, do func(*hit)) *hit {
	t.Helper()
	h := &hit{takenApart: takeApart(t, o)}
	h.trial.progress = func(p Progress) {
		if p.Phase == "measuring" && p.Elapsed > 50*time.Millisecond && h.at.IsZero() {
			h.at = time.Now()
			h.its = childrenOf(h.trial.transport.site.fleet.hosts[1].PID)
			do(h)
		}
	}
	return h
}

func (h *hit) agent() process { return h.trial.transport.site.fleet.agents[1] }

// A process takes signals.
type process interface{ Signal(syscall.Signal) error }

// runs reports whether a process has not ended.
func runs(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ")
}

// childrenOf returns the processes that another has started.
func childrenOf(parent int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		b, _ := os.ReadFile(path)
		_, after, _ := strings.Cut(string(b), ") ")
		var state string
		var of, pid int
		fmt.Sscan(after, &state, &of)
		if fmt.Sscanf(path, "/proc/%d/stat", &pid); of == parent && state != "Z" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone wants the trial to have ended since host 1 is gone, its nodes to have crashed with it, and no
// process of it to be left.
func (h *hit) gone(t *testing.T, trial *Trial, err error, says string) {
	t.Helper()
	v := trial.Verdict
	if err == nil || v.Outcome != check.Inconclusive || !strings.Contains(v.Reason, says) ||
		!strings.Contains(v.Reason, "so its nodes have crashed (1,3)") {
		t.Errorf("%v: %s", v.Outcome, v.Reason)
	}
	stored, err := history.Load(h.Folder.HistoryFile(1))
	if err != nil {
		t.Fatal(err)
	}
	killed, crashed := 0, 0
	for _, e := range stored.Events {
		switch {
		case e.Kind == history.Killed && e.At > 0:
			killed++
		case e.Kind == history.Crashed && (e.Node == 1 || e.Node == 3):
			crashed++
		}
	}
	if killed != 2 || crashed != 2 {
		t.Errorf("%d nodes are on record as killed, %d as crashed", killed, crashed)
	}
	if len(h.its) < 3 {
		t.Errorf("the agent had the processes %v", h.its)
	}
	for _, pid := range h.its {
		for late := time.Now().Add(20 * time.Second); runs(pid); time.Sleep(time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("process %d of the host is left behind", pid)
			}
		}
	}
}

// With an agent that is killed its nodes have crashed, and the run ends with a verdict.
func TestAHostThatIsKilledEndsTheRun(t *testing.T) {
	for _, load := range []workload.Load{workload.Saturated, workload.Sequential} {
		o := overHosts("ricart-agrawala", 4, 2)
		o.Workload.Load, o.Duration = load, time.Minute
		if load == workload.Sequential {
			o.Entries, o.Duration = 1_000_000, 0
		}
		h := hitHost(t, o, func(h *hit) { h.agent().Signal(syscall.SIGKILL) })
		trial, err := h.make(t.Context(), t)
		h.gone(t, trial, err, "host h1 is gone: ")
		if took := time.Since(h.at); took > 5*time.Second {
			t.Errorf("the run ended %v later", took)
		}
	}
}

// An agent that stands still for a short time delays the run, and costs it nothing.
func TestAHostThatStandsStillGoesOn(t *testing.T) {
	o := overHosts("ricart-agrawala", 4, 2)
	h := hitHost(t, o, func(h *hit) {
		h.agent().Signal(syscall.SIGSTOP)
		time.AfterFunc(300*time.Millisecond, func() { h.agent().Signal(syscall.SIGCONT) })
	})
	trial, err := h.make(t.Context(), t)
	if v := trial.Verdict; err != nil || v.Outcome != check.Valid || h.at.IsZero() {
		t.Errorf("%v: %s (%v)", v.Outcome, v.Reason, err)
	}
	if got := trial.Row.MessagesPerEntry.String(); got != "6" {
		t.Errorf("%s messages per entry", got)
	}
}

// One that stands still for too long is gone.
func TestAHostThatIsSilentForTooLongIsGone(t *testing.T) {
	o := overHosts("ricart-agrawala", 4, 2)
	o.Duration = time.Minute
	h := hitHost(t, o, func(h *hit) {
		h.trial.transport.site.fleet.attend(500 * time.Millisecond) // instead of 10 s
		h.agent().Signal(syscall.SIGSTOP)
	})
	trial, err := h.make(t.Context(), t)
	if took := time.Since(h.at); took < 500*time.Millisecond || took > 8*time.Second {
		t.Errorf("it ended %v later", took)
	}
	h.agent().Signal(syscall.SIGKILL) // or its processes end with the run
	h.gone(t, trial, err, "host h1 is gone: it has not answered for ")
}
