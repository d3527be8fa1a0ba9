// SPDX-License-Identifier: Apache-2.0
// Ranks as rows: median step, distance from the others, and where each one's step goes.
import { html, useMemo } from "../../base/ui.mjs";
import { frame_of, value_at, row_at } from "../../base/frame.mjs";
import { percent_signed, time_signed } from "../../base/format.mjs";
import { MiniStack } from "../../charts/stack.mjs";
import { tone_of } from "../../charts/delta.mjs";
import { Table } from "../../widgets/table.mjs";

/** Lower median; null without values. @param {number[]} values */
function middle(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1] ?? null;
}

function marks_of(frame, row, slowest) {
  const marks = [];
  if (value_at(frame, "headline", row)) marks.push("typical");
  if (value_at(frame, "rank", row) === slowest) marks.push("slowest");
  return marks;
}

/** How far a rank's step is from the ranks' median; no color if it rounds to nothing. */
function Away({ step_ns, of_ns }) {
  if (step_ns === null) return "–";
  const ns = step_ns - of_ns;
  const share = ns / (of_ns || 1);
  return html`<span class=${Math.abs(share) < 0.0005 ? "faint" : tone_of(ns)}
    title="${time_signed(ns)}">${percent_signed(share)}</span>`;
}

function brief_columns(frame, { slowest, scale_ns, median_ns, whole }) {
  return [
    { key: "rank", label: "Rank", width_px: 150, cell: (row) => html`${
      value_at(frame, "rank", row) ?? "–"}${marks_of(frame, row, slowest).map((mark) =>
        html`<span class="chip" key=${mark}>${mark}</span>`)}` },
    { key: "step_median_ns", label: whole ? "Recording" : "Step p50", kind: "ms", width_px: 98 },
    { key: "away", label: "Against median", kind: "number", sort: false, priority: 2,
      width_px: 120, cell: (row) => html`<${Away} of_ns=${median_ns}
        step_ns=${value_at(frame, "step_median_ns", row)} />` },
    { key: "parts", label: whole ? "Breakdown" : "Step breakdown", className: "stack-cell",
      sort: false, width_px: 260, cell: (row) => html`<${MiniStack} row=${row_at(frame, row)}
        scale_ns=${scale_ns} />` },
  ];
}

const MORE = [
  { key: "step_p95_ns", label: "Step p95", kind: "ms", priority: 3, of_steps: true },
  { key: "compute_ns", label: "Compute", kind: "ms", priority: 3 },
  { key: "exposed_comm_ns", label: "Exposed comm", kind: "ms", priority: 2, width_px: 124 },
  { key: "exposed_memory_ns", label: "Exposed copies", kind: "ms", priority: 5, width_px: 130 },
  { key: "idle_host_wait_ns", label: "Host wait", kind: "ms", priority: 3, width_px: 102 },
  { key: "idle_other_ns", label: "Idle other", kind: "ms", priority: 4, width_px: 102 },
  { key: "unrecorded_ns", label: "Unrecorded", kind: "ms", priority: 5, width_px: 108 },
  { key: "steady_steps", label: "Steps", kind: "count", priority: 4, of_steps: true },
  { key: "gpu", label: "GPU", priority: 5, width_px: 170, className: "clip" },
];

/**
 * @param {{reply: any, slowest: number|null, brief?: boolean, limit?: number, rows?: number[],
 *          sort?: string, onsort?: (sort: string) => void, whole?: boolean}} props
 * With a limit, the ranks with the longest steps; `whole`: no step is marked.
 */
export function RankRows({ reply, slowest, brief = false, limit, rows, sort, onsort,
  whole = false }) {
  const frame = useMemo(() => frame_of(reply), [reply]);
  const scale_ns = Math.max(1, ...(frame.columns.window_ns ?? [0]));
  const shown = useMemo(() => {
    if (!limit || frame.length <= limit) return rows;
    const step = frame.columns.step_median_ns;
    return Array.from({ length: frame.length }, (_, i) => i)
      .sort((a, b) => step[b] - step[a])
      .slice(0, limit);
  }, [frame, limit, rows]);
  const measured = (frame.columns.step_median_ns ?? []).filter((ns) => ns !== null);
  const marked = measured.length > 1 ? slowest : undefined; // a single rank is not the slowest
  const columns = brief_columns(frame, { slowest: marked, scale_ns, whole,
    median_ns: middle(measured) });
  const more = MORE.filter(({ of_steps }) => !(of_steps && whole));
  return html`<${Table} caption="Ranks" frame=${frame} rows=${shown} sort=${sort} onsort=${onsort}
      view=${sort} columns=${brief ? columns : [...columns, ...more]} />
    ${limit && frame.length > limit && html`<p class="empty-line">The ${limit} slowest of ${
      frame.length} ranks.</p>`}`;
}
