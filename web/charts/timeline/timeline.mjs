// SPDX-License-Identifier: Apache-2.0
// A timeline: lanes of slices on a canvas that zooms and pans, with the lanes' names next to it.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../base/ui.mjs";
import { use_width } from "../../base/hooks.mjs";
import { announce } from "../../base/announce.mjs";
import { plural } from "../../base/format.mjs";
import { use_all_labels, use_kernel_label } from "../../base/kernel_labels.mjs";
import { busy_lanes, find_pin, first_slice, hit, layout_lanes, neighbor, neighbor_row, pin_of,
  place_of, row_top, short_lane, slice_of } from "./timeline_model.mjs";
import { span_of, view_around, view_showing } from "./timeline_view.mjs";
import { AXIS_PX, paint_timeline } from "./timeline_paint.mjs";
import { sized_pen, use_palette } from "../canvas.mjs";
import { use_keys } from "../figure.mjs";
import { read_palette } from "./timeline_palette.mjs";
import { watch_gestures } from "./timeline_gestures.mjs";
import { create_motion } from "./timeline_motion.mjs";
import { action_of } from "./timeline_keys.mjs";
import { length_text, merged_text, exact_ms, slice_text } from "./timeline_text.mjs";

const TALLEST_SHARE = 0.66; // of the window
const SHORTEST_PX = 220;

/** The windows that make up the picture: the fine one surrounded by the coarse one. */
function sheets_of({ overview, detail }, view) {
  if (!detail || detail.lanes.length !== overview.lanes.length) {
    return [{ data: overview, ...view }];
  }
  return [
    { data: overview, from: view.from, to: Math.min(view.to, detail.from) },
    { data: detail, from: Math.max(view.from, detail.from), to: Math.min(view.to, detail.to) },
    { data: overview, from: Math.max(view.from, detail.to), to: view.to },
  ].filter(({ from, to }) => to > from);
}

/** The slice that a pin refers to, in the finer window if it is there. */
export function locate({ overview, detail }, pin) {
  for (const data of [detail, overview]) {
    const i = data && pin ? find_pin(data, pin) : -1;
    if (i >= 0) return { data, i };
  }
  return null;
}

/** Draws at most once per frame, with the current result of `scene()`. */
function use_drawing(canvas, scene) {
  const it = useRef({ frame: 0 }).current;
  it.scene = scene;
  it.draw = () => {
    it.frame = 0;
    const node = canvas.current;
    if (!node) return; // a key's repeat or an answer came after the page was left
    const what = it.scene();
    if (!what.palette || what.width === 0) return;
    paint_timeline(sized_pen(node, what.width, what.height), what);
  };
  it.redraw ??= () => {
    it.frame ||= requestAnimationFrame(() => it.draw());
  };
  useLayoutEffect(() => it.redraw());
  useEffect(() => () => cancelAnimationFrame(it.frame), []);
  return it.redraw;
}

function idle_text({ closed, lanes: idle }, lanes) {
  if (!closed) return "fold idle lanes";
  return idle.length === 1 ? `${lanes[idle[0]].name}: idle` : plural(idle.length, "idle lane");
}

/** On a narrow screen without what all lanes have in common: "stream 7", "python3 2542". */
const LaneText = ({ name }) => html`<span class="tl-name-text"><span class="only-wide">${name}</span
  ><span class="only-narrow">${short_lane(name)}</span></span>`;

function LaneName({ band, lanes, ontoggle }) {
  const style = { height: `${band.height}px` };
  const toggle = () => ontoggle(band.key);
  if (band.kind === "idle") {
    const text = idle_text(band, lanes);
    return html`<li class="tl-name tl-idle" style=${style}><button type="button"
      aria-expanded=${!band.closed} title=${band.lanes.map((i) => lanes[i].name).join("\n")}
      onClick=${toggle}><span aria-hidden="true">${band.closed ? "▸" : "▾"}</span>
      <span class="tl-name-text">${text}</span></button></li>`;
  }
  const lane = lanes[band.lanes[0]];
  const title = `${lane.name} (process ${lane.process}, ${lane.kind} ${lane.thread})`;
  if (lane.rows <= 1) {
    return html`<li class="tl-name" style=${style} title=${title}><span><${LaneText}
      name=${lane.name} /></span></li>`;
  }
  return html`<li class="tl-name" style=${style}><button type="button" title=${title}
    aria-expanded=${!band.closed} onClick=${toggle}><span aria-hidden="true">${
    band.closed ? "▸" : "▾"}</span>
    <${LaneText} name=${lane.name} /></button></li>`;
}

