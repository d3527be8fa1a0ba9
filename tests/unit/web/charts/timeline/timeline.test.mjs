// SPDX-License-Identifier: Apache-2.0
// The timeline's arithmetic: zoom and pan, ticks, windows, rows and lanes, what is under a point,
// what a span sums to.
import assert from "node:assert/strict";
import test from "node:test";
import * as model from "../../../../../web/charts/timeline/timeline_model.mjs";
import { common, is_in_step, module_in, moved, moved_pin, moves_of }
  from "../../../../../web/charts/timeline/timeline_align.mjs";
import { arrows_of, middle_of, pin_of_placed }
  from "../../../../../web/charts/timeline/timeline_links.mjs";
import { marks_of, marks_text }
  from "../../../../../web/charts/timeline/timeline_marks_model.mjs";
import * as sums from "../../../../../web/charts/timeline/timeline_sums.mjs";
import * as views from "../../../../../web/charts/timeline/timeline_view.mjs";
import { action_of } from "../../../../../web/charts/timeline/timeline_keys.mjs";
import { create_motion } from "../../../../../web/charts/timeline/timeline_motion.mjs";
import { length_text, slice_text } from "../../../../../web/charts/timeline/timeline_text.mjs";
import { match_path, timeline_path } from "../../../../../web/base/address.mjs";

const BOUNDS = { from: 0, to: 1_000_000 };
const span = (from, to) => ({ from, to });

/** A reply with two rows on a thread, a stream, and an idle thread. */
function reply(more = {}) {
  const rows = [ // lane, row, begin, dur, name, class, count, busy
    [0, 0, 500, 100, 0, 0, 1, 100],
    [0, 0, 100, 300, 1, 1, 7, 150],
    [1, 1, 150, 50, 3, 3, 1, 50],
    [1, 0, 100, 400, 2, 2, 1, 400],
    [0, 0, 700, 50, 0, 0, 1, 50],
  ];
  const [lane, row, begin_ns, dur_ns, name, class_, count, busy_ns] =
    Array.from({ length: 8 }, (_, k) => rows.map((one) => one[k]));
  return {
    rank: 0, begin_ns: 0, end_ns: 1_000_000, from_ns: 0, to_ns: 1000, resolution_ns: 2,
    lanes: [{ name: "stream 7", kind: "stream", process: "0", thread: "7", rows: 1 },
      { name: "main", kind: "thread", process: "1", thread: "1", rows: 2 },
      { name: "idle a", kind: "thread", process: "1", thread: "2", rows: 1 },
      { name: "idle b", kind: "thread", process: "1", thread: "3", rows: 1 }],
    names: ["gemm_kernel", "ncclDevKernel", "aten::mm", "cudaLaunchKernel"],
    classes: ["GEMM", "communication", "cpu_op", "cuda_runtime"],
    slices: { lane, row, begin_ns, dur_ns, name, class: class_, count, busy_ns },
    steps: [{ number: 3, begin_ns: 0, end_ns: 800 }], ...more,
  };
}
const data = model.pack(reply());

test("a lane's name on a narrow screen starts with what sets it apart", () => {
  const { short_lane } = model;
  assert.equal(short_lane("GPU 2 stream 20"), "stream 20");
  assert.equal(short_lane("thread 2542 (python3) frames"), "python3 2542 frames");
  assert.equal(short_lane("thread 7"), "thread 7");
});
const all = data.lanes.map(() => true);

test("zooming keeps the instant under the pointer where it is", () => {
  const before = span(200_000, 600_000);
  for (const at of [200_000, 300_000, 600_000]) {
    const after = views.zoom_view(before, at, 0.5, BOUNDS);
    assert.equal(views.span_of(after), 200_000);
    assert.equal((at - after.from) / 200_000, (at - before.from) / 400_000);
  }
});

test("zooming stops at the whole trace and at the shortest span", () => {
  assert.deepEqual(views.zoom_view(span(10, 900_000), 500, 8, BOUNDS), BOUNDS);
  const deep = views.zoom_view(span(1000, 1150), 1100, 0.01, BOUNDS);
  assert.equal(views.span_of(deep), views.MIN_SPAN_NS);
  assert.ok(deep.from <= 1100 && deep.to >= 1100);
});

test("panning stops at the ends without changing the span", () => {
  assert.deepEqual(views.pan_view(span(100, 600), -5000, BOUNDS), span(0, 500));
  assert.deepEqual(views.pan_view(span(100, 600), 5e9, BOUNDS), span(999_500, 1_000_000));
  assert.deepEqual(views.pan_view(span(100, 600), 50, BOUNDS), span(150, 650));
});

