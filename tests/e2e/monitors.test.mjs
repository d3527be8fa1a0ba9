// SPDX-License-Identifier: Apache-2.0
// What monitors recorded, from the upload to the page.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axe_faults, launch, open_page, visit } from "./helpers/browser.mjs";
import { gpu_monitor } from "./helpers/gpu_monitor.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { megatron_log } from "./helpers/training_logs.mjs";

let server;
let browser;

before(async () => {
  server = await start_server();
  browser = await launch();
  const reply = await server.post([...fields({ run: "watched" }),
    file_part(gpu_monitor(), "gpus.csv"), file_part(megatron_log({ steps: 30 }), "train.log")],
  "/upload?wait=60");
  assert.equal(reply.status, 200, reply.text);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const rows = async (table) => (await server.get(`/runs/watched/${table}?limit=all`)).items;

test("each GPU has its figures", async () => {
  const [free, capped] = await rows("monitors");
  assert.deepEqual([free.gpu, free.power_w, free.energy_j, free.throttled_share],
    [0, 600, 35_400, 0]);
  assert.deepEqual([capped.gpu, capped.throttled_share, capped.throttle_reason,
    capped.throttled_mhz, capped.free_mhz], [1, 0.25, "power cap", 1410, 1980]);
});

test("power stands for the run and gives energy and tokens per joule", async () => {
  const { figures } = await server.get("/runs/watched");
  assert.equal(figures.power_w, 600);
  assert.equal(figures.energy_j_per_step, 1200);
  const sources = (await rows("figures")).filter(({ preferred }) => preferred)
    .map(({ metric, source }) => [metric, source]);
  assert.deepEqual(sources.find(([metric]) => metric === "power_w"), ["power_w", "monitor"]);
});

test("the page says which GPU was throttled, by what and how much", async () => {
  const { page, close } = await open_page(browser, server.base);
  try {
    await visit(page, "/runs/watched/training");
    await page.getByText("GPU 1 was throttled for 25.0 % of the time by power cap, at 1,410 MHz "
      + "instead of 1,980 MHz").waitFor();
    assert.deepEqual(await axe_faults(page), []);
  } finally {
    await close();
  }
});
