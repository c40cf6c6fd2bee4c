// Package election holds the algorithms of leader election: a file for each, with its row on top, and the
// table of them all.
//
// A node that begins an election, or learns that its leader is gone, calls Elect(None). A node becomes
// leader only by calling Elect(Self). To add an algorithm, write its file and list its row here.
package election

import "turnstile/nodes/row"

// Table lists the algorithms. Its rows are not to be changed.
var Table = []*row.Row{
	&bullyRow,
	&bullyFourPhaseRow,
	&bullyFourPhasePrintedRow,
	&bullyNoTimeoutRow,
	&fastBullyRow,
	&bullyMajorityRow,
	&bullySecondNetworkRow,
	&bullySharedDiskRow,
	&ringListRow,
	&leLannRow,
	&changRobertsRow,
	&hirschbergSinclairRow,
	&franklinRow,
	&dolevKlaweRodehRow,
	&itaiRodehRow,
	&itaiRodehAsyncRow,
	&changRobertsPrintedRow,
	&raftRow,
	&raftForgetfulRow,
	&omegaRow,
	&omegaEfficientRow,
	&invitationRow,
}

// Find returns the row of the algorithm that has the name, or has it as an alias.
func Find(name string) (*row.Row, error) { return row.Find("scheme", Table, name) }
