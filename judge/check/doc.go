// Package check judges a run by its history: whether the algorithm kept its promises, and whether the run is
// fit to say so.
//
// # The contract
//
// A [Fold] gathers the evidence of one history, and [Fold.Verdict] makes every check of its [Problem] on
// it. A check owes a [Finding] that is one of these:
//
//   - Valid: the promise was kept, and there is evidence of it. A check that had nothing to look at says so,
//     or is Inconclusive.
//   - Violated: the promise was broken. A witness says how. If an assumption that the algorithm rests on had
//     ceased to hold before, the finding is marked as outside its model.
//   - Inconclusive: the run does not say, since it was cut short, or lost messages of its own, or its
//     witnesses contradict each other. Unknown is never a pass.
//   - Under-loaded: less was asked of the system than the run was to ask.
//   - Overloaded: more was asked of the system than it could serve.
//
// The verdict is the worst finding. Three witnesses of exclusion, which are independent of each other, are
// checked one by one: the intervals from Enter to Exit, the occupancy register, and the shared account. That
// money is lost implies that sections overlapped, and that implies that the register was exceeded; if one of
// these implications fails, it is the harness that is wrong.
//
// A check is a value: its name, what it is about, what it leaves open if it is inconclusive, and a function
// from the evidence to a finding. Readers ask a finding what it is [About], never for the name of its check.
// A [Problem] lists the checks of one kind of run, and what else is special to that. The model (model.go)
// says which assumptions were broken when, and so what is excused.
//
// A new check is such a function, and a line in the list of each problem that it is for. A test demands a
// mutant of a sound run that it catches.
//
// docs/measures.md lists the checks. The package's example has two clients inside together.
package check
