//go:build !linux

package cluster

func usable() func(cpu int) bool { return func(int) bool { return true } }
