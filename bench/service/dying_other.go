//go:build !linux

package service

import "os/exec"

// output runs a program for a moment, and returns what it prints, with its standard error if both is true.
func output(cmd *exec.Cmd, both bool) ([]byte, error) {
	if both {
		return cmd.CombinedOutput()
	}
	return cmd.Output()
}
