#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Counts instructions per event of the main stages with callgrind: a figure without noise.
set -euo pipefail

if (($# != 1)) || [[ $1 == -* ]]; then
    echo "usage: tests/bench/instructions.sh FILE.json[.gz|.zst]   (BUILD: build/release)" >&2
    exit 2
fi
bench=$(dirname "${BASH_SOURCE[0]}")/../../${BUILD:-build/release}/tests/bench/bench
out=$(mktemp)
trap 'rm -f "$out"' EXIT

events=$("$bench" --repeat 1 --only seal "$1" | sed -n 's/.* \([0-9]*\) events.*/\1/p')
echo "$(basename "$1"): $events events, instructions per event"
# count ROW FUNCTION: the row's name in the table and the function that does its work
count() {
    local total
    valgrind --tool=callgrind --callgrind-out-file="$out" --toggle-collect="$2" \
        "$bench" --repeat 1 --only "$1" "$3" >/dev/null 2>&1
    total=$(awk '/^(totals|summary):/ { print $2 }' "$out" | tail -1)
    awk -v n="$1" -v t="$total" -v e="$events" 'BEGIN { printf "%-20s %10.1f\n", n, t / e }'
}
count "in cache" 'run_index*' "$1"
count "from memory" 'run_scan*' "$1"
count "seal" 'trace_builder_seal*' "$1"
count "all analyses" 'analyse_trace*' "$1"
