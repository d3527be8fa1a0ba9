// SPDX-License-Identifier: Apache-2.0
// At every place that allocates memory one allocation fails: no crash, no hang, no leak, no false
// success.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chance, stepscope_bin } from "../e2e/helpers/tools.mjs";
import { ACTIONS, files_of } from "./helpers/faults.mjs";
import { Sweep } from "./helpers/sweep.mjs";
import { figure, is_long, seed } from "./helpers/torture.mjs";

const QUICK_ROUNDS = 200;
const QUICK_MS = 10_000;

const sweep = new Sweep();
before(() => sweep.begin());
after(() => sweep.server?.child.kill("SIGKILL"));

/** Whether the program itself allocates there, rather than a library. */
const is_own = (site) =>
  files_of(site, sweep.modules).find((path) => !/preload/.test(path)) === stepscope_bin();

/** Each place, or a random choice, the program's own first. */
function cases() {
  const random = chance(seed);
  const all = sweep.sites.filter(({ kind }) => kind === "memory").map((site) => ({ site,
    action: "ENOMEM", number: ACTIONS.ENOMEM, order: random() * (is_own(site) ? 0.1 : 1) }));
  all.sort((a, b) => a.order - b.order);
  return is_long ? all : all.slice(0, QUICK_ROUNDS);
}

test("where there is no memory once, the service says so and lives on", async () => {
  const chosen = cases();
  const { played, fired } = await sweep.run(chosen, is_long ? Infinity : QUICK_MS);
  const places = sweep.sites.filter(({ kind }) => kind === "memory").length;
  figure("R5", `${fired} failed allocations at ${places} places, ` +
    `${sweep.findings.length} findings, uploads answered ` +
    `${JSON.stringify(sweep.answers)} (seed ${seed})`);
  assert.deepEqual(sweep.findings, []);
  assert.ok(fired > played / 2, `only ${fired} of ${played} came about`);
});

test("afterwards it stops in order, the database is whole and no file lies about", async () => {
  assert.deepEqual((await sweep.end()).slice(sweep.findings.length), []);
});
