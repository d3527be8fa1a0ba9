// SPDX-License-Identifier: Apache-2.0
// All ranks below each other, each lane a rank or a group: the median's parts of the time stacked,
// over them how much compute the ranks of a group have and how busy the most idle one is.
import { html, useLayoutEffect, useRef, useState } from "../../base/ui.mjs";
import { use_width } from "../../base/hooks.mjs";
import { percent } from "../../base/format.mjs";
import { sized_pen, use_palette } from "../canvas.mjs";
import { ChartFigure } from "../figure.mjs";
import { PlainTable } from "../plain_table.mjs";
import { lane_name, lane_sums, piece_words } from "../rank_overview_model.mjs";
import { draw_axis } from "./rank_lanes.mjs";
import { read_palette } from "./timeline_palette.mjs";
import { TINTS } from "./timeline_model.mjs";

const AXIS = 20;
const BAND = 34; // of a lane
const HEIGHT = 28; // of its shares
const PARTS = [["compute", "other_compute"], ["communication", "exposed_comm"],
  ["copy", "exposed_memory"]];
const TINT = PARTS.map(([, key]) => TINTS.findIndex((tint) => tint.key === key));

/** Where pieces are drawn: the window, not all of the first and the last piece. */
const place_of = ({ view, first_ns, piece_ns }, width) => (piece) =>
  ((first_ns + piece * piece_ns - view.from) * width) / (view.to - view.from || 1);

function draw_lane(pen, lane, data, x, top, palette) {
  const bottom = top + HEIGHT;
  const y = (share) => bottom - (share * HEIGHT) / data.whole;
  const at = (piece) => Math.round(x(piece));
  for (let i = 0; i < data.pieces; i++) {
    if (lane.compute[i] === null) continue;
    const [left, right] = [at(i), Math.max(at(i + 1), at(i) + 1)];
    let below = bottom;
    PARTS.forEach(([part], k) => {
      const height = Math.min((lane[part][i] * HEIGHT) / data.whole, below - top);
      pen.fillStyle = palette.tints[TINT[k]];
      pen.fillRect(left, below - height, right - left, height);
      below -= height;
    });
    if (!lane.idle_most) continue;
    const [most, least] = [y(lane.compute_most[i]), y(lane.compute_least[i])];
    pen.fillStyle = palette.ink;
    pen.globalAlpha = 0.28;
    if (least - most >= 1.5) pen.fillRect(left, most, right - left, least - most);
    pen.globalAlpha = 1;
    const busy = y(data.whole - lane.idle_most[i]);
    if (busy - y(data.whole - lane.idle[i]) >= 1.5) pen.fillRect(left, busy, right - left, 1.5);
  }
}

function draw(pen, { data, width, height, palette }) {
  pen.fillStyle = palette.surface;
  pen.fillRect(0, 0, width, height);
  draw_axis(pen, data.view, width, height, palette);
  const x = place_of(data, width);
  data.lanes.forEach((lane, i) => {
    const top = AXIS + i * BAND;
    pen.fillStyle = palette.sunken;
    pen.fillRect(0, top + BAND - HEIGHT, width, HEIGHT);
    draw_lane(pen, lane, data, x, top + BAND - HEIGHT, palette);
  });
}

/** The words about what is under a point. */
function words_at(data, width, x, y) {
  const lane = Math.floor((y - AXIS) / BAND);
  const ns = data.view.from + (x / width) * (data.view.to - data.view.from);
  const piece = Math.floor((ns - data.first_ns) / data.piece_ns);
  return y >= AXIS && lane < data.lanes.length && piece >= 0 && piece < data.pieces
    ? piece_words(data, lane, piece) : null;
}

const share_text = (share) => (share === null ? "" : percent(share));

function Sums({ data, sums }) {
  return html`<${PlainTable} label="All ranks: shares of the span in view"
    head=${["", "Compute", "Communication", "Copies", "Idle", "Least idle", "Most idle"]}
    rows=${data.lanes.map((lane, i) => [lane_name(lane), ...["compute", "communication", "copy",
      "idle", "idle_least", "idle_most"].map((key) => share_text(sums[i][key]))])} />`;
}

const legend_of = (groups) => html`<ul class="legend">
  <li><span class="swatch tint-other_compute"></span>Compute</li>
  <li><span class="swatch tint-exposed_comm"></span>Communication</li>
  <li><span class="swatch tint-exposed_memory"></span>Copies</li>
  ${groups && html`<li><span class="swatch spread-swatch"></span>Compute, from the least to the most
    of any rank</li><li><span class="swatch worst-swatch"></span>Busy share of the most idle
    rank</li>`}</ul>`;

/**
 * @param {{data: any, caption: string, link: (lane: any) => any}} props `data` is the answer with
 * `view`, the span that was asked for; `link` makes a lane's label from its name
 */
export function RankOverview({ data, caption, link }) {
  const [ref, width] = use_width();
  const canvas = useRef(null);
  const [over, set_over] = useState(null);
  const palette = use_palette(canvas, read_palette);
  const height = AXIS + data.lanes.length * BAND;
  const sums = data.lanes.map((lane) => lane_sums(lane, data.whole));
  useLayoutEffect(() => {
    if (!palette || width === 0) return;
    draw(sized_pen(canvas.current, width, height), { data, width, height, palette });
  }, [data, width, height, palette]);
  const on_move = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    set_over(words_at(data, width, event.clientX - box.left, event.clientY - box.top));
  };
  const groups = data.ranks_a_lane > 1;
  return html`<${ChartFigure} caption=${caption} legend=${legend_of(groups)}
    table=${() => html`<${Sums} data=${data} sums=${sums} />`}>
    <div class="rank-lanes overview"><ul style=${{ paddingTop: `${AXIS}px` }} aria-label="Ranks">${
      data.lanes.map((lane, i) => html`<li key=${lane.first_rank}
        style=${{ height: `${BAND}px` }}>${link(lane)}${sums[i].slowest !== null && html`<span
          class="faint">rank ${sums[i].slowest} last</span>`}</li>`)}</ul>
      <div class="rank-lanes-canvas" ref=${ref}><canvas ref=${canvas} role="img"
        aria-label=${caption} style=${{ height: `${height}px` }} onMouseMove=${on_move}
        onMouseLeave=${() => set_over(null)}></canvas></div></div>
    <p class="readout">${over ?? "Hover over a lane for its figures."}</p><//>`;
}