function Tooltip({ at, width }) {
  const label = use_kernel_label(at ? slice_of(at.data, at.i).name : null);
  if (!at) return null;
  const slice = slice_of(at.data, at.i);
  const right = at.x > width / 2;
  const style = { top: `${at.y + 14}px`, ...(right ? { right: `${width - at.x + 6}px` }
    : { left: `${at.x + 10}px` }) };
  return html`<div class="tl-tip" style=${style} aria-hidden="true">
    ${label && html`<p><strong>${label}</strong></p>`}
    <p class="tl-tip-name mono">${slice.name}</p>
    <p><strong>${length_text(slice.dur_ns)}</strong> at ${exact_ms(slice.begin_ns)}</p>
    <p class="faint"><span class="swatch tint-${slice.tint}"></span>${slice.class_name}</p>
    ${slice.count > 1 && html`<p>${merged_text(slice)}; named after the longest</p>`}</div>`;
}

/** What a key does to the slice under the cursor. */
function step_cursor({ kind, by }, { data, i }, layout) {
  if (kind === "slice") return neighbor(data, i, by);
  return neighbor_row(data, layout, i, by, data.begin[i] + data.dur[i] / 2);
}

/** Carries out a key's action. @returns {boolean} whether there was one */
function act_on(action, it) {
  const { motion, props, layout } = it;
  const { view, bounds } = motion;
  const span = span_of(view);
  const at = it.cursor() ?? it.pinned();
  const of_slice = at && { from: at.data.begin[at.i], to: at.data.end[at.i] };
  const middle = of_slice && of_slice.from > view.from && of_slice.from < view.to
    ? of_slice.from : view.from + span / 2;
  switch (action.kind) {
    case "zoom": motion.by_key(() => motion.zoom(middle, action.by)); break;
    case "pan": motion.by_key(() => motion.pan(action.by * span)); break;
    case "all": motion.go(bounds); break;
    case "begin": motion.by_key(() => motion.pan(bounds.from - view.from)); break;
    case "end": motion.by_key(() => motion.pan(bounds.to - view.to)); break;
    case "rank": props.onrank?.(action.by); break;
    case "link": case "waited": case "bookmark": case "visit": props.onkey?.(action); break;
    case "pin": if (at) props.onpin(pin_of(slice_of(at.data, at.i))); break;
    case "mark": if (of_slice) props.onselect(of_slice); break;
    case "fit": {
      const goal = props.selection ?? of_slice;
      if (goal) motion.go(view_around(goal, bounds));
      break;
    }
    case "clear": it.clear(); break;
    default: {
      const data = at?.data ?? sheets_of(props, view)[0].data;
      const next = at ? step_cursor(action, at, layout) : first_slice(data, layout, middle);
      if (next >= 0) it.move_cursor(data, next);
    }
  }
}

/** Scrolls the lanes so that a slice's row becomes visible. */
function scroll_to(scroller, layout, data, i) {
  const place = place_of(layout, data, i);
  if (!place) return;
  const top = row_top(place.band, place.row);
  const room = scroller.clientHeight - AXIS_PX;
  if (top < scroller.scrollTop) scroller.scrollTop = top - 8;
  else if (top + place.band.row_px > scroller.scrollTop + room) {
    scroller.scrollTop = top + place.band.row_px - room + 8;
  }
}

/** The part of the chart's state that keys and drawing need. */
function equip(it) {
  it.cursor = () => locate(it.props, it.cursor_pin);
  it.pinned = () => locate(it.props, it.props.pin);
  it.clear = () => {
    it.set_cursor("");
    it.props.onclear();
  };
  it.move_cursor = (data, i) => {
    const { motion, props, layout, scroller } = it;
    const slice = slice_of(data, i);
    it.set_cursor(pin_of(slice));
    announce(slice_text(slice));
    scroll_to(scroller, layout, data, i);
    const span = { from: slice.begin_ns, to: slice.end_ns };
    const by = view_showing(motion.view, span, props.bounds).from - motion.view.from;
    if (by !== 0) motion.by_key(() => motion.pan(by));
  };
}

/** Translates pointer gestures in pixels into view movements and selections in nanoseconds. */
function gestures_of(it) {
  const ns_per_px = () => span_of(it.motion.view) / Math.max(1, it.width);
  const ns_at = (x) => it.motion.view.from + x * ns_per_px();
  const under = (x, y) => {
    if (y < AXIS_PX) return null;
    const ns = ns_at(x);
    const sheet = sheets_of(it.props, it.motion.view)
      .find(({ from, to }) => ns >= from && ns <= to);
    const i = sheet ? hit(sheet.data, it.layout, y - AXIS_PX + it.scroller.scrollTop, ns,
      ns_per_px()) : -1;
    return i < 0 ? null : { data: sheet.data, i };
  };
  const limited = (ns) => Math.min(it.motion.view.to, Math.max(it.motion.view.from, ns));
  return {
    start: () => {
      it.set_hover(null);
      it.motion.start();
    },
    end: () => it.motion.end(),
    selects: () => it.props.selecting,
    zoom: (x, factor) => it.motion.zoom(ns_at(x), factor),
    pan: (dx, dy) => {
      if (dx) it.motion.pan(-dx * ns_per_px());
      if (dy) it.scroller.scrollTop -= dy;
    },
    select: (x0, x1) => {
      const ends = [limited(ns_at(x0)), limited(ns_at(x1))].sort((a, b) => a - b);
      it.draft = { from: ends[0], to: ends[1] };
      it.redraw();
    },
    selected: () => {
      const span = it.draft;
      it.draft = null;
      if (span && span_of(span) >= 1) it.props.onselect(span);
    },
    click: (x, y) => {
      const found = under(x, y);
      it.set_cursor("");
      it.props.onpin(found ? pin_of(slice_of(found.data, found.i)) : "");
    },
    hover: (x, y) => {
      const found = under(x, y);
      it.set_hover(found && { ...found, x, y });
    },
    leave: () => it.set_hover(null),
  };
}

