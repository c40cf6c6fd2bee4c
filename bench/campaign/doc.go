// Package campaign makes fault injection campaigns: many runs under plans that are drawn by seeds, on virtual
// time and on real processes. It counts what became of them, shrinks the plan of a run that failed to the
// faults that make it fail, and compares real runs with simulated ones under one plan.
package campaign