test("a slice out of sight is brought into it by the least move", () => {
  const view = span(1000, 2000);
  assert.equal(views.view_showing(view, span(1200, 1300), BOUNDS), view);
  assert.equal(views.view_showing(view, span(500, 5000), BOUNDS).from, 400);
  const right = views.view_showing(view, span(3000, 3100), BOUNDS);
  assert.ok(right.from <= 3000 && right.to >= 3100 && right.to < 3300);
});

test("ticks are round, lie in the view, and are written in as many decimals as they need", () => {
  assert.deepEqual(views.axis_ticks(span(0, 10_000_000), 550).map(({ label }) => label),
    ["0", "2", "4", "6", "8", "10"]);
  const deep = views.axis_ticks(span(5_000_010, 5_000_110), 500);
  assert.equal(deep[0].label, "5.00005");
  assert.ok(deep.every(({ ns }) => ns >= 5_000_010 && ns <= 5_000_110));
  const labels = views.axis_ticks(span(0, 777_777), 1200).map(({ label }) => label);
  assert.equal(new Set(labels).size, labels.length, "no two ticks read the same");
});

test("the window asked for covers the view with margins and is shared by neighbors", () => {
  const view = span(400_000, 500_000);
  const window = views.window_for(view, 1000, BOUNDS);
  assert.ok(window.from <= 350_000 && window.to >= 550_000);
  assert.deepEqual(views.window_for(views.pan_view(view, 100, BOUNDS), 1000, BOUNDS), window);
  assert.equal(views.window_for(span(0, 1000), 1000, BOUNDS).from, 0);
});

test("a window that was asked for is enough, also after small moves", () => {
  const bounds = span(0, 1e9);
  for (const width of [120, 700, 1400, 2560, 3840]) {
    for (const view of [span(4e8, 4.3e8), span(5e8, 5e8 + 12_345), span(0, 1e6)]) {
      const { from, to, px } = views.window_for(view, width, bounds);
      // As computed by the server.
      const resolution_ns = Math.ceil((to - from) / Math.floor((px - 4) / 2));
      const window = { from, to, resolution_ns, has_merged: true };
      const moved = views.pan_view(view, 0.4 * views.span_of(view), bounds);
      assert.ok(px <= 8192);
      assert.ok(views.is_enough(window, view, width), `${width} pixels`);
      assert.ok(views.is_enough(window, moved, width), `${width} pixels, moved`);
      assert.ok(!views.is_enough(window, views.zoom_view(view, view.from, 0.5, bounds), width));
    }
  }
});

test("the finest window that is enough is shown, else the one that covers most", () => {
  const window = (from, to, resolution_ns) => ({ from, to, resolution_ns, has_merged: true });
  const coarse = window(0, 1_000_000, 1000);
  const fine = window(0, 2000, 2);
  assert.deepEqual(views.best_window([coarse, fine], span(0, 1000), 500),
    { data: fine, enough: true });
  assert.deepEqual(views.best_window([coarse, fine], span(0, 100), 500),
    { data: fine, enough: false });
  assert.deepEqual(views.best_window([coarse, fine], span(5000, 6000), 500),
    { data: coarse, enough: false });
  const exact = { ...coarse, has_merged: false };
  assert.equal(views.best_window([exact], span(5000, 6000), 500).enough, true);
});

test("a span in an address is read back, and nothing else is a span", () => {
  assert.deepEqual(views.parse_view("5", "900"), span(5, 900));
  for (const text of ["", "5", "9-5", "a-b", "-1-5", "1.5-2", "5-5"]) {
    assert.equal(views.parse_span(text), null, text);
  }
});

test("slices are sorted by row and begin, whatever order they come in", () => {
  assert.deepEqual([...data.begin], [100, 500, 700, 100, 150]);
  assert.deepEqual([...data.starts], [0, 3, 4, 5, 5, 5]);
  assert.equal(data.has_merged, true);
});

test("colors follow the class on streams, and the kind of event on threads", () => {
  const tint = (kind, name) => model.TINTS[model.tint_of(kind, name)].key;
  assert.deepEqual(["GEMM", "communication", "copy", "elementwise"].map((name) =>
    tint("stream", name)), ["gemm", "exposed_comm", "exposed_memory", "other_compute"]);
  assert.deepEqual(["cpu_op", "cuda_runtime", "python_function", "user_annotation"].map((name) =>
    tint("thread", name)), ["operator", "call", "frame", "annotation"]);
});

