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

# The page names the chunks that app.mjs imports, so that all of them are fetched at once.
hints=$(grep -oE '(from|import) ?"\./chunks/[-a-zA-Z0-9]+\.mjs"' "$out/app.mjs" | sort -u |
    sed -E 's|.*"\./(.*)"|  <link rel="modulepreload" href="/static/{{tree}}/\1">|')
awk -v hints="$hints" '/app\.mjs"/ && hints { print hints } { print }' index.html >"$out/index.html"
