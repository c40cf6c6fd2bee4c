package mutex

// The sentences are those of the papers, in other words; N is small enough to follow by hand.

var centralStories = []story{{
	name: "grants in the order in which requests arrive",
	row:  "central", n: 3, // the coordinator is node 3
	script: `
		req 0; req 1; req 2
		2>3 request; 0>3 request; 1>3 request
		3>2 grant; in 2; none 3>0 grant
		exit 2; 2>3 release; 3>0 grant; in 0; none 3>1 grant
		exit 0; 0>3 release; 3>1 grant; in 1
		rest`,
}, {
	name: "node 0 enters without a message, and gives way like others",
	row:  "central-inside", n: 2,
	script: `
		req 0; in 0
		req 1; 1>0 request; in 0
		exit 0; 0>1 grant; in 1
		req 0; in 1
		exit 1; 1>0 release; in 0
		rest`,
}, {
	name: "the copy of a release does not free the next grant",
	row:  "central", n: 2,
	script: `
		req 0; 0>2 request; req 1; 1>2 request
		2>0 grant; exit 0
		req 0; dup 0>2 release
		0>2 release  # node 1 is granted
		0>2 release  # would free that grant
		0>2 request; none 2>0 grant
		2>1 grant; in 1
		rest`,
}, {
	name: "the copy of a grant does not answer the next request",
	row:  "central", n: 2,
	script: `
		req 0; 0>2 request; dup 2>0 grant; 2>0 grant; exit 0; 0>2 release
		req 1; 1>2 request; 2>1 grant; in 1
		req 0; 2>0 grant; in 1
		rest`,
}, {
	name: "the copy of a request is not granted",
	row:  "central", n: 2,
	script: `
		req 0; dup 0>2 request; 0>2 request; 2>0 grant; exit 0; 0>2 release
		0>2 request; none 2>0 grant
		req 1; 1>2 request; 2>1 grant; in 1
		rest`,
}}

var tokenStories = []story{{
	name: "the token goes round, and stops where it is wanted",
	row:  "token-ring", n: 3,
	script: `
		0>1 token; 1>2 token; req 0; req 1
		in -; 2>0 token; in 0; none 0>1 token
		exit 0; 0>1 token; in 1
		exit 1; 1>2 token; 2>0 token`,
}, {
	name: "a copy of the token is dropped",
	row:  "token-ring", n: 3,
	script: `
		req 1; dup 0>1 token; 0>1 token; in 1
		0>1 token; in 1; exit 1; none 0>1 token
		1>2 token; none 1>2 token; req 2; 2>0 token; 0>1 token; in -; 1>2 token; in 2`,
}, {
	name: "the holder enters again without a message",
	row:  "suzuki-kasami", n: 2,
	script: `
		req 0; in 0; exit 0
		req 0; in 0; none 0>1 request; exit 0
		rest`,
}, {
	name: "the idle holder sends the token to the first that asks",
	row:  "suzuki-kasami", n: 2,
	script: `
		req 0; in 0; exit 0
		req 1; 1>0 request; 0>1 token; in 1
		rest`,
}, {
	name: "the holder that leaves serves who asked meanwhile",
	row:  "suzuki-kasami", n: 2,
	script: `
		req 0; req 1; 1>0 request; in 0; none 0>1 token
		exit 0; 0>1 token; in 1
		rest`,
}, {
	name: "the queue of the token is served from its head",
	row:  "suzuki-kasami", n: 4,
	script: `
		req 0; req 1; req 2; 2>0 request; 1>0 request
		exit 0; 0>1 token  # the queue is 2
		req 3; 3>1 request; 2>1 request
		in 1; exit 1; none 1>3 token; 1>2 token; in 2
		exit 2; 2>3 token; in 3
		rest`,
}, {
	name: "who leaves looks at the nodes after it first, and round",
	row:  "suzuki-kasami", n: 4,
	script: `
		req 2; 2>0 request; 0>2 token; in 2
		req 0; req 1; req 3; 0>2 request; 1>2 request; 3>2 request
		exit 2; 2>3 token; in 3
		exit 3; 3>0 token; in 0
		exit 0; 0>1 token; in 1
		rest`,
}, {
	name: "a request that was served asks for nothing when it comes late",
	row:  "suzuki-kasami", n: 3,
	script: `
		req 1; 1>0 request; 0>1 token; exit 1
		req 2; 2>1 request; 1>2 token; exit 2
		1>2 request; none 2>1 token
		req 1; in -; 1>2 request; 2>1 token; in 1
		rest`,
}, {
	name: "a copy of the token is dropped",
	row:  "suzuki-kasami", n: 2,
	script: `
		req 1; 1>0 request; dup 0>1 token; 0>1 token; exit 1
		req 0; 0>1 request; 1>0 token; in 0
		req 1; 0>1 token; in 0
		rest`,
}}

