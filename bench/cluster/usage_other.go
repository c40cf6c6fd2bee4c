//go:build !linux

package cluster

import "time"

// cpuTime knows nothing here.
func cpuTime(int) (time.Duration, bool) { return 0, false }

func usable() func(cpu int) bool { return func(int) bool { return true } }
