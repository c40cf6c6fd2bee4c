//go:build linux

package site

import (
	"fmt"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/mutex"
	"turnstile/bench"
	"turnstile/bench/benchtest"
	"turnstile/hosts/agent"
	"turnstile/hosts/cluster"
)

// twoHosts returns the site of a run over two hosts, which are agents on this machine.
func twoHosts(t *testing.T) (*Site, *fleet) {
	t.Helper()
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	j, err := bench.Resolve(catalog.Table{}, benchtest.OverHosts("ricart-agrawala", 4, 2), spec, false)
	if err != nil {
		t.Fatal(err)
	}
	s := setup(t)
	reserved, err := Reserve(t.Context(), &s, j)
	if err != nil {
		t.Fatal(err)
	}
	on, err := reserved.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(on.Close)
	return on, on.Hosts.(*fleet)
}

// A host that is silent for too long is given up, with all that runs there.
func TestAHostThatIsSilentForTooLongIsGone(t *testing.T) {
	on, f := twoHosts(t)
	broker := on.Broker(1)           // the broker of host h1
	f.attend(500 * time.Millisecond) // instead of 10 s
	at := time.Now()
	on.Agents()[1].Signal(syscall.SIGSTOP)
	select {
	case <-broker.Ended():
	case <-time.After(20 * time.Second):
		t.Fatal("its processes are not taken for gone")
	}
	if took := time.Since(at); took < 500*time.Millisecond || took > 8*time.Second {
		t.Errorf("it is gone %v later", took)
	}
	if f := broker.Fate(); !f.Gone || !strings.HasPrefix(f.Says, "host h1 is gone: it has not answered for ") {
		t.Errorf("its broker has ended: %+v", f)
	}
	on.Agents()[1].Signal(syscall.SIGKILL) // otherwise its processes would live on until the test ends
}

// One of two hosts has a clock that is 200 ms ahead and runs 300 ppm fast. The measured offset includes both.
func TestClocksOfHostsAreMeasured(t *testing.T) {
	begun := agent.Monotonic()
	const ahead, ppm = int64(200 * time.Millisecond), 300
	t.Setenv(benchtest.Clock, fmt.Sprintf("%d %d %d", begun, ahead, ppm))
	_, f := twoHosts(t)
	if !f.clocks[0].same || f.clocks[1].same {
		t.Fatal("it is not known whose clock is another")
	}
	now := agent.Monotonic()
	f.clocks[1].mu.Lock()
	offset, bound, known := f.clocks[1].estimator.Offset(now)
	f.clocks[1].mu.Unlock()
	is := ahead + (now-begun)*ppm/1_000_000
	if off := math.Abs(float64(offset - is)); !known || off > float64(bound) {
		t.Errorf("the clock is %d ns ahead, and measured as %d within %d", is, offset, bound)
	}
}

// Hosts that share no memory cannot serve a run whose clients share a file: an error says so, and the hosts
// are released.
func TestHostsThatShareNoMemory(t *testing.T) {
	t.Setenv(benchtest.Clock, fmt.Sprintf("%d %d %d", agent.Monotonic(), int64(time.Second), 0)) // of host h1
	spec, err := mutex.Find("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	j, err := bench.Resolve(catalog.Table{}, benchtest.OverHosts("ricart-agrawala", 4, 2), spec, false)
	if err == nil {
		err = j.PlaceOn([]string{"h0", "h1"})
	}
	if err != nil {
		t.Fatal(err)
	}
	s, f := setup(t), &fleet{ended: make(chan cluster.Node, 2)}
	found, err := f.start(t.Context(), cluster.NewLauncher(), &s, j, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.plane.Close)
	_, err = s.joinHosts(t.Context(), j, f, found) // as if a control plane had found them
	if err == nil || !strings.Contains(err.Error(), "these hosts share no memory") {
		t.Errorf("they serve the run: %v", err)
	}
	f.close()
}

// Hosts that do not start the given node program are reported before a run begins.
func TestHostsAreAskedForTheNodeProgram(t *testing.T) {
	s := &Setup{Node: "/opt/mine"}
	r := Reservation{setup: s, found: []agent.Description{{Name: "a", Programs: true}, {Name: "b"}}}
	if err := r.checkProgram(); err != nil {
		t.Error(err)
	}
	s.NodeGiven = true
	err := r.checkProgram()
	if err == nil || !strings.Contains(err.Error(), "host b starts only node programs of its own version") ||
		!strings.Contains(err.Error(), "--allow-program /opt/mine") {
		t.Error(err)
	}
}
