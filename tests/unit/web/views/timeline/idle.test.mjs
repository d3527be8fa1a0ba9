// SPDX-License-Identifier: Apache-2.0
// Idle time by cause.
import assert from "node:assert/strict";
import test from "node:test";
import { causes_of, devices_of, idle_sums, recorded }
  from "../../../../../web/views/timeline/idle_model.mjs";

const causes = [
  { device: null, cause: "gpu_wait", bar: "idle_other", total_ns: 30, window_share: 0.3, gaps: 2,
    steady_ns: 20 },
  { device: null, cause: "host_busy", bar: "idle_host_wait", total_ns: 50, window_share: 0.5,
    gaps: 4, steady_ns: 35 },
  { device: null, cause: "none", bar: "idle_other", total_ns: 0, window_share: 0, gaps: 0 },
  { device: "0", cause: "host_busy", bar: "idle_host_wait", total_ns: 70, window_share: 0.7,
    gaps: 9 },
];

test("causes of one device come by time and sum to its idle time", () => {
  assert.deepEqual(devices_of(causes), ["", "0"]);
  const merged = causes_of(causes, "");
  assert.deepEqual(merged.map(({ cause }) => cause), ["host_busy", "gpu_wait"]);
  assert.deepEqual(idle_sums(merged), { idle_ns: 80, steady_ns: 55, share: 0.8, gaps: 6,
    host_ns: 50 });
  const gap = { cause: "unrecorded", bar: "unrecorded", total_ns: 9, window_share: 0.1, gaps: 1 };
  assert.deepEqual(recorded([...merged, gap]), merged, "no cause of idle time");
  assert.deepEqual(idle_sums([]), { idle_ns: 0, steady_ns: 0, share: 0, gaps: 0, host_ns: 0 });
});
