package replay_test

import (
	"fmt"
	"strings"

	"turnstile/algorithms/mutex"
	"turnstile/nodes/replay"
)

// A schedule says what happens, and what should then be so.
func Example() {
	schedule, err := replay.Parse(strings.NewReader(`
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
	played, err := replay.Play(schedule)
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
