// Package orchestrator makes a program of algorithms of your own: see package [turnstile].
package orchestrator

import (
	"fmt"
	"os"

	"turnstile"
	"turnstile/algorithms/catalog"
	"turnstile/bench/node"
	"turnstile/commands"
	"turnstile/internal/terminal"
)

// badUsage is the exit status of a program that cannot start, as in sysexits.h.
const badUsage = 64

// Main is the main function of a program that has algorithms of its own besides those of Turnstile. It does
// the work of the program orchestrator, and of the node programs that this orchestrator starts. It does not
// return.
func Main(own ...*turnstile.Algorithm) {
	table, err := catalog.With(own...)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%v\n", err)
		os.Exit(badUsage)
	}
	const nodeWord = "node"
	if len(os.Args) > 1 && os.Args[1] == nodeWord {
		os.Exit(node.Main(table, os.Args[2:]))
	}
	os.Exit(commands.Main(table, []string{terminal.OwnPath(), nodeWord}))
}
