// SPDX-License-Identifier: Apache-2.0
// Changes and the controls that show them are the same in both directions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { came_text, change_label, outcome_of, promised_text }
  from "../../../../../web/views/said/promise_model.mjs";
import { read_graph, replay_steps } from "../../../../../web/views/whatif/graph.mjs";
import {
  answer_text, changes_alone, HOSTS, kernel_pattern, live_parts, NETWORKS, path_rows, rank_rows,
  read_changes, roofline_factor, toggle_change, whatif_lead, write_changes,
} from "../../../../../web/views/whatif/whatif_model.mjs";

test("each position of the controls is a change, which leads back to it", () => {
  for (const network of NETWORKS)
    for (const host of HOSTS)
      for (const balanced of ["", "all", "5"]) {
        const setup = { network, host, balanced, profiler: true, data: true, copies: false,
          recompute: true, overlap: true, gemm: false,
          kernels: [{ name: "void gemm<float*, 1>(int)", factor: 0.35 }],
          others: ["remove:op=aten::copy_"] };
        assert.deepEqual(read_changes(write_changes(setup)), setup);
      }
  assert.deepEqual(write_changes(read_changes([])), []);
});

test("what no control shows stays as it is", () => {
  const odd = ["scale=7:kernel=a", "set=12us:kernel=b", "drop:op=x", "scale=0.9:class=memory",
    "scale=0.3:host", "nonsense"];
  assert.deepEqual(read_changes(odd).others, odd);
  assert.deepEqual(write_changes(read_changes(odd)), odd);
});

/** Small numbers in the form of a packed graph; pairs are signed. */
const packed = (numbers) => new Uint8Array(numbers.flatMap((one) => {
  let left = Array.isArray(one) ? (one[0] < 0 ? -2 * one[0] - 1 : 2 * one[0]) : one;
  const bytes = [];
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return [...bytes, left];
})).buffer;

test("a packed graph is replayed: the longest chain counts, and its controls scale it", () => {
  // A launch of 300 on the host, a kernel of 1000 that starts 10 after it, a transfer of 400 and
  // other work of 700. The first step ends with the kernel; the second, once of 1000, goes from the
  // end of the launch to that of the other work.
  const graph = read_graph(packed([2, 4, 3, 2, 5, 20000, 2000000, 0,
    [1310], [1310], 0, 0, [0], 2, 0, [0],
    [1000], [1000], 1, 0, [0], 4, 0, [0],
    [300], 2, 0, [1000], 0, 1, 1, [10], [400], 1, 1, 2, [0], [700], 0, 1, 3, [0]]));
  assert.deepEqual([...graph.end], [0, 0, 0, 0]);
  const { step_ns, gain_ns } = replay_steps(graph, [1, 1]);
  assert.deepEqual([...graph.end], [300, 1310, 700, 1000]);
  assert.equal(gain_ns, (0 + 300) / 2);
  assert.equal(step_ns, 1155 - 150);
  const then = replay_steps(graph, [1, 0.5]);
  assert.deepEqual([...graph.end], [150, 1160, 550, 850]);
  // Steps of 1310 and 1000 gain 150 and 300; off by 5 and 2 % of 225, and twice the deviation.
  const near = (found, wanted) => assert.ok(Math.abs(found - wanted) < 1e-6, `${found}`);
  near(then.gain_low_ns, 225 - 9.5 - 2 * Math.sqrt(2) * 75);
  near(then.gain_high_ns, 225 + 9.5 + 2 * Math.sqrt(2) * 75);
  near(then.low_ns, 930 - 9.5 - 2 * Math.sqrt(2) * 230);
  near(then.high_ns, 930 + 9.5 + 2 * Math.sqrt(2) * 230);
  // Where the second control shortens waits for ranks that are not there, it may bring nothing.
  assert.deepEqual(replay_steps({ ...graph, waits: 4 }, [0.5, 1]), replay_steps(graph, [0.5, 1]));
  const waiting = replay_steps({ ...graph, waits: 4 }, [1, 0.5]);
  near(waiting.gain_low_ns, 0 < then.gain_low_ns ? 0 : then.gain_low_ns);
  near(waiting.high_ns, Math.max(then.high_ns, 1155 + 9.5 + 2 * Math.sqrt(2) * 155));
  assert.equal(waiting.gain_high_ns, then.gain_high_ns);
  assert.equal(read_graph(packed([9])), null, "a form that it does not know");
});

test("changes part into what sliders scale and the rest", () => {
  assert.deepEqual(live_parts(["balanced", "scale=0.25:class=communication", "host_free",
    "no_copies", "scale=0.4:kernel=a*"]), { fixed: ["balanced", "no_copies"],
    controls: ["class=communication", "host", "kernel=a*"], factors: [0.25, 0, 0.4] });
  assert.deepEqual(live_parts([]).factors, [1, 1]);
});

test("a rank by itself has no balance with others", () => {
  assert.deepEqual(changes_alone(["balanced", "host_free", "balanced=5", "remove:op=balanced"]),
    ["host_free", "remove:op=balanced"]);
});

test("a ready-made change is added once and taken away again", () => {
  const both = toggle_change(["host_free"], "network_x2");
  assert.deepEqual(both, ["network_x2", "host_free"]);
  assert.deepEqual(toggle_change(both, "host_free"), ["network_x2"]);
  assert.deepEqual(toggle_change(["network_x2"], "infinite_network"), ["infinite_network"]);
});

