// SPDX-License-Identifier: Apache-2.0
// Draws a timeline on a canvas: lanes with their slices, the axis with the steps, marks on top.
import { short_kernel } from "../../base/format.mjs";
import { labels_now } from "../../base/kernel_labels.mjs";
import { visible } from "../../base/visible.mjs";
import { middle_of } from "./timeline_links.mjs";
import { first_after, place_of, row_top } from "./timeline_model.mjs";
import { axis_ticks, span_of } from "./timeline_view.mjs";
import { merged_fill } from "./timeline_palette.mjs";

export const AXIS_PX = 52;
const STRIP_PX = 7; // shows the view's place in the whole trace
const TICK_Y = 23;
const STEP_TOP = 32;
const FONT = "11px ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, monospace";
const AXIS_FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const LABEL_FROM_PX = 34;
const HATCH_FROM_PX = 5;

/**
 * @typedef {{view: any, width: number, height: number, scroll: number, layout: any,
 *            sheets: {data: any, from: number, to: number}[], palette: any, bounds: any,
 *            steps: any[], hover: any, pinned: any, cursor: any, selection: any,
 *            arrows: import("./timeline_links.mjs").Arrow[], marks: any[]}} Scene
 */

const x_of = ({ view, width }, ns) => ((ns - view.from) * width) / span_of(view);

/** Short names, found once per name shown and state of the labels. */
const shorts = new WeakMap();
function short_name(data, i) {
  const labels = labels_now();
  if (shorts.get(data)?.labels !== labels) shorts.set(data, { labels, texts: [] });
  const { texts } = shorts.get(data);
  const name = data.name[i];
  texts[name] ??= labels.get(data.names[name]) ?? short_kernel(data.names[name]);
  return texts[name];
}

/** One row's slices; skips those on a pixel that is already painted. */
function draw_row(pen, scene, data, row, box, later) {
  const { view, width, palette } = scene;
  const scale = width / span_of(view);
  const high = data.starts[row + 1];
  let painted = -1;
  let style = "";
  for (let i = first_after(data, data.starts[row], high, box.from); i < high; i++) {
    if (data.begin[i] >= box.to) break;
    const left = Math.max(-2, (Math.max(data.begin[i], box.from) - view.from) * scale);
    const end = Math.min(width + 2, (Math.min(data.end[i], box.to) - view.from) * scale);
    const right = Math.max(end > left + 3 ? end - 0.75 : end, left + 1);
    if (right <= painted + 0.25) continue;
    painted = right;
    const merged = data.count[i] > 1;
    const tint = data.tint[i];
    const fill = merged ? merged_fill(palette, tint, data.busy[i] / (data.dur[i] || 1))
      : palette.tints[tint];
    if (fill !== style) pen.fillStyle = style = fill;
    pen.fillRect(left, box.y, right - left, box.height);
    if (right - left < HATCH_FROM_PX) continue;
    if (merged) later.hatched.rect(left, box.y, right - left, box.height);
    if (right - left >= LABEL_FROM_PX) later.labels.push({ data, i, left, right, y: box.y });
  }
}

function draw_labels(pen, scene, labels) {
  pen.font = FONT;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  const per_char = pen.measureText("0").width;
  for (const { data, i, left, right, y, height } of labels) {
    const from = Math.max(0, left) + 4;
    const fits = Math.floor((Math.min(scene.width, right) - from - 3) / per_char);
    if (fits < 3) continue;
    const more = data.count[i] > 1 ? ` +${data.count[i] - 1}` : "";
    const name = visible(short_name(data, i)) + more;
    const { inks, merged_inks } = scene.palette;
    pen.fillStyle = (more ? merged_inks : inks)[data.tint[i]];
    pen.fillText(name.length > fits ? `${name.slice(0, fits - 1)}…` : name, from, y + height / 2);
  }
}

