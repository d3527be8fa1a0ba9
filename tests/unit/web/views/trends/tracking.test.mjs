// SPDX-License-Identifier: Apache-2.0
// Runs over time: extents and levels of a trend, texts for changes, the order of alerts, baselines
// that fit, metadata edits.
import assert from "node:assert/strict";
import test from "node:test";
import { band_path, change_indices, index_at, label_every, label_lanes, levels_of, line_path,
  marks_path, part_columns, tallest_ns, trend_extent }
  from "../../../../../web/charts/trend_model.mjs";
import { SHAPES } from "../../../../../web/charts/marks.mjs";
import { parse_search } from "../../../../../web/base/search_query.mjs";
import {
  actions_of, alert_commits, alert_head, alert_sides, alert_text, alerts_lead, alerts_of,
  counts_by_status, main_reason, none_text, ordered_alerts,
} from "../../../../../web/views/trends/alerts_model.mjs";
import { baseline_of, delta_mark, delta_of, delta_sentence, is_baseline_name, takes_over }
  from "../../../../../web/views/trends/baseline_model.mjs";
import { meta_patch, missing_keys, settings_of } from "../../../../../web/views/run/meta_model.mjs";
import { change_tone, change_words, coverage_text, direction_text, figure_named, figure_note,
  figures_of, label_within, RECORDING, scale_of, source_text, STEP, step_figure, value_text }
  from "../../../../../web/views/trends/figure_model.mjs";
import { drawn_and_listed, events_of, figure_points, last_points, last_share, level_tone,
  level_words, new_alert_runs, news_of, open_alerts, pick_address, picked_runs, point_text,
  series_lead, short_run, timed_points, toggled_pick, trend_sentence, with_differences }
  from "../../../../../web/views/trends/trends_model.mjs";

const MS = 1e6;
const point = (number, ms, more = {}) => ({ run: `r_${number}`, name: `llama@${number}`,
  created: `2026-11-0${number}T00:00:00Z`, commit: null, value: ms * MS, low: null, high: null,
  outlier: false, ...more });
const shift = { run: "r_3", previous_run: "r_2", before_ns: 100 * MS, after_ns: 105 * MS,
  change_share: 0.05, p_value: 0.002 };
const series = [point(1, 100), point(2, 101), point(3, 105), point(4, 106)];
const x = (i) => 10 * i;
const y = (ns) => ns / MS;

test("the axis of a trend holds all runs and never blows up noise", () => {
  const { low, high } = trend_extent([point(1, 100), point(2, 100.1)]);
  assert.ok(low < 98.6 * MS && high > 101.4 * MS, "at least three percent of the step");
  const wide = trend_extent(series);
  assert.ok(wide.low < 100 * MS && wide.high > 106 * MS);
  const lone = trend_extent([point(1, 100)]);
  assert.ok(lone.low < 100 * MS && lone.high > 100 * MS);
  const below = trend_extent([point(1, -2), point(2, 3)]);
  assert.ok(below.low < -2 * MS && below.high > 3 * MS, "a typed number may be negative");
});

test("an interval far wider than the runs differ does not flatten the trend", () => {
  const unsure = point(2, 101, { low: 1, high: 900 * MS });
  const { low, high } = trend_extent([point(1, 100), unsure]);
  assert.ok(high - low < 12 * MS);
});

test("levels are the medians between changes, and the whole where there is none", () => {
  assert.deepEqual(levels_of(series, [shift]), [{ begin: 0, end: 2, value: 100.5 * MS },
    { begin: 2, end: 4, value: 105.5 * MS }]);
  assert.deepEqual(levels_of(series, []), [{ begin: 0, end: 4, value: 103 * MS }]);
  const unseen = { ...shift, run: "r_9" };
  assert.deepEqual(levels_of(series, [unseen]).length, 1, "a change out of sight makes no level");
  assert.deepEqual(levels_of(series, [{ ...shift, run: "r_1" }]).length, 1);
});

