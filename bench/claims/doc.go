// Package claims has the claims of the lecture texts that the project grew from: what each says, the runs
// and tests that show it, and what was seen. They are read from docs/coverage.md, which is their only
// home, so the page, the command `claims` and TestCoverage say the same.
//
// The page has two tables for each text. In both a row begins with the id of a claim.
//
//	| claim | the text says | verdict | what was seen | themes |
//	| claim | says | shown | run it | exit | which prints | held by tests |
//
// The first has one row per claim. In the second, rows without an id go on with the claim above them: one
// call of the program each, one test, or both.
package claims
