// Package study makes many runs, simulated or of processes, and compares what becomes of each with what
// is expected of it:
//
//   - a Campaign, under plans that are drawn by seeds: it counts what became of the runs, shrinks the plan of
//     one that failed to the faults that make it fail, and compares real runs with simulated ones;
//   - a Calm grid, in which nothing goes wrong;
//   - a Matrix, of every algorithm under every plan that comes with the program;
//   - a SplitBrain, of every scheme of election in a cluster that is cut.
package study