test("changes stand in the order of their runs", () => {
  const found = change_indices(series, [{ ...shift, run: "r_4" }, shift, { ...shift, run: "x" }]);
  assert.deepEqual(found.map(({ at }) => at), [2, 3]);
});

test("the band breaks where a run has no interval", () => {
  const sure = (number, ms) => point(number, ms, { low: (ms - 1) * MS,
    high: (ms + 1) * MS });
  const path = band_path([sure(1, 100), sure(2, 101), point(3, 102), sure(4, 103)], x, y);
  assert.deepEqual(path.match(/M/g).length, 2);
  assert.ok(path.startsWith("M0.0 101.0L10.0 102.0L10.0 100.0L0.0 99.0z"));
  assert.equal(band_path([point(1, 100)], x, y), "");
});

test("line, dots and columns have a place for every run", () => {
  assert.equal(line_path(series.slice(0, 2), x, y), "M0.0 100.0L10.0 101.0");
  const dots = marks_path(series, (one) => one.run !== "r_2", { x, y }, SHAPES.circle(3));
  assert.deepEqual(dots.match(/M\S+ \S+?a/g), ["M-3.0 100.0a", "M17.0 105.0a", "M27.0 106.0a"]);
  const parts = [point(1, 100, { gemm_ns: 60 * MS, attention_ns: 40 * MS })];
  assert.equal(tallest_ns(parts), 100 * MS);
  assert.equal(part_columns(parts, 1, { x: () => 5, y: (ns) => 100 - ns / MS, wide: 4 }),
    "M3.00 40.00h4.00v-40.00h-4.00z", "stands on the part before it");
});

test("labels of changes keep apart and inside", () => {
  const text = "▲ 5.0 % slower";
  const lanes = label_lanes([{ x: 0, text }, { x: 20, text }, { x: 290, text }], 300);
  assert.deepEqual(lanes.map(({ lane }) => lane), [0, 1, 0]);
  assert.deepEqual(lanes.map(({ side }) => side), ["right", "right", "left"]);
});

test("a position belongs to the run whose column it is in", () => {
  assert.equal(index_at(54, 54, 10, 4), 0);
  assert.equal(index_at(93.9, 54, 10, 4), 3);
  assert.equal(index_at(94, 54, 10, 4), -1);
  assert.equal(index_at(53, 54, 10, 4), -1);
  assert.equal(label_every(100, 500, 50), 10);
  assert.equal(label_every(3, 500, 50), 1);
});

test("a change is shown by its size and direction, and nothing is made of nothing", () => {
  assert.equal(change_words(0.0493), "▲ 4.9 % slower");
  assert.equal(change_words(-0.021), "▼ 2.1 % faster");
  assert.equal(change_words(0.0004), "as before");
  assert.equal(change_words(null), "nothing to compare with");
});

test("another device is named as such and is neither better nor worse", () => {
  assert.equal(level_words(shift), "▲ 5.0 % slower");
  assert.equal(level_tone(shift), "worse");
  assert.equal(level_words({ ...shift, reason: "gpu" }), "other GPU");
  assert.equal(level_tone({ ...shift, reason: "ranks", change_share: -0.5 }), "same");
});

test("runs are shortened without losing who they are", () => {
  assert.equal(short_run("llama@12", "llama"), "@12");
  assert.equal(short_run("other", "llama"), "other");
  assert.equal(short_run("llama", "llama"), "llama");
});

const noted = (name, share, status = "new", kind = "change") => ({ project: "p", series: name,
  run: `r_${name}`, run_name: `${name}@7`, change_share: share, status, kind });

