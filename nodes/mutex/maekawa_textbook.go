package mutex

import "turnstile/nodes"

// Maekawa's algorithm as it is widely taught, without Sanders' correction. It is known to be broken, and here
// so that whoever judges runs can be seen to notice.
//
// An arbiter that has lent its vote tells a newcomer that it is not the best (FAILED), but not the waiter
// that a better newcomer displaces.
//
// It excludes, and it gets stuck: the displaced waiter still believes that it comes next, and so keeps
// another arbiter's vote although it is asked for it back. The newcomer may wait for that very vote, while
// it holds the one that the displaced waits for.
var maekawaTextbookRow = nodes.Spec{
	Info: nodes.Info{
		Name:    "maekawa-textbook",
		Aliases: []string{"textbook"},
		Family:  "quorum",
		Source: "Maekawa's algorithm as it is widely taught (Kshemkalyani and Singhal, Distributed Computing, " +
			"chapter 9)",
		Summary: "As maekawa, but a waiter is not told when a better request takes its place.",
	},
	New: func(c nodes.Config) nodes.Machine {
		return &maekawa{quorums: c.Value(quorumOption), voter: arbiter{textbook: true}}
	},
	Messages:   maekawaRow.Messages,
	Options:    maekawaRow.Options,
	Safe:       maekawaRow.Safe,
	Live:       maekawaRow.Live,
	Cost:       maekawaRow.Cost,
	Identities: maekawaRow.Identities,
	Broken:     "progress",
}
