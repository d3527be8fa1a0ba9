// SPDX-License-Identifier: Apache-2.0
// Several candidates: all next to the base as bars and as a table; one is chosen for the detail
// below.
import { html, useMemo } from "../../base/ui.mjs";
import { frame_of, row_at, sort_rows } from "../../base/frame.mjs";
import { use_query } from "../../base/router.mjs";
import { percent_signed } from "../../base/format.mjs";
import { DeltaCell } from "../../charts/delta.mjs";
import { StackRows } from "../../charts/stack_rows.mjs";
import { Card } from "../../widgets/widgets.mjs";
import { Table } from "../../widgets/table.mjs";
import { use_compare_table } from "./compare_data.mjs";
import { candidate_rows, stacks_of } from "./many_model.mjs";
import { are_whole, interval_text, is_comparable, verdict_chip } from "./verdict_model.mjs";

function columns_of(frame, { chosen, onpick, whole }) {
  const at = (row) => row_at(frame, row);
  const scale_ns = Math.max(0, ...(frame.columns.size_ns ?? []));
  return [
    { key: "name", label: "Candidate", className: "name-cell", cell: (row) => html`<button
      type="button" class="link" aria-pressed=${at(row).at === chosen}
      onClick=${() => onpick(at(row).at)}>${at(row).cand}. ${at(row).name}</button>` },
    { key: "cand_runs", label: "Runs", kind: "count", priority: 2 },
    { key: "cand_step_ns", label: whole ? "Recording" : "Step p50", kind: "ms" },
    { key: "shift_share", label: "Shift", kind: "share", priority: 2, width_px: 150,
      help: "Relative difference from the base, its interval where there is one",
      cell: (row) => interval_text(at(row))
        ?? percent_signed(at(row).shift_share ?? at(row).delta_share) },
    { key: "verdict", label: "Verdict", priority: 2, cell: (row) => verdict_chip(at(row)) },
    { key: "matched", label: "Matched", kind: "share", priority: 4,
      help: "Device time matched by operator or better" },
    { key: "size_ns", label: "Difference", kind: "ms", cell: (row) => (is_comparable(at(row))
      ? html`<${DeltaCell} ns=${at(row).delta_ns} scale_ns=${scale_ns} />` : "–") },
  ];
}

/**
 * @param {{data: any, query: any, chosen: number, onpick: (at: number) => void}} props
 * `chosen` is the candidate shown in detail, from 0
 */
export function Candidates({ data, query, chosen, onpick }) {
  const [view, change] = use_query({ many_sort: "" });
  const { rows: bars } = use_compare_table(query, "waterfall", { level: "bar" });
  const stacks = useMemo(() => stacks_of(data, bars), [data, bars]);
  const frame = useMemo(() => frame_of(candidate_rows(data)), [data]);
  const order = useMemo(() => sort_rows(frame,
    Array.from({ length: frame.length }, (_, i) => i), view.many_sort), [frame, view.many_sort]);
  const whole = data.candidates.every(({ summary }) => are_whole(summary));
  const caption = `${whole ? "Recording" : "Mean step"} of each side; the line marks the base. `
    + "Select a candidate to see its details below.";
  return html`<${Card} title="Candidates"
      note=${whole ? "whole recordings; lower is better" : "per step; lower is better"}>
    ${stacks.length > 0 && html`<${StackRows} rows=${stacks} caption=${caption}
      chosen=${String(chosen)} onpick=${(key) => onpick(Number(key))} />`}
    <div class="many-table"><${Table} caption="Candidates" frame=${frame} rows=${order}
      columns=${columns_of(frame, { chosen, onpick, whole })} sort=${view.many_sort}
      onsort=${(sort) => change({ many_sort: sort })}
      row_class=${(row) => (row_at(frame, row).at === chosen ? "chosen" : "")} /></div><//>`;
}
