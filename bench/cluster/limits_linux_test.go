package cluster

import (
	"os"
	"testing"
	"testing/fstest"
)

func TestThreadsOf(t *testing.T) {
	status := func(uid, threads string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("Name:\tuser Uid: 7\nUid:\t" + uid + "\nThreads:\t" + threads + "\n")}
	}
	proc := fstest.MapFS{
		"1/status":     status("0\t0\t0\t0", "3"),
		"20/status":    status("7\t7\t7\t7", "4"),
		"2/status":     status("7\t7\t7\t7", "8"),
		"30/status":    status("7\t0\t0\t0", "16"), // it runs a program that is setuid
		"31/status":    status("0\t7\t7\t7", "32"),
		"40/status":    {Data: []byte("Uid:\n")}, // cut off
		"50/stat":      {},                       // it has just ended
		"self/status":  status("7\t7\t7\t7", "64"),
		"irq/7/status": status("7\t7\t7\t7", "128"),
	}
	for _, test := range []struct{ uid, except, want int }{
		{7, 2, 20}, {7, 20, 24}, {7, 99, 28}, {0, 99, 35}, {8, 99, 0},
	} {
		if got := threadsOf(proc, test.uid, test.except); got != test.want {
			t.Errorf("user %d has %d threads beside process %d, not %d", test.uid, got, test.except, test.want)
		}
	}
	if n := threadsOf(os.DirFS("/proc"), os.Getuid(), 0); n < 2 {
		t.Errorf("this user has %d threads", n)
	}
}
