// SPDX-License-Identifier: Apache-2.0
// The table of every page: a real <table>, sorted by its header buttons, with one row's detail open
// at a time; of long tables only the visible rows are in the document.
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../base/ui.mjs";
import { value_at } from "../base/frame.mjs";
import { use_columns_in_sight, use_printing } from "../base/hooks.mjs";
import * as format from "../base/format.mjs";

const ROW_PX = 32;
const OVERSCAN = 8; // also the step of the window, so that most scroll events change nothing
const VIRTUAL_FROM = 80;

/**
 * @typedef {{key: string, label: any, help?: string, kind?: keyof typeof KINDS|"call",
 *            width_px?: number, className?: string, priority?: 2|3|4|5, sort?: boolean,
 *            unit?: string, reversed?: boolean,
 *            cell?: (row: number, frame: import("../base/frame.mjs").Frame) => any}} Column
 * A `reversed` column shows what falls as its values rise, as the age of a date does.
 */

/** How the values of a column are written, by kind. */
const KINDS = {
  text: (v) => (v === null || v === "" ? "–" : v),
  plain: (v) => v ?? "–",
  flag: (v) => (v === null ? "–" : v ? "yes" : "no"),
  ms: format.ms_cell,
  us: format.us_cell,
  share: format.percent,
  count: format.count,
  number: format.number,
  bytes: format.bytes,
};

const UNITS = { ms: "ms", us: "µs" };

/**
 * Columns with the unit for times of single calls, which is the same in the whole table.
 * @param {Column[]} columns @param {import("../base/frame.mjs").Frame} frame
 */
function with_call_unit(columns, frame) {
  const is_call = ({ kind }) => kind === "call";
  const times = columns.filter(is_call).flatMap(({ key }) => frame.columns[key] ?? []);
  const kind = format.fits_us(times) ? "us" : "ms";
  return columns.map((column) => (is_call(column) ? { ...column, kind } : column));
}

/** Column widths of a long table, fixed so that they do not change while it scrolls. */
const WIDTH_PX = { text: 118, flag: 80, ms: 96, us: 96, share: 72, count: 76, number: 90,
  bytes: 90 };

/** What a head takes with its unit and the arrow of the sorted one; letters are about this wide. */
const LETTER_PX = 7.4;
const HEAD_PX = { unit: 24, rest: 42 };

function head_px({ label, kind, unit }) {
  if (typeof label !== "string") return 0;
  return label.length * LETTER_PX + (unit ?? UNITS[kind] ? HEAD_PX.unit : 0) + HEAD_PX.rest;
}

/** The width of a column of a long table. @param {Column} column */
export const width_of = (column) => column.width_px
  ?? Math.max(WIDTH_PX[column.kind ?? "text"] ?? WIDTH_PX.count, Math.ceil(head_px(column)));

const is_text = ({ kind = "text" }) => kind === "text" || kind === "flag";

const classes = (column) =>
  `${is_text(column) ? "" : "num"} ${column.className ?? ""}`;

/** The exact figure behind a rounded one. */
function exact(kind, value) {
  if (value === null || typeof value !== "number") return undefined;
  if (kind === "ms" || kind === "us") return `${format.count(Math.round(value))} ns`;
  if (kind === "bytes") return `${format.count(value)} bytes`;
  return undefined;
}

function HeadCell({ column, sort, onsort, help }) {
  const unit = column.unit ?? UNITS[column.kind];
  const name = html`${column.label}${unit && html`<span class="unit">${unit}</span>`}`;
  const down = sort === `-${column.key}`;
  const sorted = down || sort === column.key;
  if (!onsort || column.sort === false) {
    return html`<th scope="col" class=${classes(column)} title=${help}>${name}</th>`;
  }
  const first = is_text(column) ? column.key : `-${column.key}`;
  const flipped = down ? column.key : `-${column.key}`;
  const falls = down !== Boolean(column.reversed);
  return html`<th scope="col" class=${classes(column)}
      aria-sort=${sorted ? (falls ? "descending" : "ascending") : undefined}>
    <button type="button" class="sort" title=${help}
      onClick=${() => onsort(sorted ? flipped : first)}>${name}<span class="arrow"
      aria-hidden="true">${sorted ? (falls ? "▾" : "▴") : ""}</span>
    </button></th>`;
}

function Cell({ column, frame, row, header }) {
  const kind = column.kind ?? "text";
  const value = column.cell ? null : value_at(frame, column.key, row);
  const content = column.cell ? column.cell(row, frame) : KINDS[kind](value);
  if (header) return html`<th scope="row" class=${classes(column)}>${content}</th>`;
  return html`<td class=${classes(column)} title=${exact(kind, value)}>${content}</td>`;
}

function Row({ frame, columns, row, index, is_open, row_class }) {
  return html`<tr aria-rowindex=${index + 2}
      class="${is_open ? "open" : ""} ${row_class?.(row) ?? ""}">
    ${columns.map((column, i) => html`<${Cell} key=${column.key} column=${column} frame=${frame}
      row=${row} header=${i === 0} />`)}
  </tr>`;
}

