#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The copied libraries are exactly those in the manifest, byte for byte, and nothing else is there.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../../web/vendor"
sha256sum --check --strict --quiet MANIFEST
listed=$(awk '{ print $2 }' MANIFEST | LC_ALL=C sort)
found=$(find . -mindepth 1 ! -name MANIFEST -printf '%P\n' | LC_ALL=C sort)
if [[ $listed != "$found" ]]; then
    echo "web/vendor: found other files than MANIFEST lists:" >&2
    diff <(echo "$listed") <(echo "$found") >&2
    exit 1
fi
