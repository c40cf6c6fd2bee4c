package host

import (
	"path/filepath"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// An open lock lets everybody in.
type open struct{}

func (open) Request(env *nodes.Env)                      { env.Grant() }
func (open) Release(*nodes.Env)                          {}
func (open) Receive(*nodes.Env, nodes.ID, nodes.Message) {}

// BenchmarkEntry measures what a client costs whose resource is a mapped file: a request, an entry and an
// exit, with what is recorded of them.
func BenchmarkEntry(b *testing.B) {
	spec := &nodes.Spec{Name: "open", New: func(nodes.Config) nodes.Machine { return open{} }}
	stack, err := nodes.Assemble(nodes.Instance{Spec: spec, Config: nodes.Config{N: 1}})
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	path := filepath.Join(dir, "resource")
	if err := CreateResource(path, 1, 1); err != nil {
		b.Fatal(err)
	}
	h := &host{config: Config{Workload: workload.Workload{Load: workload.Saturated}}, tasks: newTasks(),
		choices: make([]uint64, 1)}
	anchor := DropAnchor()
	if h.clock, err = newClock(anchor, anchor.Now(), func() {}); err != nil {
		b.Fatal(err)
	}
	if h.resource, err = OpenResource(path, 1, 1); err != nil {
		b.Fatal(err)
	}
	h.log, err = history.Create(filepath.Join(dir, "log"), history.Options{Nodes: 1, Instances: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer h.log.Close()
	nodes.NewRuntime(stack, h, h.choose).Process(&h.process, 0)
	h.clients = newClients(h)
	h.started = true
	h.begin(h.clock.Now())
	b.ReportAllocs()
	b.ResetTimer()
	for h.err == nil && h.clients[0].count < uint64(b.N) {
		h.runDue()
		h.act()
	}
	if h.err != nil {
		b.Fatal(h.err)
	}
}
