#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs cmocka programs one after the other; prints one line per passing program, and all output of a failing one.
# Usage: run.sh PROGRAM...
set -eu

log=$(mktemp)
trap 'rm -f "$log"' EXIT
total=0
failed=()
for program in "$@"; do
    status=0
    timeout 60 "$program" >"$log" 2>&1 || status=$?
    count=$(sed -n 's/^\[ *PASSED *\] \([0-9]*\) test.*/\1/p' "$log")
    total=$((total + ${count:-0}))
    if ((status == 0 && ${count:-0} > 0)); then
        echo "$(basename "$program"): $count passed"
    else
        cat "$log" >&2
        failed+=("$(basename "$program") (status $status)")
    fi
done
if ((${#failed[@]})); then
    echo "test-unit-c: FAILED: ${failed[*]}" >&2
    exit 1
fi
echo "test-unit-c: $total tests passed in $# programs"
