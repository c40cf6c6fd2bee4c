//go:build linux

package trial

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/bench"
	"turnstile/bench/benchtest"
	"turnstile/hosts/agent"
	"turnstile/hosts/cluster"
	"turnstile/judge/check"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// With hosts, nodes ask a resource process, and all connections use TLS, through proxies or not.
func TestHostsSpeakTLS(t *testing.T) {
	o := benchtest.OverHosts("ricart-agrawala", 4, 2)
	o.Resource, o.Proxies = option.ResourceProcess, true
	r := takeApart(t, o)
	got, err := r.make(t.Context(), t)
	if err != nil {
		t.Fatal(err)
	}
	if v := got.Verdict; v.Outcome != check.Valid || got.Row.MessagesPerEntry.String() != "6" {
		got.errorf(t, "%v, with %v messages per entry: %s", v.Outcome, got.Row.MessagesPerEntry, v.Reason)
	}
	if bytes, err := r.Site.Proxies.Bytes(t.Context(), "node "); err != nil || bytes == 0 {
		t.Errorf("%d bytes have come to the proxies: %v", bytes, err)
	}
	url := r.Site.Reach(0, 0).URL
	if conn, err := nats.Connect(url, nats.Token(r.Site.Reach(0, 0).Token)); err == nil {
		conn.Close()
		t.Errorf("%s lets a client in that does not know its certificate", url)
	}
}

// A hit is an attack on an agent during the measurement of a trial.
type hit struct {
	*takenApart
	at  time.Time
	its []int // processes that the agent has started
}

// hitHost calls do once for the agent of host 1.
func hitHost(t *testing.T, o bench.Options, do func(*hit)) *hit {
	t.Helper()
	h := &hit{takenApart: takeApart(t, o)}
	h.Progress = func(p Progress) {
		if p.Phase == "measuring" && p.Elapsed > 50*time.Millisecond && h.at.IsZero() {
			h.at = time.Now()
			h.its = childrenOf(h.agent().(interface{ Pid() int }).Pid())
			do(h)
		}
	}
	return h
}

func (h *hit) agent() cluster.Process { return h.Site.Agents()[1] }

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

// gone requires that the trial has ended because host 1 is gone, that its nodes have crashed with it, and
// that none of its processes is left.
func (h *hit) gone(t *testing.T, trial *judged, err error, says string) {
	t.Helper()
	v := trial.Verdict
	if err == nil || v.Outcome != check.Inconclusive || !strings.Contains(v.Reason, says) ||
		!strings.Contains(v.Reason, "so its nodes have crashed (1,3)") {
		t.Errorf("%v: %s", v.Outcome, v.Reason)
	}
	stored, err := history.Load(h.history)
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

// When an agent is killed, its nodes have crashed, and the run ends with a verdict.
func TestAHostThatIsKilledEndsTheRun(t *testing.T) {
	for _, load := range []workload.Load{workload.Saturated, workload.Sequential} {
		o := benchtest.OverHosts("ricart-agrawala", 4, 2)
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

// An agent that is suspended for a short time delays the run, and does no other harm.
func TestAHostThatStandsStillGoesOn(t *testing.T) {
	o := benchtest.OverHosts("ricart-agrawala", 4, 2)
	h := hitHost(t, o, func(h *hit) {
		h.agent().Signal(syscall.SIGSTOP)
		time.AfterFunc(300*time.Millisecond, func() { h.agent().Signal(syscall.SIGCONT) })
	})
	trial, err := h.make(t.Context(), t)
	if v := trial.Verdict; err != nil || v.Outcome != check.Valid || h.at.IsZero() {
		trial.errorf(t, "%v: %s (%v)", v.Outcome, v.Reason, err)
	}
	if got := trial.Row.MessagesPerEntry.String(); got != "6" {
		t.Errorf("%s messages per entry", got)
	}
}

// One of two hosts has a clock that is 200 ms ahead and runs 300 ppm fast. Stamps are corrected: a sound
// algorithm is found valid, and a broken one violated.
func TestHostsWithDifferentClocks(t *testing.T) {
	begun := agent.Monotonic()
	const ahead, ppm = int64(200 * time.Millisecond), 300
	t.Setenv(benchtest.Clock, fmt.Sprintf("%d %d %d", begun, ahead, ppm))
	for algorithm, want := range map[string]check.Outcome{
		"ricart-agrawala": check.Valid, "naive-broadcast": check.Violated,
	} {
		o := benchtest.OverHosts(algorithm, 4, 2)
		o.Duration = 600 * time.Millisecond
		if err := o.Workload.Hold.Set("20ms"); err != nil {
			t.Fatal(err)
		}
		r := takeApart(t, o)
		got, err := r.make(t.Context(), t)
		if err != nil {
			t.Fatal(err)
		}
		if v := got.Verdict; v.Outcome != want {
			got.errorf(t, "%s: %v: %s", algorithm, v.Outcome, v.Reason)
		}
		if bound, known := got.Row.ClockErrorUS.Value(); !known || bound < 1 || bound > 100_000 {
			t.Errorf("%s: its clocks agree within %v us", algorithm, bound)
		}
		if want == check.Violated && !strings.Contains(got.Verdict.Reason, "overlapped") {
			t.Errorf("it is found out by other witnesses alone: %s", got.Verdict.Reason)
		}
	}
}

// A fakeCutter records the orders to the kernels of hosts.
type fakeCutter struct {
	did  []string
	fail error
}

func (f *fakeCutter) CutsNetworks() bool { return true }

func (f *fakeCutter) CutNetwork(number int, hosts []int, _ []uint16) error {
	f.did = append(f.did, fmt.Sprint("cut ", number, hosts))
	return f.fail
}

func (f *fakeCutter) HealNetwork(number int) error {
	f.did = append(f.did, fmt.Sprint("heal ", number))
	return f.fail
}

// From the cut of a network until all nodes are connected again, messages may be lost.
func TestNetworksAreCut(t *testing.T) {
	t.Parallel()
	c, f := carried(t, 1, false).connections, &fakeCutter{}
	c.cutter = f
	between := func(hosts ...int) (s port.Strain) { // a cut of these hosts from host 3
		for _, h := range hosts {
			s.Links = append(s.Links, port.Link{A: port.Member{Role: port.Host, I: h},
				B: port.Member{Role: port.Host, I: 3}})
		}
		return s
	}
	if err := c.strain(3, between(1, 2)); err != nil || !c.outage.away || !c.nodes.watch.lossy || !c.resets[3] {
		t.Errorf("once it is cut, the network is connected: %v, %v", !c.outage.away, err)
	}
	if err := c.relieve(3); err != nil || c.outage.back == 0 || c.resets[3] {
		t.Errorf("once it is healed, nodes may not be back: %v, %v", c.outage, err)
	}
	if want := []string{"cut 3 [1 2]", "heal 3"}; !slices.Equal(f.did, want) {
		t.Errorf("the hosts did %q, and not %q", f.did, want)
	}
	f.fail = errors.New("host b: it has no NET_ADMIN")
	err := c.strain(4, between(0))
	after := c.relieve(4)
	if err := errors.Join(err, after); err == nil ||
		strings.Count(err.Error(), "NET_ADMIN") != 2 {
		t.Errorf("a host that cannot says %v", err)
	}
}