var permissionStories = []story{{
	name: "two that ask at once both enter",
	row:  "naive-broadcast", n: 2, violate: true,
	script: `
		req 0; req 1; 0>1 request; 1>0 request; 1>0 reply; 0>1 reply`,
}, {
	name: "waits for every acknowledgement",
	row:  "lamport", n: 3,
	script: `
		req 0; 0>1 request; 1>0 ack; in -
		0>2 request; 2>0 ack; in 0
		rest`,
}, {
	name: "waits until its request is the first of its queue",
	row:  "lamport", n: 2,
	script: `
		req 0; req 1; 0>1 request; 1>0 request; 0>1 ack; in -
		1>0 ack; in 0
		exit 0; in -; 0>1 release; in 1
		rest`,
}, {
	name: "an acknowledgement that overtakes a request lets two in",
	row:  "lamport", n: 2, violate: true,
	script: `
		req 0; req 1
		1>0 request; 0>1 ack  # which overtakes node 0's request
		in 1
		0>1 request; 1>0 ack`,
}, {
	name: "the copy of an acknowledgement does not count for the next request",
	row:  "lamport", n: 2,
	script: `
		req 1; 1>0 request; req 0; dup 0>1 ack; 0>1 ack; in 1; exit 1
		req 1; 1>0 release; 1>0 request
		0>1 ack; in -  # the copy; node 0's request, which comes first, is still on its way
		0>1 request; 1>0 ack; in 0
		rest`,
}, {
	name: "a release is about one request, not about any",
	row:  "lamport", n: 2,
	script: `
		req 0; dup 0>1 request; 0>1 request; 1>0 ack; in 0; exit 0
		0>1 release; 0>1 request  # the copy would stay in the queue
		req 1; 1>0 request; 0>1 ack; in 1
		rest`,
}, {
	name: "replies at once, defers inside, and to later requests",
	row:  "ricart-agrawala", n: 3,
	script: `
		req 1; 1>0 request; 1>2 request; req 2  # stamped 2, after node 1's
		2>1 request; none 1>2 reply
		0>1 reply; in -; 2>1 reply; in 1
		2>0 request; 0>2 reply; in 1
		exit 1; 1>2 reply; in 2
		rest`,
}, {
	name: "of equal clocks the lower node goes first",
	row:  "ricart-agrawala", n: 2,
	script: `
		req 0; req 1; 0>1 request; 1>0 request; none 0>1 reply; 1>0 reply; in 0
		rest`,
}, {
	name: "the clock does not fall when an old request comes late",
	row:  "ricart-agrawala", n: 3,
	script: `
		req 0; 0>2 request
		req 2; 2>0 reply; 2>0 request  # stamped 2; node 0 defers
		2>1 request                    # node 1 has seen 2 now
		0>1 request                    # and an old 1: its next must be 3 all the same
		req 1; 1>0 reply; in 0; exit 0
		0>2 reply; 1>0 request; 0>1 reply; 1>2 reply; in 2
		1>2 request; none 2>1 reply    # had it asked with 2, it would come before (2, node 2)
		in 2
		rest`,
}, {
	name: "while waiting it defers too, whatever order replies come in",
	row:  "ricart-agrawala", n: 3,
	script: `
		req 0; 0>2 request
		req 2; 2>0 reply; 2>0 request; 2>1 request; 0>1 request
		req 1; 1>0 reply; in 0; exit 0
		1>2 reply; 1>2 request; none 2>1 reply
		0>2 reply; in 2
		rest`,
}, {
	name: "a reply to an earlier request does not count",
	row:  "ricart-agrawala", n: 2,
	script: `
		req 0; dup 0>1 request; req 1; 0>1 request; 0>1 request  # two replies on their way
		1>0 request; 1>0 reply; in 0; exit 0
		req 0; 0>1 reply; in 1
		1>0 reply; in 1  # the second one
		rest`,
}, {
	name: "two replies of one peer count once",
	row:  "ricart-agrawala", n: 3,
	script: `
		req 1; 1>0 request; 1>2 request; 0>1 reply; 2>1 reply; in 1
		req 0; dup 0>2 request; 0>2 request; 0>2 request; 2>0 reply; 2>0 reply; in 1
		rest`,
}}