/**
 * @param {{overview: any, detail: any, view: any, bounds: any, selection: any, pin: string,
 *          steps: any[], toggled: Set<string>, selecting: boolean, label: string,
 *          control: {current: any}, onview: (view: any, replace: boolean) => void,
 *          onclear: () => void,
 *          onselect: (span: any) => void, onpin: (pin: string) => void,
 *          ontoggle: (key: string) => void, onrank?: (by: number) => void,
 *          arrows?: import("./timeline_links.mjs").Arrow[], marks?: any[],
 *          onkey?: (action: {kind: string, by?: number}) => void,
 *          onwidth: (width: number) => void}} props
 * `overview` is the whole trace, `detail` a finer window or null; `control` receives functions that
 * move the view from outside.
 */
export function TimelineChart(props) {
  const { overview, detail, view, bounds, toggled } = props;
  const [ref, width] = use_width();
  const canvas = useRef(null);
  const scroller = useRef(null);
  const [keys, keys_help] = use_keys(
    "W and S zoom, A and D move, arrow keys go from slice to slice.", "timeline");
  const [hover, set_hover] = useState(null);
  const [cursor, set_cursor] = useState("");
  const busy = useMemo(() => busy_lanes(detail ?? overview, detail ?? overview),
    [overview, detail]);
  const layout = useMemo(() => layout_lanes(overview.lanes, busy, toggled),
    [overview, busy, toggled]);
  const tallest = Math.max(SHORTEST_PX, Math.round(innerHeight * TALLEST_SHARE));
  const height = Math.min(AXIS_PX + layout.height, tallest);
  const palette = use_palette(canvas, read_palette);
  use_all_labels(); // once they are there, they are drawn
  const it = useRef({}).current;
  const redraw = use_drawing(canvas, () => ({
    view: it.motion.view, width, height, scroll: scroller.current.scrollTop, layout, palette,
    bounds,
    sheets: sheets_of(it.props, it.motion.view), steps: props.steps, hover,
    pinned: it.pinned(), cursor: it.cursor(), selection: it.draft ?? props.selection,
    arrows: props.arrows ?? [], marks: props.marks ?? [],
  }));
  it.motion ??= create_motion({ view, onview: props.onview, redraw });
  if (!it.move_cursor) equip(it);
  Object.assign(it.motion, { bounds, onview: props.onview });
  it.motion.adopt(view);
  Object.assign(it, { props, layout, width, redraw, cursor_pin: cursor, set_hover, set_cursor,
    scroller: scroller.current });
  props.control.current = it.motion;
  useEffect(() => props.onwidth(width), [width]);
  useLayoutEffect(() => { // who sees it can move it
    it.scroller = scroller.current;
    const stop = watch_gestures(canvas.current, gestures_of(it));
    return () => {
      stop();
      it.motion.stop();
    };
  }, []);
  const on_key = (event) => {
    const action = action_of(event);
    if (!action) return;
    event.preventDefault();
    act_on(action, it);
  };
  return html`<div class="tl" style=${{ height: `${height}px` }}>
    <div class="tl-scroll" ref=${scroller} onScroll=${redraw} tabindex="-1">
      <div class="tl-inner" style=${{ height: `${AXIS_PX + layout.height}px` }}>
        <div class="tl-names"><p class="tl-unit" style=${{ height: `${AXIS_PX}px` }}>ms</p>
          <ul aria-label="Lanes">${layout.bands.map((band) => html`<${LaneName} key=${band.key}
            band=${band} lanes=${overview.lanes} ontoggle=${props.ontoggle} />`)}</ul></div>
        <div class="tl-canvas" ref=${ref} style=${{ height: `${height}px` }}>
          <canvas ref=${canvas} ...${keys} aria-label=${props.label}
            class=${props.selecting ? "selecting" : hover ? "over" : ""}
            style=${{ height: `${height}px` }} onKeyDown=${on_key}></canvas>${keys_help}
          <${Tooltip} at=${hover} width=${width} />
        </div></div></div></div>`;
}
