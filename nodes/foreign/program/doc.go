// Package program is for foreign programs in Go: processes that speak lines of JSON with the testbed, as
// docs/foreign.md describes them. A program that takes a lock or leads by means of a service implements
// [Lock] or [Elector] and calls [Serve]; any other one reads and writes lines by a [Conn].
package program
