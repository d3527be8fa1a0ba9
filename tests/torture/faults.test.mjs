// SPDX-License-Identifier: Apache-2.0
// Every call on a file in the data folder fails, once or from then on: right answers, no false
// success, a live service that recovers, an intact database.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chance } from "../e2e/helpers/tools.mjs";
import { until } from "../e2e/helpers/tools.mjs";
import { ACTIONS } from "./helpers/faults.mjs";
import { play, verify } from "./helpers/scenario.mjs";
import { Sweep } from "./helpers/sweep.mjs";
import { figure, is_long, seed } from "./helpers/torture.mjs";

// How each kind of call can fail on a disk.
const FAILURES = {
  open: ["ENOSPC", "EIO", "EINTR"],
  read: ["EIO", "EINTR", "short"],
  write: ["ENOSPC", "EIO", "EINTR", "short"],
  sync: ["ENOSPC", "EIO", "EINTR"],
  name: ["ENOSPC", "EIO"],
  reserve: ["ENOSPC", "EIO", "EINTR"],
  remove: ["EIO"],
  folder: ["ENOSPC", "EIO"],
  map: ["ENOMEM"],
};
const QUICK_ROUNDS = 100;
const QUICK_MS = 9000;

const sweep = new Sweep();
before(() => sweep.begin());
after(() => sweep.server?.child.kill("SIGKILL"));

/** All cases, or a random choice. */
function cases() {
  const all = sweep.sites.flatMap((site) => (FAILURES[site.kind] ?? []).map((action) =>
    ({ site, action, number: ACTIONS[action] })));
  const random = chance(seed);
  return is_long ? all : all.map((one) => [random(), one]).sort(([a], [b]) => a - b)
    .slice(0, QUICK_ROUNDS).map(([, one]) => one);
}

test("a call on a file that fails once gives no false success and no lasting harm", async () => {
  const chosen = cases();
  const { played, fired } = await sweep.run(chosen, is_long ? Infinity : QUICK_MS);
  figure("R4", `${fired} faults at ${sweep.sites.filter(({ kind }) => FAILURES[kind]).length} ` +
    `places, ${sweep.findings.length} findings, ${sweep.restarts} restarts asked for, ` +
    `answers to uploads ${JSON.stringify(sweep.answers)} (seed ${seed})`);
  assert.deepEqual(sweep.findings, []);
  assert.ok(fired > played / 2, `only ${fired} of ${played} faults came about`);
});

// Only an upload of known length reserves its space.
const LASTING = [["write", "ENOSPC", [507]], ["reserve", "ENOSPC", [202, 507]],
  ["write", "EIO", [503]], ["sync", "EIO", [503]], ["open", "EIO", [503]], ["name", "EIO", [503]],
  ["open", "EPERM", [503]], ["name", "EPERM", [503]], ["write", "EPERM", [503]]];

for (const [kind, action, expected] of LASTING) {
  test(`while every ${kind} fails with ${action} uploads are refused, later they are taken`,
    async () => {
      const { server } = sweep;
      sweep.faults.arm({ kind, action: ACTIONS[action], lasting: true });
      const seen = await play(server, sweep.rounds++);
      if (["open", "write"].includes(kind)) {
        const ready = await until("it says that it is not ready", async () => {
          const reply = await server.request("/readyz");
          return reply.status !== 200 && reply;
        });
        assert.ok(expected.includes(ready.status), `readyz: ${ready.status} ${ready.text}`);
      }
      assert.ok(sweep.faults.clear() > 0, "nothing failed");
      for (const answer of seen.uploads) assert.ok(expected.includes(answer), `answered ${answer}`);
      await sweep.restart_if_needed();
      await verify(sweep.server, seen);
      const fine = await play(sweep.server, sweep.rounds++);
      assert.deepEqual([...fine.uploads, fine.deleted], [202, 202, 204, 204]);
    });
}

test("in the end the database is whole and no file lies about", async () => {
  assert.deepEqual((await sweep.end()).slice(sweep.findings.length), []);
});
