// SPDX-License-Identifier: Apache-2.0
// Findings: their order, the sum that counts no time twice, the text on overlaps, dismissals.
import assert from "node:assert/strict";
import test from "node:test";
import { affected_text, cost_text, excess_text, facts_of, first_findings, gain_text,
  kernel_of_evidence, op_pieces, overlap_text, own_share, part_findings, questions_of, saving_of,
  trial_of, unjudged, with_gains }
  from "../../../../../web/views/overview/finding_model.mjs";

const MS = 1_000_000;
const finding = (rule, cost, own, more = {}) => ({ rule, id: rule, title: `about ${rule}`,
  severity: "medium", cost_ns: cost * MS, own_cost_ns: own * MS, cost_share: cost / 100,
  overlaps: null, ...more });

const straggler = finding("straggler", 10, 10, { severity: "high" });
const waiting = finding("waiting", 8, 1, { overlaps: "straggler" });
const bubble = finding("bubble", 6, 6);
const tiny = finding("tiny", 0.2, 0.2);
const info = { rule: "fp8", id: "fp8", severity: "info", cost_ns: null, own_cost_ns: null,
  cost_share: null, overlaps: null };

const rules = (findings) => findings.map(({ rule }) => rule);

test("findings come by severity, then by what fixing each brings, or costs by itself", () => {
  const idle = finding("idle", 46, 46, { severity: "high", gain_ns: null });
  const held_up = finding("held_up", 30, 0, { severity: "high", gain_ns: 0 });
  const launches = finding("launches", 4, 4, { severity: "low", gain_ns: 60 * MS });
  const copies = finding("copies", 9, 9, { gain_ns: 0.5 * MS });
  const { large } = part_findings([launches, info, held_up, copies, waiting, bubble, idle], []);
  assert.deepEqual(rules(large),
    ["idle", "held_up", "bubble", "waiting", "copies", "launches"]);
});

test("the five that matter most come first, also without a cost; dismissed ones do not", () => {
  const leak = { ...info, rule: "memory_leak", id: "memory_leak", severity: "high" };
  const all = [9, 8, 7, 6, 5, 4].map((cost) => finding(`costs_${cost}`, cost, cost));
  assert.deepEqual(rules(first_findings([...all, tiny, leak, info], [])),
    ["memory_leak", "costs_9", "costs_8", "costs_7", "costs_6"]);
  assert.deepEqual(rules(first_findings([...all.slice(3), leak, tiny],
    [{ finding: "costs_5", reason: "", created: "" }])),
  ["memory_leak", "costs_6", "costs_4", "tiny"]);
});

test("small findings fold away", () => {
  const { large, small, dismissed } = part_findings([info, tiny, waiting, bubble, straggler], []);
  assert.deepEqual(rules(large), ["straggler", "bubble", "waiting"]);
  assert.deepEqual(rules(small), ["tiny", "fp8"]);
  assert.deepEqual(dismissed, []);
});

test("what costs no time does not fold away as small", () => {
  const leak = { ...info, rule: "memory_leak", severity: "low" };
  const headroom = { ...info, rule: "memory_headroom" };
  const bare = { ...info, rule: "no_device_events", severity: "medium" };
  const { large, small } = part_findings([leak, headroom, bare, info], []);
  assert.deepEqual(rules(large), ["no_device_events", "memory_leak", "memory_headroom"]);
  assert.deepEqual(rules(small), ["fp8"]);
});

test("what a recording lacks is listed with the findings that need it", () => {
  const row = (item, state, silent_rules) => ({ item, state, how: "x", silent_rules });
  const lacking = unjudged([row("shapes", "missing", "slow_calls, gemm_precision"),
    row("memory", "present", "memory_leak"), row("occupancy", "missing", null),
    row("launch_shapes", "partial", "slow_calls")]);
  assert.deepEqual(lacking.map(({ text }) => text), [
    "Without shapes, these rules may miss something: slow calls, gemm precision.",
    "With only some launch shapes, these rules may miss something: slow calls."]);
  assert.match(unjudged([row("repeats", "partial", "unstable_steps")])[0].text,
    /^With fewer than five steady steps, these/);
  const how = (text) => unjudged([{ ...row("shapes", "missing", "slow_calls"), how: text }])[0].how;
  assert.equal(how("set record_shapes"), "To record: set record_shapes");
  assert.equal(how("recorded by default"), "Recorded by default.");
  const bare = unjudged([row("device_events", "missing", "all"),
    row("shapes", "missing", "slow_calls")]);
  assert.deepEqual(bare.map(({ text }) => text),
    ["Without device events, nothing can be judged."]);
  assert.deepEqual(unjudged([]), []);
});

test("a small one of high severity stays in sight", () => {
  const { large } = part_findings([{ ...tiny, severity: "high" }], []);
  assert.equal(large.length, 1);
});

test("the sum counts no time twice and is never more than the step", () => {
  const { ns, share } = saving_of([straggler, waiting, bubble, info]);
  assert.deepEqual([ns, share.toFixed(6)], [17 * MS, "0.170000"]);
  assert.equal(own_share(waiting), 0.01);
  assert.equal(saving_of([finding("a", 90, 90), finding("b", 80, 80)]).share, 1);
  assert.deepEqual(saving_of([]), { ns: 0, share: 0 });
  assert.equal(saving_of([{ cost_ns: 5, cost_share: 0.1 }]).ns, 5, "of an older analysis");
});