test("series with open alerts come first, at most twelve are drawn, single runs are listed", () => {
  const row = (name, more) => ({ project: "p", series: name, points: 9, last: "2026-11-01",
    change_share: 0.01, open_alerts: 0, ...more });
  const rows = [...Array.from({ length: 13 }, (_, i) => row(`s${String(i).padStart(2, "0")}`)),
    row("one", { points: 1 }), row("faster"), row("slower")];
  const alarms = open_alerts([noted("faster", -0.2), noted("slower", 0.02, "acknowledged"),
    noted("s01", 0.3, "fixed")]);
  const { drawn, listed } = drawn_and_listed(rows, alarms);
  assert.deepEqual(drawn.slice(0, 3).map((one) => one.series), ["slower", "faster", "s00"]);
  assert.equal(drawn.length, 12);
  assert.equal(drawn.length + listed.length, rows.length);
  assert.equal(series_lead(rows, alarms),
    "2 of 16 series have open alerts, the worst in slower: ▲ 2.0 % slower since @7.");
  assert.equal(series_lead([row("a"), row("b", { change_share: -0.05 })], new Map()),
    "No series has an open alert; b moved most: ▼ 5.0 % faster.");
  assert.equal(series_lead([row("a", { change_share: null })], new Map()), "");
  assert.ok(listed.some((one) => one.series === "one"));
});

test("a series tells its worst open alert, else how its last run went", () => {
  const alerts = [noted("llama", -0.5), noted("llama", 0.02, "new", "outlier"),
    noted("llama", 0.01), noted("llama", 0.9, "noise")];
  const alarm = open_alerts(alerts).get("p\nllama");
  const row = { project: "p", series: "llama", change_share: 0.004 };
  assert.deepEqual(news_of(row, alarm), { text: "▲ 2.0 % slower at @7", tone: "worse" });
  assert.deepEqual(news_of(row, noted("llama", -0.5)), { text: "▼ 50.0 % faster since @7",
    tone: "better" });
  assert.deepEqual(news_of(row, undefined), { text: "▲ 0.4 % slower", tone: "same" });
  assert.deepEqual([...new_alert_runs([noted("a", 1), noted("b", 1, "fixed")])], ["r_a"]);
});

test("the sentence of a trend says where it began, where it is, and what happened", () => {
  assert.equal(trend_sentence("llama", series, [shift]), "Median step of 4 runs of llama, lower is "
    + "better: 100.0 ms at first, 106.0 ms now; 1 change of level.");
  assert.match(trend_sentence("llama", series, []), /no change of level found/);
  const moved = [point(1, 100), point(2, 101), point(3, 100), point(4, 60), point(5, 61)];
  assert.match(trend_sentence("llama", moved, []),
    /61\.00 ms now; 40\.0 % faster since @4, too few runs/);
  assert.match(trend_sentence("llama", series, [{ ...shift, reason: "gpu" }]),
    /; no change of level found/);
  const other = [...moved.slice(0, 3), ...moved.slice(3).map((one) => ({ ...one, gpu: "A100" }))];
  assert.match(trend_sentence("llama", other, []), /no change of level found/);
  const long = Array.from({ length: 16 }, (_, i) => point(i + 1, (i < 8 ? 100 : 60) + i % 2));
  assert.match(trend_sentence("llama", long, []), /no change of level found/);
  assert.match(trend_sentence("llama", [], []), /No run of llama has a step time yet/);
  assert.match(trend_sentence("llama", series.slice(0, 1), []), /1 run of llama.*100\.0 ms\.$/);
});

test("a recording without steps is not called a step, and longer instead of slower", () => {
  const row = { project: "p", series: "llama", change_share: 0.05, no_steps: true };
  const figure = step_figure(row);
  assert.equal(figure, RECORDING);
  assert.equal(step_figure(undefined), STEP);
  assert.equal(news_of(row).text, "▲ 5.0 % longer");
  const alarm = { ...alert("a", 0.05), run_name: "llama@7", no_steps: true };
  const said = [news_of(row, alarm).text, alert_text(alarm), level_words(shift, figure),
    trend_sentence("llama", series, [shift], figure), point_text(point(2, 105), point(1, 100),
      figure), figure_note(figure, series, series), ...events_of(series, [shift], [], figure)
      .get("r_3").map(({ words }) => words)];
  assert.deepEqual(said, ["Recording ▲ 5.0 % longer since @7",
    "100.0 → 105.0 ms; the level of the series changed here", "▲ 5.0 % longer",
    "Recording of 4 runs of llama, lower is better: 100.0 ms at first, 106.0 ms now; 1 change of "
      + "level.", "llama@2: 105.0 ms, ▲ 5.0 % longer than the previous run.",
    "lower is better · no step is marked", "▲ 5.0 % longer"]);
  const mixed = [...series, point(5, 900, { no_steps: true })];
  assert.equal(last_share(mixed), null, "a recording is not compared with steps");
});

