// SPDX-License-Identifier: Apache-2.0
// Ranks below each other on one clock: compute, communication with the waiting hatched, and each
// collective as a line through the ranks that take part.
import { html, useLayoutEffect, useRef, useState } from "../../base/ui.mjs";
import { use_width } from "../../base/hooks.mjs";
import { decimals, plural, time_text } from "../../base/format.mjs";
import { labels_now, use_all_labels } from "../../base/kernel_labels.mjs";
import { sized_pen, use_palette } from "../canvas.mjs";
import { ChartFigure } from "../figure.mjs";
import { PlainTable } from "../plain_table.mjs";
import { longest_waits } from "../rank_lanes_model.mjs";
import { inner_ticks, tick_texts } from "../scale.mjs";
import { read_palette } from "./timeline_palette.mjs";
import { TINTS } from "./timeline_model.mjs";

const AXIS = 20;
const BAND = 48; // of a rank
const LANES = [{ top: 5, height: 20 }, { top: 27, height: 14 }];
const MOST_JOINS = 600;
const MOST_WAITS = 40;
const TINT_OF = { compute: "other_compute", memory: "exposed_memory",
  communication: "exposed_comm" };
const TINT = Object.fromEntries(Object.entries(TINT_OF).map(([kind, key]) =>
  [kind, TINTS.findIndex((tint) => tint.key === key)]));

const place_of = ({ from, to }, width) => (ns) => ((ns - from) * width) / (to - from || 1);

/** One list of slices; those on a pixel already painted are skipped. */
function draw_slices(pen, slices, x, box, fill) {
  let painted = -1;
  for (const { from, to, kind } of slices) {
    const right = Math.max(x(to), x(from) + 1);
    const left = Math.max(x(from), painted);
    if (right <= painted + 0.4) continue;
    pen.fillStyle = fill(kind);
    pen.fillRect(left, box.top, right - left, box.height);
    painted = right;
  }
}

/** Ticks of a span above lanes. */
export function draw_axis(pen, data, width, height, palette) {
  const ticks = inner_ticks(data.from / 1e6, data.to / 1e6, Math.max(2, Math.floor(width / 130)));
  const texts = tick_texts(ticks);
  const x = place_of(data, width);
  pen.font = "11px system-ui, sans-serif";
  ticks.forEach((tick, i) => {
    const at = x(tick * 1e6);
    pen.fillStyle = palette.line;
    pen.fillRect(at, AXIS - 4, 1, height);
    pen.fillStyle = palette.ink_3;
    pen.fillText(texts[i], Math.min(at + 4, width - 40), 12);
  });
}

function draw_joins(pen, data, x, palette) {
  const row = new Map(data.ranks.map(({ rank }, i) => [rank, i]));
  const middle = LANES[1].top + LANES[1].height / 2;
  pen.strokeStyle = palette.ink_2;
  pen.fillStyle = palette.ink_2;
  pen.globalAlpha = 0.7;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const points of data.joins.slice(0, MOST_JOINS)) {
    points.forEach(({ rank, ns }, i) => {
      const [px, py] = [x(ns), AXIS + row.get(rank) * BAND + middle];
      if (i === 0) pen.moveTo(px, py);
      else pen.lineTo(px, py);
    });
  }
  pen.stroke();
  pen.globalAlpha = 1;
}

function draw(pen, { data, width, height, palette }) {
  pen.fillStyle = palette.surface;
  pen.fillRect(0, 0, width, height);
  draw_axis(pen, data, width, height, palette);
  const x = place_of(data, width);
  data.ranks.forEach(({ lanes, waits }, i) => {
    const top = AXIS + i * BAND;
    pen.fillStyle = palette.line;
    pen.fillRect(0, top, width, 1);
    const box = (lane) => ({ top: top + LANES[lane].top, height: LANES[lane].height });
    lanes.forEach((slices, lane) => draw_slices(pen, slices, x, box(lane),
      (kind) => palette.tints[TINT[kind]]));
    draw_slices(pen, waits, x, box(1), () => palette.surface_soft);
    draw_slices(pen, waits, x, box(1), () => palette.wait);
  });
  draw_joins(pen, data, x, palette);
}

