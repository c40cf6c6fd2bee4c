// Package foreign lets a program in any language be the algorithm of a run. A machine stands for the program
// in its node, and turns lines of JSON into what a machine does: see docs/foreign.md for the protocol, whose
// envelope, init and error codes are those of Maelstrom. Package host starts the process.
package foreign
