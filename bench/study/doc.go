// Package study makes many runs, simulated or of processes, and compares the result of each with what is
// expected:
//
//   - a Campaign, under randomly drawn plans: it counts the outcomes, shrinks the plan of a failed run to the
//     faults that make it fail, and compares real runs with simulated ones;
//   - a Calm grid, without faults;
//   - a Matrix, of every algorithm under every plan that comes with the program;
//   - a SplitBrain, of every election scheme in a cluster that is partitioned.
package study
