// SPDX-License-Identifier: Apache-2.0
// The pure half of the compare page: sides in the address, texts of the verdict, what is hidden.
import assert from "node:assert/strict";
import test from "node:test";
import { grouped, next_place } from "../../../../../web/widgets/combobox.mjs";
import { thinned } from "../../../../../web/charts/dot_strip.mjs";
import { layout_of } from "../../../../../web/charts/stack_rows.mjs";
import { hidden_as, hidden_text, is_unmatched, match_words, name_of, only_in, per_call_ns,
  shown_changes } from "../../../../../web/views/compare/change_model.mjs";
import { module_tree, open_at_first }
  from "../../../../../web/views/compare/compare_module_model.mjs";
import { gate_command, quoted } from "../../../../../web/views/compare/gate_model.mjs";
import { candidate_rows, stacks_of } from "../../../../../web/views/compare/many_model.mjs";
import { counted_states, group_text, pair_text, rank_statistics, rank_text, ranked_findings,
  shown_ranks } from "../../../../../web/views/compare/pair_model.mjs";
import { has_ledger, inputs_text, ledger_rows, parity_sums }
  from "../../../../../web/views/compare/parity_model.mjs";
import { differ_text, ordered_settings, setting_text, source_mark }
  from "../../../../../web/views/compare/setting_model.mjs";
import { choices, is_ready, is_series, keys_of, repeat_command, series_key, side_name, swapped,
  timelines_lead, traces_of, with_candidate }
  from "../../../../../web/views/compare/side_model.mjs";
import { median } from "../../../../../web/charts/trend_model.mjs";
import { steps_note, strips_of } from "../../../../../web/views/compare/strip_model.mjs";
import { reason_figures, reason_place, reason_sides, reason_title }
  from "../../../../../web/views/compare/reason_model.mjs";
import { certainty, different_work, evidence, hardly_comparable, headline, interval_text,
  is_comparable, lacks_steps, matched, means_text, unmarked_side, verdict_chip }
  from "../../../../../web/views/compare/verdict_model.mjs";

const MS = 1_000_000;
const run = (name, more = {}) => ({ id: `r_${name}`, name, project: "default",
  series: name.split("@")[0], ...more });

test("the keys of a side are separated by commas, and all repeats of a series have one", () => {
  assert.deepEqual(keys_of("a, b,,c"), ["a", "b", "c"]);
  assert.equal(series_key(run("llama@2")), "llama@*");
  assert.equal(series_key(run("llama@2", { project: "llm" })), "llm/llama@*");
  assert.ok(is_series("llama@*"));
  assert.ok(!is_series("llama@2"));
});

test("sides are swapped, replaced, added and removed without leaving holes", () => {
  const sides = { base: "a", cand: ["b", "c"] };
  assert.deepEqual(swapped(sides), { base: "b", cand: ["a", "c"] });
  assert.deepEqual(swapped(sides, 1), { base: "c", cand: ["b", "a"] });
  assert.deepEqual(swapped({ base: "a", cand: [] }), { base: "", cand: ["a"] });
  assert.deepEqual(swapped({ base: "", cand: ["b"] }), { base: "b", cand: [] });
  assert.deepEqual(with_candidate(sides, 2, "d").cand, ["b", "c", "d"]);
  assert.deepEqual(with_candidate(sides, 0, "d").cand, ["d", "c"]);
  assert.deepEqual(with_candidate(sides, 0, "").cand, ["c"]);
  assert.ok(is_ready(sides));
  assert.ok(!is_ready({ base: "", cand: ["b"] }));
  assert.ok(!is_ready({ base: "a", cand: [] }));
});

test("a side is called by its run, its series or its first run", () => {
  assert.equal(side_name([run("a@1")]), "a@1");
  assert.equal(side_name([run("a@1"), run("a@2")]), "a@1 to @2 (2 runs)");
  assert.equal(side_name([run("a@1"), run("b@1"), run("c@1")]), "a@1 and 2 more");
  assert.equal(side_name([run("a@1"), run("a@2", { project: "x" })]), "a@1 and 1 more");
  assert.equal(side_name([]), "–");
});