/** A row with its own height below an open one; reports that height. */
function DetailRow({ span, children, onheight }) {
  const ref = useRef(null);
  useLayoutEffect(() => {
    const report = () => onheight(ref.current?.offsetHeight ?? 0);
    const observer = new ResizeObserver(report);
    observer.observe(ref.current);
    report();
    return () => observer.disconnect();
  }, []);
  return html`<tr class="detail" ref=${ref}><td colspan=${span}>${children}</td></tr>`;
}

const Spacer = ({ px, span }) =>
  px > 0 &&
  html`<tr class="spacer" aria-hidden="true">
    <td colspan=${span} style=${{ height: `${px}px` }}></td></tr>`;

/**
 * The visible rows: [first, end), in steps, from the scroll position of the region; all on paper.
 * @param {number} count @param {boolean} virtual
 */
function use_window(count, virtual, opened, opened_px) {
  const ref = useRef(null);
  const is_printed = use_printing();
  const [first, set_first] = useState(0);
  const [visible, set_visible] = useState(40);
  const on_scroll = () => {
    const node = ref.current;
    if (!virtual || !node) return;
    const top = node.scrollTop;
    const above = opened >= 0 && top > (opened + 1) * ROW_PX ? Math.min(opened_px, top) : 0;
    set_first(Math.floor((top - above) / ROW_PX / OVERSCAN) * OVERSCAN);
    set_visible(Math.ceil(node.clientHeight / ROW_PX));
  };
  useLayoutEffect(on_scroll, [count, virtual, opened_px]);
  if (!virtual || is_printed) return { ref, on_scroll, first: 0, end: count };
  const begin = Math.max(0, Math.min(first, count - 1) - OVERSCAN);
  return { ref, on_scroll, first: begin, end: Math.min(count, first + visible + 2 * OVERSCAN) };
}

/** Keeps the focus in the table when the row that had it scrolls out of the document. */
function use_kept_focus(ref, first, end) {
  const had = useRef(false);
  useEffect(() => {
    if (had.current && document.activeElement === document.body) {
      ref.current?.focus({ preventScroll: true });
    }
    had.current = Boolean(ref.current?.contains(document.activeElement));
  }, [first, end]);
}

/**
 * @param {{caption: string, frame: import("../base/frame.mjs").Frame, rows?: number[],
 *          columns: Column[], sort?: string, onsort?: (sort: string) => void, opened?: number,
 *          detail?: (row: number) => any, row_class?: (row: number) => string, view?: string,
 *          empty?: any}} props
 * `rows` are the indices to show, in order; `opened` is the index of the open row, or -1; a new
 * `view` (another filter or order) scrolls back to the top.
 */
export function Table(props) {
  const { caption, frame, sort, onsort, opened = -1, detail, row_class, empty } = props;
  const in_sight = use_columns_in_sight(props.columns);
  const columns = useMemo(() => with_call_unit(in_sight, frame), [in_sight, frame]);
  const rows = useMemo(
    () => props.rows ?? Array.from({ length: frame.length }, (_, i) => i),
    [props.rows, frame],
  );
  const virtual = rows.length > VIRTUAL_FROM;
  const at = useMemo(() => rows.indexOf(opened), [rows, opened]);
  const [detail_px, set_detail_px] = useState(0);
  const opened_px = at >= 0 ? detail_px : 0;
  const view = use_window(rows.length, virtual, at, opened_px);
  use_kept_focus(view.ref, view.first, view.end);
  useLayoutEffect(() => {
    if (view.ref.current) view.ref.current.scrollTop = 0;
  }, [sort, props.view]);

  if (rows.length === 0) return empty ?? html`<p class="empty-line">No rows.</p>`;
  const span = columns.length;
  const shown = rows.slice(view.first, view.end);
  const hidden_detail = at >= 0 && (at < view.first || at >= view.end) ? opened_px : 0;
  const above = view.first * ROW_PX + (at < view.first ? hidden_detail : 0);
  const below = (rows.length - view.end) * ROW_PX + (at >= view.end ? hidden_detail : 0);
  return html`<div class="table-region ${virtual ? "virtual" : ""}" role="group" tabindex="0"
      aria-label=${caption} ref=${view.ref} onScroll=${view.on_scroll}>
    <table aria-rowcount=${rows.length + 1}>
      <caption class="visually-hidden">${caption}</caption>
      ${virtual && html`<colgroup>${columns.map((column) => html`<col key=${column.key}
        class=${classes(column)} style=${{ width: `${width_of(column)}px` }} />`)}</colgroup>`}
      <thead><tr aria-rowindex="1">
        ${columns.map((column) => html`<${HeadCell} key=${column.key} column=${column} sort=${sort}
          onsort=${onsort} help=${column.help ?? frame.help[column.key]} />`)}
      </tr></thead>
      <tbody>
        <${Spacer} px=${above} span=${span} />
        ${shown.flatMap((row, i) => [
          html`<${Row} key=${row} frame=${frame} columns=${columns} row=${row}
            index=${view.first + i} is_open=${row === opened} row_class=${row_class} />`,
          row === opened && detail && html`<${DetailRow} key="detail-${row}" span=${span}
            onheight=${set_detail_px}>${detail(row)}<//>`,
        ])}
        <${Spacer} px=${below} span=${span} />
      </tbody>
    </table>
  </div>`;
}
