//go:build !linux

package cluster

func userLimit() []limit { return nil }
