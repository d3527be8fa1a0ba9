// SPDX-License-Identifier: Apache-2.0
// The columns of the table of work; pure.
import { value_at } from "../../base/frame.mjs";
import { shapes_text } from "../../base/shapes_text.mjs";

/** What was computed; if there is no word for it, the shapes. */
const problem_of = (row, frame) =>
  value_at(frame, "problem", row) || shapes_text(value_at(frame, "dims", row)) || "–";

/** Their widths sum to what the card has at each width of the page. */
export const WORK_COLUMNS = [
  { key: "op", label: "Operator", width_px: 245 },
  { key: "problem", label: "Problem or shapes", className: "mono clip", width_px: 235,
    priority: 2, cell: problem_of },
  { key: "precision", label: "Precision", priority: 4, width_px: 84 },
  { key: "calls", label: "Calls", priority: 5 },
  { key: "busy_ns", label: "Time" },
  { key: "lost_ns", label: "Lost" },
  { key: "efficiency", label: "Efficiency", width_px: 92 },
  { key: "bound", label: "Bound", width_px: 84, priority: 3 },
  { key: "tflops", label: "Speed", priority: 3, width_px: 114 },
  { key: "tbps", label: "Traffic", priority: 4, width_px: 100 },
  { key: "intensity", label: "Intensity", priority: 4, width_px: 130 },
  { key: "median_ns", label: "p50", kind: "call", priority: 5, width_px: 78 },
];
