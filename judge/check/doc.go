// Package check judges a run by its history: whether the algorithm kept its promises, and whether the run has
// the evidence to tell.
//
// # The contract
//
// A [Fold] gathers the evidence of one history, and [Fold.Verdict] makes every check of its [Problem] on
// it. A check returns a [Finding] with one of these outcomes:
//
//   - Valid: the promise was kept, and there is evidence of it. A check that had nothing to judge says so, or
//     is Inconclusive.
//   - Violated: the promise was broken. A witness shows how. If an assumption of the algorithm was broken
//     before, the finding is marked as outside its model.
//   - Inconclusive: the run cannot tell: it was cut short, the harness lost messages, or witnesses contradict
//     each other. Unknown is never a pass.
//   - Under-loaded: the run issued fewer requests than planned.
//   - Overloaded: the run planned more requests than the system could serve.
//
// The verdict is the worst finding. Exclusion has three independent witnesses: the intervals from Enter to
// Exit, the occupancy register, and the shared account. A lost update of the account implies that sections
// overlapped, and an overlap implies that the register was exceeded. If an implication fails, the harness
// itself is wrong.
//
// A check is a value: its name, its subject, what it leaves open if it is not valid, and a function from the
// evidence to a finding. Readers ask a finding what it is [About], never for the name of its check. A
// [Problem] lists the checks of one kind of run, and what else is special to that kind. The model (model.go)
// knows which assumptions were broken when, and so which failures are outside the model.
//
// A new check is such a function, and a line in the list of each problem that it is for. A test demands a
// mutant of a sound run that the check catches.
//
// docs/measures.md lists the checks. The package's example has two clients inside together.
package check
