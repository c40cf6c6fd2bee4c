//go:build !linux

package proc

import "time"

// CPUTime is unknown on this system.
func CPUTime(int) (time.Duration, bool) { return 0, false }
