#!/bin/sh
# Prints the table of docs/running.md that says how large spaces are.
set -eu
echo '| `explore --algo` | states | memory | time |'
echo '|---|---|---|---|'
for call in 'ricart -n 3 --entries 2 --reordering=false' 'lamport -n 3 --entries 2' \
	'maekawa -n 4 --reordering=false' 'ricart -n 4 --reordering=false' \
	'maekawa-textbook -n 5 --reordering=false'; do
	# The last space has no end within the memory that it may use: it is bounded, with status 2.
	{ orchestrator explore --algo $call --memory 2GB --no-progress || test $? = 2; } | awk -v call="$call" '
		$1 == "BOUNDED" || /more states|out of memory/ { more = "more than " }
		$1 == "states" { states = $2; sub(",$", "", states) }
		$1 == "memory" { memory = $2; sub(",$", "", memory) }
		$1 == "time" { time = $2; sub(",$", "", time) }
		END { print "| `" call "` | " more states " | " memory " | " time " |" }'
done
