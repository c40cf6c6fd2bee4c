#!/bin/sh
# Prints, for README, some rows and columns of what split-brain says of schemes of election.
set -eu
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

orchestrator split-brain --simulated --seed 1 --no-progress --results "$results" | awk '
function cell(name, next_name,  from) {
	from = index(head, name)
	from = substr($0, from, index(head, next_name) - from)
	gsub(/^ +| +$/, "", from)
	return from
}
function row() {
	printf "%-17s  %-9s  %-23s  %-9s  %-12s  %-21s  %s\n", cell("SCHEME", "CUT "), cell("LEADER IN", "ITS ROW"),
		cell("ITS ROW", "SIDES"), cell("SIDES", "LED, "), cell("LED, ", "TWO LED"),
		cell("MINORITY", "ALL AGREED"), cell("TWO LED", "IN ONE")
}
NR < 3 { print }
NR == 3 { head = $0; row() }
NR > 3 && /^(bully|bully-majority|bully-shared-disk|raft-election) +all between/ { row() }
/partitions: / { print "..."; print }'