test("series with repeats can be chosen before single runs", () => {
  const found = choices([run("a@2"), run("b@1"), run("a@1")], () => "note");
  assert.deepEqual(found.map(({ value }) => value), ["a@*", "r_a@2", "r_b@1", "r_a@1"]);
  assert.equal(found[0].note, "all 2 runs");
  assert.equal(new Set(found.map(({ group }) => group)).size, 2);
  assert.equal(choices([run("a@2"), run("a@1")], () => "", 1).length, 2);
});

test("arrows go round the options, and groups keep their order", () => {
  assert.equal(next_place("ArrowDown", -1, 3), 0);
  assert.equal(next_place("ArrowDown", 2, 3), 0);
  assert.equal(next_place("ArrowUp", -1, 3), 2);
  assert.equal(next_place("ArrowUp", 1, 3), 0);
  assert.equal(next_place("ArrowDown", 0, 0), null);
  assert.equal(next_place("x", 0, 3), null);
  const groups = grouped([{ group: "g", value: "1" }, { group: "g", value: "2" }, { value: "3" }]);
  assert.deepEqual(groups.map(({ name, items }) => [name, items.map(({ at }) => at)]),
    [["g", [0, 1]], ["", [2]]]);
});

const summary = { base_step_ns: 100 * MS, cand_step_ns: 90 * MS, delta_ns: -10 * MS,
  delta_share: -0.1, verdict: "noise unknown", method: "none", base_runs: 1, cand_runs: 1,
  relevant: false, relevant_from_ns: 200_000, speedup: 1.1111 };

test("the headline says direction, size and share, by the shift where there is one", () => {
  assert.deepEqual(headline(summary), { tone: "better", words: "10.00 ms per step faster",
    share: "−10.0 %" });
  const shifted = headline({ ...summary, shift_ns: 2 * MS, shift_share: 0.02 });
  assert.deepEqual(shifted, { tone: "worse", words: "2.000 ms per step slower", share: "+2.0 %" });
  assert.equal(headline({ ...summary, delta_ns: 0 }).words, "takes the same time");
  assert.equal(headline({ ...summary, delta_share: -0.0004 }).share, "less than 0.1 %");
  assert.equal(headline({ ...summary, base_tokens: 8192 }, "token").words,
    "10.00 ms per 8,192 tokens faster");
});

test("recordings without steps are not called steps, and a single one is named", () => {
  const whole = { ...summary, base_no_steps: true, cand_no_steps: true, same_work_share: 0.5 };
  assert.equal(headline(whole).words, "10.00 ms faster");
  assert.equal(evidence(whole)[0][0], "Recording");
  assert.doesNotMatch(JSON.stringify([evidence(whole), hardly_comparable(whole)]), /step/i);
  assert.match(hardly_comparable({ ...whole, cand_no_steps: false }), /calls per step match/);
  assert.equal(headline({ ...whole, base_no_steps: false }).words, "10.00 ms faster");
  assert.deepEqual([whole, { ...whole, base_no_steps: false }, summary].map(lacks_steps),
    [true, true, false]);
  assert.equal(means_text({ ...whole, base_runs: 1, cand_runs: 1 }), "");
  assert.match(means_text({ ...whole, base_runs: 1, cand_runs: 3 }), /“Odd runs” is the diff/);
  assert.match(means_text({ ...whole, cand_no_steps: false }), /“Odd steps” is the difference/);
  const names = ["main", "pr"];
  assert.equal(unmarked_side(whole, names), "");
  assert.equal(unmarked_side(summary, names), "");
  assert.equal(unmarked_side({ ...summary, base_no_steps: true, cand_no_steps: false }, names),
    "main");
  assert.equal(unmarked_side({ ...summary, base_no_steps: false, cand_no_steps: true }, names),
    "pr");
});

