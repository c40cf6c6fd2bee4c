package offset

import (
	"os"
	"strings"
)

// An Identity tells the monotonic clock of a process from others: that of a boot of a machine, in a namespace
// that may shift it. Empty fields are unknown.
type Identity struct {
	Boot      string `json:"boot" yaml:"boot"`           // as in /proc/sys/kernel/random/boot_id
	Namespace string `json:"namespace" yaml:"namespace"` // as /proc/self/ns/time points to
}

// Own returns the identity of the clock of this process, as far as the system tells it.
func Own() (i Identity) {
	if boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		i.Boot = strings.TrimSpace(string(boot))
	}
	if namespace, err := os.Readlink("/proc/self/ns/time"); err == nil {
		i.Namespace = namespace
	}
	return i
}

// SameClock reports whether two identities are known and equal.
func SameClock(a, b Identity) bool { return a == b && a.Boot != "" && a.Namespace != "" }

// OneClock reports whether two processes have one clock: their identities are the same, and an exchange
// between them agrees with that within its bound.
func OneClock(a, b Identity, x Exchange) bool {
	low, high := x.offsets()
	return SameClock(a, b) && low <= 0 && 0 <= high
}