/** The palette of a timeline, and what shades a wait. */
function read_rank_palette(node) {
  const palette = read_palette(node);
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const pen = tile.getContext("2d");
  pen.strokeStyle = palette.ink;
  pen.globalAlpha = 0.75;
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift - 1, 7);
    pen.lineTo(shift + 7, -1);
  }
  pen.stroke();
  const surface_soft = palette.surface.replace(/^rgb\((.*)\)$/, "rgb($1 / 55%)");
  return { ...palette, surface_soft, wait: node.getContext("2d").createPattern(tile, "repeat") };
}

const lasts = ({ from, to }, ns) => ns >= from && ns < to;

/** The wait, else the slice, under a point. */
function slice_at(data, width, x, y) {
  const rank = data.ranks[Math.floor((y - AXIS) / BAND)];
  if (!rank || y < AXIS) return null;
  const ns = data.from + (x / width) * (data.to - data.from);
  const lane = (y - AXIS) % BAND < LANES[1].top ? 0 : 1;
  const found = (lane === 1 && rank.waits.find((wait) => lasts(wait, ns)))
    || rank.lanes[lane].find((slice) => lasts(slice, ns));
  return found ? { rank: rank.rank, ...found } : null;
}

const slice_words = (labels, { rank, name, from, to }) =>
  `Rank ${rank}: ${labels.get(name) ?? name}, ${time_text(to - from)} at ${
    decimals(from / 1e6, 3)} ms`;

const waits_table = ({ ranks }) => html`<${PlainTable} label="Longest waits of these ranks"
  head=${["Rank", "Wait", "Start, ms", "Duration"]} texts=${2}
  rows=${longest_waits(ranks, MOST_WAITS).map(({ rank, name, from, to }) => [`Rank ${rank}`, name,
    decimals(from / 1e6, 3), time_text(to - from)])} />`;

const LEGEND = html`<ul class="legend">
  <li><span class="swatch tint-other_compute"></span>Compute</li>
  <li><span class="swatch tint-exposed_memory"></span>Copies</li>
  <li><span class="swatch tint-exposed_comm"></span>Communication</li>
  <li><span class="swatch wait-swatch"></span>Waiting for another rank</li>
  <li class="faint">Lines join the starts of one collective.</li></ul>`;

/**
 * @param {{data: ReturnType<typeof import("../rank_lanes_model.mjs").rank_lanes>, caption: string,
 *          href: (rank: number) => string, marks?: Map<number, string>}} props
 * `marks` are words about some ranks
 */
export function RankLanes({ data, caption, href, marks }) {
  const [ref, width] = use_width();
  const canvas = useRef(null);
  const [over, set_over] = useState(null);
  const palette = use_palette(canvas, read_rank_palette);
  const labels = use_all_labels() ?? labels_now();
  const height = AXIS + data.ranks.length * BAND;
  useLayoutEffect(() => {
    if (!palette || width === 0) return;
    draw(sized_pen(canvas.current, width, height), { data, width, height, palette });
  }, [data, width, height, palette]);
  const on_move = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    set_over(slice_at(data, width, event.clientX - box.left, event.clientY - box.top));
  };
  const hint = `${plural(data.joins.length, "collective")} in view${
    data.joins.length > MOST_JOINS ? `, the first ${MOST_JOINS} joined` : ""}; hover over a slice ${
    ""}for its name.`;
  return html`<${ChartFigure} caption=${caption} table=${() => waits_table(data)} legend=${LEGEND}>
    <div class="rank-lanes"><ul style=${{ paddingTop: `${AXIS}px` }} aria-label="Ranks">${
      data.ranks.map(({ rank }) => html`<li key=${rank} style=${{ height: `${BAND}px` }}>
        <a href=${href(rank)}>Rank ${rank}</a>${marks?.has(rank) && html`<span class="faint">${
          marks.get(rank)}</span>`}</li>`)}</ul>
      <div class="rank-lanes-canvas" ref=${ref}><canvas ref=${canvas} role="img"
        aria-label=${caption} style=${{ height: `${height}px` }} onMouseMove=${on_move}
        onMouseLeave=${() => set_over(null)}></canvas></div></div>
    <p class="readout">${over ? slice_words(labels, over) : hint}</p><//>`;
}