test("a run is shown with its interval, its commit and the difference to the one before", () => {
  const sure = point(2, 105, { low: 104.8 * MS, high: 105.3 * MS,
    commit: "abc", outlier: true });
  assert.equal(point_text(sure, point(1, 100)), "llama@2, commit abc: 105.0 ms (95 % 104.8 to "
    + "105.3 ms), ▲ 5.0 % slower than the previous run, beyond the noise of its series.");
  assert.equal(point_text(point(1, 100)), "llama@1: 100.0 ms.");
});

test("two runs are chosen, the older is the base, and a third takes the place of the first", () => {
  let picked = picked_runs("r_4,gone", series);
  assert.deepEqual(picked, ["r_4"]);
  assert.equal(pick_address(picked, series), null);
  picked = toggled_pick(picked, "r_2").split(",");
  assert.equal(pick_address(picked, series), "/compare?base=r_2&cand=r_4");
  assert.equal(toggled_pick(picked, "r_3"), "r_2,r_3");
  assert.equal(toggled_pick(picked, "r_2"), "r_4");
  assert.deepEqual(picked_runs("r_1,r_2,r_3", series), ["r_2", "r_3"]);
});

test("runs without a step time are no points, and the last ones are shown", () => {
  const rows = [100, 0, 101, null].map((step_median_ns, i) => ({ run: `r_${i + 1}`,
    step_median_ns, step_ci_low_ns: 99, step_ci_high_ns: null, value: 0.4 }));
  assert.deepEqual(timed_points(rows).map(({ run, value, low, high, figure }) =>
    [run, value, low, high, figure]), [["r_1", 100, 99, null, 0.4], ["r_3", 101, 99, null, 0.4]]);
  assert.deepEqual(last_points(series, "3").length, 3);
  assert.deepEqual(last_points(series, "all").length, 4);
  assert.equal(with_differences(series, STEP)[0].share, null);
  assert.ok(Math.abs(with_differences(series, STEP)[1].share - 0.01) < 1e-9);
});

test("what happened at a run is its change, its being an outlier and its alert", () => {
  const events = events_of([point(3, 1, { outlier: true })], [shift], [{ run: "r_3",
    status: "noise" }]);
  assert.deepEqual(events.get("r_3").map(({ kind }) => kind), ["change", "outlier", "alert"]);
  assert.equal(events.get("r_3")[0].words, "▲ 5.0 % slower");
  assert.equal(events.get("r_1"), undefined);
});

const alert = (id, share, more = {}) => ({ id, series: "llama", change_share: share,
  before_ns: 100 * MS, after_ns: 100 * MS * (1 + share), kind: "change", status: "new",
  created: "2026-11-01", ...more });

test("slower alerts come before faster ones, each by size", () => {
  const order = ordered_alerts([alert("a", -0.3), alert("b", 0.02), alert("c", 0.1),
    alert("d", -0.05)]).map(({ id }) => id);
  assert.deepEqual(order, ["c", "b", "a", "d"]);
});

test("an alert is described by its levels and its kind, and can become all that it is not", () => {
  assert.equal(alert_text(alert("a", 0.05)),
    "100.0 → 105.0 ms per step; the level of the series changed here");
  assert.match(alert_text(alert("a", 0.05, { kind: "outlier" })), /this run alone/);
  assert.deepEqual(actions_of("noise").map(({ key }) => key),
    ["new", "acknowledged", "expected", "fixed"]);
});

