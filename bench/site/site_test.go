//go:build linux

package site

import (
	"testing"

	"turnstile/bench/benchtest"
)

func TestMain(m *testing.M) { benchtest.Main(m) }

// setup returns how tests make runs: all processes are this program again.
func setup(t *testing.T) Setup {
	t.Helper()
	p := benchtest.ThisProgram(t)
	return Setup{Node: p.Node, Broker: p.Broker, Proxy: p.Proxy, Agent: p.Agent,
		Resource: p.Resource}
}
