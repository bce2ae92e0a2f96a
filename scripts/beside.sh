#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a target beside others: its output goes to a file and is shown when the others are done.
# usage: beside.sh LOG TARGET OTHER...
# Exit status: that of what failed, the others first. When one of them fails the one beside is stopped.
set -euo pipefail

log=$1 beside=$2
shift 2
mkdir -p "${log%/*}"
echo "make $beside runs beside the others: $log"
# A group of its own, so that all of it can be stopped.
setsid "${MAKE:-make}" --no-print-directory "$beside" >"$log" 2>&1 </dev/null &
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