var quorumStories = []story{{
	name: "asks its quorum and nobody else",
	row:  "maekawa", n: 7, // node 0 asks 0, 1 and 3
	script: `
		req 0; none 0>2 request; none 0>4 request; none 0>5 request; none 0>6 request
		0>1 request; 0>3 request; 1>0 locked; in -; 3>0 locked; in 0
		exit 0; 0>1 release; 0>3 release
		rest`,
}, {
	// Nodes 0, 1 and 2 ask 3 and 4 with stamps 1, 2 and 3. With FAILED for newcomers alone, node 1
	// would never learn at 3 that it is not the best there, and keep the vote of 4.
	name: "the displaced waiter is told, or two wait for each other",
	row:  "maekawa", n: 5,
	script: `
		votes 0 3 4; votes 1 3 4; votes 2 3; clock 1 1; clock 2 2
		req 0; req 1; req 2
		1>4 request; 0>4 request  # node 4 lends to 1, then inquires for 0
		2>3 request; 1>3 request  # node 3 lends to 2, then inquires for 1
		0>3 request               # which 0 displaces
		3>2 locked; in 2; exit 2; 2>3 release; 3>0 locked
		3>2 inquire; none 2>3 relinquish  # it has been released
		4>1 locked; 4>1 inquire; none 1>4 relinquish
		3>1 failed; 1>4 relinquish; 4>0 locked; in 0
		rest`,
}, {
	// Node 0 asks with 5 and, later, with 9; nodes 1 and 2 with 3 and 4.
	name: "an inquiry about a vote that was released is void",
	row:  "maekawa", n: 5,
	script: `
		votes 0 3 4; votes 1 3 4; votes 2 3 4; clock 0 4; clock 1 2; clock 2 3
		req 0; req 1; req 2
		0>3 request; 0>4 request; 2>3 request; 2>4 request  # both inquire
		3>0 locked; 4>0 locked; in 0; exit 0
		clock 0 8; req 0
		0>3 release; 0>3 request; 0>4 release; 0>4 request  # both lend to 2
		1>3 request; 1>4 request
		3>0 inquire; 3>0 failed; none 0>3 relinquish  # it would be taken for node 2's
		4>0 inquire; none 0>4 relinquish
		3>2 locked; 4>2 locked; in 2
		rest`,
}, {
	name: "a relinquishment that comes after the release is void",
	row:  "maekawa", n: 4,
	script: `
		votes 0 2 3; votes 1 2 3; clock 0 4; clock 1 2
		req 0; req 1
		0>2 request; 1>3 request; 0>3 request; 1>2 request
		3>0 failed; 2>0 locked; 2>0 inquire; dup 0>2 relinquish; 0>2 relinquish
		2>1 locked; 3>1 locked; in 1
		0>2 relinquish; none 2>0 locked; in 1  # the copy, while the vote is lent to 1
		exit 1; 1>2 release; 1>3 release; 2>0 locked; 3>0 locked; in 0
		rest`,
}, {
	// Nodes 0 and 1 ask 2 and 3 with stamps 5 and 3.
	name: "an inquiry that overtakes its LOCKED waits for it",
	row:  "maekawa", n: 4,
	script: `
		votes 0 2 3; votes 1 2 3; clock 0 4; clock 1 2
		req 0; req 1
		0>2 request; 1>3 request; 0>3 request; 1>2 request
		3>0 failed; 2>0 inquire; none 0>2 relinquish
		2>0 locked; 0>2 relinquish; 2>1 locked; 3>1 locked; in 1
		rest`,
}, {
	name: "an inquiry inside is not heeded, the release answers it",
	row:  "maekawa", n: 4,
	script: `
		votes 0 2 3; votes 1 2 3; clock 0 4; clock 1 2
		req 0; req 1
		0>2 request; 0>3 request; 2>0 locked; 3>0 locked; in 0
		1>2 request; 1>3 request; 2>0 inquire; 3>0 inquire
		none 0>2 relinquish; none 0>3 relinquish
		exit 0; 0>2 release; 0>3 release; 2>1 locked; 3>1 locked; in 1
		rest`,
}, {
	name: "there is one inquiry for a vote",
	row:  "maekawa", n: 5,
	script: `
		votes 0 4; votes 1 4; votes 2 4; votes 3 4; clock 0 9; clock 1 6; clock 2 3
		req 0; req 1; req 2; req 3
		0>4 request; 1>4 request; dup 4>0 inquire; drop 4>0 inquire; 4>0 inquire
		2>4 request; none 4>0 inquire; 4>1 failed
		3>4 request; none 4>0 inquire; 4>2 failed
		rest`,
}, {
	name: "a FAILED of an earlier request is void",
	row:  "maekawa", n: 4,
	script: `
		votes 0 2 3; votes 1 2 3; clock 0 4; clock 1 2
		req 1; 1>2 request; 1>3 request; 2>1 locked; 3>1 locked; in 1
		req 0; 0>2 request; 0>3 request; dup 3>0 failed; 3>0 failed; 2>0 failed
		exit 1; 1>2 release; 1>3 release; 2>0 locked; 3>0 locked; in 0
		exit 0; 0>2 release; 0>3 release
		req 0; 0>2 request; 2>0 locked
		clock 1 4; req 1; 1>2 request; 2>0 inquire
		3>0 failed; none 0>2 relinquish  # the copy
		rest`,
}, {
	name: "a request is stamped later than all its node has seen",
	row:  "maekawa", n: 2,
	script: `
		req 0; 0>1 request; 1>0 locked; exit 0; 0>1 release
		req 0; 0>1 request; req 1; none 1>0 inquire; 1>0 locked; in 0
		rest`,
}, {
	name: "the copy of a request is not lent a vote",
	row:  "maekawa", n: 4,
	script: `
		votes 0 2 3; votes 1 2 3
		req 0; dup 0>2 request; 0>2 request; 0>3 request; 2>0 locked; 3>0 locked; exit 0
		0>2 release; 0>3 release
		0>2 request; none 2>0 locked
		req 1; 1>2 request; 1>3 request; 2>1 locked; 3>1 locked; in 1
		rest`,
}}
