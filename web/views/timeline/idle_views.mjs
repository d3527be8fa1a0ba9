// SPDX-License-Identifier: Apache-2.0
// The columns of the tables about gaps, streams, queues and launches.
import { html } from "../../base/ui.mjs";
import { value_at } from "../../base/frame.mjs";
import { cause_label } from "../../base/values.mjs";
import { KernelLink, OpLink } from "../../widgets/kernel_text.mjs";

const kernel_cell = (key, run) => (row, frame) =>
  html`<${KernelLink} run=${run} name=${value_at(frame, key, row)} />`;

const EMPTY_STREAMS = html`<p class="empty-line">No stream has two events with a gap
  between them.</p>`;

/**
 * The longest gaps of a run.
 * @param {string} run @param {string} rank @param {boolean} whole no step is marked
 */
export const gaps_view = (run, rank, whole) => ({
  id: "gaps",
  caption: "Longest gaps",
  sort: "-dur_ns",
  search: ["cause", "host_event", "before", "after", "after_op"],
  opens: true,
  short: cause_label,
  prose: true,
  limit: 25,
  empty: html`<p class="empty-line">There are no gaps.</p>`,
  columns: [
    { key: "cause", label: "Cause", width_px: 190, className: "cause-cell" },
    { key: "dur_ns", label: "Length" },
    { key: "begin_ns", label: "Start", priority: 2 },
    ...(whole ? [] : [{ key: "step", label: "Step", priority: 4 }]),
    { key: "host_event", label: "On the host", className: "mono clip short", width_px: 250 },
    { key: "host_kind", label: "Kind", priority: 4 },
    { key: "before", label: "Before", className: "mono clip short", width_px: 190, priority: 4,
      cell: kernel_cell("before", run) },
    { key: "after", label: "After", className: "mono clip short", width_px: 190, priority: 2,
      cell: kernel_cell("after", run) },
    { key: "after_op", label: "Launched by", className: "mono clip short", width_px: 160,
      priority: 4, cell: (row, frame) => html`<${OpLink} run=${run} rank=${rank}
        name=${value_at(frame, "after_op", row)} />` },
    { key: "launch_delay_ns", label: "Delay", priority: 3 },
  ],
});

export const STREAM_IDLE = {
  id: "streams",
  caption: "Idle time of streams",
  sort: "-idle_ns",
  empty: EMPTY_STREAMS,
  columns: [
    { key: "stream", label: "Stream", kind: "text" },
    { key: "device", label: "Device", kind: "text", priority: 4 },
    { key: "category", label: "Kind", cell: (row, frame) =>
      cause_label(value_at(frame, "category", row)) },
    { key: "idle_ns", label: "Idle" },
    { key: "idle_share", label: "Share" },
    { key: "gaps", label: "Gaps", priority: 2 },
    { key: "median_ns", label: "p50", kind: "call", priority: 2 },
    { key: "max_ns", label: "Max", kind: "call", priority: 4 },
  ],
};

export const QUEUES = {
  id: "queues",
  caption: "Queues of streams",
  sort: "-launches",
  columns: [
    { key: "stream", label: "Stream", kind: "text" },
    { key: "device", label: "Device", kind: "text", priority: 4 },
    { key: "launches", label: "Launches" },
    { key: "mean", label: "Mean", kind: "number" },
    { key: "median", label: "p50", priority: 2 },
    { key: "p95", label: "p95" },
    { key: "max", label: "Max", priority: 2 },
    { key: "empty_share", label: "Empty" },
    { key: "full_ns", label: "Full", priority: 4 },
  ],
};

export const LAUNCH_DELAYS = {
  id: "launches",
  caption: "Launch delays",
  sort: "-launches",
  columns: [
    { key: "call", label: "Call", className: "mono" },
    { key: "launches", label: "Launches" },
    { key: "call_median_ns", label: "Call p50", priority: 2 },
    { key: "call_p95_ns", label: "Call p95", priority: 2 },
    { key: "delay_median_ns", label: "Delay p50" },
    { key: "delay_p95_ns", label: "Delay p95", priority: 2 },
    { key: "start_median_ns", label: "Start p50", priority: 4 },
    { key: "slow_calls", label: "Slow calls", priority: 4 },
    { key: "long_delays", label: "Long delays", priority: 4 },
  ],
};
