#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes one target in the background and others in the foreground, one after the other. The
# background target's output is written to a file and shown at the end.
# usage: background.sh LOG BACKGROUND-TARGET TARGET...
# Exit status: of the first foreground target that failed, else of the background target. A failure
# of a foreground target stops the background target.
set -euo pipefail

log=$1 background=$2
shift 2
mkdir -p "${log%/*}"
echo "make $background runs in the background: $log"
# A separate process group, so that all its processes can be stopped.
setsid "${MAKE:-make}" --no-print-directory "$background" >"$log" 2>&1 </dev/null &
pid=$!
trap 'kill -- -$pid 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

for target; do
    "${MAKE:-make}" --no-print-directory "$target"
done
status=0
wait "$pid" || status=$?
trap - EXIT
cat "$log"
exit "$status"
