#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Profiles a base and a change in turns until stepscope can tell whether the step became longer.
#   gate.sh BASE_COMMAND CHANGE_COMMAND
# Each command writes one recording to the folder $TRACES (emptied before). Needs STEPSCOPE_URL, and
# STEPSCOPE_TOKEN (scopes upload,read); NAME names the runs. Writes gate.md, a comment for the pull
# request. Exits with 0: pass, or undecided after MOST pairs; 1: the step became longer; 2: a
# command or a request failed.
set -euo pipefail

base_command=$1 change_command=$2
name=${NAME:?name of the runs, such as pr-17-abc123}
limit=${MAX_REGRESSION:-0.03} most=${MOST:-8}
traces=$(realpath -m "${TRACES:-gate-traces}")
url=${STEPSCOPE_URL:?address of the service}
token=${STEPSCOPE_TOKEN:-}
# So that nothing inherits it. Code of the change can still find it in /proc: give the token only
# the scopes upload,read, a quota and an end, and run strangers' code as another user (sudo -u).
unset STEPSCOPE_TOKEN
rm -f gate.md gate.answer # those of an earlier run in this folder

# Arguments of a program can be seen by others on the machine, this file cannot.
credentials() {
    if [[ -n $token ]]; then printf 'header = "Authorization: Bearer %s"\n' "$token"; fi
}
ask_curl() { curl --config <(credentials) -sS --retry 5 "$@"; }

record() { # RUN COMMAND
    local file parts=()
    rm -rf "$traces" && mkdir -p "$traces"
    TRACES=$traces bash -c "$2" || return 2
    while IFS= read -r -d '' file; do
        parts+=(-F "trace=@$file;filename=${file#"$traces"/}")
    done < <(find "$traces" -type f -print0 | sort -z)
    ask_curl --fail-with-body -o gate.answer -F "run=$1" "${parts[@]}" \
        "$url/upload?wait=60" ||
        { cat gate.answer >&2; return 2; }
}

ask() { # FORMAT [MORE]: prints the answer; 0 or 1 is the verdict
    local status
    sleep "${3:-0}"
    status=$(ask_curl -o gate.answer -w '%{http_code}' \
        -G "$url/api/v1/compare/gate" --data-urlencode "base=$name-base@*" \
        --data-urlencode "cand=$name-change@*" \
        -d "max_regression=$limit&sequential=true&format=$1${2:-}") || return 2
    if grep -q problem/not-analyzed gate.answer && [[ ${4:-1} -lt 100 ]]; then
        ask "$1" "${2:-}" 10 $((${4:-1} + 1))
        return
    fi
    cat gate.answer
    case $status in
    200) return 0 ;;
    409) return 1 ;;
    *) return 2 ;;
    esac
}

for ((pair = 1; pair <= most; pair++)); do
    record "$name-base@$pair" "$base_command" || exit 2
    record "$name-change@$pair" "$change_command" || exit 2
    verdict=0
    ask text > gate.txt || verdict=$?
    [[ $verdict == 2 ]] && cat gate.answer && exit 2
    sed "s/^/pair $pair: /" gate.txt
    grep -q '^undecided' gate.txt || break
done
ask markdown '&notify=true' > gate.md || verdict=$?
rm -f gate.answer
exit "$verdict"
