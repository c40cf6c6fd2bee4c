//go:build !linux

package netcut

import "errors"

var errNotLinux = errors.New("this host cannot be cut off by its kernel: that takes Linux with nf_tables")

// Check returns an error: this host cannot be cut.
func Check() error { return errNotLinux }

// Namespace returns an error.
func Namespace() (string, error) { return "", errNotLinux }

// Cut returns an error.
func (t Table) Cut(id string, ports []uint16) error {
	return errors.Join(checkCut(id, ports), errNotLinux)
}

// Heal does nothing, since nothing is cut.
func (Table) Heal(string) error { return nil }

// Clear does nothing, since nothing is cut.
func (Table) Clear() error { return nil }
