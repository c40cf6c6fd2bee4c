// Package row has the rows of the tables of algorithms: what makes their machines (nodes.Spec), and what is
// published of them. Look-up, lists, validate, the fault matrix, checks and tests of conformance read rows.
//
// A [Row] has a pointer for each kind of algorithm: [Exclusion] has the cost of an entry, the laws of
// message counts and the promise of fairness; [Leadership] what an elector promises of its leaders; [Flaw]
// how a known broken algorithm fails. A [Claim] is a published figure with the trial that reproduces it, a
// [FaultCell] what becomes of the algorithm under a plan.
//
// An [Instance] is a row with a configuration, and a [Stack] the instances of every node: [Assemble] makes
// it.
//
// It lists no algorithm: the tables are in packages mutex, election and detector, and package catalog has
// all.
package row
