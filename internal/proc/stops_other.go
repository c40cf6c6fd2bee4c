//go:build !linux

package proc

// nextStop reports nothing: this system does not tell.
func nextStop() (pid int, stopped, ok bool) { return 0, false, false }
