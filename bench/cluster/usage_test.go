package cluster

import (
	"runtime"
	"testing"
	"time"
)

func TestBusySince(t *testing.T) {
	for _, test := range []struct {
		earlier, later CPUReading
		want           int64
		known          bool
	}{
		{CPUReading{10, 100}, CPUReading{60, 200}, 500_000, true},
		{CPUReading{10, 100}, CPUReading{10, 101}, 0, true},
		{CPUReading{10, 100}, CPUReading{110, 200}, 1_000_000, true},
		{CPUReading{10, 100}, CPUReading{10, 100}, 0, false}, // no tick has passed
		{CPUReading{}, CPUReading{}, 0, false},               // neither could be read
	} {
		got, known := test.later.BusySince(test.earlier)
		if got != test.want || known != test.known {
			t.Errorf("%v since %v: %d, %v", test.later, test.earlier, got, known)
		}
	}
}

func TestReadings(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc to read")
	}
	before, ok := ReadCPU()
	if !ok || before.busy == 0 || before.busy > before.all {
		t.Fatalf("the machine's CPU time: %v, %v", before, ok)
	}
	var out lines
	p := mustLaunch(t, NewLauncher(), "busy", nil, out.add)
	out.await(t)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		spent, ok := p.CPUTime()
		if !ok {
			t.Fatal("the CPU time of a process that runs cannot be read")
		}
		if spent >= 50*time.Millisecond {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a process that does nothing else has spent %v of CPU time", spent)
		}
	}
	after, _ := ReadCPU()
	if busy, ok := after.BusySince(before); !ok || busy <= 0 || busy > 1_000_000 {
		t.Errorf("meanwhile the machine was busy for %d millionths, %v", busy, ok)
	}
	if kb, ok := p.PeakResidentKB(); !ok || kb < 1024 || kb > 1<<20 {
		t.Errorf("the process has had %d KB, %v", kb, ok)
	}
	p.Kill()
	ended(t, p)
	if spent, ok := p.CPUTime(); ok {
		t.Errorf("a process that has ended has spent %v", spent)
	}
	if kb, ok := p.PeakResidentKB(); ok {
		t.Errorf("a process that has ended has had %d KB", kb)
	}
}
