// SPDX-License-Identifier: Apache-2.0
// Why a job hangs: Flight Recorder dumps in one archive or one by one, without any trace.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { tar } from "./helpers/archives.mjs";
import { axe_faults, launch, open_page, visit } from "./helpers/browser.mjs";
import { flight_dump } from "./helpers/flight_dumps.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { run_status, stepscope_bin, temporary } from "./helpers/tools.mjs";

const JOB = { ranks: 8, absent: 5 };
const RANKS = Array.from({ length: JOB.ranks }, (_, rank) => rank);
const name_of = (rank) => `nccl_trace_rank_${rank}`;

let server;
let browser;

before(async () => {
  server = await start_server();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

async function send(run, ...parts) {
  const reply = await server.post([...fields({ run }), ...parts], "/upload?wait=60");
  assert.equal(reply.status, 200, reply.text);
}

const rows = async (run, table) => (await server.get(`/runs/${run}/${table}?limit=all`)).items;

test("an archive of dumps says who to look at", async () => {
  await send("archive", file_part(tar(RANKS.map((rank) =>
    ({ name: `dumps/${name_of(rank)}`, data: flight_dump(JOB, rank) }))), "dumps.tar"));
  const [first, ...others] = await rows("archive", "hang_verdict");
  assert.deepEqual(others, []);
  assert.deepEqual([first.kind, first.ranks, first.suspects], ["host", "5", 1]);
  assert.match(first.verdict, /rank 5.*all_reduce number 21 of default_pg/);
  const [group] = await rows("archive", "hang_groups");
  assert.deepEqual([group.state, group.absent, group.waiting], ["absent", "5", "0-4,6-7"]);
  assert.equal((await rows("archive", "hang_ranks")).length, JOB.ranks);
});

test("dumps that come one by one, in any order, say the same in the end", async () => {
  for (const rank of [5, 0, 7, 2, 6, 1, 4, 3])
    await send("single", file_part(flight_dump(JOB, rank), name_of(rank)));
  assert.deepEqual(await rows("single", "hang_verdict"), await rows("archive", "hang_verdict"));
  assert.deepEqual(await rows("single", "hang_groups"), await rows("archive", "hang_groups"));
});

test("the command line says the same of a folder", async () => {
  const folder = join(temporary("dumps"), "job");
  mkdirSync(folder);
  for (const rank of RANKS) writeFileSync(join(folder, name_of(rank)), flight_dump(JOB, rank));
  const { status, stdout, stderr } = await run_status(stepscope_bin(), ["inspect", folder]);
  assert.equal(status, 0, stderr);
  const [{ verdict }] = await rows("archive", "hang_verdict");
  assert.ok(stdout.includes(verdict), stdout);
});

test("every page of the run names the rank", async () => {
  const { page, close } = await open_page(browser, server.base);
  try {
    await visit(page, "/runs/archive");
    await page.getByText("The job hung").waitFor();
    await visit(page, "/runs/archive/training");
    await page.getByRole("heading", { name: "Where the ranks stand" }).waitFor();
    const matrix = page.getByRole("region", { name: "Ranks by process group" });
    const [first] = await matrix.locator("tbody tr").all();
    assert.match(await first.innerText(), /^5\s+▾ 20\s+late$/);
    await page.getByText("1 of 8 ranks is late in a process group that waits").waitFor();
    assert.deepEqual(await axe_faults(page), []);
  } finally {
    await close();
  }
});
