// SPDX-License-Identifier: Apache-2.0
// Memory snapshots from the upload to the page, with and without a trace.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { axe_faults, launch, open_page, visit } from "./helpers/browser.mjs";
import { memory_snapshot } from "./helpers/memory_snapshots.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";

const MIB = 2 ** 20;
const REAL = new URL("../../../shared/samples/torch/memory_snapshot_True_ctx128.pickle",
  import.meta.url);

let server;
let browser;

before(async () => {
  server = await start_server();
  browser = await launch();
  const reply = await server.post([...fields({ run: "oom" }),
    file_part(memory_snapshot(), "rank1_memory_snapshot.json")], "/upload?wait=60");
  assert.equal(reply.status, 200, reply.text);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const rows = async (table, run = "oom") =>
  (await server.get(`/runs/${run}/${table}?limit=all`)).items;

test("a snapshot has its peak, what held it and what grows", async () => {
  const [device] = await rows("snapshots");
  assert.deepEqual([device.rank, device.device, device.ooms, device.leak, device.growth_steps],
    [1, 0, 1, true, 4]);
  assert.deepEqual([device.peak_allocated_bytes, device.peak_reserved_bytes, device.growth_bytes],
    [257 * MIB, 400 * MIB, MIB]);
  assert.equal(device.top_category, "activations");
  const held = (await rows("snapshot_holders")).filter(({ moment }) => moment === "peak");
  assert.deepEqual(held.map(({ category, bytes }) => [category, bytes / MIB]),
    [["activations", 150], ["weights", 100], ["other", 7]]);
  const [grown] = await rows("snapshot_growth");
  assert.match(grown.calls, /^log_loss \(model\.py:10\), train_step/);
});

test("a request that failed is explained", async () => {
  const [oom] = await rows("snapshot_ooms");
  assert.deepEqual([oom.requested_bytes / MIB, oom.device_free_bytes / MIB, oom.cached_bytes / MIB,
    oom.cause], [160, 8, 143, "full"]);
});

test("the page shows it for a run without a trace", async () => {
  const { page, close } = await open_page(browser, server.base);
  try {
    await visit(page, "/runs/oom");
    await page.locator("main .lead").getByText(/^Tensors hold up to .* reserved\.$/).waitFor();
    await visit(page, "/runs/oom/memory");
    await page.getByText("Out of memory: 1 request failed").waitFor();
    await page.getByText("Most allocated: 269 MB").first().waitFor();
    assert.match(await page.locator(".lead").innerText(),
      /^Tensors hold up to 269\sMB of the \d+\sMB reserved\.$/);
    assert.equal(await page.getByRole("link", { name: "Memory" }).count(), 1, "the tab");
    await page.getByRole("heading", { name: "Never freed" }).waitFor();
    await page.getByText("log_loss (model.py:10)", { exact: false }).first().waitFor();
    assert.deepEqual(await axe_faults(page), []);
  } finally {
    await close();
  }
});

test("a real snapshot has the peak that its events add up to", async (t) => {
  const data = await readFile(REAL).catch(() => null);
  if (!data) {
    t.skip("no shared/samples");
    return;
  }
  await server.post([...fields({ run: "real" }), file_part(data, "snapshot.pickle")],
    "/upload?wait=60");
  const [device] = await rows("snapshots", "real");
  assert.deepEqual([device.end_reserved_bytes, device.end_allocated_bytes,
    device.peak_allocated_bytes], [25295847424, 19387048448, 25002863104]);
  const held = (await rows("snapshot_holders", "real")).reduce((sum, row) => sum + row.bytes, 0);
  assert.equal(held, device.peak_allocated_bytes);
});
