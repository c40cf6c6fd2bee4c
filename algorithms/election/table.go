// Package election holds the algorithms of leader election: a file for each, with its Algorithm on top, and
// the table of them all.
//
// A node that begins an election, or learns that its leader is gone, calls Elect(None). A node becomes leader
// only by calling Elect(Self). To add an algorithm, write its file and list it here.
package election

import "turnstile/nodes/algorithm"

// Table lists the algorithms. They are not to be changed.
var Table = []*algorithm.Algorithm{
	&bullyAlgorithm,
	&bullyFourPhaseAlgorithm,
	&bullyFourPhasePrintedAlgorithm,
	&bullyNoTimeoutAlgorithm,
	&fastBullyAlgorithm,
	&bullyMajorityAlgorithm,
	&bullySecondNetworkAlgorithm,
	&bullySharedDiskAlgorithm,
	&ringListAlgorithm,
	&leLannAlgorithm,
	&changRobertsAlgorithm,
	&hirschbergSinclairAlgorithm,
	&franklinAlgorithm,
	&dolevKlaweRodehAlgorithm,
	&itaiRodehAlgorithm,
	&itaiRodehAsyncAlgorithm,
	&changRobertsPrintedAlgorithm,
	&raftAlgorithm,
	&raftForgetfulAlgorithm,
	&omegaAlgorithm,
	&omegaEfficientAlgorithm,
	&invitationAlgorithm,
}

// Find returns the algorithm that has the name, or has it as an alias.
func Find(name string) (*algorithm.Algorithm, error) { return algorithm.Find("scheme", Table, name) }
