//go:build !linux

package proc

import "time"

// CPUTime knows nothing here.
func CPUTime(int) (time.Duration, bool) { return 0, false }
