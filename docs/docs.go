// Package docs holds the pages that the program reads. They are written for people, and what the program
// does with them is held to what they say.
package docs

import _ "embed"

// Coverage is the page with what five lecture texts claim, and what shows each claim: package claims reads
// it.
//
//go:embed coverage.md
var Coverage string
