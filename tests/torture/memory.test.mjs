// SPDX-License-Identifier: Apache-2.0
// At every place that asks for memory there is none once: no crash, no hang, no leak, no false
// success.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chance } from "../e2e/helpers/tools.mjs";
import { ACTIONS } from "./helpers/faults.mjs";
import { Sweep } from "./helpers/sweep.mjs";
import { figure, is_long, seed } from "./helpers/torture.mjs";

const QUICK_ROUNDS = 80;

const sweep = new Sweep();
before(() => sweep.begin());
after(() => sweep.server?.child.kill("SIGKILL"));

/** Each place, or some of them by chance. */
function cases() {
  const random = chance(seed);
  const all = sweep.sites.filter(({ kind }) => kind === "memory").map((site) =>
    ({ site, action: "ENOMEM", number: ACTIONS.ENOMEM, order: random() }));
  return is_long ? all : all.sort((a, b) => a.order - b.order).slice(0, QUICK_ROUNDS);
}

test("where there is no memory once, the service says so and lives on", async () => {
  const chosen = cases();
  const fired = await sweep.run(chosen);
  const places = sweep.sites.filter(({ kind }) => kind === "memory").length;
  figure("R5", `${fired} failed allocations at ${places} places, ` +
    `${sweep.findings.length} findings, uploads answered ` +
    `${JSON.stringify(sweep.answers)} (seed ${seed})`);
  assert.deepEqual(sweep.findings, []);
  assert.ok(fired > chosen.length / 2, `only ${fired} of ${chosen.length} came about`);
});

test("afterwards it stops in order, the database is whole and no file lies about", async () => {
  assert.deepEqual((await sweep.end()).slice(sweep.findings.length), []);
});
