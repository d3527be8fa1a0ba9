#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the folder of files to embed: bundle.sh OUT_DIR WEB_DIR PATH...
# The modules become a few, the stylesheets one; all other files are copied as they are.
set -euo pipefail
export LC_ALL=C

out=$1
root=$2
shift 2

cd "$root"
rm -rf "$out"
mkdir -p "$out"
for path in "$@"; do
    case $path in
        client/* | *.html | *.js | *.svg | vendor/LICENSE.*) cp --parents -- "$path" "$out" ;;
    esac
done

# What the help looks up; --web-dir serves none.
cp -- ../GLOSSARY.md "$out/client/glossary.md"

# What several of the entries use becomes a chunk, whose name has a hash of its content.
vendor/esbuild --bundle --splitting --minify --format=esm --charset=utf8 --log-level=warning \
    --out-extension:.js=.mjs "--chunk-names=chunks/[name]-[hash]" --outbase=. --outdir="$out" \
    app.mjs css/all.css

# An output file and all chunks that it needs, by name.
files_of() {
    echo "$1"
    local name names
    mapfile -t names < <(grep -oE '(from|import) ?"\./[^"]+"' "$out/$1" | grep -oE '[^/"]+\.mjs')
    for name in "${names[@]}"; do
        files_of "chunks/$name"
    done
}

# early.txt names pages' modules; here these are the files that they were packed into.
frame=$(files_of app.mjs)
while read -r pattern address; do
    case $address in
        */pages/first.mjs) files=$(grep -v '^app.mjs$' <<<"$frame") ;;
        */pages/*)
            page=$(cd "$out" && ls chunks/"$(basename "$address" .mjs)"-*.mjs)
            files=$(files_of "$page" | sort -u | grep -vxF "$frame")
            ;;
        /*) echo "$pattern $address" && continue ;;
        *) continue ;;
    esac
    for file in $files; do echo "$pattern /static/{{tree}}/$file"; done
done <early.txt >"$out/early.txt"
