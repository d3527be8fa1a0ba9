// SPDX-License-Identifier: Apache-2.0
// A flame graph, or upside down an icicle: boxes as wide as their time, children at their parents.
// A click or Enter zooms; for two merged trees the color is the difference.
import { html, useEffect, useMemo, useState } from "../base/ui.mjs";
import { use_width } from "../base/hooks.mjs";
import { announce } from "../base/announce.mjs";
import { change_text, ms, ms_signed, percent, percent_signed, time_signed, time_text }
  from "../base/format.mjs";
import { ChartFigure, use_keys } from "./figure.mjs";
import { PlainTable } from "./plain_table.mjs";
import { box_by_key, boxes_of, colors_of, has_text, largest_nodes, path_above, SHADES }
  from "./flame_model.mjs";

const ROW_PX = 21;
const LEAST_PX = 2;
const TEXT_FROM_PX = 26;
const MOST_ROWS = 100;

function shade_of(name) {
  let hash = 7;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) % 9973;
  return hash % SHADES;
}

/** How far a difference is from none, -1 to 1: full color if one side has three times the other. */
function tone_of({ base_ns, cand_ns }) {
  const both = base_ns + cand_ns;
  return both > 0 ? Math.max(-1, Math.min(1, (2 * (cand_ns - base_ns)) / both)) : 0;
}

function colors(node) {
  if (node.base_ns === undefined) {
    return { className: `flame-${node.kind} flame-shade-${shade_of(node.name)}` };
  }
  const tone = tone_of(node);
  const strong = `${Math.round(Math.abs(tone) * 60)}%`;
  return { className: "flame-diff", style: { background: `color-mix(in oklab, var(--${
    tone > 0 ? "flame-more" : "flame-less"}) ${strong}, var(--surface))` } };
}

/** A node in words. @param {any} node @param {any} root @param {(name: string) => string} write */
function node_text(node, root, write) {
  const name = write(node);
  if (node.base_ns === undefined) {
    return `${name}: ${time_text(node.ns)}, ${percent(node.ns / (root.ns || 1))} of all`;
  }
  const delta = node.cand_ns - node.base_ns;
  const share = node.base_ns > 0 ? `, ${percent_signed(delta / node.base_ns)}` : "";
  const mark = delta > 0 ? "▲" : delta < 0 ? "▼" : "=";
  return `${name}: ${change_text(node.base_ns, node.cand_ns)} per step (${mark} ${
    time_signed(delta)}${share})`;
}

/** A swatch for each shade: none of them means more than the others. */
const Swatches = ({ kind, shades }) => Array.from({ length: shades }, (_, i) => html`<span key=${i}
  class="swatch flame-swatch flame-${kind} flame-shade-${i}"></span>`);

function Legend({ boxes, shaded }) {
  const colors = colors_of(boxes, shaded);
  return html`<ul class="legend flame-legend">${colors.map(({ kind, label, shades }) => html`<li
      key=${kind}><${Swatches} kind=${kind} shades=${shades} />${label}</li>`)}
    <li class="faint">Width is time${colors.some(({ shades }) => shades > 1)
      ? "; shades only separate neighbors" : ""}.</li></ul>`;
}

function DifferenceLegend({ names }) {
  return html`<ul class="legend">
    <li><span class="swatch flame-swatch-less"></span>▼ less time in ${names[1]}</li>
    <li><span class="swatch flame-swatch-same"></span>the same</li>
    <li><span class="swatch flame-swatch-more"></span>▲ more time in ${names[1]} than in ${
      names[0]}</li>
    <li class="faint">Width is the mean of both.</li></ul>`;
}

function table_of(root, is_diff, write) {
  const rows = largest_nodes(root, MOST_ROWS, is_diff);
  const name = ({ node, above }) => html`<span title=${above.filter(Boolean).join(" › ")}>${
    write(node)}</span>`;
  const depth = ({ above }) => above.length;
  if (is_diff) {
    return html`<${PlainTable} label="Largest differences" head=${["Name", "Depth", "Base, ms",
      "Candidate, ms", "Difference, ms"]} rows=${rows.map((row) => [name(row), depth(row),
      ms(row.node.base_ns), ms(row.node.cand_ns), ms_signed(row.node.cand_ns
      - row.node.base_ns)])} />`;
  }
  return html`<${PlainTable} label="Nodes with most time" head=${["Name", "Depth", "Time, ms",
    "Of all", "Calls"]} rows=${rows.map((row) => [name(row), depth(row), ms(row.node.ns),
    percent(row.node.ns / (root.ns || 1)), row.node.calls])} />`;
}

