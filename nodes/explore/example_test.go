package explore_test

import (
	"fmt"
	"strings"

	"turnstile/algorithms/mutex"
	"turnstile/nodes"
	"turnstile/nodes/explore"
)

// Two nodes that ask at the same time permit each other.
func Example() {
	algo, err := mutex.Find("naive-broadcast")
	if err != nil {
		panic(err)
	}
	x, err := explore.Run(explore.Space{Spec: algo, Config: nodes.Config{N: 2}, Entries: 1})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s: %s\n\n", x.Violation.Check, x.Violation.Says)
	fmt.Println(strings.Join(x.Violation.Story, "\n"))
	fmt.Println()
	fmt.Print(x.Violation.Schedule)

	// Output:
	// exclusion: node 0 enters while node 1 is inside
	//
	// node 0 asks and sends request to node 1
	// node 1 asks and sends request to node 0
	// node 1 gets request from node 0 and sends reply to node 0
	// node 0 gets request from node 1 and sends reply to node 1
	// node 1 gets reply from node 0
	// node 1 enters
	// node 0 gets reply from node 1
	// node 0 enters: INSIDE TOGETHER WITH 1
	//
	// turnstile schedule 1
	// algorithm naive-broadcast
	// n 2
	//
	// req 0
	// req 1
	// 0>1 request
	// 1>0 request
	// 0>1 reply
	// 1>0 reply
}
