#!/bin/sh
# Makes one run over containers from hosts.yml, and takes all down again, whatever becomes of it:
#   HOSTS=4 sh compose/run.sh bench --algo ricart -n 32
# Variables: HOSTS, how many hosts (4); FAULTS, 1 for faults.yml beside; IMAGE, KEYS, RESULTS, as hosts.yml has them,
# but counted from the root of the clone. The image is there already (make image).
set -eu
cd "$(dirname "$0")/.."
if ! docker version >/dev/null 2>&1; then
	echo "no Docker engine answers (docker version says why): start one, or make the same run over agents on this" \
		"machine, as in make bench HOSTS=4" >&2
	exit 1
fi
if docker compose version >/dev/null 2>&1; then
	compose="docker compose"
elif command -v docker-compose >/dev/null; then
	compose=docker-compose
else
	echo "there is neither docker compose nor docker-compose: install one of them" >&2
	exit 1
fi
case ${HOSTS:-4} in
*[!0-9]* | 0)
	echo "HOSTS=$HOSTS: write how many hosts, as in HOSTS=4" >&2
	exit 64
	;;
esac
OWNER="$(id -u):$(id -g)"
KEYS=${KEYS:-$PWD/keys}
RESULTS=${RESULTS:-$PWD/results}
export OWNER KEYS RESULTS
mkdir -p "$RESULTS"
mkdir -p -m 700 "$KEYS"
KEYS=$(cd "$KEYS" && pwd)
RESULTS=$(cd "$RESULTS" && pwd)
compose="$compose -p ${PROJECT:-turnstile-$$} -f compose/hosts.yml"
test "${FAULTS:-}" != 1 || compose="$compose -f compose/faults.yml"
tty=-T
test ! -t 0 || test ! -t 1 || tty=

down() {
	trap '' INT TERM
	$compose down -v --remove-orphans -t 2 >"$log" 2>&1 || cat "$log" >&2
	rm -f "$log"
}
log=$(mktemp)
trap down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
{
	$compose run --rm -T keys &&
		$compose up -d --scale "host=${HOSTS:-4}" control host &&
		$compose run --rm -T --no-deps across hosts --await "${HOSTS:-4}"
} >"$log" 2>&1 </dev/null || {
	cat "$log" >&2
	$compose logs --no-color --tail 5 >&2
	exit 1
}
$compose run --rm $tty --no-deps across "$@"
