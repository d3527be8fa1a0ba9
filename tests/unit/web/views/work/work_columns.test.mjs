// SPDX-License-Identifier: Apache-2.0
// The table of work fits its card, long or short, so that its last head is not cut.
import assert from "node:assert/strict";
import test from "node:test";
import { LEFT_OUT_PX } from "../../../../../web/base/hooks.mjs";
import { columns_for } from "../../../../../web/base/values.mjs";
import { width_of } from "../../../../../web/widgets/table.mjs";
import { step_column } from "../../../../../web/views/work/kernel_rows.mjs";
import { WORK_COLUMNS } from "../../../../../web/views/work/work_columns.mjs";

const UNITS = { calls: "count", busy_ns: "ns", lost_ns: "ns", efficiency: "share",
  tflops: "TFLOP/s", tbps: "TB/s", intensity: "FLOP/B" };
const AROUND_PX = 2 * 24 + 2 + 15; // of the page, the card and a long table's scroll bar
const MOST_PX = 1560; // of the page

test("the widths of a long table of work sum to no more than its card, on usual screens", () => {
  const keys = WORK_COLUMNS.map(({ key }) => key);
  const frame = { length: 1, units: UNITS, help: {},
    columns: Object.fromEntries(keys.map((key) => [key, [key in UNITS ? 1 : "a"]])) };
  const columns = columns_for(frame, WORK_COLUMNS);
  for (const page of [1366, 1440, 1512, 1600, 1920]) {
    const shown = columns.filter(({ priority }) => !(page <= LEFT_OUT_PX[priority]));
    const wide = shown.reduce((sum, column) => sum + width_of(
      column.kind === "call" ? { ...column, kind: "ms" } : column), 0);
    assert.ok(wide <= Math.min(page, MOST_PX) - AROUND_PX, `${wide} on ${page} pixels`);
  }
});

test("beside shares of all ranks, a time of the typical one says so", () => {
  assert.deepEqual([[false, false], [false, true], [true, false], [true, true]].map((of) =>
    step_column(...of).label), ["Per step", "Typical rank/step", "Time", "Typical rank"]);
});
