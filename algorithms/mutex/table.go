// Package mutex holds the algorithms of mutual exclusion: a file for each, with its Algorithm on top, and the
// table of them all.
//
// Each Algorithm states what is published: the paper, the assumptions of its safety and its progress, and its
// cost. The tests check that. To add an algorithm, write its file and list it here.
//
// If an algorithm uses no timeouts, a lost message, a crash, a partition or a pause may stop it, but does not
// break its safety; copies, reordering and amnesia may, if Safe says so.
package mutex

import "turnstile/nodes/algorithm"

// Table lists the algorithms. They are not to be changed.
var Table = []*algorithm.Algorithm{
	&centralAlgorithm,
	&centralInsideAlgorithm,
	&centralQueuedAlgorithm,
	&centralLeaseAlgorithm,
	&centralFailoverAlgorithm,
	&centralFailoverLowestAlgorithm,
	&semaphoreAlgorithm,
	&tokenRingAlgorithm,
	&tokenRingRegeneratingAlgorithm,
	&lamportAlgorithm,
	&lamportDeferredAlgorithm,
	&ricartAgrawalaAlgorithm,
	&ricartRetryingAlgorithm,
	&ricartViewAlgorithm,
	&raymondKAlgorithm,
	&multiCopyAlgorithm,
	&ricartPrintedAlgorithm,
	&ricartUntaggedAlgorithm,
	&carvalhoRoucairolAlgorithm,
	&singhalDynamicAlgorithm,
	&suzukiKasamiAlgorithm,
	&suzukiKasamiFTAlgorithm,
	&suzukiPrintedAlgorithm,
	&ricartTokenAlgorithm,
	&raymondAlgorithm,
	&naimiTrehelAlgorithm,
	&neilsenMizunoAlgorithm,
	&maekawaAlgorithm,
	&maekawaTextbookAlgorithm,
	&gridQuorumAlgorithm,
	&gridSelflessAlgorithm,
	&majorityAlgorithm,
	&agrawalAlgorithm,
	&backoffAlgorithm,
	&ticketAlgorithm,
	&bakeryAlgorithm,
	&bakeryNoChoosingAlgorithm,
	&bakeryTiesAlgorithm,
	&kingsTokenAlgorithm,
	&petersonAlgorithm,
	&petersonReorderedAlgorithm,
	&naiveBroadcastAlgorithm,
	&naiveDeferringAlgorithm,
}

// Find returns the algorithm with this name or alias.
func Find(name string) (*algorithm.Algorithm, error) { return algorithm.Find("algorithm", Table, name) }
