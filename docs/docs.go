// Package docs holds the data that pages are made from and that the program reads.
package docs

import _ "embed"

// Claims is a file of YAML: what five lecture texts claim, and what shows each claim. Comments at its top
// describe its keys.
//
//go:embed claims.yaml
var Claims []byte