test("rows that a window does not show still have their place", () => {
  const shallow = reply();
  shallow.lanes[0].rows = 0;
  const deep = reply();
  deep.lanes[0].rows = 3;
  assert.deepEqual(model.pack(shallow, model.pack(deep)).first_row, [0, 3, 5, 6, 7]);
});

test("times of tables count from the first device work, which steps tell exactly", () => {
  assert.equal(model.device_begin(data, []), 100);
  assert.equal(model.device_begin(data, [{ step: 3, begin_ns: -40 }]), 40);
});

test("lanes lie below each other, rows of nesting within, idle neighbors in one line", () => {
  const busy = model.busy_lanes(data, data);
  assert.deepEqual(busy, [true, true, false, false]);
  const { bands, height } = model.layout_lanes(data.lanes, busy, new Set());
  assert.deepEqual(bands.map(({ kind, lanes }) => [kind, lanes]),
    [["lane", [0]], ["lane", [1]], ["idle", [2, 3]]]);
  bands.forEach((band, i) => assert.equal(band.y, i ? bands[i - 1].y + bands[i - 1].height : 0));
  assert.equal(height, bands.at(-1).y + bands.at(-1).height);
});

test("a lane closes to one row, an idle line opens to its lanes and can be folded again", () => {
  const busy = model.busy_lanes(data, data);
  const key = model.lane_key(data.lanes[1]);
  const idle = model.layout_lanes(data.lanes, busy, new Set()).bands[2].key;
  const { bands } = model.layout_lanes(data.lanes, busy, new Set([key, idle]));
  assert.equal(bands[1].rows, 1);
  assert.deepEqual(bands.slice(2).map(({ kind, key: own }) => [kind, own]), [["idle", idle],
    ["lane", "thread:1:2:idle a"],
    ["lane", "thread:1:3:idle b"]]);
});

test("a point finds its slice, a near miss the nearest, the rest nothing", () => {
  const layout = model.layout_lanes(data.lanes, all, new Set());
  const [stream, main] = layout.bands;
  const y = (band, row) => model.row_top(band, row) + 3;
  assert.equal(model.hit(data, layout, y(stream, 0), 550, 1), 1);
  assert.equal(model.hit(data, layout, y(stream, 0), 601, 1), 1);
  assert.equal(model.hit(data, layout, y(stream, 0), 650, 1), -1);
  assert.equal(model.hit(data, layout, y(main, 1), 160, 1), 4);
  assert.equal(model.hit(data, layout, y(main, 1), 300, 1), -1);
  assert.equal(model.hit(data, layout, -5, 160, 1), -1);
});

test("the keyboard goes from slice to slice and from row to row, and stops at the ends", () => {
  const layout = model.layout_lanes(data.lanes, all, new Set());
  assert.equal(model.first_slice(data, layout, 650), 2);
  assert.equal(model.neighbor(data, 0, 1), 1);
  assert.equal(model.neighbor(data, 2, 1), 2, "not into the next row");
  assert.equal(model.neighbor(data, 0, -1), 0);
  assert.equal(model.neighbor_row(data, layout, 0, 1, 250), 3);
  assert.equal(model.neighbor_row(data, layout, 3, 1, 250), 4);
  assert.equal(model.neighbor_row(data, layout, 4, 1, 250), 4, "no row without slices");
  assert.deepEqual(action_of({ key: "W" }), action_of({ key: "w" }));
  assert.equal(action_of({ key: "w", ctrlKey: true }), null);
  assert.equal(action_of({ key: "toString" }), null);
});

test("a slice in an address is found again, and a broken one is none", () => {
  for (let i = 0; i < data.length; i++) {
    assert.equal(model.find_pin(data, model.pin_of(model.slice_of(data, i))), i);
  }
  for (const pin of ["", "9.0.100", "0.9.100", "0.0.99999", "x"]) {
    assert.equal(model.find_pin(data, pin), -1, pin);
  }
});

test("a selection sums what lies within it, merged slices by their busy time", () => {
  const { classes, names, merged, count } = sums.sum_span(data, span(100, 550), true);
  assert.deepEqual(classes.map(({ name, ns }) => [name, ns]),
    [["communication", 150], ["GEMM", 50]]);
  assert.deepEqual(names.map(({ name }) => name), ["ncclDevKernel", "gemm_kernel"]);
  assert.deepEqual([merged, count], [7, 8]);
  const host = sums.sum_span(data, span(0, 1000), false);
  assert.deepEqual(host.names.map(({ name, ns }) => [name, ns]),
    [["aten::mm", 400], ["cudaLaunchKernel", 50]]);
  assert.equal(sums.sum_span(data, span(800, 900), true).count, 0);
});

