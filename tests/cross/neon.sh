#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the NEON code for aarch64 and runs its unit test and fuzz inputs under qemu; by hand, on
# Debian: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v "$tool" >/dev/null || { echo "$tool is missing; see the top of this file"; exit 1; }
done

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# program NAME SOURCE...
program() {
    local name=$1
    shift
    # Static, so that qemu needs no libraries of the other architecture.
    aarch64-linux-gnu-gcc -std=c17 -O2 -Wall -Wextra -Wpedantic -Werror -static -D_GNU_SOURCE \
        -Itests/cross -I. -o "$out/$name" "$@"
}

program test_json_index tests/unit/ingest/json/test_json_index.c ingest/json/json_index*.c
qemu-aarch64 "$out/test_json_index"
program test_simd tests/unit/ingest/base/test_simd.c
qemu-aarch64 "$out/test_simd"
program fuzz_json_index tests/fuzz/fuzz_json_index.c tests/fuzz/replay_corpus.c \
    ingest/json/json_index*.c
qemu-aarch64 "$out/fuzz_json_index" tests/fuzz/corpus/fuzz_json_index
echo "neon: ok"
