// SPDX-License-Identifier: Apache-2.0
// The waterfall with its drill-down: all parts, then one part's categories, then its operators.
import { html, useMemo } from "../ui.mjs";
import { use_query } from "../router.mjs";
import { announce } from "../announce.mjs";
import { ms_signed, ms_unit } from "../format.mjs";
import { part_of } from "../parts.mjs";
import { Card } from "../widgets.mjs";
import { Waterfall } from "../charts/waterfall.mjs";
import { waterfall_level } from "../charts/waterfall_model.mjs";

/** Where the reader is, each level above it a button. */
function Path({ place, go }) {
  if (!place.bar) return null;
  const bar = part_of(place.bar).label;
  const up = (text, to) => html`<button type="button" class="link" onClick=${() => go(to)}>${text}
    </button>`;
  return html`<p class="wf-path">${up("All parts", { bar: "", cat: "" })}
    <span aria-hidden="true">›</span>
    ${place.cat
      ? html`${up(bar, { bar: place.bar, cat: "" })} <span aria-hidden="true">›</span> ${place.cat}`
      : bar}</p>`;
}

/** @param {{rows: any[], data: any}} props rows of compare_waterfall */
export function WaterfallCard({ rows, data }) {
  const [place, change] = use_query({ bar: "", cat: "" });
  const level = useMemo(() => waterfall_level(rows, place), [rows, place.bar, place.cat]);
  const go = (to) => {
    change({ bar: "", cat: "", ...to });
    announce(to.bar ? `Parts of ${to.cat || part_of(to.bar).label}` : "All parts");
  };
  const up = () => place.bar && go(place.cat ? { bar: place.bar } : {});
  const scope = place.bar ? ` in ${place.cat || part_of(place.bar).label}` : "";
  const caption = `Mean step${scope}: ${ms_unit(level.base_ns, 4)} to ${
    ms_unit(level.cand_ns, 4)}. The columns sum to ${ms_signed(level.delta_ns, 4)} ms exactly.`;
  if (level.columns.length === 0) {
    return html`<${Card} title="Where the time went"><${Path} place=${place} go=${go} />
      <p class="empty-line">Nothing differs here.</p><//>`;
  }
  return html`<${Card} title="Where the time went" note="milliseconds per step">
    <${Path} place=${place} go=${go} />
    <${Waterfall} level=${level} caption=${caption} names=${[data.base.name, data.cand.name]}
      onopen=${go} onup=${up} /><//>`;
}