test("a long name keeps both ends, and its middle matches anything", () => {
  assert.equal(kernel_pattern("short"), "short");
  const pattern = kernel_pattern(`a${"x".repeat(1000)}z`);
  assert.equal(pattern.length, 301);
  assert.match(pattern, /^ax+\*x+z$/);
});

test("a kernel at its roofline loses what the roofline says, where that is known", () => {
  const rows = [{ kernel: "a", busy_ns: 100, lost_ns: 60 },
    { kernel: "a", busy_ns: 100, lost_ns: 20 },
    { kernel: "b", busy_ns: 100, lost_ns: null }];
  assert.equal(roofline_factor(rows, "a"), 0.6);
  assert.equal(roofline_factor(rows, "b"), null);
  assert.equal(roofline_factor(rows, "c"), null);
});

test("changes have words", () => {
  const label = (change) => change_label({ change, title: null });
  assert.equal(change_label({ change: "balanced", title: "No straggler" }), "No straggler");
  assert.equal(label("balanced=5"), "No straggler on rank 5");
  assert.equal(label("scale=0.8:class=communication"), "Network 1.25 times as fast");
  assert.equal(label("remove:profiler"), "Without the profiler");
  assert.equal(label("scale=0.5:host"), "Host in 50 % of the time");
  assert.equal(label("scale=0.5:kernel=nvjet"), "nvjet in 50 % of the time");
  assert.equal(label("drop:op=x"), "drop:op=x");
});

test("the parts of a path are per step and keep their sum", () => {
  const path = { compute_ns: 30, communication_ns: 10, memory_ns: 0, host_ns: 4, delay_ns: 6,
    unrecorded_ns: 0, replay_error_ns: -2, steps_ns: 48 };
  const rows = path_rows(path, 2);
  assert.equal(rows.reduce((sum, { ns }) => sum + ns, 0), 24);
  assert.equal(rows[0].ns, 15);
});

test("a promise says what was meant and what came", () => {
  const promise = { base_ns: 33e6, step_ns: 30e6, low_ns: 29e6, high_ns: 31e6, receipt: null };
  assert.equal(promised_text(promise),
    "a step of 30.0 ms (29.0 to 31.0 ms) instead of 33.0 ms");
  assert.match(promised_text({ ...promise, low_ns: 18077366, high_ns: 18120916 }),
    /\(18\.08 to 18\.12 ms\)/);
  assert.equal(outcome_of(promise), "");
  const came = (step_ns) => ({ ...promise, receipt: { step_ns, off_share: step_ns / 30e6 - 1,
    held: step_ns >= 29e6 && step_ns <= 31e6 } });
  assert.deepEqual([28e6, 30e6, 32e6].map((ns) => outcome_of(came(ns))),
    ["better", "kept", "missed"]);
  assert.equal(came_text(came(30e6)), "It took 30.0 ms, as promised");
  assert.match(came_text(came(33e6)), /^It took 33\.0 ms, 10(\.0)? % more than promised$/);
});

test("ranks on the path, those left out, joint transfers and the error sum to the steps", () => {
  const base = { path_ranks: [{ rank: 0, own_ns: 10, delay_ns: 2 },
    { rank: 1, own_ns: 40, delay_ns: 0 }, { rank: 2, own_ns: 0, delay_ns: 3 }], path_joint_ns: 30,
  critical_path: { replay_error_ns: -1, steps_ns: 84 } };
  const rows = rank_rows(base, 1);
  assert.deepEqual(rows.map(({ label, ns }) => [label, ns]), [["rank 1", 40], ["other ranks", 15],
    ["transfers of ranks together", 30], ["replay error", -1]]);
  assert.equal(rows.reduce((sum, { ns }) => sum + ns, 0), base.critical_path.steps_ns);
  assert.deepEqual(rank_rows(base, 9).slice(0, 3).map(({ rank }) => rank), [1, 0, 2]);
});

test("the most useful of the ready-made changes is said first", () => {
  const base = { step_ns: 100_000_000 };
  const of = (gain_ns) => whatif_lead({ base, changes: [{ title: "Free host", gain_ns,
    gain_share: gain_ns / base.step_ns }, { title: "No copies", gain_ns: 0, gain_share: 0 }] })
    .replace(/\s/gu, " ");
  assert.equal(of(25_000_000), "Of the ready-made changes, “Free host” helps most: a step would "
    + "take 75.0 ms instead of 100 ms, 25.0 % less.");
  assert.equal(of(0), "No ready-made change makes the step of 100 ms any shorter.");
  const free = { title: "Free host", gain_ns: 4e7, gain_share: 0.4 };
  assert.match(whatif_lead({ base, changes: [free] }, true),
    /helps most: the recording would take 60\.0.ms instead/);
  assert.equal(whatif_lead({ base, changes: [] }), "");
});

test("changes that leave out the profiler say what they gain without it", () => {
  const base = { step_ns: 100_000_000 };
  const then = { step_ns: 60_000_000, gain_ns: 40_000_000, gain_share: 0.4 };
  const alone = [{ change: "remove:profiler", gain_ns: 5_000_000 },
    { change: "host_free", gain_ns: 40_000_000 }];
  const says = (of) => answer_text(base, then, of).replace(/\s/gu, " ");
  assert.equal(says(alone.slice(1)), "A step would take 60.0 ms instead of 100 ms, 40.0 % less.");
  assert.equal(says(alone.slice(0, 1)), says(alone.slice(1)));
  assert.equal(says(alone), `${says(alone.slice(1))} Without the profiler, which takes 5.00 ms of `
    + "the recorded step, the gain is 35.0 ms.");
  assert.match(answer_text(base, then, alone, true),
    /^The recording would take .* of the recording, the /);
});