test("sides that hardly match are said to be hardly comparable, and why", () => {
  assert.equal(different_work({}), false);
  assert.equal(different_work({ same_work: false }), true);
  assert.equal(hardly_comparable({ same_work: true, same_work_share: 0.8 }), "");
  assert.equal(hardly_comparable({ same_work: true, same_work_share: null }), "");
  assert.match(hardly_comparable({ same_work: false, same_work_share: 0.28 }),
    /match in 28.0 % of the device time\.$/);
  assert.match(hardly_comparable({ same_work: true, same_work_share: 0.28 }), /FLOPs .* agree\.$/);
  assert.equal(certainty(summary), "noise unknown, 1 run against 1");
});

const reason = { kind: "operator", title: "aten::mm", bar: "gemm", category: "GEMM", waterfall: 7,
  base_ns: 4 * MS, cand_ns: 2 * MS, delta_ns: -2 * MS, gross_ns: -2 * MS, gross_share: 1,
  base_tflops: 25, cand_tflops: 50, base_gbps: 100, cand_gbps: 200, base_peak_share: 0.1,
  cand_peak_share: 0.2, bound: "compute", dims: "[[8,4],[4,8]]" };

test("gains and losses are listed separately, negligible ones left out", () => {
  const loss = { ...reason, delta_ns: 1 * MS, gross_ns: 1 * MS };
  const small = { ...reason, delta_ns: 1000 };
  const keys = (delta_ns, rows) => reason_sides(rows, { delta_ns, relevant_from_ns: 100_000 })
    .map(({ key, rows: { length } }) => `${key} ${length}`);
  assert.deepEqual(keys(-1, [reason, loss, small]), ["gains 1", "losses 1"]);
  assert.deepEqual(keys(1, [reason, loss, small]), ["losses 1", "gains 1"]);
  assert.deepEqual(keys(1, [small]), []);
  const [first] = reason_sides([reason, loss], { delta_ns: -1, shift_ns: 1, relevant_from_ns: 1 });
  assert.equal(first.key, "losses", "as the headline, which is the shift of all pairs of runs");
  assert.deepEqual(keys(-1, [reason, reason, reason, reason]), ["gains 3"]);
});

test("a reason has a title, figures of what limits it, and a place in the waterfall", () => {
  assert.equal(reason_title({ kind: "attention" }), "Attention");
  assert.equal(reason_title({ kind: "cause", title: "data_loading" }), "Idle: data loading");
  assert.equal(reason_title({ kind: "cause", title: "unrecorded" }), "Unrecorded work");
  assert.equal(reason_title({ kind: "collective", title: "all_reduce" }), "all_reduce, exposed");
  const work = { kind: "work", title: "kernels and graphs", bar: "other_compute", waterfall: 3 };
  assert.equal(reason_title(work), "Kernels and graphs");
  assert.deepEqual(reason_place(work), {}, "the whole waterfall");
  const copied = { kind: "operator", bar: "exposed_memory", title: "Memcpy HtoD (a -> b)" };
  assert.equal(reason_title(copied), "Memcpy HtoD, copies");
  assert.equal(reason_title(copied, "copy host to device"), "copy host to device");
  assert.deepEqual(reason_figures(reason),
    ["4.00 → 2.00 ms", "25.0 → 50.0 TFLOP/s", "10.0 % → 20.0 % of peak"]);
  assert.equal(reason_figures({ ...reason, cand_peak_share: 2.55 })[2],
    "10.0 % → 255.0 % of peak, impossible");
  assert.deepEqual(reason_figures({ ...reason, bound: "memory" })[1], "100 → 200 GB/s");
  assert.deepEqual(reason_figures({ base_ns: 0, cand_ns: 1 * MS, cand_peak_share: 0.001 }),
    ["0 → 1.00 ms"]);
  assert.deepEqual(reason_place(reason), { bar: "gemm", cat: "GEMM", node: "7" });
  assert.deepEqual(reason_place({ kind: "collective", bar: "exposed_comm" }),
    { bar: "exposed_comm" });
});

