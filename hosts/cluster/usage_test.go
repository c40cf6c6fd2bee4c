package cluster

import (
	"math"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// Between the two readings, 10 s and 4,000 ticks pass on 4 CPUs; busy is how many of the ticks were busy.
func TestShares(t *testing.T) {
	for name, test := range map[string]struct {
		busy        uint64
		own, broker float64 // in seconds
		quota       float64
		want        Shares
	}{
		"at rest": {0, 0, 0, 0, Shares{}},
		"the run is busy": {3800, 28, 8, 0,
			Shares{Own: 0.7, Broker: 0.2, Others: 0.05, Busy: 0.95, BrokerCPU: 0.8}},
		"others are busy": {4000, 6, 2, 0,
			Shares{Own: 0.15, Broker: 0.05, Others: 0.8, Busy: 1, BrokerCPU: 0.2}},
		"the quota is used up": {1600, 10, 5, 1.5,
			Shares{Own: 10 / 15.0, Broker: 5 / 15.0, Others: 0.025, Busy: 1, BrokerCPU: 0.5}},
		"a quota, and others are busy": {3800, 3, 3, 1.5,
			Shares{Own: 0.2, Broker: 0.2, Others: 0.8, Busy: 0.95, BrokerCPU: 0.3}},
		"a quota above the machine": {3800, 28, 8, 64,
			Shares{Own: 0.7, Broker: 0.2, Others: 0.05, Busy: 0.95, BrokerCPU: 0.8}},
		"ticks are coarser than clocks": {900, 8, 2, 0,
			Shares{Own: 0.2, Broker: 0.05, Others: 0, Busy: 0.25, BrokerCPU: 0.2}},
	} {
		at := time.Now()
		seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
		before := Usage{at, ticks{1000, 5000}, seconds(100), seconds(50), true, 0, 0}
		after := Usage{at.Add(10 * time.Second), ticks{1000 + test.busy, 9000}, seconds(100 + test.own),
			seconds(50 + test.broker), true, 0, 0}
		got := after.since(before, 4, test.quota)
		for _, x := range [][2]float64{{got.Own, test.want.Own}, {got.Broker, test.want.Broker},
			{got.Others, test.want.Others}, {got.Busy, test.want.Busy}, {got.BrokerCPU, test.want.BrokerCPU}} {
			if math.Abs(x[0]-x[1]) > 1e-9 || !got.AllKnown || !got.OwnKnown {
				t.Errorf("%s: %+v, not %+v", name, got, test.want)
				break
			}
		}
	}
}

func TestSharesUnknown(t *testing.T) {
	at := time.Now()
	for name, test := range map[string]struct {
		before, after Usage
		all, own      bool
	}{
		"no time has passed": {Usage{at, ticks{1, 2}, 0, 0, true, 0, 0}, Usage{at, ticks{2, 3}, 0, 0, true, 0, 0},
			false, false},
		"no tick has passed": {Usage{at, ticks{1, 2}, 0, 0, true, 0, 0},
			Usage{at.Add(1), ticks{1, 2}, 0, 0, true, 0, 0},
			false, true},
		"a process could not be read": {Usage{at, ticks{1, 2}, 0, 0, true, 0, 0},
			Usage{at.Add(1), ticks{2, 3}, 0, 0, false, 0, 0}, true, false},
	} {
		if got := test.after.since(test.before, 4, 0); got.AllKnown != test.all || got.OwnKnown != test.own {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestParseTicks(t *testing.T) {
	const text = "cpu  1000 0 0 1000 0 0 0 0 0 0\n" +
		"cpu0 10 1 2 100 50 3 4 5 10 1\ncpu1 20 2 4 200 60 6 8 10 20 2\ncpu12 1 0 0 1 0 0 0 0\nintr 1 2 3 4 5 6\n"
	for name, test := range map[string]struct {
		text   string
		usable func(int) bool
		want   ticks
	}{
		"all":       {text, func(int) bool { return true }, ticks{25 + 50 + 1, 175 + 310 + 2}},
		"one":       {text, func(cpu int) bool { return cpu == 1 }, ticks{50, 310}},
		"a tenth":   {text, func(cpu int) bool { return cpu == 12 }, ticks{1, 2}},
		"none":      {text, func(int) bool { return false }, ticks{}},
		"no file":   {"", func(int) bool { return true }, ticks{}},
		"truncated": {"cpu0 1 2", func(int) bool { return true }, ticks{}},
	} {
		if got := parseTicks(test.text, test.usable); got != test.want {
			t.Errorf("%s: %+v, not %+v", name, got, test.want)
		}
	}
}

func TestReadUsage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc to read")
	}
	var out lines
	p := mustLaunch(t, NewLauncher(), "busy", nil, out.add)
	idle := mustLaunch(t, NewLauncher(), "idle", nil, nil)
	out.await(t)
	before := ReadUsage([]Process{idle}, []Process{p})
	spent := func() time.Duration {
		t.Helper()
		spent, ok := p.CPUTime()
		if !ok {
			t.Fatal("the CPU time of a process that runs cannot be read")
		}
		return spent
	}
	began := spent()
	for deadline := time.Now().Add(20 * time.Second); spent()-began < 50*time.Millisecond; {
		if time.Sleep(5 * time.Millisecond); time.Now().After(deadline) {
			t.Fatalf("a process that does nothing else has spent %v of CPU time", spent())
		}
	}
	got := ReadUsage([]Process{idle}, []Process{p}).Since(before)
	if !got.AllKnown || !got.OwnKnown || got.Own <= 0 || got.Own > 1 || got.Broker > got.Own ||
		got.Busy < got.Own || got.Busy > 1 || got.Others < 0 || got.Others > 1 {
		t.Errorf("a busy node and an idle broker: %+v", got)
	}
	if kb, ok := p.PeakResidentKB(); !ok || kb < 1024 || kb > 1<<20 {
		t.Errorf("the process has had %d KB, %v", kb, ok)
	}
	p.Kill()
	ended(t, p)
	if spent, ok := p.CPUTime(); !ok || spent < began+50*time.Millisecond {
		t.Errorf("a process that has ended has spent %v, %v", spent, ok)
	}
	if u := ReadUsage([]Process{idle}, []Process{p}); !u.known {
		t.Errorf("what a process that has ended has spent is not known: %+v", u)
	}
	read := func(nodes ...Process) Usage {
		u := ReadUsage([]Process{idle}, nodes)
		u.AddChildren([]Process{idle}, nodes)
		return u
	}
	one, two := read(), read(p)
	if one.at = one.at.Add(-time.Second); !read().Since(one).OwnKnown {
		t.Error("what the children of a running process have spent is not known")
	}
	if two.Since(one).OwnKnown {
		t.Error("what the children of a process that has ended have spent seems to be known")
	}
	if two.at = two.at.Add(-time.Second); !read(p).Since(two).OwnKnown {
		t.Error("what the children have spent since their parent ended before is not known")
	}
	if kb, ok := p.PeakResidentKB(); ok {
		t.Errorf("a process that has ended has had %d KB", kb)
	}
}

// The CPU time of a shell includes its children's, while they run and after they have ended.
func TestChildrenAreCounted(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	spin := exec.Command("/bin/sh", "-c",
		"sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; exec sleep 20")
	if err := spin.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { spin.Process.Kill(); spin.Wait() }()
	late := time.Now().Add(20 * time.Second)
	for readProcesses().beneath(spin.Process.Pid) < 30*time.Millisecond {
		if time.Now().After(late) {
			t.Fatal("the children of a shell have used no time")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestStatLines(t *testing.T) {
	p := &processes{map[int][]int{}, map[int]time.Duration{}, map[int]time.Duration{}}
	p.add(1, "1 (a) S 0 1 1 0 -1 0 0 0 0 0 5 6 70 80 20 0")
	p.add(2, "2 (b ) c) S 1 1 1 0 -1 0 0 0 0 0 1 2 3 4 20 0")
	p.add(3, "3 (short) S 1")
	if got, want := p.beneath(1), 160*clockTick; got != want {
		t.Errorf("beneath the first is %v, want %v", got, want)
	}
}
