//go:build !linux

package service

import "os/exec"

// Output runs a program for a moment, and returns what it prints, with its standard error if both is true.
func Output(cmd *exec.Cmd, both bool) ([]byte, error) {
	if both {
		return cmd.CombinedOutput()
	}
	return cmd.Output()
}
