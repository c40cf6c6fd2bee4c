// Orchestrator runs distributed algorithms, in real processes over NATS, simulated and explored, and judges
// what happened.
package main

import (
	"os"

	"turnstile/algorithms/catalog"
	"turnstile/commands"
)

func main() { os.Exit(commands.Main(catalog.Table{}, nil)) }
