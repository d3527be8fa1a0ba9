// SPDX-License-Identifier: Apache-2.0
// Time limits of tools, on runs of the size of the demo. tests/run runs this file while nothing
// else does.
// Timed: nothing runs beside it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ask_tool } from "./helpers/mcp.mjs";
import { start_server } from "./helpers/server.mjs";
import { stepscope_bin } from "./helpers/tools.mjs";
import { generate } from "./helpers/traces.mjs";

// Sanitizers take ten times as long.
const LIMIT_MS = stepscope_bin().includes("/dev/") ? 500 : 50;
const TRIES = 7; // if the machine is busy, it is measured again

let server;
before(async () => {
  server = await start_server();
  const job = ["--ranks", "4", "--steps", "8", "--strategy", "fsdp", "--stacks", "--memory"];
  for (const [name, args] of [["a", [...job, "--seed", "1"]],
    ["b", [...job, "--seed", "2", "--flavour", "rocm"]],
    ["mesh", ["mesh", "--tp", "2", "--pp", "2", "--dp", "8", "--straggler", "5=4000000"]]])
    await server.analyzed(name, (await generate(args)).files);
});
after(() => server?.stop());

const CALLS = [["find_runs", {}], ["find_runs", { series: "a" }], ["overview", { run: "mesh" }],
  ["findings", { run: "b", limit: 8 }], ["explain", { run: "mesh", topic: "late_rank" }],
  ["explain", { run: "b", topic: "compute" }], ["table", { run: "b", table: "kernels", limit: 40 }],
  ["table", { run: "mesh", table: "steps", limit: 40 }], ["compare", { base: "a", cand: "b" }],
  ["gate", { base: "a", cand: "b" }], ["timeline_cut", { run: "a", rank: 1, step: 4 }]];

test(`every tool answers within ${LIMIT_MS} ms`, async () => {
  const times = [];
  for (const [name, args] of CALLS) {
    let best = Infinity;
    for (let i = 0; i < TRIES && (i === 0 || best > LIMIT_MS); i++) {
      const begin = performance.now();
      await ask_tool(server, name, args);
      best = Math.min(best, performance.now() - begin);
    }
    times.push([name, JSON.stringify(args), Math.round(best * 10) / 10]);
  }
  process.stderr.write(`NOTE: ${times.map(([name, , ms]) => `${name} ${ms}`).join(", ")} ms\n`);
  assert.deepEqual(times.filter(([, , ms]) => ms > LIMIT_MS), []);
});
