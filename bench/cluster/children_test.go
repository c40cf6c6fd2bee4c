package cluster

import (
	"os/exec"
	"runtime"
	"testing"
	"time"
)

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
