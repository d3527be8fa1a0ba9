#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Uploads a trace with curl in every form and, alternately, writes the same bytes with dd to the
# same disk.
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

# Seconds of CPU time the service has used, without its children.
cpu_s() {
    awk -v tick="$(getconf CLK_TCK)" '{ print ($14 + $15) / tick }' "/proc/$server/stat"
}

timed_curl() {
    curl -sS -o "$work/answer" -w '%{http_code} %{time_total}' "$@"
}

upload_raw() {
    timed_curl -T "$trace" "${url}api/v1/runs/raw/ranks/0/trace"
}

upload_form() {
    timed_curl -F "trace=@$trace" "${url}upload"
}

# In one piece; counts the cost of reading the file again for its hash.
upload_pieces() {
    local version='Tus-Resumable: 1.0.0' path
    path=$(curl -sSf -X POST -D - -H "$version" -H "Upload-Length: $bytes" "${url}api/v1/tus" |
        sed -n 's/^Location: \/\([^\r]*\).*/\1/p')
    timed_curl -X PATCH -T "$trace" -H "$version" -H 'Upload-Offset: 0' \
        -H 'Content-Type: application/offset+octet-stream' "$url$path"
}

# measure FORM: sets up_ns, cpu, before_kib and after_kib.
measure() {
    local answer cpu_before
    start_server
    before_kib=$(peak_kib)
    cpu_before=$(cpu_s)
    answer=$("upload_$1")
    cpu=$(awk -v a="$cpu_before" -v b="$(cpu_s)" -v n="$bytes" 'BEGIN { print (b - a) * 1e9 / n }')
    after_kib=$(peak_kib)
    if [[ $answer != 20[24]* ]]; then
        echo "$1 was answered with ${answer% *}: $(head -c 500 "$work/answer")" >&2
        exit 1
    fi
    up_ns=$(awk -v s="${answer#* }" 'BEGIN { printf "%.0f", s * 1e9 }')
    stop_server
}

"$build/tests/tracegen/tracegen" --ranks 1 --size "$size" --format json --out "$work/trace"
trace=$work/trace/rank0.json
bytes=$(stat -c %s "$trace")
cat "$trace" >/dev/null # so that both read it from the page cache

date -u '+%Y-%m-%d %H:%M UTC'
model=$(lscpu | sed -n 's/^Model name: *//p')
echo "$model, $(nproc) cores, disk $(df --output=source "$work" | tail -1)"
printf '%-7s %10s %12s %10s %14s %18s\n' form "dd MB/s" "upload MB/s" "of dd" "CPU s/GB" \
    "VmHWM MiB"

# row FORM DD_NS UPLOAD_NS CPU BEFORE_KIB AFTER_KIB
row() {
    awk -v name="$1" -v bytes="$bytes" -v dd="$2" -v up="$3" -v cpu="$4" -v before="$5" \
        -v after="$6" '
        BEGIN {
            printf "%-7s %10.0f %12.0f %9.2fx %14.2f %8.1f -> %6.1f\n", name, bytes * 1e3 / dd,
                bytes * 1e3 / up, dd / up, cpu, before / 1024, after / 1024
        }'
}

forms=(raw form pieces)
declare -A best_ns best_cpu
best_dd=0
for ((round = 1; round <= rounds; round++)); do
    for form in "${forms[@]}"; do
        measure_dd
        measure "$form"
        row "$form" "$dd_ns" "$up_ns" "$cpu" "$before_kib" "$after_kib"
        if ((best_dd == 0 || dd_ns < best_dd)); then best_dd=$dd_ns; fi
        if ((${best_ns[$form]:-0} == 0 || up_ns < best_ns[$form])); then
            best_ns[$form]=$up_ns
            best_cpu[$form]=$cpu
        fi
    done
done
echo best
for form in "${forms[@]}"; do
    row "$form" "$best_dd" "${best_ns[$form]}" "${best_cpu[$form]}" "$before_kib" "$after_kib"
done
