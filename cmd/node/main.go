// Node is one process of a run: see package bench/node.
package main

import (
	"os"

	"turnstile/algorithms/catalog"
	"turnstile/bench/node"
)

func main() { os.Exit(node.Main(catalog.Table{}, os.Args[1:])) }
