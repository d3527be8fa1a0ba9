#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bundle.sh OUT_DIR MODULE: the page that needs no server, as a folder of files that any web server
# can send.
set -euo pipefail
export LC_ALL=C

out=$(realpath -m "$1") # as esbuild and cp run in web/
module=$2
web=$(dirname "${BASH_SOURCE[0]}")/..

rm -rf "$out"
mkdir -p "$out/client"
gzip -9 -n -c "$module" >"$out/stepscope.wasm.gz"
cd "$web"
vendor/esbuild --bundle --minify --format=esm --charset=utf8 --log-level=warning \
    --out-extension:.js=.mjs --outdir="$out" standalone/app.mjs standalone/worker.mjs css/all.css \
    --entry-names=[name]
cp -- standalone/index.html theme.js mark.svg vendor/LICENSE.* "$out"
cp -- ../GLOSSARY.md "$out/client/glossary.md"
cp -- ../tests/recorded/data/items.json.zst "$out/demo.json.zst"
