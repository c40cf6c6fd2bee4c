package history_test

import (
	"fmt"
	"os"
	"path/filepath"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// entries counts the entries of each node.
type entries map[nodes.ID]int

func (n entries) Add(e history.Event) {
	if e.Kind == history.Entered {
		n[e.Node]++
	}
}

func (n entries) Close(logs []*history.NodeLog) {
	for _, l := range logs {
		fmt.Printf("node %d entered %d times, and counted %d\n", l.Node, n[l.Node], l.Sum().Entries)
	}
}

// Two nodes record what they do, and a fold reads the history that their logs are merged to.
func Example() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	dir, err := os.MkdirTemp("", "history")
	check(err)
	defer os.RemoveAll(dir)
	for id := range nodes.ID(2) {
		path := filepath.Join(dir, fmt.Sprintf("node-%d.log", id))
		l, err := history.Create(path, history.Options{Node: id, Nodes: 2, Instances: 1})
		check(err)
		for i := range int64(id) + 1 {
			check(l.Append(history.Event{At: 10 * i, Kind: history.Entered, Entry: uint32(i + 1), Count: 1}))
			check(l.Append(history.Event{At: 10*i + 5, Kind: history.Exited, Entry: uint32(i + 1)}))
			l.Instance(0).Entries.Add(1)
		}
		check(l.Close())
	}
	path := filepath.Join(dir, "history.zst")
	check(history.Store(path, dir))

	r, err := history.Open(path)
	check(err)
	defer r.Close()
	check(r.Run(entries{}))

	// Output:
	// node 0 entered 1 times, and counted 1
	// node 1 entered 2 times, and counted 2
}
