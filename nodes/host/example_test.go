package host_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"turnstile/algorithms/mutex"
	"turnstile/internal/broker"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/host"
	"turnstile/nodes/workload"
)

// Two nodes enter ten times, under the orders of an orchestrator that reads their counters.
func Example() {
	dir := try(os.MkdirTemp("", "host"))
	defer os.RemoveAll(dir)
	broker := try(broker.Start(broker.Config{Token: "secret"}))
	defer broker.Shutdown()

	spec := try(mutex.Find("ricart-agrawala"))
	stack := try(algorithm.Assemble(algorithm.Instance{Algorithm: spec, Config: nodes.Config{N: 2}}))
	anchor := host.DropAnchor()
	c := host.Config{Run: "example", URL: broker.ClientURL(), Token: "secret", Zero: anchor.Now(),
		Entries: 10, Resource: filepath.Join(dir, "resource"),
		Workload: workload.Workload{Load: workload.Saturated, Hold: chance.Constant(50 * time.Microsecond)}}
	if err := host.CreateResource(c.Resource, len(stack.Mutexes()), stack.N()); err != nil {
		panic(err)
	}
	ended, ready := make(chan error), make(chan host.Note, 2)
	var pipes []io.Writer
	for c.Node = range 2 {
		c.Log = filepath.Join(dir, fmt.Sprintf("node-%d.log", c.Node))
		orders, toNode := io.Pipe()
		pipes = append(pipes, toNode)
		fromNode := host.NoteReader{On: func(n host.Note) { ready <- n }}
		go func(c host.Config) { ended <- host.Run(c, stack.Stack, orders, noteWriter{fromNode}) }(c)
	}
	<-ready
	<-ready

	order := func(o host.Order) {
		for _, pipe := range pipes {
			pipe.Write(try(json.Marshal(o)))
		}
	}
	order(host.Order{Do: host.Issue, Begin: 1})
	exits := func(c *history.InstanceCounters) uint64 { return c.Exits.Load() }
	for sum(dir, exits) < 10 {
		time.Sleep(time.Millisecond)
	}
	order(host.Order{Do: host.Quit})
	fmt.Println(<-ended, <-ended)
	fmt.Println(sum(dir, exits), "entries")
	fmt.Println(sum(dir, func(c *history.InstanceCounters) (sent uint64) {
		for kind := range stack.Codec().Kinds() {
			sent += c.Kinds[kind].Sent.Load()
		}
		return sent
	}), "messages")

	// Output:
	// <nil> <nil>
	// 10 entries
	// 20 messages
}

// sum adds up a counter of all nodes.
func sum(dir string, counter func(*history.InstanceCounters) uint64) (all uint64) {
	for _, path := range try(filepath.Glob(filepath.Join(dir, "*.log"))) {
		log := try(history.Watch(path))
		all += counter(&log.Instances[0])
		log.Close()
	}
	return all
}

func try[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
