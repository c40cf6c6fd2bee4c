// Stormnode is a node program in which something is wrong, for bench to judge. Its file name says what.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/host"
)

// A role is what the orchestrator tells a node to be, as cmd/node reads it.
type role struct {
	Node     *host.Config     `json:"node"`
	Machines []catalog.Part   `json:"machines"`
	Chaos    chaos.NodeFaults `json:"chaos"`
}

// wrongs are what may be wrong: with the machines of all nodes, or with the process of one.
var wrongs = map[string]struct {
	machine func(nodes.Mutex) nodes.Machine
	process func(*host.Config, nodes.Config) error
}{
	"hasty":   {machine: func(m nodes.Mutex) nodes.Machine { return &hasty{m} }},
	"deaf":    {machine: func(m nodes.Mutex) nodes.Machine { return &deaf{Mutex: m} }},
	"echoing": {machine: func(m nodes.Mutex) nodes.Machine { return &echoing{m} }},
	"slow-clock": {process: func(c *host.Config, _ nodes.Config) error {
		c.Zero += int64(time.Millisecond)
		return nil
	}},
	"own-account": {process: func(c *host.Config, machines nodes.Config) error {
		c.Resource += "-of-its-own"
		return host.CreateResource(c.Resource, 1, machines.N)
	}},
}

// A hasty machine enters without asking anybody.
type hasty struct{ nodes.Mutex }

func (h *hasty) Request(env *nodes.Env) { env.Grant() }
func (h *hasty) Release(*nodes.Env)     {}

// A deaf machine ignores every message after its twentieth.
type deaf struct {
	nodes.Mutex
	heard int
}

func (d *deaf) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if d.heard++; d.heard <= 20 {
		d.Mutex.Receive(env, from, m)
	}
}

// An echoing machine sends every message back, for ever.
type echoing struct{ nodes.Mutex }

func (e *echoing) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) { env.Send(from, m) }

func main() {
	if err := run(filepath.Base(os.Args[0])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(name string) error {
	wrong, found := wrongs[name]
	if !found {
		return fmt.Errorf("nothing wrong is called %s", name)
	}
	input := json.NewDecoder(os.Stdin)
	var r role
	if err := input.Decode(&r); err != nil {
		return err
	}
	orders, err := host.OrdersAfter(input, os.Stdin, func() { os.Exit(3) })
	if err != nil {
		return err
	}
	stack, err := catalog.Table{}.Assemble(r.Machines)
	if err != nil {
		return err
	}
	sound := stack.Instances()[0]
	spec := *sound.Algorithm
	if wrong.machine != nil {
		spec.New = func(c nodes.Config) nodes.Machine { return wrong.machine(sound.New(c).(nodes.Mutex)) }
	}
	if wrong.process != nil && r.Node.Node == 1 {
		if err := wrong.process(r.Node, sound.Config); err != nil {
			return err
		}
	}
	changed := algorithm.Instance{Algorithm: &spec, Config: sound.Config}
	stack, err = algorithm.Assemble(changed, stack.Instances()[1:]...)
	if err != nil {
		return err
	}
	site, err := r.Chaos.Open(stack, r.Node.Seed)
	if err != nil {
		return err
	}
	r.Node.Shaper, r.Node.Watcher, r.Node.Faults = site.Shaper, site.Watcher, site
	return host.Run(*r.Node, stack.Stack, orders, os.Stdout)
}
