// Package measure folds the history of a run into figures. It uses nothing but the history and the load, so
// real, simulated and stored runs are measured alike.
//
// A [Fold] observes the sections of a history and gives [Measures] once it is closed; a [FaultFold] measures
// what happened before, during and after each fault, and [Leaders] the elections of a fold of package
// leadership. Each takes a history event by event, with bounded memory.
//
// [Figures], [OfMessages], [OfPhase] and [OfInterval] are what becomes of that: structs whose fields are
// columns, by their tags. docs/columns.md defines each. What was not measured stays unknown, which is not
// zero, and what never ended is a lower bound.
//
// It judges nothing, and knows neither files nor algorithms.
package measure
