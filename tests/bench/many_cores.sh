#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What more cores bring, on a machine that may have nothing but a kernel and bash: packed on one
# that has a release build, run on the other.
set -euo pipefail

usage() {
    cat <<'END'
usage: tests/bench/many_cores.sh pack FILE.tar.gz [BUILD]
       tests/bench/many_cores.sh run FILE.tar.gz
  pack  the programs of a release build (build/release) with all libraries; needs patchelf, curl
        and zstd
  run   unpacks into /tmp/stepscope-many and prints, with 1, 2, 4, 8... cores: the stages of one
        large trace, a folder of 64 ranks, the join of 1,024 ranks, and TB of JSON a day from the
        socket to stored figures; three minutes on 16 cores. SMALL=1 for a try: a tenth of that
END
    exit "$1"
}

place=/tmp/stepscope-many
programs=(stepscope tests/tracegen/tracegen tests/bench/bench_cores tests/bench/run_job_store)

# --- pack ----------------------------------------------------------------------------------------

# Libraries of a program, the loader among them, a path per line.
libraries_of() {
    ldd "$1" | grep -o '/[^ ]*'
}

# carry FROM TO: a program that finds its loader and its libraries in the place.
carry() {
    local library
    install -D -m 755 "$1" "$2"
    for library in $(libraries_of "$1"); do
        cp -Ln "$library" "$stage/lib/" || true
    done
    strip "$2"
    patchelf --set-interpreter "$place/lib/$loader" --force-rpath --set-rpath "$place/lib" "$2"
}

pack() {
    local out=$1 build=$2 here program
    here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    stage=$(mktemp -d)
    trap 'rm -rf "$stage"' EXIT
    loader=$(basename "$(libraries_of "$build/stepscope" | grep '/ld-linux')")
    mkdir -p "$stage/lib" "$stage/tests/bench"
    for program in "${programs[@]}"; do
        carry "$build/$program" "$stage/build/release/$program"
    done
    for program in curl zstd; do
        carry "$(command -v "$program")" "$stage/tools/$program"
    done
    install -m 755 "$here"/{socket_day,run_job} "$stage/tests/bench"
    tar -C "$stage" -czf "$out" .
    ls -l "$out"
}

# --- run -----------------------------------------------------------------------------------------

title() {
    printf '\n== %s (%d s so far)\n' "$1" "$SECONDS"
}

# Seconds of wall time of a command whose output is of no interest.
seconds_of() {
    local begin
    begin=$(date +%s%N)
    "$@" >/dev/null
    awk -v ns="$(($(date +%s%N) - begin))" 'BEGIN { printf "%.2f", ns / 1e9 }'
}

# As many columns as there are powers of two below the number of cores, and it.
thread_counts() {
    local count
    for ((count = 1; count < cores; count *= 2)); do
        echo "$count"
    done
    echo "$cores"
}

one_trace() {
    build/release/tests/tracegen/tracegen --steps 30 --events "$((50000 / scale))" \
        --format zst --out one
    build/release/tests/bench/bench_cores 2 one/rank0.json.zst
    rm -r one
}

many_ranks() {
    local ranks=64 threads
    build/release/tests/tracegen/tracegen --ranks "$ranks" --steps 10 \
        --events "$((10000 / scale))" --format zst --out many
    local json
    json=$(find many -name 'rank*.zst' -exec zstd -dqc {} + | wc -c)
    echo "$ranks ranks, $json bytes of JSON"
    for threads in $(thread_counts); do
        echo "analyze --threads $threads: $(seconds_of build/release/stepscope analyze \
            --threads "$threads" --format json many) s"
    done
    echo "zstd -d, $cores at a time: $(seconds_of \
        sh -c "find many -name 'rank*.zst' -print0 | xargs -0 -P $cores -n 1 zstd -dqc") s"
    rm -r many
}

run() {
    rm -rf "$place"
    mkdir -p "$place"
    tar -C "$place" -xzf "$1"
    cd "$place"
    export PATH="$place/tools:$PATH" TMPDIR="$place/scratch"
    mkdir "$TMPDIR"
    cores=$(nproc)
    scale=${SMALL:+10}
    scale=${scale:-1}
    SECONDS=0
    echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $cores cores," \
        "$(awk '/^MemTotal/ { printf "%d", $2 / 1048576 }' /proc/meminfo) GiB, Linux $(uname -r)"
    title "the stages of one trace"
    one_trace
    title "a folder of ranks"
    many_ranks || echo "failed"
    title "joining 1,024 ranks"
    tests/bench/run_job --seconds 60 --ranks "$((1024 / scale))" --cores 0 || echo "failed"
    tests/bench/run_job --seconds 60 --ranks "$((1024 / scale))" --cores "0-$((cores - 1))" ||
        echo "failed"
    title "from the socket to stored figures"
    tests/bench/socket_day --cores 0,1 --ranks 16 --events "$((20000 / scale))" || echo "failed"
    tests/bench/socket_day --ranks "$((cores * 4))" --senders "$cores" \
        --events "$((20000 / scale))" || echo "failed"
    tests/bench/socket_day --ranks "$cores" --senders "$cores" --events "$((20000 / scale))" \
        --format json || echo "failed"
    title "done"
}

case ${1:-} in
    pack) pack "$(realpath "${2:?a file}")" "$(realpath "${3:-build/release}")" ;;
    run) run "$(realpath "${2:?a file}")" ;;
    --help) usage 0 ;;
    *) usage 2 >&2 ;;
esac
