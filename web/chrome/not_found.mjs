// SPDX-License-Identifier: Apache-2.0
// The page for unknown addresses.
import { html } from "../base/ui.mjs";
import { use_title } from "../base/hooks.mjs";
import { Empty } from "../widgets/widgets.mjs";

export default function NotFound() {
  use_title("Not found");
  return html`<header class="page-head"><h1 tabindex="-1">Page not found</h1></header>
    <${Empty} title="There is no page at ${location.pathname}">
      <p><a href="/">All runs</a> · <a href="/upload">Upload</a> · <a href="/docs/api">API</a></p>
    <//>`;
}
