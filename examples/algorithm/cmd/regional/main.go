// Regional is an orchestrator that has the ring besides the algorithms of Turnstile, and the program of its
// nodes.
package main

import (
	"example.com/regional"
	"turnstile/orchestrator"
)

func main() { orchestrator.Main(&regional.Algorithm) }