test("an alert of another figure has its own words and unit", () => {
  const mfu = alert("m", -0.1, { metric: "mfu", label: "MFU", unit: "share", better: "more",
    before_ns: null, after_ns: null, before_value: 0.4, after_value: 0.36, worse_share: 0.11 });
  assert.deepEqual(alert_head(mfu), { words: "MFU ▼ 10.0 % lower", tone: "worse" });
  assert.match(alert_text(mfu), /^40.* % → 36.* %; the level of the series changed here$/);
  assert.deepEqual(ordered_alerts([alert("a", -0.3), mfu]).map(({ id }) => id), ["m", "a"]);
  assert.deepEqual([...new_alert_runs([{ ...mfu, run: "r_1" }])], []);
  assert.deepEqual([...new_alert_runs([{ ...mfu, run: "r_1" }], mfu)], ["r_1"]);
  assert.equal(alert_head(alert("a", 0.05, { metric: "step_ns" })).words, "▲ 5.0 % slower");
});

test("the inbox counts by status and says when it is empty", () => {
  const alerts = [alert("a", 0.1), alert("b", 0.1, { status: "noise" })];
  assert.equal(counts_by_status(alerts).new, 1);
  assert.equal(counts_by_status(alerts).fixed, 0);
  assert.deepEqual(alerts_of(alerts, "noise").map(({ id }) => id), ["b"]);
  assert.equal(alerts_of(alerts, "all").length, 2);
  assert.equal(alerts_lead(alerts), "1 alert awaits a decision, in llama: ▲ 10.0 % slower.");
  assert.equal(alerts_lead([...alerts, alert("c", 0.2, { series: "big" })]),
    "2 alerts await a decision, the largest in big: ▲ 20.0 % slower.");
  assert.equal(alerts_lead(alerts.slice(1)), "");
  assert.match(none_text("new"), /No new alerts/);
  assert.match(none_text("expected"), /marked as expected/);
});

const baseline = (name, run, more = {}) => ({ name, run, run_name: `${run}@1`, project: "p",
  step_median_ns: 100 * MS, set: "2026-11-01", ...more });
const run = (more = {}) => ({ id: "r_x", name: "llama@9", series: "llama", project: "p",
  step_median_ns: 95 * MS, ...more });

test("a run is compared with the baseline of its series, else the only one of its project", () => {
  const llama = baseline("main", "llama");
  const vit = baseline("vit", "vit");
  const newer = baseline("next", "llama", { run: "r_2", set: "2026-11-05" });
  assert.equal(baseline_of(run(), [llama, vit]), llama);
  assert.equal(baseline_of(run(), [llama, vit, newer]), newer, "the latest");
  assert.equal(baseline_of(run({ series: "bert" }), [llama, vit]), null, "nothing is guessed");
  assert.equal(baseline_of(run({ series: "bert" }), [vit]), vit);
  assert.equal(baseline_of(run({ project: "other" }), [llama]), null);
  assert.equal(baseline_of(run(), [llama, vit], "vit"), vit, "but can be chosen");
  assert.equal(baseline_of(run(), [llama], "gone"), null);
});

test("a difference of two single runs is shown with its noise unknown", () => {
  const delta = delta_of(run(), baseline("main", "llama"));
  assert.equal(delta_mark(delta.share), "▼ 5.0 %");
  assert.equal(delta_mark(0.0001), "0.0 %");
  assert.equal(delta_sentence(delta), "5.0 % faster than llama@1 (baseline main); noise unknown: "
    + "these are two single runs");
  assert.equal(delta_of(run({ id: "llama" }), baseline("main", "llama")), null, "itself");
  assert.equal(delta_of(run({ step_median_ns: null }), baseline("main", "llama")), null);
  assert.equal(delta_of(run({ no_steps: true }), baseline("main", "llama")), null, "a recording");
});

test("names of baselines fit into addresses, and taking one over is announced", () => {
  for (const name of ["main", "a.b-c_1"]) assert.ok(is_baseline_name(name), name);
  for (const name of ["", "..", "a b", "a/b", "ä"]) assert.ok(!is_baseline_name(name), name);
  assert.match(takes_over("main", run(), [baseline("main", "llama")]), /is llama@1 now; it moves/);
  assert.match(takes_over("main", run({ id: "llama" }), [baseline("main", "llama")]), /already/);
  assert.equal(takes_over("new", run(), []), "");
});