test("the longest slices are listed one by one, longest first, no more than asked for", () => {
  assert.deepEqual(sums.longest_in(data, span(0, 1000), true), [1, 2]);
  assert.deepEqual(sums.longest_in(data, span(0, 1000), true, 1), [1]);
  assert.deepEqual(sums.longest_in(data, span(0, 50), true), []);
});

test("a movement is one entry of the history, reported when it pauses and when it ends", (t) => {
  t.mock.timers.enable(); // not a list: how it prints differs between versions of Node
  const reported = [];
  const motion = create_motion({ view: span(0, 1000), redraw: () => {},
    onview: (view, replace) => reported.push([view, replace]) });
  motion.bounds = BOUNDS;
  motion.start();
  motion.pan(100);
  motion.pan(100);
  assert.equal(reported.length, 0);
  t.mock.timers.tick(200);
  motion.pan(50);
  motion.end();
  motion.end();
  assert.deepEqual(reported, [[span(200, 1200), false], [span(250, 1250), true]]);
  motion.adopt(span(250, 1250));
  motion.go(span(5000, 6000));
  assert.deepEqual(reported.at(-1), [span(5000, 6000), false]);
  motion.adopt(span(200, 1200));
  assert.deepEqual(motion.view, span(200, 1200));
});

test("a timeline that follows another does not go back to what that reported before", (t) => {
  t.mock.timers.enable();
  const follower = create_motion({ view: span(0, 1000), redraw: () => {}, onview: assert.fail });
  const leader = create_motion({ view: span(0, 1000), redraw: () => {}, onview: () => {} });
  leader.bounds = BOUNDS;
  leader.onmove = follower.follow;
  leader.pan(100);
  t.mock.timers.tick(200);
  leader.pan(50);
  follower.adopt(span(100, 1100));
  assert.deepEqual(follower.view, span(150, 1150));
  leader.end();
  follower.adopt(span(150, 1150));
  assert.deepEqual(follower.view, span(150, 1150));
  follower.adopt(span(0, 1000));
  assert.deepEqual(follower.view, span(0, 1000), "the address is not an echo");
});

test("a slice's text has its length in a fitting unit and how many events it merges", () => {
  assert.deepEqual([640, 12_340, 456_700, 7_654_321].map((ns) => length_text(ns)),
    ["640 ns", "12.34 µs", "456.7 µs", "7.654 ms"]);
  assert.deepEqual([1_663_000, 498_800].map((ns) => length_text(ns, 1_663_000)),
    ["1.663 ms", "0.4988 ms"], "beside a longer one in its unit");
  assert.equal(slice_text(model.slice_of(data, 0)),
    "ncclDevKernel and 6 more: 300 ns at 0.0001 ms, communication, stream 7");
});

test("the timeline has an address, and links to it mark the span they mean", () => {
  assert.deepEqual(match_path("/runs/r_1/timeline"), { page: "timeline", run: "r_1" });
  const url = new URL(timeline_path("r 1", 3, 10_000, 4000), "http://host");
  assert.equal(url.pathname, "/runs/r%201/timeline");
  assert.deepEqual(Object.fromEntries(url.searchParams),
    { rank: "3", at: "10000-14000" });
});

test("any of twenty thousand slices is found by its time", () => {
  const n = 20_000;
  const slices = { lane: [], row: [], begin_ns: [], dur_ns: [], name: [], class: [], count: [],
    busy_ns: [] };
  for (let i = 0; i < n; i++) {
    const values = [i % 2, 0, i * 50, 40, i % 4, i % 4, 1, 40];
    Object.keys(slices).forEach((key, k) => slices[key].push(values[k]));
  }
  const packed = model.pack(reply({ slices }));
  assert.equal(packed.length, n);
  assert.equal(model.slice_at(packed, 0, 0, 50 * 1000 + 10), 500);
});

const placed = (lane, row, begin_ns, dur_ns) => ({ lane, row, begin_ns, dur_ns, name: "n" });
const lanes = [{ track: 4 }, { track: 9 }];