function draw_band(pen, scene, band) {
  const later = { hatched: new Path2D(), labels: [] };
  const [lane] = band.lanes;
  for (let row = 0; row < band.rows; row++) {
    const top = row_top(band, row) - scene.scroll + AXIS_PX;
    if (top + band.row_px < AXIS_PX || top > scene.height) continue;
    for (const { data, from, to } of scene.sheets) {
      const box = { from, to, y: top + 0.5, height: band.row_px - 1.5 };
      draw_row(pen, scene, data, data.first_row[lane] + row, box, later);
    }
  }
  pen.fillStyle = scene.palette.hatch;
  pen.fill(later.hatched);
  for (const label of later.labels) label.height = band.row_px - 1;
  draw_labels(pen, scene, later.labels);
}

const fill_line = (pen, x, y, wide, tall) => pen.fillRect(Math.round(x), y, wide, tall);

function draw_grid(pen, scene, ticks) {
  const { palette, height, width } = scene;
  pen.fillStyle = palette.line;
  for (const { ns } of ticks) fill_line(pen, x_of(scene, ns), AXIS_PX, 1, height - AXIS_PX);
  for (const band of scene.layout.bands) {
    const y = band.y + band.height - scene.scroll + AXIS_PX - 1;
    if (y < AXIS_PX || y > height) continue;
    if (band.kind === "idle") {
      pen.fillStyle = palette.sunken;
      pen.fillRect(0, y + 1 - band.height, width, band.height - 1);
      pen.fillStyle = palette.line;
    }
    pen.fillRect(0, y, width, 1);
  }
}

/** The steps: a band each, with borders through all lanes. */
function draw_steps(pen, scene) {
  const { palette, steps, width, height, view } = scene;
  pen.font = AXIS_FONT;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  for (const { number, begin_ns, end_ns } of steps) {
    if (end_ns < view.from || begin_ns > view.to) continue;
    const left = Math.max(0, x_of(scene, begin_ns));
    const right = Math.min(width, x_of(scene, end_ns));
    pen.fillStyle = palette.sunken;
    pen.fillRect(left, STEP_TOP, Math.max(1, right - left), AXIS_PX - STEP_TOP - 2);
    pen.fillStyle = palette.line_strong;
    if (begin_ns >= view.from) fill_line(pen, left, STEP_TOP, 1, height - STEP_TOP);
    if (end_ns <= view.to) fill_line(pen, right, STEP_TOP, 1, height - STEP_TOP);
    const text = right - left > 60 ? `step ${number}` : String(number);
    if (pen.measureText(text).width + 10 > right - left) continue;
    pen.fillStyle = palette.ink_2;
    pen.fillText(text, left + 6, (STEP_TOP + AXIS_PX - 2) / 2);
  }
}

function draw_axis(pen, scene, ticks) {
  const { palette, width, bounds, view } = scene;
  pen.fillStyle = palette.surface;
  pen.fillRect(0, 0, width, AXIS_PX);
  pen.fillStyle = palette.sunken;
  pen.fillRect(0, 0, width, STRIP_PX);
  const whole = width / Math.max(1, span_of(bounds));
  const at = (view.from - bounds.from) * whole;
  pen.fillStyle = palette.ink_3;
  pen.fillRect(Math.min(at, width - 3), 0, Math.max(3, span_of(view) * whole), STRIP_PX);
  pen.font = AXIS_FONT;
  pen.textBaseline = "middle";
  pen.fillStyle = palette.ink_3;
  for (const { ns, label } of ticks) {
    const x = x_of(scene, ns);
    pen.textAlign = x < 24 ? "left" : x > width - 24 ? "right" : "center";
    pen.fillText(label, x, TICK_Y);
  }
  draw_steps(pen, scene);
  pen.fillStyle = palette.line;
  pen.fillRect(0, AXIS_PX - 1, width, 1);
}

/** A frame around a slice, at least wide enough to be seen. */
function outline(pen, scene, mark, color, wide) {
  const place = mark && place_of(scene.layout, mark.data, mark.i);
  if (!place) return;
  const y = row_top(place.band, place.row) - scene.scroll + AXIS_PX;
  if (y < AXIS_PX - 4 || y > scene.height) return;
  const left = Math.max(-4, x_of(scene, mark.data.begin[mark.i]));
  const right = Math.min(scene.width + 4, x_of(scene, mark.data.end[mark.i]));
  pen.strokeStyle = color;
  pen.lineWidth = wide;
  pen.strokeRect(left - 0.5, y, Math.max(3, right - left), place.band.row_px - 0.5);
}

