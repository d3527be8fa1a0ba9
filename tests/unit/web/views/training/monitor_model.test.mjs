// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { gpu_name, gpu_series, monitor_text }
  from "../../../../../web/views/training/monitor_model.mjs";

const monitor = (gpu, more = {}) => ({ file: "smi.csv", host: null, gpu, part: null, samples: 100,
  idle_share: 0, throttled_share: null, throttle_reason: null, throttled_mhz: null,
  free_mhz: null, ...more });

test("the GPU that was held down most leads, with its clock", () => {
  const text = monitor_text([monitor(0, { throttled_share: 0.1, throttle_reason: "heat" }),
    monitor(3, { throttled_share: 0.37, throttle_reason: "power cap", throttled_mhz: 1410,
      free_mhz: 1980 })]);
  assert.equal(text, "GPU 3 was held down for 37.0 % of the time by power cap, at 1,410 MHz "
    + "instead of 1,980 MHz, and 1 other GPU less");
});

test("a GPU that idles while others of its file work is named", () => {
  assert.match(monitor_text([monitor(0), monitor(1, { idle_share: 0.8 })]),
    /^GPU 1 was idle for 80.0 % of the time while others worked$/);
  assert.equal(monitor_text([monitor(0), monitor(1, { idle_share: 1, file: "other.csv" })]),
    "2 GPUs", "another machine's may rest");
  assert.equal(monitor_text([monitor(0), monitor(1, { idle_share: 1, samples: 2 })]), "2 GPUs");
});

test("that nothing was held down is said only where it was recorded", () => {
  assert.equal(monitor_text([monitor(0)]), "1 GPU");
  assert.equal(monitor_text([monitor(0, { throttled_share: 0 })]), "1 GPU, never held down");
});

test("each GPU of each host has a line", () => {
  const row = (host, gpu, time_ns, power_w) => ({ file: "f", host, gpu, part: null, time_ns,
    power_w });
  const series = gpu_series([row("a", 0, 0, 1), row("b", 0, 0, 5), row("a", 0, 9, 2)],
    { key: "power_w" });
  assert.deepEqual(series.map(({ label, points }) => [label, points.map(({ y }) => y)]),
    [["GPU 0 of a", [1, 2]], ["GPU 0 of b", [5]]]);
  assert.equal(gpu_name({ host: null, gpu: null, part: "GPU-I 2" }), "GPU ? GPU-I 2");
});