test("an edit of metadata sends only what changed, and null for what is gone", () => {
  const before = { gpu: "H100", precision: "bf16", note: "x" };
  const rows = [{ key: " gpu ", value: "H100" }, { key: "precision", value: "fp8 " },
    { key: "batch_size", value: "512" }, { key: "", value: "?" }, { key: "data", value: " " }];
  assert.deepEqual(meta_patch(before, rows), { precision: "fp8", batch_size: "512", note: null });
  assert.deepEqual(meta_patch(before, Object.entries(before).map(([key, value]) =>
    ({ key, value }))), {});
  assert.deepEqual(meta_patch(undefined, []), {});
  assert.ok(!missing_keys(rows).some(({ key }) => key === "gpu"));
  assert.ok(missing_keys(rows).some(({ key }) => key === "commit"));
});

test("what people gave wins over the trace, which is shown beside it", () => {
  const traced = [{ key: "gpu", value: "NVIDIA H100", ranks: 8 },
    { key: "precision", value: "bf16", ranks: 8 }];
  const rows = settings_of({ precision: "fp8", zeta: "1", commit: "abc", gpu: "NVIDIA H100" },
    traced);
  assert.deepEqual(rows.map(({ key, source, traced: says }) => [key, source, says]), [
    ["commit", "given", null], ["precision", "given", "bf16"], ["gpu", "given", null],
    ["zeta", "given", null]]);
  assert.deepEqual(settings_of({}, traced).map(({ source }) => source), ["trace", "trace"]);
});

test("words of a search that a table cannot be filtered by are text", () => {
  assert.deepEqual(parse_search("tag:a=b gpu:H100 x", ["tag", "project"]),
    { tag: ["a=b"], q: "gpu:H100 x" });
});

const spot = (run, more = {}) =>
  ({ run, gpu: "g", ranks: 1, outlier: false, commit: "", ...more });

test("an alert compares usual runs before with runs after, and names the commits between", () => {
  const points = [spot("a", { outlier: true }), spot("b"), spot("c", { ranks: 2 }),
    spot("d", { commit: "11" }), spot("e", { commit: "22" }), spot("f")];
  assert.deepEqual(alert_sides(points, { run: "e", kind: "change" }),
    { base: ["b", "d"], cand: ["e", "f"] });
  assert.deepEqual(alert_sides(points, { run: "e", kind: "outlier" }),
    { base: ["b", "d"], cand: ["e"] });
  assert.deepEqual(alert_sides(points, { run: "gone", kind: "change" }), { base: [], cand: [] });
  const between = (previous_run, run) =>
    alert_commits(points, { previous_run, run })?.map(({ commit }) => commit) ?? null;
  assert.deepEqual(between("d", "e"), ["11", "22"]);
  assert.equal(between("e", "f"), null, "a run without a commit");
  assert.equal(between(null, "a"), null, "the first run");
});

test("the commits of an alert begin at the last run on the same hardware", () => {
  const points = [spot("a", { commit: "11" }), spot("b", { gpu: "other", commit: "22" }),
    spot("c", { commit: "22" })];
  const commits = alert_commits(points, { run: "c", previous_run: "a" });
  assert.deepEqual(commits.map(({ commit }) => commit), ["11", "22"]);
});

test("what changed most in the direction of the alert explains it", () => {
  const reasons = [{ title: "x", delta_ns: -9 }, { title: "y", delta_ns: 2 },
    { title: "z", delta_ns: 5 }];
  assert.equal(main_reason(reasons, { change_share: 0.1 }).title, "z");
  assert.equal(main_reason(reasons, { change_share: -0.1 }).title, "x");
  assert.equal(main_reason([], { change_share: 0.1 }), null);
});

const MFU = { metric: "mfu", label: "MFU", unit: "share", better: "more", help: "Of the peak." };
const MEMORY = { metric: "memory_bytes", label: "Peak memory per GPU", unit: "bytes",
  better: "less", help: "" };
