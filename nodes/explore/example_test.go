package explore_test

import (
	"fmt"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/explore"
	"turnstile/nodes/mutex"
)

// Two nodes that ask at the same time permit each other.
func Example() {
	row, err := mutex.Find("naive-broadcast")
	if err != nil {
		panic(err)
	}
	x, err := explore.Run(explore.Options{Spec: row, Config: nodes.Config{N: 2}, Entries: 1})
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

// A schedule says what happens, and what should then be so.
func ExampleReplay() {
	schedule, err := explore.ParseSchedule(strings.NewReader(`
		turnstile schedule 1
		algorithm token-ring
		n 3
		0>1 token
		req 2
		1>2 token; in 2    # the token is there, and the client of node 2 inside
		exit 2
		2>0 token; in -
	`), mutex.Find)
	if err != nil {
		panic(err)
	}
	played, err := explore.Replay(schedule)
	if err != nil {
		panic(err)
	}
	fmt.Println(strings.Join(played.Story, "\n"))

	// Output:
	// node 0 starts and sends token to node 1
	// node 1 gets token from node 0 and sends token to node 2
	// node 2 asks
	// node 2 gets token from node 1
	// node 2 enters
	// node 2 leaves and sends token to node 0
	// node 0 gets token from node 2 and sends token to node 1
}
