//go:build !linux

package proc

// nextStop reports nothing, since this system does not report stops.
func nextStop() (pid int, stopped, ok bool) { return 0, false, false }
