// SPDX-License-Identifier: Apache-2.0
// The home page: since when, what moved, which findings come first, and the sentence that says it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { age_param, costliest, extremes, moved_series, newest_runs, news_sentence, visit_of }
  from "../../../../../web/views/home/home_model.mjs";

const MINUTE = 60_000;
const NOW = Date.parse("2026-11-26T08:00:00Z");

test("the age of a visit grows, so that what is new since then stays", () => {
  assert.deepEqual([0, MINUTE, 90_000, 61 * MINUTE].map((age) => age_param(NOW - age, NOW)),
    ["1m", "1m", "2m", "61m"]);
});

test("a visit lasts half an hour, and the one before it is remembered", () => {
  const first = visit_of(null, NOW);
  assert.equal(first.since, NOW - 7 * 24 * 60 * MINUTE);
  assert.ok(first.first);
  const again = visit_of(first.keep, NOW + 10 * MINUTE);
  assert.ok(again.first, "the same visit");
  const next = visit_of(again.keep, NOW + 100 * MINUTE);
  assert.equal(next.since, NOW + 10 * MINUTE);
  assert.ok(!next.first);
  assert.equal(visit_of(next.keep, NOW + 110 * MINUTE).since, next.since, "reloaded");
});

const series = (name, change_share, minutes) => ({ project: "p", series: name, change_share,
  last: new Date(NOW + minutes * MINUTE).toISOString() });

test("series that moved since then come by size; old and small moves do not", () => {
  const rows = [series("a", 0.02, 1), series("b", -0.3, 1), series("c", 0.5, -1),
    series("d", 0.001, 1), series("e", null, 1)];
  assert.deepEqual(moved_series(rows, [], NOW).map((row) => row.series), ["b", "a"]);
  const alert = { project: "p", series: "d", change_share: 0.4, created: rows[0].last };
  assert.deepEqual(moved_series(rows, [alert], NOW).map((row) => row.series), ["d", "b", "a"]);
  const { best, worst } = extremes(rows, NOW);
  assert.deepEqual([best.series, worst.series], ["b", "a"]);
  assert.deepEqual(extremes([], NOW), { best: null, worst: null, compared: false });
  assert.equal(extremes([series("a", 0.1, 1)], NOW).best, null, "slower is not best");
});

test("findings are those of each series' newest run, the costliest first", () => {
  const run = (id, name, findings, status = "done") =>
    ({ id, project: "p", series: name, findings, status });
  const runs = [run("1", "a", 2), run("2", "a", 3), run("3", "b", 0), run("4", "c", 1, "failed")];
  assert.deepEqual(newest_runs(runs).map(({ id }) => id), ["1"]);
  const found = costliest([[{ cost_ns: 1 }, { cost_ns: null }], [{ cost_ns: 5 }]]);
  assert.deepEqual(found.map(({ cost_ns }) => cost_ns), [5, 1]);
});

test("one sentence says what is new", () => {
  const sentence = (runs, moved, failed, alerts) => news_sentence({ runs: { total: runs }, moved,
    failed: { total: failed }, alerts });
  assert.equal(sentence(0, 0, 0, 0),
    "Nothing has changed, and nothing is waiting for a decision.");
  assert.equal(sentence(1, 0, 0, 0), "1 new run.");
  assert.equal(sentence(5, 2, 1, 2),
    "5 new runs, 2 series moved, 1 upload failed and 2 alerts wait for a decision.");
  assert.equal(news_sentence({ runs: { total: 5000, total_is_least: true }, moved: 0,
    failed: { total: 0 }, alerts: 0 }), "at least 5,000 new runs.");
});
