package play

import "turnstile/nodes/algorithm"

// A Layout is how nodes are best drawn.
type Layout struct {
	Shape string   `json:"shape"` // ring, tree, grid, star or all
	Links [][2]int `json:"links"` // the links that the algorithm uses; empty: all
}

func layoutOf(*algorithm.Stack) Layout { return Layout{Shape: "all", Links: [][2]int{}} }
