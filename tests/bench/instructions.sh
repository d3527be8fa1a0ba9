#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Counts instructions per event for each stage with callgrind: no noise, one column per file.
set -euo pipefail

if (($# == 0)) || [[ $1 == -* ]]; then
    echo "usage: tests/bench/instructions.sh FILE.json[.gz|.zst]...   (BUILD: build/release)" >&2
    exit 2
fi
bench=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/${BUILD:-build/release}/tests/bench/bench
out=$(mktemp)
trap 'rm -f "$out"' EXIT

names='' events=()
for file in "$@"; do
    name=$(basename "$file")
    names+=" | ${name%%.*}"
    events+=("$("$bench" --repeat 1 --text --only seal "$file" |
        sed -n 's/.* \([0-9]*\) events.*/\1/p')")
done
echo "| instructions per event$names |"
echo "|---$(printf '|---%.0s' "$@")|"
printf '| events'
printf ' | %s' "${events[@]}"
echo ' |'

# row NAME FUNCTION FILE...: a row of the benchmark's table and the function that does its work
row() {
    local i=0 total
    printf '| %s' "$1"
    for file in "$@"; do
        ((++i > 2)) || continue
        # callgrind does not support AVX-512, so AVX2 runs instead.
        valgrind --tool=callgrind --callgrind-out-file="$out" --toggle-collect="$2" \
            "$bench" --repeat 1 --text --only "$1" "$file" >/dev/null 2>&1
        total=$(awk '/^(totals|summary):/ { print $2 }' "$out" | tail -1)
        awk -v t="$total" -v e="${events[i - 3]}" 'BEGIN { printf " | %.0f", t / e }'
    done
    echo ' |'
}
row "in cache, AVX2" 'run_index*' "$@"
row "in cache, scalar" 'run_index*' "$@"
row "scan and columns, from memory" 'run_scan*' "$@"
row "seal" 'trace_builder_seal*' "$@"
row "facts" 'facts_make*' "$@"
row "all analyses, one thread" 'analyze_trace*' "$@"
row "save" 'trace_file_save*' "$@"
row "load" 'trace_file_load*' "$@"