test("the verdict's chip tells significance from relevance", () => {
  assert.equal(verdict_chip(summary), "noise unknown");
  assert.equal(verdict_chip({ verdict: "significant", relevant: true }), "significant");
  assert.match(verdict_chip({ verdict: "significant", relevant: false }), /too small/);
  assert.equal(verdict_chip({ verdict: "within noise", relevant: false }), "within noise");
});

test("the evidence names interval, method, p and threshold only where they are known", () => {
  const labels = (row) => evidence(row, { alpha: 0.01 }).map(([label]) => label);
  assert.deepEqual(labels(summary), ["Step", "Method", "Relevant from", "Runs", "Speedup"]);
  const tested = { ...summary, shift_share: -0.1, shift_low_share: -0.12, shift_high_share: -0.08,
    p_value: 0.008, method: "mann_whitney", threshold_share: 0.05 };
  const facts = new Map(evidence(tested, { alpha: 0.01 }).map(([label, text]) => [label, text]));
  assert.equal(facts.get("99 % interval"), "−12.0 % … −8.0 %");
  assert.deepEqual(labels({ ...tested, method: "history" })[1], "With the usual noise");
  assert.equal(facts.get("p"), "0.0080 (significant up to 0.01)");
  assert.equal(facts.get("Usual spread"), "±5.0 %; the difference is 2.0 times that");
  assert.match(facts.get("Method"), /Mann-Whitney/);
  assert.equal(interval_text({ shift_low_share: null, shift_high_share: 0 }), null);
});

test("sides of which one has no steps are not compared", () => {
  assert.deepEqual([{ delta_ns: 0 }, { delta_ns: null }, undefined].map(is_comparable),
    [true, false, false]);
});

test("the command for a repeat holds any name, and a new one each time", () => {
  const at = "http://h:1";
  assert.equal(repeat_command({ series: "llama-70b", project: "default" }, at),
    "curl -F run=llama-70b@$(date +%s) -F trace=@rank0.json.gz http://h:1/upload");
  assert.equal(repeat_command({ series: "<it's; rm", project: "llm" }, at),
    "curl -F project=llm --form-string 'run=<it'\\''s; rm'@$(date +%s) -F trace=@rank0.json.gz "
      + "http://h:1/upload");
});

test("what is matched by operator or better is the sum of three rungs", () => {
  const { rungs, at_op } = matched({ matched_module_share: 0.5, matched_shape_share: 0.25,
    matched_op_share: 0.125, matched_kernel_share: 0.125, matched_category_share: 0,
    unmatched_share: 0 });
  assert.equal(at_op, 0.875);
  assert.equal(rungs.length, 6);
  assert.equal(matched({}).at_op, null);
});

test("settings that differ come first, those that matter most before the others", () => {
  const rows = [["zeta", true], ["gpu", false], ["precision", true], ["alpha", true],
    ["gpu_memory", false]].map(([key, differs]) => ({ key, differs }));
  assert.deepEqual(ordered_settings(rows).map(({ key }) => key),
    ["precision", "zeta", "alpha", "gpu", "gpu_memory"]);
  assert.equal(differ_text(1), "1 setting differs");
  assert.equal(differ_text(0), "No recorded setting differs");
  assert.equal(source_mark("upload"), "given");
  assert.equal(source_mark("trace"), "");
  assert.equal(setting_text("gpu_memory", "85018279936"), "85.0 GB");
  assert.equal(setting_text("commit", "85018279936"), "85018279936");
  assert.equal(setting_text("gpu_memory", null), null);
});

