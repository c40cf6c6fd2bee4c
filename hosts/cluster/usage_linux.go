package cluster

import "golang.org/x/sys/unix"

// usable returns a function that reports whether this process may run on the CPU with a given number.
func usable() func(cpu int) bool {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return func(int) bool { return true }
	}
	return set.IsSet
}
