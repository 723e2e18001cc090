#!/bin/sh
# Evaluates the rules beside this script on the events beside it: first once, then
# by a daemon on a free loopback port, which is asked for its own account. On a
# terminal the daemon stays up until Ctrl-C; otherwise it stops by itself.
set -eu
here=$(dirname "$0")
bin=${1:?usage: run.sh DIRECTORY_OF_BINARIES}
addr=${SLUICE_DEMO_ADDR:-127.0.0.1:0}

step() { printf '\n-- %s\n\n' "$*"; }

step "once: sluice engine eval -r $here/rules < $here/events.ndjson"
"$bin/sluice" engine eval -r "$here/rules" --output-format table --no-stats <"$here/events.ndjson"

step "as a service: sluice engine daemon -r $here/rules --input http (the same events, posted)"
log=$(mktemp)
"$bin/sluice" engine daemon -r "$here/rules" --input http --api-addr "$addr" --log-format text 2>"$log" &
daemon=$!
trap 'kill "$daemon" 2>/dev/null || true; wait "$daemon" 2>/dev/null || true; rm -f "$log"' EXIT
trap 'echo; exit 0' INT TERM
until grep -q 'API server listening' "$log"; do
	if ! kill -0 "$daemon" 2>/dev/null; then
		cat "$log" >&2
		echo "The daemon did not start. SLUICE_DEMO_ADDR chooses another address; without it any free port will do." >&2
		exit 1
	fi
	sleep 0.1
done
addr=$(sed -n 's/.*API server listening addr=\([^ ]*\).*/\1/p' "$log")
"$bin/bench" post -addr "$addr" -wait 10s -commit -quiet -file "$here/events.ndjson"

step "its own account: sluice engine status --addr $addr"
"$bin/sluice" engine status --addr "$addr" --output-format table

if [ -t 0 ] && [ -t 1 ]; then
	step "still running; press Ctrl-C to stop it, or try in another terminal"
	echo "   curl http://$addr/api/v1/rules"
	echo "   curl http://$addr/api/v1/actors"
	echo "   curl http://$addr/metrics"
	wait "$daemon" || true
fi
