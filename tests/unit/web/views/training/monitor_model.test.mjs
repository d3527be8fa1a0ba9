// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { busy_lane, gpu_name, gpu_series, joined_text, monitor_text, rank_series }
  from "../../../../../web/views/training/monitor_model.mjs";

const monitor = (gpu, more = {}) => ({ file: "smi.csv", host: null, gpu, part: null, samples: 100,
  idle_share: 0, throttled_share: null, throttle_reason: null, throttled_mhz: null,
  free_mhz: null, ...more });

test("the GPU that was throttled most leads, with its clock", () => {
  const text = monitor_text([monitor(0, { throttled_share: 0.1, throttle_reason: "heat" }),
    monitor(3, { throttled_share: 0.37, throttle_reason: "power cap", throttled_mhz: 1410,
      free_mhz: 1980 })]);
  assert.equal(text, "GPU 3 was throttled for 37.0 % of the time by power cap, at 1,410 MHz "
    + "instead of 1,980 MHz, and 1 other GPU less");
});

test("a GPU that idles while others of its file work is named", () => {
  assert.match(monitor_text([monitor(0), monitor(1, { idle_share: 0.8 })]),
    /^GPU 1 was idle for 80.0 % of the time while others worked$/);
  assert.equal(monitor_text([monitor(0), monitor(1, { idle_share: 1, file: "other.csv" })]),
    "2 GPUs", "another machine's may rest");
  assert.equal(monitor_text([monitor(0), monitor(1, { idle_share: 1, samples: 2 })]), "2 GPUs");
});

test("that nothing was throttled is said only where it was recorded", () => {
  assert.equal(monitor_text([monitor(0)]), "1 GPU");
  assert.equal(monitor_text([monitor(0, { throttled_share: 0 })]), "1 GPU, never throttled");
  const sampled = { idle_share: 1, samples: 1 };
  const says = (list) => monitor_text(list).replace(/\s/gu, " ");
  assert.equal(says([monitor(0, { ...sampled, power_w: 70 }), monitor(1, { ...sampled,
    power_w: 80 })]),
  "2 GPUs drew 75.0 W each on average, from 70.0 W (GPU 0) to 80.0 W (GPU 1), idle nearly all "
    + "the time, each sampled once");
  assert.equal(says([monitor(0, { power_w: 70 }), monitor(1, { power_w: 72 }), monitor(2)]),
    "3 GPUs, of which 2 drew 71.0 W each on average");
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

test("a rank's monitor is on the time of its trace, under the busy time", () => {
  const row = (file, time_ns, power_w) => ({ file, device: "0", time_ns, power_w });
  assert.deepEqual(rank_series([row("a", -5, 1), row("a", 5, 2), row("b", 0, 7)],
    { key: "power_w" }).map(({ label, points }) => [label, points.map(({ x, y }) => [x, y])]),
  [["a", [[-5, 1], [5, 2]]], ["b", [[0, 7]]]]);
  assert.deepEqual(busy_lane([{ time_ns: 0, busy_ns: 5 }, { time_ns: 10, busy_ns: 10 }]),
    [{ from: 0, to: 10, share: 0.5 }, { from: 10, to: 20, share: 1 }]);
  assert.deepEqual(busy_lane([]), []);
});

test("how GPU and time were found is said, with the zone", () => {
  const row = { rank: 1, gpu: 3, joined_by: "index", aligned_by: "zone", match_r: null,
    zone_ns: -3.5 * 3.6e12 };
  assert.equal(joined_text(row), "Rank 1 ran on GPU 3 (matched by index); clocks aligned by time "
    + "zone (UTC-3.5)");
  assert.match(joined_text({ ...row, zone_ns: null, match_r: 0.968 }), /correlate with r = 0.97$/);
});
