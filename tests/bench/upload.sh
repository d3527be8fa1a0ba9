#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Uploads a trace with curl and writes the same bytes with dd to the same disk, in turn.
set -euo pipefail

usage() {
    cat <<'END'
usage: tests/bench/upload.sh [--size BYTES] [--build DIR] [--rounds N]
  --size BYTES   of the trace to upload (1G)
  --build DIR    a release build with stepscope and tracegen (build/release)
  --rounds N     best of so many (3)
TMPDIR chooses the disk.
END
}

size=1G
build=build/release
rounds=3
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
while (($# > 0)); do
    case $1 in
        --size) size=${2:?"--size needs a number of bytes"} ;;
        --build) build=${2:?"--build needs a folder"} ;;
        --rounds) rounds=${2:?"--rounds needs a number"} ;;
        --help | -h) usage && exit 0 ;;
        *) usage >&2 && exit 2 ;;
    esac
    shift 2
done

if [[ ! -x $build/stepscope || ! -x $build/tests/tracegen/tracegen ]]; then
    cmake --preset release -B "$build" >/dev/null
    ninja -C "$build" stepscope tracegen >/dev/null
fi

work=$(mktemp -d)
server=
finish() {
    if [[ -n $server ]]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap finish EXIT

# Starts a service with fresh data on a free port; sets server and url.
start_server() {
    rm -rf "$work/data"
    mkdir "$work/data"
    coproc serve {
        exec "$build/stepscope" serve --listen 127.0.0.1:0 --data "$work/data" 2>"$work/log"
    }
    # shellcheck disable=SC2154 # set by coproc
    server=$serve_PID
    local line=
    read -r -t 30 line <&"${serve[0]}" || true
    url=$(grep -o 'http://[^ ]*' <<<"$line") || { cat "$work/log" >&2; exit 1; }
}

stop_server() {
    kill "$server"
    wait "$server" || true
    server=
}

peak_kib() {
    awk '/^VmHWM/ { print $2 }' "/proc/$server/status"
}

now_ns() {
    date +%s%N
}

measure_dd() {
    local begin
    rm -f "$work/copy"
    begin=$(now_ns)
    dd if="$trace" of="$work/copy" bs=1M conv=fdatasync status=none
    dd_ns=$(($(now_ns) - begin))
    rm -f "$work/copy"
}

measure_upload() {
    local answer
    start_server
    before_kib=$(peak_kib)
    answer=$(curl -sS -o "$work/answer" -w '%{http_code} %{time_total}' -F "trace=@$trace" \
        "${url}upload")
    after_kib=$(peak_kib)
    if [[ $answer != 202* ]]; then
        echo "upload was answered with ${answer% *}: $(head -c 500 "$work/answer")" >&2
        exit 1
    fi
    upload_ns=$(awk -v s="${answer#* }" 'BEGIN { printf "%d", s * 1e9 }')
    stop_server
}

"$build/tests/tracegen/tracegen" --ranks 1 --size "$size" --format json --out "$work/trace"
trace=$work/trace/rank0.json
bytes=$(stat -c %s "$trace")
cat "$trace" >/dev/null # both read it from the page cache

date -u '+%Y-%m-%d %H:%M UTC'
model=$(lscpu | sed -n 's/^Model name: *//p')
echo "$model, $(nproc) cores, disk $(df --output=source "$work" | tail -1)"
printf '%-6s %12s %12s %8s %22s\n' round "dd MB/s" "upload MB/s" ratio "server VmHWM MiB"

# row NAME DD_NS UPLOAD_NS [BEFORE_KIB AFTER_KIB]
row() {
    awk -v name="$1" -v bytes="$bytes" -v dd="$2" -v up="$3" -v before="${4-}" -v after="${5-}" '
        BEGIN {
            printf "%-6s %12.0f %12.0f %8.2f", name, bytes * 1e3 / dd, bytes * 1e3 / up, dd / up
            if (after)
                printf " %10.1f -> %8.1f", before / 1024, after / 1024
            print ""
        }'
}

best_dd=0
best_upload=0
for ((round = 1; round <= rounds; round++)); do
    measure_dd
    measure_upload
    row "$round" "$dd_ns" "$upload_ns" "$before_kib" "$after_kib"
    if ((best_dd == 0 || dd_ns < best_dd)); then best_dd=$dd_ns; fi
    if ((best_upload == 0 || upload_ns < best_upload)); then best_upload=$upload_ns; fi
done
row best "$best_dd" "$best_upload"