const change = (more) => ({ level: "op", bar: "gemm", category: "gemm", op: "aten::mm", dims: null,
  types: null, base_kernel: "nv", cand_kernel: "amd", match: "op", base_ns: 5 * MS,
  cand_ns: 6 * MS, delta_ns: MS, base_total_ns: 50 * MS, cand_total_ns: 60 * MS, base_calls: 20,
  cand_calls: 30, base_steps: 10, cand_steps: 10, verdict: "noise unknown", ...more });

test("what is small or noise is hidden and counted, within the waterfall's place", () => {
  const rows = [change({}), change({ delta_ns: -10 }), change({ verdict: "within noise" }),
    change({ bar: "attention", category: "attention" })];
  const options = { floor_ns: 1000, all: false, place: { bar: "", cat: "" } };
  const some = shown_changes(rows, options);
  assert.equal(some.shown.length, 2);
  assert.deepEqual(some.hidden, { small: 1, noise: 1 });
  assert.equal(shown_changes(rows, { ...options, all: true }).shown.length, 4);
  assert.equal(shown_changes(rows, { ...options, place: { bar: "gemm", cat: "" } }).shown.length,
    1);
  assert.equal(hidden_text(some.hidden, "0.1 ms"), "1 below 0.1 ms, 1 within noise");
  assert.equal(hidden_text({ small: 0, noise: 0 }, "0.1 ms"), "");
  assert.equal(hidden_as(change({ verdict: "significant" }), 1000), "");
});

test("steps of the sides are counted once where they agree", () => {
  assert.equal(steps_note([1, 1]), "1 steady step each");
  assert.equal(steps_note([8, 9]), "8 and 9 steady steps");
  assert.equal(steps_note([8, 9, 10]), "8, 9, 10 steady steps");
});

test("a change is called by its level, with what tells it from others in small print", () => {
  assert.deepEqual(name_of(change({})), { name: "aten::mm", more: "" });
  assert.deepEqual(name_of(change({ level: "shape", dims: "[[2,3],[3,4]]",
    types: '["c10::BFloat16","c10::BFloat16"]' })),
  { name: "aten::mm", more: "2×3, 3×4 · BFloat16, BFloat16" });
  assert.deepEqual(name_of(change({ level: "kernel" })), { name: "nv → amd", more: "aten::mm" });
  const idle = change({ bar: "idle_other", op: null, category: "dispatch", match: "category" });
  assert.deepEqual([name_of(idle).name, match_words(idle)], ["Idle: Dispatch", "–"]);
  assert.deepEqual(name_of(change({ bar: "unrecorded", op: null, category: "unrecorded" })),
    { name: "Unrecorded work", more: "" });
  assert.deepEqual(name_of(change({ level: "category" })),
    { name: "gemm", more: "GEMM / matmul" });
});

test("unmatched rows say which side has them and are summed by side", () => {
  const rows = [change({ match: "unmatched", cand_ns: 0, cand_calls: 0 }),
    change({ match: "unmatched", base_ns: 0, base_calls: 0 }),
    change({ match: "unmatched", op: null, base_kernel: null, cand_kernel: null })];
  assert.deepEqual(rows.slice(0, 2).map(match_words), ["only in base", "only in candidate"]);
  assert.deepEqual(rows.map(is_unmatched), [true, true, false]);
  assert.deepEqual(only_in(rows, "base"), { rows: 1, ns: 5 * MS });
  assert.deepEqual(only_in(rows, "cand"), { rows: 1, ns: 6 * MS });
  assert.equal(per_call_ns(rows[0], "cand"), null);
  assert.equal(per_call_ns(rows[0], "base"), 2.5 * MS);
});