const GIVEN = { metric: "meta.score", label: "score", unit: "", better: "", help: "" };

test("the figures of a series are offered once each, after its step time", () => {
  const rows = [{ ...MFU, metric: "step_ns" }, { ...MFU, source: "log", runs: 3 },
    { ...MFU, source: "trace", runs: 1 }];
  assert.deepEqual(figures_of(rows).map(({ metric }) => metric), ["", "mfu"]);
  assert.deepEqual(figures_of(rows, "hfu").map(({ metric }) => metric), ["", "mfu", "hfu"]);
  assert.equal(figure_named(figures_of(rows), "mfu").better, "more");
  assert.equal(figure_named(figures_of(rows), "none"), STEP);
});

test("a figure is shown in its unit, with its direction, and its axis fits", () => {
  assert.equal(value_text(MFU, 0.4123), "41.2 %");
  assert.equal(value_text(MEMORY, 61.5e9), "61.5 GB");
  assert.equal(value_text({ metric: "tokens_per_s_per_gpu", unit: "1/s" }, 15234.4),
    "15,234 tokens/s");
  assert.equal(value_text({ metric: "power_w", unit: "W" }, 651.23), "651.2 W");
  assert.equal(value_text(STEP, 100 * MS), "100.0 ms");
  assert.equal(value_text(GIVEN, null), "–");
  assert.deepEqual(scale_of(MEMORY, 61.5e9), { unit: "GB", per: 1e9 });
  assert.deepEqual(scale_of(MFU, 0.4), { unit: "%", per: 0.01 });
  assert.deepEqual([MFU, MEMORY, GIVEN].map(direction_text),
    ["higher is better", "lower is better", ""]);
  assert.deepEqual([MFU, MEMORY].map(label_within), ["MFU", "peak memory per GPU"]);
  assert.equal(change_words(-0.05, MFU), "▼ 5.0 % lower");
  assert.deepEqual([[-0.05, MFU], [-0.05, MEMORY], [-0.05, GIVEN], [0.05]].map((one) =>
    change_tone(...one)), ["worse", "better", "same", "worse"]);
});

test("a trend says where its figure comes from and how many runs have it", () => {
  const from = (source) => ({ source });
  assert.equal(source_text([from("log"), from("log")]), "from the training log");
  assert.equal(source_text([from("trace"), from("log"), from("log")]), "from the training log in "
    + "2 runs and the trace in 1 run, which may measure differently");
  assert.equal(source_text([from(null)]), "from an unknown source");
  assert.equal(coverage_text([1, 2, 3], [1]), "in 1 of 3 runs");
  assert.equal(figure_note(MFU, [from("log")], [from("log")]),
    "higher is better · from the training log · in the only run");
});

test("the line of a figure has the runs with it, without the marks of step time", () => {
  const points = [point(1, 100, { figure: 0.4, gpu: "g", ranks: 8, source: "log", low: 1,
    no_steps: true }), point(2, 100, { figure: null }),
    point(3, 90, { figure: 0.5, gpu: "g", ranks: 8, source: "log", outlier: true })];
  const known = figure_points(points, MFU);
  assert.deepEqual(known.map(({ run, value, low, outlier }) => [run, value, low, outlier]),
    [["r_1", 0.4, null, false], ["r_3", 0.5, null, false]]);
  assert.equal(last_share(known).toFixed(3), "0.250", "marked steps do not matter to it");
  assert.equal(last_share([known[0], { ...known[1], source: "trace" }]), null,
    "another source measures in another way");
  assert.deepEqual(with_differences(points, MFU).map(({ share }) => share?.toFixed(3)),
    [undefined, undefined, "0.250"]);
  assert.equal(trend_sentence("llama", known, [], MFU),
    "MFU of 2 runs of llama, higher is better: 40.0 % at first, 50.0 % now.");
  assert.equal(trend_sentence("llama", [], [], MFU), "No run of llama has MFU yet.");
  assert.equal(point_text(known[1], known[0], MFU),
    "llama@3: 50.0 %, ▲ 25.0 % higher than the previous run.");
});
