//go:build !linux

package proc

// nextStop knows nothing here.
func nextStop() (pid int, stopped, ok bool) { return 0, false, false }
