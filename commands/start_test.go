package commands

import (
	"io"
	"runtime"
	"testing"
)

// startApp builds the tree of commands, as each call of the program does.
func startApp() { (&app{stdout: io.Discard, stderr: io.Discard}).root() }

// Each call builds all commands. That reads no plans, columns or other tables anew, which takes megabytes.
func TestACallBuildsItsCommandsFromLittle(t *testing.T) {
	startApp() // what is kept from here on is made
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const calls = 4
	for range calls {
		startApp()
	}
	runtime.ReadMemStats(&after)
	if bytes := (after.TotalAlloc - before.TotalAlloc) / calls; bytes > 2_000_000 {
		t.Errorf("the commands take %d bytes", bytes)
	}
}

func BenchmarkStart(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		startApp()
	}
}
