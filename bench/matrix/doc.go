// Package matrix makes the fault matrix: runs of every algorithm under every plan that comes with the
// program, on real processes or on virtual time. What became of each is compared with what the row of the
// algorithm says of it.
package matrix
