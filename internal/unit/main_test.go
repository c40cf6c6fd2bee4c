package main

import "testing"

// The exit status is that of the command, and a unit of work takes time.
func TestBeside(t *testing.T) {
	for command, want := range map[string]int{"exit 0": 0, "exit 3": 3, "kill -9 $$": 1} {
		if got := beside("sh", []string{"-c", command}); got != want {
			t.Errorf("%s: exit status %d, want %d", command, got, want)
		}
	}
	if timeUnit() <= 0 {
		t.Error("a unit of work took no time")
	}
}
