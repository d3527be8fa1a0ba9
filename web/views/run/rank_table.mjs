// SPDX-License-Identifier: Apache-2.0
// A card with one table of one rank: filter, sort kept in the address, rows that open, sums, links.
import { html, useEffect, useMemo, useState } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { filter_rows, frame_of, sort_rows, value_at } from "../../base/frame.mjs";
import { columns_for } from "../../base/values.mjs";
import { Card, ExportLinks, Loaded, SearchBox } from "../../widgets/widgets.mjs";
import { Table } from "../../widgets/table.mjs";
import { RowComments } from "../said/comments.mjs";
import { OpenName, RowDetail } from "./row_detail.mjs";
import { use_range } from "./range_line.mjs";
import { is_ranged, range_note, range_params, ranged_view, with_range } from "./range_model.mjs";
import { rank_table_links, use_rank_table } from "./rank_data.mjs";

/**
 * @typedef {{caption: string, columns: any[], sort: string, id?: string, search?: string[],
 *            opens?: boolean, labels?: Record<string, string>,
 *            short?: (name: string, row: number) => any,
 *            swatch?: (frame: any, row: number) => string, prose?: boolean, limit?: number,
 *            foot?: (frame: any, rows: number[]) => any,
 *            more?: (frame: any, row: number) => any,
 *            page?: (frame: any, row: number, run: string, rank: string) => string|null,
 *            keep?: (frame: any, row: number) => boolean, extra?: any, empty?: any}} TableView
 * `id` distinguishes the tables of a page in the address; `search` are the text columns to filter
 * by; `opens` makes the first column open a row's detail, which is code unless `prose`, with
 * `labels` besides those of the columns and `more` at its end; `page` is the address of a page
 * about what the first column names; rows beyond `limit` are shown on
 * demand.
 */

const NONE_WITHIN = html`<p class="empty-line">None within the range.</p>`;
const NO_ROWS = html`<p class="empty-line">No rows.</p>`;

/** The first column as a button that opens its row. */
function opening(view, frame, { run, rank, range, opened, set_opened }) {
  const [first] = view.columns;
  const text = (row) => value_at(frame, first.key, row) ?? "–";
  const cell = (row) => html`<${OpenName}
    page=${with_range(view.page?.(frame, row, run, rank), range)}
    text=${view.short?.(text(row), row) ?? text(row)}
    title=${text(row)} is_open=${opened === row} swatch=${view.swatch?.(frame, row)}
    prose=${view.prose}
    onopen=${() => set_opened(opened === row ? -1 : row)} />`;
  return { className: "kernel-cell", width_px: 300, ...first, cell };
}

function use_rows(frame, view, q, sort) {
  return useMemo(() => {
    const found = filter_rows(frame, { q, text: view.search ?? [] });
    const kept = view.keep ? found.filter((row) => view.keep(frame, row)) : found;
    return sort_rows(frame, kept, sort);
  }, [frame, q, sort, view.keep]);
}

/**
 * The table of a frame with everything around it.
 * @param {{frame: any, view: TableView, run?: string, rank?: string, said?: (name: string) => any}}
 *   props `said` has what people said about a row, by its first column
 */
export function RankTable({ frame, view, run, rank, said }) {
  const key = (name) => (view.id ? `${view.id}_${name}` : name);
  const [query, change] = use_query({ [key("q")]: "", [key("sort")]: view.sort });
  const [q, sort] = [query[key("q")], query[key("sort")]];
  const [range] = use_range();
  const [opened, set_opened] = useState(-1);
  const [whole, set_whole] = useState(false);
  const rows = use_rows(frame, view, q, sort);
  const shown = whole || !view.limit ? rows : rows.slice(0, view.limit);
  useEffect(() => set_opened(-1), [frame]);
  const first = view.columns[0].key;
  const labels = { ...Object.fromEntries(view.columns.map(({ key: name, label }) =>
    [name, label])), ...view.labels };
  const wanted = view.opens
    ? [opening(view, frame, { run, rank, range, opened, set_opened }), ...view.columns.slice(1)]
    : view.columns;
  const has_filter = view.search && frame.length > 5;
  return html`${(has_filter || view.extra) && html`<div class="filter-bar">
      ${has_filter && html`<${SearchBox} label="Filter ${view.caption.toLowerCase()}" value=${q}
        placeholder="Filter by name" oninput=${(text) =>
          change({ [key("q")]: text }, { replace: true })} />`}${view.extra}</div>`}
    <${Table} caption=${view.caption} frame=${frame} rows=${shown} sort=${sort} opened=${opened}
      columns=${columns_for(frame, wanted)} view=${q}
      onsort=${(next) => change({ [key("sort")]: next })}
      detail=${view.opens && ((row) => html`<${RowDetail} frame=${frame} row=${row}
        first=${first} prose=${view.prose} labels=${labels}
        more=${html`${view.more?.(frame, row)}${
          said?.(String(value_at(frame, first, row) ?? ""))}`}
        run=${run} rank=${rank} />`)}
      empty=${frame.length > 0 && html`<p class="empty-line">No row matches. <button type="button"
        class="link" onClick=${() => change({ [key("q")]: "" })}>Show all</button></p>`} />
    ${shown.length < rows.length && html`<p class="table-foot"><button type="button" class="link"
      onClick=${() => set_whole(true)}>Show all ${rows.length} rows</button></p>`}
    ${view.foot && rows.length > 0 && html`<p class="table-foot" role="status">${
      view.foot(frame, rows)}</p>`}`;
}

/**
 * Fetches the table, by the range in the address where it can be, and shows it in a card;
 * `view.empty` replaces a table without rows.
 * @param {{run: string, name: string, rank: string, title: string, note?: string,
 *          view: TableView, params?: any}} props
 */
export function RankTableCard({ run, name, rank, title, note, view, params: own }) {
  const [range] = use_range();
  const ranged = is_ranged(name, range);
  const params = { ...range_params(name, range), ...own };
  const resource = use_rank_table(run, name, rank, params);
  const frame = useMemo(() => frame_of(resource.data), [resource.data]);
  const links = html`<${ExportLinks} links=${rank_table_links(run, name, rank, params)} />`;
  const said = (row_name) => html`<${RowComments} run=${run} place="${name}/${row_name}" />`;
  return html`<${Card} title=${title} flush=${true}
      note=${own?.range ? note : range_note(name, range, note)}
      actions=${frame.length > 0 && links}>
    <${Loaded} resource=${resource}>${() => (frame.length === 0
      ? html`<div class="card-empty">${ranged && !own?.range ? NONE_WITHIN
        : view.empty ?? NO_ROWS}</div>`
      : html`<${RankTable} frame=${frame} view=${ranged ? ranged_view(view) : view} run=${run}
          rank=${rank} said=${said} />`)}<//><//>`;
}

/**
 * A table of the run in a card; nothing without rows.
 * @param {{title: string, note?: string, view: TableView,
 *          table: ReturnType<typeof import("./run_table.mjs").use_table>}} props
 */
export function RunTableCard({ title, note, table, view }) {
  if (table.rows.length === 0) return null;
  return html`<${Card} title=${title} note=${note} flush=${true}
      actions=${html`<${ExportLinks} links=${table.links} />`}>
    <${RankTable} frame=${table.frame} view=${view} /><//>`;
}
