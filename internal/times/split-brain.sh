#!/bin/sh
# Prints, for README, some rows of what split-brain says of schemes of election.
set -eu
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

orchestrator split-brain --simulated --seed 1 --no-progress --results "$results" --set cuts | awk '
NR < 4 { print }
NR > 3 && /^(bully|bully-majority|raft-election) +nodes / { print }
/^LED, BY SIDE/ { print "..."; print }
/partitions: / { print "..."; print }'
