#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every C file stands as clang-format would write it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mapfile -d '' -t files < <(
    find ingest analysis server tests -path '*/node_modules' -prune -o \
        -type f \( -name '*.c' -o -name '*.h' -o -name '*.cpp' \) -print0
)
if ((${#files[@]} == 0)); then
    echo "format.sh: found no C files" >&2
    exit 1
fi
clang-format --dry-run -Werror "${files[@]}"
echo "${#files[@]} files are formatted"