test("arrows lead from a launch to its work, and from what was waited for", () => {
  const linked = { event: placed(4, 0, 900, 50), launch: placed(9, 2, 100, 20), launched: null,
    waited: { reason: "stream", for: placed(4, 0, 700, 190) } };
  assert.deepEqual(arrows_of(linked, lanes), [
    { kind: "launch", from: { lane: 1, row: 2, ns: 100 }, to: { lane: 0, row: 0, ns: 900 } },
    { kind: "wait", from: { lane: 0, row: 0, ns: 890 }, to: { lane: 0, row: 0, ns: 900 } }]);
  const call = { event: placed(9, 1, 100, 500), launch: null,
    launched: { first: placed(4, 0, 300, 9) },
    waited: { reason: "device", for: placed(4, 0, 400, 100) } };
  assert.deepEqual(arrows_of(call, lanes).map(({ from, to }) => [from.ns, to.ns]),
    [[100, 300], [500, 600]]);
});

test("an arrow to a lane that is left out is not drawn", () => {
  const linked = { event: placed(4, 0, 900, 50), launch: placed(7, 2, 100, 20), launched: null,
    waited: null };
  assert.deepEqual(arrows_of(linked, lanes), []);
  assert.deepEqual(arrows_of(null, lanes), []);
  assert.equal(pin_of_placed(linked.event, lanes), "0.0.900");
  assert.equal(pin_of_placed(linked.launch, lanes), "");
});

test("an arrow ends in the middle of its row, of its lane where that is folded", () => {
  const open = model.layout_lanes(data.lanes, all, new Set());
  const closed = model.layout_lanes(data.lanes, all, new Set([model.lane_key(data.lanes[1])]));
  const second = { lane: 1, row: 1 };
  assert.ok(middle_of(open, second) > middle_of(open, { lane: 1, row: 0 }));
  const [band] = closed.bands.filter(({ lanes: [lane] }) => lane === 1);
  assert.equal(middle_of(closed, second), band.y + band.height / 2);
});

test("bookmarks survive the address, each once and at most nine of them", () => {
  const marks = Array.from({ length: 11 }, (_, i) => span(i, i + 5));
  assert.deepEqual(marks_of(marks_text(marks)), marks.slice(0, 9));
  assert.deepEqual(marks_of("5-1,x,7-9,07-9,7-9"), [span(7, 9)]);
  assert.deepEqual(marks_of("0-9007199254740993"), [], "no whole number says where that is");
});

test("what is compared meets at the later place, and no time becomes negative", () => {
  assert.deepEqual(moves_of([300, 100]), [0, 200]);
  const later = moved(data, 50);
  assert.deepEqual([later.begin[0], later.end[0]], [data.begin[0] + 50, data.end[0] + 50]);
  assert.equal(later.steps[0].begin_ns, data.steps[0].begin_ns + 50);
  assert.deepEqual(later.bounds, span(50, 1_000_050));
  assert.deepEqual(common(span(5, 9), span(7, 20)), span(7, 9));
  assert.deepEqual(common(span(0, 5), span(7, 20)), span(7, 20));
  const pin = model.pin_of(model.slice_of(data, 0));
  assert.equal(model.find_pin(later, moved_pin(pin, 50)), model.find_pin(data, pin));
  assert.equal(moved_pin(moved_pin(pin, 50), -50), pin);
  assert.deepEqual(["", "x"].map((text) => moved_pin(text, 5)), ["", "x"]);
});

test("an event is in a step by where it ran: on the host, or later on the device", () => {
  const step = { host: span(100, 200), device: span(150, 400) };
  const is_in = (kind, begin_ns) => is_in_step({ kind, begin_ns }, step);
  assert.ok(is_in("cpu_op", 100) && is_in("kernel", 399));
  assert.ok(!is_in("cpu_op", 200), "of the next step");
  assert.ok(!is_in("kernel", 120), "of the step before");
  assert.ok(!is_in("cpu_op", 50) && !is_in_step(null, step));
});

test("a module is the nth of its class in its parent, whatever its number in the trace", () => {
  const frames = [["nn.Module: Layer_8", 0, 90], ["nn.Module: Layer_9", 10, 20],
    ["nn.Module: LayerNorm_1", 92, 95], ["nn.Module: Layer_3", 100, 180],
    ["nn.Module: Layer_5", 300, 400]];
  const calls = { names: frames.map(([name]) => name), name: frames.map((_, i) => i),
    begin: frames.map(([, from]) => from), end: frames.map(([, , to]) => to),
    length: frames.length };
  assert.deepEqual(module_in(calls, "Layer_0", span(0, 200)), span(0, 90));
  assert.deepEqual(module_in(calls, "Layer_1", span(0, 200)), span(100, 180));
  assert.equal(module_in(calls, "Layer_2", span(0, 200)), null);
  assert.deepEqual(module_in(calls, "Layer_0", span(200, 500)), span(300, 400));
});