test("modules form a tree by depth and order, largest change first", () => {
  const rows = [["", 0, 9], ["M", 1, 8], ["M/a", 2, 1], ["M/b", 2, 7], ["L", 1, 1]]
    .map(([path, depth, delta_ns]) => ({ path, depth, delta_ns, base_ns: 0 }));
  const tree = module_tree(rows);
  assert.equal(tree.root.children, 2);
  assert.deepEqual(tree.first.map(({ name }) => name), ["M", "L"]);
  assert.deepEqual(tree.known.get(1).nodes.map(({ name }) => name), ["b", "a"]);
  assert.equal(open_at_first(tree), "0.1");
  const wide = module_tree([...rows.slice(0, 2), ...Array.from({ length: 13 }, (_, i) =>
    ({ path: `M/${i}`, depth: 2, delta_ns: 8 - i, base_ns: 0 }))]);
  assert.equal(open_at_first(wide), "0", "too many to open unasked");
  assert.equal(module_tree([]), null);
  assert.equal(module_tree(rows.slice(0, 1)), null);
});

test("strips hold each run's steps, and repeats their runs' medians", () => {
  const data = { base: { runs: [run("a@1")], steps: [[1, 2, 4]] }, candidates: [
    { runs: [run("b@1"), run("b@2")], steps: [[3], [5]],
      summary: { base_step_ns: 2, cand_step_ns: 4, base_ci_low_ns: 1, base_ci_high_ns: 4 } }] };
  const [base, cand] = strips_of(data, [{ run: "r_b@2", step_median_ns: 6 }]);
  assert.deepEqual([base.median, base.low, base.high], [2, 1, 4]);
  assert.deepEqual(cand.runs.map((one) => one.median), [3, 6]);
  assert.deepEqual([cand.median, cand.low], [4, null]);
  assert.equal(cand.name, "Candidate: b@1 to @2 (2 runs)");
  const halved = { ...data, per: "token" };
  Object.assign(halved.candidates[0].summary, { base_tokens: 10, cand_tokens: 20 });
  assert.deepEqual(strips_of(halved, [])[1].runs.map((one) => one.median), [1.5, 2.5]);
  assert.equal(median([4, 1]), 2.5);
  assert.equal(median([]), null);
  assert.deepEqual([thinned([1, 2, 3], 2), thinned([1, 2], 3)], [[1, 3], [1, 2]]);
});

test("bars of many candidates share one scale and one rule", () => {
  const data = { base: { runs: [run("a@1")] },
    candidates: [{ runs: [run("b@1")], summary: { delta_ns: -4 } }, { runs: [run("c@1")],
      summary: { delta_ns: 10 } }] };
  const bars = [1, 2].map((cand) => ({ cand, bar: "gemm", base_ns: 10, cand_ns: 10 * cand - 4 }));
  const layout = layout_of(stacks_of(data, bars));
  assert.deepEqual(layout.rows.map(({ total_ns }) => total_ns), [10, 6, 16]);
  assert.deepEqual(layout.rows.map(({ delta_ns }) => delta_ns), [0, -4, 6]);
  assert.equal(layout.rule, 10 / 16);
  assert.equal(layout.rows[2].width, 1);
  assert.deepEqual(stacks_of(data, []), []);
  assert.deepEqual(candidate_rows(data).map(({ cand, size_ns }) => [cand, size_ns]),
    [[1, 4], [2, 10]]);
});

test("the gate's line can be pasted into a shell, whatever runs are called", () => {
  const gate = { base: "@baseline:main", cand: "my run,b@*", limit: "0.03", undecided: "pass" };
  assert.equal(gate_command(gate, "http://h:1"), "curl --fail-with-body 'http://h:1/api/v1/compare"
    + "/gate?base=@baseline:main&cand=my+run,b@*&max_regression=0.03&format=text'");
  assert.match(gate_command({ ...gate, undecided: "fail", per: "token" }, ""),
    /&per=token&max_regression=0.03&undecided=fail&/);
  assert.equal(quoted("it's"), "'it'\\''s'");
});