test("a dismissed finding counts no more and keeps its reason", () => {
  const reason = { finding: "straggler", reason: "known", created: "2026-01-01T00:00:00Z" };
  const { large, dismissed } = part_findings([straggler, bubble],
    [reason, { finding: "gone", reason: "x", created: "" }]);
  assert.deepEqual(rules(large), ["bubble"]);
  assert.equal(dismissed[0].dismissal.reason, "known");
});

test("what others explain too is named", () => {
  const all = [straggler, waiting];
  assert.equal(overlap_text(waiting, all), "7.00 ms of it overlaps with “about straggler”");
  assert.equal(overlap_text({ ...waiting, own_cost_ns: 0 }, all),
    "all of it overlaps with “about straggler”");
  assert.equal(overlap_text(waiting, []), "7.00 ms of it overlaps with costlier findings");
  // The headline rank has less of that time than the middle ranks; nothing else explains it.
  assert.equal(overlap_text({ ...waiting, overlaps: null }, []), "");
  assert.match(overlap_text(waiting, [{ ...straggler, dismissal: {} }]), /, which is dismissed$/);
  assert.equal(overlap_text(straggler, all), "");
  assert.equal(overlap_text(info, all), "");
});

test("costs and who is affected are written as people write them", () => {
  assert.equal(cost_text(waiting), "up to 8.00 ms per step (8.0 %)");
  assert.equal(cost_text(waiting, true), "up to 8.00 ms (8.0 %)"); // no step is marked
  assert.equal(cost_text(info), "no separate cost");
  assert.equal(affected_text({ rank: 0, ranks: null, steps: null }), "rank 0");
  assert.equal(affected_text({ rank: null, ranks: "0-4,6-7", steps: "3" }),
    "ranks 0–4, 6–7 · step 3");
  assert.equal(affected_text({ rank: null, ranks: null, steps: null }), "");
});

test("damaged evidence is no evidence", () => {
  assert.deepEqual(facts_of('[{"fact":"a"}]'), [{ fact: "a" }]);
  for (const damaged of ["{", "7", null, undefined, '{"fact":1}']) {
    assert.deepEqual(facts_of(damaged), []);
  }
});

test("evidence names a kernel if its text is the start of just one name", () => {
  const labels = new Map([["void f<1>(int)", "f"], ["void f<2>(int)", "f"], ["gemm", "GEMM"]]);
  assert.equal(kernel_of_evidence("kernels?q=void%20f%3C1", labels), "void f<1>(int)");
  assert.equal(kernel_of_evidence("kernels?q=void%20f", labels), null);
  for (const other of ["kernels?category=copy", "roofline", null, "kernels?q=none"]) {
    assert.equal(kernel_of_evidence(other, labels), null);
  }
});

test("a text is split at operators, not at names of C++", () => {
  assert.deepEqual(op_pieces("ends with aten::copy_, then vllm::moe"), [{ text: "ends with " },
    { text: "aten::copy_", op: "aten::copy_" }, { text: ", then " },
    { text: "vllm::moe", op: "vllm::moe" }]);
  assert.deepEqual(op_pieces("void at::native::f"), [{ text: "void at::native::f" }]);
  assert.deepEqual(op_pieces(""), []);
});

test("what was simulated decides the order, whatever the bound says", () => {
  const hidden = finding("exposed_communication", 9, 9, { gain_ns: 1e6, change: "network_x2" });
  const { large } = part_findings([hidden, bubble], []);
  assert.deepEqual(rules(large), ["bubble", "exposed_communication"]);
  assert.equal(gain_text(hidden), "simulated gain 1.00 ms");
  assert.equal(gain_text(bubble), "");
  assert.equal(gain_text({ ...hidden, change: null }), "simulated gain at most 1.00 ms");
});

test("a gain above the bound of its finding says what it has more", () => {
  const host = finding("launch_bound", 506, 506, { gain_ns: 710e6, change: "host_free" });
  assert.equal(gain_text(host), "simulated gain 710 ms, including time outside this finding");
  assert.equal(excess_text(host), "204 ms of it is not in this finding: without host time, no "
    + "wait for the host is left, not even at a cold start or a copy.");
  for (const same of [{ ...host, gain_ns: 507e6 }, { ...host, change: null }, bubble]) {
    assert.equal(excess_text(same), "");
  }
});

test("a host that takes no time gains nothing of what recording took", () => {
  const graph = finding("no_cuda_graphs", 13, 13, { gain_ns: null, change: "host_free" });
  const network = finding("exposed_communication", 9, 9, { gain_ns: null, change: "network_x2" });
  const known = finding("starved_data_loading", 1, 1, { gain_ns: MS, change: "data_ready" });
  assert.deepEqual(questions_of([graph, network, known]),
    ["remove:profiler;host_free", "remove:profiler", "network_x2"]);
  const answers = [["network_x2", 2], ["remove:profiler", 6], ["remove:profiler;host_free", 15]]
    .map(([change, gain]) => ({ change, gain_ns: gain * MS }));
  const found = with_gains([graph, network, known], answers);
  assert.deepEqual(found.map(({ gain_ns }) => gain_ns / MS), [9, 2, 1]);
});

test("a finding's change is tried as its gain was found", () => {
  const of_rank = finding("launch_bound", 9, 9, { gain_ns: MS, change: "host_free", rank: 3 });
  assert.deepEqual(trial_of(of_rank), { change: ["remove:profiler", "host_free"], rank: 3 });
  const [of_all] = with_gains([finding("late", 9, 9,
    { gain_ns: null, change: "balanced", rank: 3 })], [{ change: "balanced", gain_ns: MS }]);
  assert.deepEqual(trial_of(of_all), { change: "balanced", rank: null });
});
