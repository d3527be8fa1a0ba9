// SPDX-License-Identifier: Apache-2.0
// The waterfall with its drill-down: parts, categories, operators, shapes, kernels. What is below a
// part is fetched when the part opens.
import { html, useMemo, useRef } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { announce } from "../../base/announce.mjs";
import { time_signed, time_text } from "../../base/format.mjs";
import { part_of } from "../../base/parts.mjs";
import { Card, ExportLinks, Loaded } from "../../widgets/widgets.mjs";
import { Waterfall } from "../../charts/waterfall.mjs";
import { place_at, row_label, TOP_PLACE, tree_of, waterfall_level }
  from "../../charts/waterfall_model.mjs";
import { TOP_LEVELS, use_compare_table } from "./compare_data.mjs";
import { per_step } from "../run/lead_model.mjs";
import { are_whole, has_repeats, means_text } from "./verdict_model.mjs";

/** The bars with their categories, and everything below the current bar. */
export function use_waterfall(query) {
  const [place, change] = use_query(TOP_PLACE);
  const top = use_compare_table(query, "waterfall", { level: TOP_LEVELS });
  const inside = use_compare_table(query, "waterfall", { bar: place.bar }, place.bar !== "");
  const rows = useMemo(() => (inside.rows.length === 0 ? top.rows
    : [...top.rows.filter(({ bar }) => bar !== place.bar), ...inside.rows]),
  [top.rows, inside.rows, place.bar]);
  const tree = useMemo(() => tree_of(rows), [rows]);
  const bars = useMemo(() => top.rows.filter(({ level }) => level === "bar"), [top.rows]);
  const go = (to) => change({ ...TOP_PLACE, ...to });
  return { resource: top.resource, inside: inside.resource, links: top.links, tree, bars, place,
    go };
}

/** The current place, with a button for each level above it. */
function Path({ path, go }) {
  if (path.length === 0) return null;
  const up = (text, to) => html`<button type="button" class="link" onClick=${() => go(to)}>${text}
    </button>`;
  return html`<nav class="wf-path" aria-label="Place in the waterfall">
    ${up("All parts", TOP_PLACE)}${path.map((row, i) => html`<span key=${row.id}><span class="to"
      aria-hidden="true">›</span> ${i < path.length - 1 ? up(row_label(row), place_at(path, i))
      : html`<span aria-current="true" title=${row_label(row, (name) => name ?? "")}>${
        row_label(row)}</span>`}</span>`)}</nav>`;
}

function Level({ waterfall, names, summary }) {
  const { tree, place, go } = waterfall;
  const asked = useMemo(() => waterfall_level(tree, place, summary), [tree, place.bar, place.cat,
    place.node, summary]);
  const last = useRef(asked);
  // Until a column's parts have arrived, the level above stays, and with it the focus.
  if (asked.columns.length > 0 || !waterfall.inside.loading) last.current = asked;
  const level = last.current;
  const { path, columns } = level;
  const move = (to) => {
    go(to);
    announce(to.bar ? `Parts of ${to.cat || part_of(to.bar).label}` : "All parts");
  };
  const whole = are_whole(summary);
  const scope = path.length > 0 ? `${whole ? "Time" : "Mean step"} in ${row_label(path.at(-1))}`
    : !whole ? "Median step" : has_repeats(summary) ? "Median recording" : "Recording";
  const caption = `${scope}: ${time_text(level.base_ns, 4)} to ${
    time_text(level.cand_ns, 4)}. The columns sum to ${time_signed(level.delta_ns, 4)} exactly.`;
  const is_late = level !== asked || (columns.length === 0 && waterfall.inside.loading);
  return html`<${Path} path=${path} go=${move} />
    ${is_late && html`<p class="loading ${columns.length > 0 ? "visually-hidden" : ""}"
      role="status">Loading…</p>`}
    ${columns.length === 0 ? !is_late && html`<p class="empty-line">Nothing further to
        break down.</p>`
      : html`<${Waterfall} level=${level} caption=${caption}
      names=${names} floor_ns=${summary.relevant_from_ns ?? 0} onopen=${move}
      onup=${() => path.length > 0 && move(place_at(path, path.length - 2))} />`}`;
}

/**
 * @param {{waterfall: ReturnType<typeof use_waterfall>, names: [string, string],
 *          summary: any}} props `summary` of the comparison
 */
export function WaterfallCard({ waterfall, names, summary }) {
  const links = html`<${ExportLinks} links=${waterfall.links} />`;
  const foot = means_text(summary);
  const per = per_step(are_whole(summary));
  return html`<${Card} title="Where the time went" actions=${links}
      note="time${per}, in milliseconds where no unit is given; open a column to break it down">
    <${Loaded} resource=${waterfall.resource}>${() =>
      html`<${Level} waterfall=${waterfall} names=${names} summary=${summary} />`}<//>
    ${foot && html`<p class="chart-foot">${foot}</p>`}<//>`;
}