function Box({ box, i, width, top, root, q, chosen, write, choose, onzoom }) {
  const { node, from, share, above } = box;
  const { className, style } = colors(node);
  const px = share * width;
  const found = q !== "" && box.path !== "" && has_text(node, q, write);
  const state = `${i === chosen ? "chosen" : ""} ${above ? "above" : ""} ${
    q === "" ? "" : found ? "found" : "not-found"}`;
  return html`<div class="flame-box ${className} ${state}" style=${{ left: `${from * width}px`,
      top: `${top}px`, width: `${Math.max(1, px - 1)}px`, ...style }}
    title=${node_text(node, root, write)} onMouseEnter=${() => choose(i)}
    onClick=${() => onzoom(box.path)}>${px >= TEXT_FROM_PX && write(node)}</div>`;
}

/**
 * @param {{root: import("./flame_model.mjs").FlameNode, zoom: string,
 *          onzoom: (path: string) => void, q: string, is_flame: boolean, caption: string,
 *          names?: string[], actions?: any, shaded: string,
 *          write: (node: any) => string, page?: (node: any) => string|null}} props
 * `is_flame`: the root is at the bottom; `names` of base and candidate if two trees were merged;
 * `page` is the address of a page about a node; `shaded`: what the nodes without a color are
 */
export function Flame({ root, zoom, onzoom, q, is_flame, caption, names, actions, shaded,
  write, page }) {
  const [ref, width] = use_width();
  const [keys, keys_help] = use_keys("Arrow keys move, Enter zooms in, Escape zooms out.",
    "flame graph");
  const [at, set_at] = useState(-1);
  const boxes = useMemo(() => boxes_of(root, zoom, LEAST_PX / Math.max(100, width)),
    [root, zoom, width]);
  useEffect(() => set_at(-1), [boxes]);
  const is_diff = root.base_ns !== undefined;
  const rows = Math.max(...boxes.map(({ depth }) => depth)) + 1;
  const top_of = ({ depth }) => (is_flame ? rows - 1 - depth : depth) * ROW_PX;
  const choose = (i) => {
    set_at(i);
    if (boxes[i]) announce(node_text(boxes[i].node, root, write));
  };
  const go = (path) => {
    set_at(-1);
    onzoom(path);
  };
  const on_key = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && boxes[at]) go(boxes[at].path);
    else if (event.key === "Escape" || event.key === "Backspace") go(path_above(zoom));
    else {
      const next = box_by_key(boxes, at, event.key, is_flame ? "ArrowUp" : "ArrowDown");
      if (next === null) return;
      choose(at < 0 ? Math.max(0, boxes.findIndex(({ above }) => !above)) : next);
    }
    event.preventDefault();
  };
  const chosen = boxes[at];
  const href = chosen && page?.(chosen.node);
  return html`<${ChartFigure} caption=${caption} actions=${actions}
      table=${() => table_of(root, is_diff, write)}
      legend=${is_diff ? html`<${DifferenceLegend} names=${names} />`
        : html`<${Legend} boxes=${boxes} shaded=${shaded} />`}>
    <div class="flame" ref=${ref} style=${{ height: `${rows * ROW_PX}px` }} ...${keys}
      aria-label=${caption} onKeyDown=${on_key}>${width > 0
      && boxes.map((box, i) => html`<${Box}
        key=${box.path} box=${box} i=${i} width=${width} top=${top_of(box)} root=${root} q=${q}
        chosen=${at} write=${write} choose=${set_at} onzoom=${go} />`)}</div>
    ${keys_help}
    <p class="readout">${chosen ? node_text(chosen.node, root, write)
      : "Click a box to zoom in, one above it to zoom out; arrow keys, Enter and Escape do, too."}${
      href && html` <a href=${href}>Its page</a>`}</p><//>`;
}