test("pairs are written once where both sides agree", () => {
  assert.equal(pair_text(1, 1, String), "1");
  assert.equal(pair_text(1, 2, String), "1 → 2");
  assert.equal(pair_text(null, 2, String), "– → 2");
  assert.equal(group_text({ role: "data", group_size: 8 }), "data, 8 ranks");
  assert.equal(group_text({ role: null, group_size: null }), "–");
  assert.equal(rank_text({ rank: 0 }), "0");
  assert.equal(rank_text({ rank: null, statistic: "max" }), "max");
});

test("ranks are shown one by one, with statistics beside them or in their place", () => {
  const ranks = [0, 1].map((rank) => ({ rank, statistic: null }));
  const max = { rank: null, statistic: "max", base_step_ns: 1e6, cand_step_ns: 2e6 };
  assert.deepEqual(shown_ranks([...ranks, max]), ranks);
  assert.deepEqual(shown_ranks([max]), [max]);
  assert.equal(rank_statistics([...ranks, max]), "max 1.000 → 2.000 ms");
  assert.equal(rank_statistics([max]), "");
});

test("new findings come before fixed ones, and unchanged ones last", () => {
  const rows = [["unchanged", 0], ["fixed", -5], ["new", 1], ["new", 3], ["changed", 2]]
    .map(([state, delta_cost_ns]) => ({ state, delta_cost_ns }));
  assert.deepEqual(ranked_findings(rows).map(({ state, size_ns }) => `${state} ${size_ns}`),
    ["new 3", "new 1", "changed 2", "fixed 5", "unchanged 0"]);
  assert.deepEqual(counted_states(rows),
    [["new", 2], ["changed", 1], ["fixed", 1], ["unchanged", 1]]);
});

test("the parity ledger is summed by whose work a gap is", () => {
  const rows = [
    { op: "aten::mm", waterfall: 3, delta_ns: 10, calls_ns: 1, hardware_ns: 2, software_ns: 7,
      unattributed_ns: null, shortfall_ns: 7, behind: "candidate" },
    { op: null, waterfall: 4, base_kernel: "k", delta_ns: -4, calls_ns: 0, hardware_ns: -1,
      software_ns: -3, unattributed_ns: null, shortfall_ns: 5, behind: "base" },
    { op: null, waterfall: null, delta_ns: 2, calls_ns: null, hardware_ns: null, software_ns: null,
      unattributed_ns: 2, shortfall_ns: null, behind: null },
  ];
  assert.deepEqual(parity_sums(rows), { delta_ns: 8, calls_ns: 1, hardware_ns: 1, software_ns: 4,
    unattributed_ns: 2, behind_ns: { base: 5, candidate: 7 } });
  assert.deepEqual(ledger_rows(rows).map(({ name }) => name),
    ["aten::mm", "k", "All other operators"]);
  assert.equal(has_ledger(rows), true);
  assert.equal(has_ledger(rows.slice(2)), false);
  assert.equal(inputs_text({ dims: "[[4,8],[8,2],[]]",
    types: '["c10::BFloat16","c10::BFloat16","Scalar"]' }), "4×8, 8×2 · BFloat16");
  assert.equal(inputs_text({ dims: null, types: null }), "");
});

test("a comparison is asked for only of runs with traces", () => {
  const [traced, lone, empty] = [[2, 1], [0, 1], [0, 0]]
    .map(([received, evidence]) => ({ received, evidence }));
  assert.equal(traces_of([traced, traced]), "all");
  assert.equal(traces_of([traced, lone]), "other files");
  assert.equal(traces_of([traced, empty]), "some", "the comparison says why not");
  assert.equal(traces_of([lone, null]), "some", "and which run is unknown");
});

test("two timelines begin with what is shaded on both", () => {
  const said = (what, spans) => timelines_lead(what, ["a", "b"], spans).replace(/\s/gu, " ");
  assert.equal(said(null, [3e6, 2e6]),
    "The step takes 3.00 ms in a and 2.00 ms in b, 1.00 ms less.");
  assert.equal(said("mlp", [3e6, 3e6]), "“mlp” takes 3.00 ms in a and in b.");
});
