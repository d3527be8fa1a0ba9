// SPDX-License-Identifier: Apache-2.0
// The parity ledger as people read it: whose work a gap is, and what it sums to; pure.
import { shapes_text, types_text } from "../../base/shapes_text.mjs";

const sum = (rows, key) => rows.reduce((total, row) => total + (row[key] ?? 0), 0);

/** Sums of the ledger; `behind_ns`: what each side would save with the other's software. */
export function parity_sums(rows) {
  const of = (side) => sum(rows.filter(({ behind }) => behind === side), "shortfall_ns");
  return {
    delta_ns: sum(rows, "delta_ns"),
    calls_ns: sum(rows, "calls_ns"),
    hardware_ns: sum(rows, "hardware_ns"),
    software_ns: sum(rows, "software_ns"),
    unattributed_ns: sum(rows, "unattributed_ns"),
    behind_ns: { base: of("base"), candidate: of("candidate") },
  };
}

/** Whether any gap is attributed: without peaks and shapes there is no ledger. */
export const has_ledger = (rows) => rows.some(({ software_ns }) => software_ns !== null);

/** "aten::mm", else its kernel; the row of all others says so. */
const parity_name = ({ op, waterfall, base_kernel }) =>
  op ?? (waterfall === null ? "All other operators" : base_kernel ?? "a kernel of the candidate");

/** "141×512, 512×512 · BFloat16", or "". */
export function inputs_text({ dims, types }) {
  if (!dims) return "";
  const words = types ? [...new Set(types_text(types).split(", "))]
    .filter((word) => word !== "–" && !/^(Scalar|Tensor|Generic)/.test(word)) : [];
  return [shapes_text(dims), words.join(", ")].filter(Boolean).join(" · ");
}

/** Rows as the table sorts them: by what can be saved, then by the gap that is not attributed. */
export const ledger_rows = (rows) => rows.map((row, order) => ({
  ...row, order, name: parity_name(row), inputs: inputs_text(row),
}));
