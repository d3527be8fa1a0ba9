#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copies the libraries of a locked `npm ci` to web/vendor; does nothing if they are up to date.
set -euo pipefail

web=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lock=$web/package-lock.json
final=$web/vendor

up_to_date() {
    [[ -f $final/MANIFEST && $final/MANIFEST -nt $lock && $final/MANIFEST -nt $web/vendor.sh ]]
}

# Several build folders may share this source tree: one of them does the work, the others wait.
exec 9>"$web/.vendor.lock"
flock 9
if up_to_date; then
    exit 0
fi

fail() {
    echo "vendor.sh: $1; or copy web/vendor/ from a checkout of the same version that was built" \
        "on a machine like this" >&2
    exit 1
}

command -v npm >/dev/null || fail "its libraries come from the npm registry: install npm"

staging=$web/.vendor.new
rm -rf "$staging"
mkdir "$staging"
trap 'rm -rf "$staging"' EXIT

(cd "$web" && npm ci --ignore-scripts --loglevel=error </dev/null >&2) ||
    fail "npm could not fetch the dashboard's libraries (see above): let it reach its registry"

# Takes a package's file under a new name, without its pointer to a source map we do not serve.
take() {
    sed -e '/^\/\/# sourceMappingURL=/d' "$web/node_modules/$1" >"$staging/$2"
}

take preact/dist/preact.mjs preact.mjs
take preact/hooks/dist/hooks.mjs hooks.mjs
take htm/dist/htm.module.js htm.mjs
# A browser without an import map cannot resolve bare names.
sed -i -e 's/from *"preact"/from"\.\/preact.mjs"/g' "$staging/hooks.mjs"
if grep -noE "(from|import) *([\"'])[@a-z][-a-z0-9/@]*\2" "$staging"/*.mjs >&2; then
    echo "vendor.sh: found the bare imports above, expected only relative ones" >&2
    exit 1
fi
for package in preact htm; do
    cp "$web/node_modules/$package/LICENSE" "$staging/LICENSE.$package"
done
# A program for this machine; the package's own launcher would need its install script.
cp "$web"/node_modules/@esbuild/*/bin/esbuild "$staging/esbuild"

(cd "$staging" && sha256sum -- * >"../.vendor.manifest" && mv ../.vendor.manifest MANIFEST)
rm -rf "$final"
mv -T "$staging" "$final"
touch "$final/MANIFEST"