function draw_selection(pen, scene) {
  const { selection, palette, height, width } = scene;
  if (!selection) return;
  const left = Math.max(-2, x_of(scene, selection.from));
  const right = Math.min(width + 2, x_of(scene, selection.to));
  if (right < 0 || left > width) return;
  pen.globalAlpha = 0.13;
  pen.fillStyle = palette.accent;
  pen.fillRect(left, STRIP_PX + 2, right - left, height);
  pen.globalAlpha = 1;
  fill_line(pen, left, STRIP_PX + 2, 1, height);
  fill_line(pen, right, STRIP_PX + 2, 1, height);
}

const HEAD_PX = 6;

/** A curve with a head, kept within the lanes' height so that it shows where it leads. */
function draw_arrow(pen, scene, { kind, from, to }) {
  const tops = [middle_of(scene.layout, from), middle_of(scene.layout, to)];
  if (tops.includes(null)) return;
  const [y0, y1] = tops.map((y) =>
    Math.min(scene.height, Math.max(AXIS_PX, y - scene.scroll + AXIS_PX)));
  const limited = (ns) => Math.min(4 * scene.width, Math.max(-3 * scene.width, x_of(scene, ns)));
  const [x0, x1] = [limited(from.ns), limited(to.ns)];
  const bend = Math.max(24, Math.abs(x1 - x0) / 3);
  pen.setLineDash(kind === "wait" ? [5, 4] : []);
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  pen.stroke();
  pen.setLineDash([]);
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x1 - HEAD_PX * 1.5, y1 - HEAD_PX);
  pen.lineTo(x1 - HEAD_PX * 1.5, y1 + HEAD_PX);
  pen.fill();
}

/** Each arrow twice: a wide one in the surface's color sets it off from the slices. */
function draw_arrows(pen, scene) {
  const { palette, arrows } = scene;
  for (const [color, wide] of [[palette.surface, 5], [palette.ink, 2]]) {
    pen.strokeStyle = pen.fillStyle = color;
    pen.lineWidth = wide;
    for (const arrow of arrows) draw_arrow(pen, scene, arrow);
  }
}

/** Bookmarks: numbered flags beside the steps. */
function draw_marks(pen, scene) {
  const { palette, marks, width } = scene;
  pen.font = AXIS_FONT;
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  marks.forEach(({ from, to }, i) => {
    const x = x_of(scene, (from + to) / 2);
    if (x < -10 || x > width + 10) return;
    pen.fillStyle = palette.accent;
    pen.fillRect(x - 8, STEP_TOP, 16, AXIS_PX - STEP_TOP - 2);
    pen.fillStyle = palette.surface;
    pen.fillText(String(i + 1), x, (STEP_TOP + AXIS_PX - 2) / 2);
  });
}

/** @param {CanvasRenderingContext2D} pen scaled to CSS pixels @param {Scene} scene */
export function paint_timeline(pen, scene) {
  const { width, height, palette } = scene;
  const ticks = axis_ticks(scene.view, width, width < 500 ? 84 : 110);
  pen.fillStyle = palette.surface;
  pen.fillRect(0, 0, width, height);
  draw_grid(pen, scene, ticks);
  for (const band of scene.layout.bands) {
    const top = band.y - scene.scroll + AXIS_PX;
    if (band.kind === "lane" && top < height && top + band.height > AXIS_PX) {
      draw_band(pen, scene, band);
    }
  }
  outline(pen, scene, scene.hover, palette.ink, 1.5);
  outline(pen, scene, scene.pinned, palette.focus, 2.5);
  outline(pen, scene, scene.cursor, palette.ink, 2.5);
  draw_arrows(pen, scene);
  draw_axis(pen, scene, ticks);
  draw_selection(pen, scene);
  draw_marks(pen, scene);
}
