// SPDX-License-Identifier: Apache-2.0
// A short link: leads to the page that was saved under it.
import { html, useEffect } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { next_page } from "../../base/address.mjs";
import { use_title } from "../../base/hooks.mjs";
import { navigate } from "../../base/router.mjs";
import { Loaded, Loading } from "../../widgets/widgets.mjs";

export default function ViewLink({ route }) {
  use_title("Saved view");
  const resource = use_api(`/views/${encodeURIComponent(route.view)}`);
  const saved = resource.data?.address;
  useEffect(() => {
    if (saved) navigate(next_page(saved, location.origin), { replace: true });
  }, [saved]);
  return html`<h1 tabindex="-1">Saved view</h1>
    <${Loaded} resource=${resource}>${() => html`<${Loading} />`}<//>`;
}
