#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every shell script passes shellcheck; every script of the dashboard and the tests parses.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
find_files() {
    find . \( -name node_modules -o -name vendor -o -name .git -o -name build -o -name 'build-*' \
        -o -name data \) -prune -o -type f "$@"
}

# By their first line: most have no ending.
mapfile -t bash_scripts < <(
    find_files -exec awk '/^#!\/bin\/(ba)?sh/ { print FILENAME } { nextfile }' {} +
)
shellcheck "${bash_scripts[@]}"

mapfile -d '' -t modules < <(find_files \( -name '*.mjs' -o -name '*.js' \) -print0)
node --experimental-vm-modules --no-warnings tests/lint/syntax.mjs "${modules[@]}"
echo "${#bash_scripts[@]} shell scripts"
