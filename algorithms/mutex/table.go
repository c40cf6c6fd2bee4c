// Package mutex holds the algorithms of mutual exclusion: a file for each, with its row on top, and the table
// of them all.
//
// A row states what is published about its algorithm: the paper, the assumptions of its safety and its
// progress, and its cost. The tests check that. To add an algorithm, write its file and list its row here.
//
// If a row uses no timeouts, a lost message, a crash, a partition or a pause may stop the algorithm, but
// does not break its safety; copies, reordering and amnesia may, if Safe says so.
package mutex

import "turnstile/nodes/row"

// Table lists the algorithms. Callers must not change its rows.
var Table = []*row.Row{
	&centralRow,
	&centralInsideRow,
	&centralQueuedRow,
	&centralLeaseRow,
	&centralFailoverRow,
	&centralFailoverLowestRow,
	&semaphoreRow,
	&tokenRingRow,
	&tokenRingRegeneratingRow,
	&lamportRow,
	&lamportDeferredRow,
	&ricartAgrawalaRow,
	&ricartRetryingRow,
	&ricartViewRow,
	&raymondKRow,
	&multiCopyRow,
	&ricartPrintedRow,
	&ricartUntaggedRow,
	&carvalhoRoucairolRow,
	&singhalDynamicRow,
	&suzukiKasamiRow,
	&suzukiKasamiFTRow,
	&suzukiPrintedRow,
	&ricartTokenRow,
	&raymondRow,
	&naimiTrehelRow,
	&neilsenMizunoRow,
	&maekawaRow,
	&maekawaTextbookRow,
	&gridQuorumRow,
	&gridSelflessRow,
	&majorityRow,
	&agrawalRow,
	&backoffRow,
	&ticketRow,
	&bakeryRow,
	&bakeryNoChoosingRow,
	&bakeryTiesRow,
	&kingsTokenRow,
	&petersonRow,
	&petersonReorderedRow,
	&naiveBroadcastRow,
	&naiveDeferringRow,
}

// Find returns the row of the algorithm with this name or alias.
func Find(name string) (*row.Row, error) { return row.Find("algorithm", Table, name) }
