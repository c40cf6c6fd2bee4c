#!/bin/sh
# Prints the table of docs/running.md that compares failure detectors, in simulated runs of 32 nodes that request nothing.
# In 10 runs of 10 s a node crashes. In 3 runs of 100 s, for each of three networks, none does, and every suspicion is wrong.
set -eu
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# mean SCALE COLUMN FLAG...: makes runs, and prints the mean of a column of runs.csv, divided by SCALE.
mean() {
	scale=$1 column=$2
	shift 2
	# Nobody enters, and so the runs are inconclusive, with status 2.
	orchestrator simulate --algo ricart -n 32 --load closed --think 1h --seed 1 --no-progress --results "$results" "$@" \
		>"$results/out" 2>&1 || test $? = 2 || { cat "$results/out" >&2; exit 1; }
	sed 's/"[^"]*"//g' "$results/latest/runs.csv" | awk -F, -v column="$column" -v scale="$scale" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i; next }
		{ sum += $at }
		END { printf "%.0f", sum / (NR-1) / scale }'
	rm -rf "${results:?}"/*
}

echo '| detector | messages that a node sends per s | mean time to detect a crash | longest time to detect a crash | wrong suspicions per hour, latency 1 ms | wrong suspicions per hour, exponential latency of mean 50 ms | wrong suspicions per hour, latency 1 ms, 20% loss |'
echo '|---|---|---|---|---|---|---|'
for detector in heartbeat heartbeat:timeout=300ms probe phi phi:threshold=4 swim swim:suspicion=0 swim:suspicion=4; do
	crash="--trials 10 --duration 10s --kill 1 --at 5s --latency 1ms"
	quiet="--trials 3 --duration 100s --warmup 0s"
	printf '| `%s` | %s | %s ms | %s ms | %s | %s | %s |\n' "$detector" \
		"$(mean 3200 heartbeats $quiet --detector "$detector")" \
		"$(mean 1000 detection_us_mean $crash --detector "$detector")" \
		"$(mean 1000 detection_us_max $crash --detector "$detector")" \
		"$(mean 1 suspicions_wrong_per_h $quiet --latency 1ms --detector "$detector")" \
		"$(mean 1 suspicions_wrong_per_h $quiet --latency exponential:50ms --detector "$detector")" \
		"$(mean 1 suspicions_wrong_per_h $quiet --latency 1ms --fault 'loss: 20%' --detector "$detector")"
done
