// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { log_sentence, profiled_text } from "../../../../../web/views/run/log_model.mjs";
import { AXES, METRICS, chosen_of, event_places, known_of, longest_log, loss_text, marks_of, race,
  race_text, series_of } from "../../../../../web/views/training/training_model.mjs";

const row = (step, loss, more = {}) => ({ file: "a.log", segment: 0, step, steps: 1, loss,
  time_ns: step * 2e9, ...more });

test("only what a log has can be chosen", () => {
  const rows = [row(1, 5)];
  assert.deepEqual(known_of(METRICS, rows).map(({ key }) => key), ["loss"]);
  assert.deepEqual(known_of(AXES, rows).map(({ key }) => key), ["step", "time_ns"]);
  assert.equal(chosen_of(METRICS, "nothing").key, "loss");
});

test("each log has a line of its own color", () => {
  const series = series_of([row(1, 5), row(2, 4), row(1, 6, { file: "b.log" })], METRICS[0],
    AXES[0]);
  assert.deepEqual(series.map(({ label, tone, points }) => [label, tone, points.length]),
    [["a.log", 0, 2], ["b.log", 1, 1]]);
});

test("faults and restarts are marked where they are", () => {
  const marks = marks_of([{ kind: "fault", after_step: 7, text: "out of memory" },
    { kind: "checkpoint", after_step: 5 }, { kind: "restart", after_step: null }], AXES[0]);
  assert.deepEqual(marks, [{ x: 7, tone: "fault", label: "Fault: out of memory" }]);
});

test("a restart comes where it happened, with a clock or without", () => {
  const event = (kind, segment, time_ns, file = "a.log") => ({ kind, segment, time_ns, file });
  const order = (events) => {
    const places = event_places(events);
    return events.map((_, place) => events[places.indexOf(place)])
      .map(({ kind, segment }) => `${kind} ${segment}`);
  };
  const untimed = [event("checkpoint", 0, null), event("fault", 0, null),
    event("checkpoint", 1, null), event("restart", 1, null), event("restart", 2, null)];
  assert.deepEqual(order(untimed),
    ["checkpoint 0", "fault 0", "restart 1", "checkpoint 1", "restart 2"]);
  assert.deepEqual(order(untimed.map((one, i) => ({ ...one, time_ns: [1, 2, 4, 3, 5][i] }))),
    ["checkpoint 0", "fault 0", "restart 1", "checkpoint 1", "restart 2"]);
  const two = [event("fault", 0, 7), event("checkpoint", 0, 3, "b.log"), event("restart", 1, 9)];
  assert.deepEqual(event_places(two), [1, 0, 2]);
  assert.deepEqual(event_places([event("fault", 0, null), ...two.slice(1)]), [0, 2, 1]);
});

test("troubles of a loss are said", () => {
  const log = { steps: 30, first_loss: 12, last_loss: 8.9, loss_spikes: 2, restarts: 1,
    nan_steps: 0 };
  assert.equal(loss_text(log), "Loss from 12.00 to 8.900 over 30 steps; 2 spikes, 1 restart");
  assert.equal(loss_text({ ...log, first_loss: null }), "30 steps without a loss");
});

test("the log with the most steps stands for its run", () => {
  const rows = longest_log([row(1, 5, { file: "short" }), row(1, 5), row(2, 4)], "run");
  assert.deepEqual(rows.map(({ file, step }) => [file, step]), [["run", 1], ["run", 2]]);
  assert.deepEqual(longest_log([], "run"), []);
});

test("the loss that both reach is the higher of their lowest", () => {
  const sides = [{ name: "A", rows: [row(1, 5), row(2, 4), row(3, 3)] },
    { name: "B", rows: [row(1, 6), row(5, 3.5, { time_ns: null })] }];
  assert.deepEqual(race(sides).at.map(({ step }) => step), [3, 5]);
  assert.equal(race_text(sides), "Loss 3.500 is reached by A at step 3 (6.00 s), by B at step 5");
  assert.equal(race([{ rows: [] }, sides[1]]), null);
});

test("a single low loss among many reaches nothing", () => {
  const rows = Array.from({ length: 100 }, (_, i) => row(i + 1, i === 10 ? 1 : 9 - i / 20));
  const { at } = race([{ rows }, { rows: [row(1, 6)] }]);
  assert.ok(at[0].step > 50);
});

test("what profiling costs is said where both times are known", () => {
  assert.equal(profiled_text(500e6, 550e6), "550 ms while profiled (+10.0 %)");
  assert.equal(profiled_text(null, 550e6), "");
  assert.equal(profiled_text(500e6, null), "");
});

test("a job is one sentence: its speed, its loss and how often it was restarted", () => {
  const log = { step_median_ns: 2e9, tokens_per_s: null, steps: 40, first_loss: 12, last_loss: 10,
    restarts: 0 };
  const said = (more) => log_sentence({ ...log, ...more }).replace(/\s/gu, " ");
  assert.equal(said({}), "A step takes 2,000 ms; the loss goes from 12.00 to 10.00 over 40 steps.");
  assert.equal(said({ last_loss: 12, restarts: 5 }),
    "A step takes 2,000 ms; the loss stays at 12.00 over 40 steps, with 5 restarts.");
  assert.equal(said({ step_median_ns: null, restarts: 1 }),
    "The log has 40 steps, with 1 restart; the loss goes from 12.00 to 10.00.");
});
