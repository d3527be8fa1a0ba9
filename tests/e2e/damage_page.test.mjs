// SPDX-License-Identifier: Apache-2.0
// Pages report what is damaged on the server's disk, and request nothing while all is well.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { axe_faults, launch, NARROW, on_clean_page, visit } from "./helpers/browser.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { run_program, temporary, until } from "./helpers/tools.mjs";
import { small_json } from "./helpers/traces.mjs";

const data = join(temporary("damage"), "data");
const part = (kernel_us) => ({ filename: `k${kernel_us}.json`, data: small_json({ kernel_us }) });
let browser;
let server;

const sql = (text) => run_program("sqlite3", [join(data, "stepscope.db"), text]);

/** Flips a byte in the stored file of a run that has only one. */
async function rot(run) {
  const sha256 = (await sql("SELECT sha256 FROM trace JOIN run ON run.id = run_id " +
    `WHERE name = '${run}'`)).trim();
  const path = join(data, "blobs", sha256.slice(0, 2), sha256);
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1] ^= 1;
  writeFileSync(path, bytes);
  await sql("UPDATE blob SET checked_ns = 0");
}

before(async () => {
  browser = await launch();
  server = await start_server({ data });
  await server.analyzed("rotten", [part(31)]);
  await server.analyzed("sound", [part(32)]);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const strip = (page) => page.getByRole("region", { name: "Storage" });
const word = async () => (await server.request("/api/v1/session")).headers["stepscope-storage"];

test("while all is sound no page says or asks anything of it", async () => {
  await on_clean_page(browser, server.base, {}, async (page) => {
    const asked = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    for (const path of ["/", "/runs/rotten", "/runs/rotten/data"]) {
      await visit(page, path);
      assert.equal(await strip(page).count(), 0);
      assert.equal(await page.getByText("damaged").count(), 0, path);
    }
    assert.deepEqual(asked.filter((path) => path.endsWith("/storage")), []);
  });
  assert.equal(await word(), "sound");
});

test("a damaged file is shown on every page, on its run's pages and by its name", async () => {
  await server.stop();
  await rot("rotten");
  server = await start_server({ data });
  await until("the rot is known", async () => (await word()) === "files");
  await on_clean_page(browser, server.base, { viewport: NARROW }, async (page) => {
    for (const path of ["/docs/api", "/", "/trends", "/runs/sound"]) { // the last one for axe
      await visit(page, path);
      await strip(page).getByText("1 stored file is damaged on the server's disk").waitFor();
    }
    assert.deepEqual(await axe_faults(page), []);
    await visit(page, "/runs/sound/data");
    assert.equal(await page.locator("main").getByText("damaged").count(), 0);
    await strip(page).getByRole("link", { name: "k31.json" }).click();
    await page.getByText("1 file of this run is damaged").waitFor();
    await page.getByText("The stored bytes are damaged: the file differs").waitFor();
    assert.deepEqual(await axe_faults(page), []);
  });
  const run = await server.get("/runs/rotten");
  assert.equal(run.traces[0].damage, "differs from the uploaded bytes");
  assert.equal((await server.get("/runs/sound")).traces[0].damage, null);
});

test("the same bytes uploaded again end it", async () => {
  const again = await server.post([...fields({ run: "rotten" }), file_part(part(31).data,
    "k31.json")]);
  assert.equal(again.status, 200, again.text);
  await until("the mending is known", async () => (await word()) === "sound");
  assert.equal((await server.get("/runs/rotten/summary")).damaged_files, 0);
  await on_clean_page(browser, server.base, {}, async (page) => {
    await visit(page, "/runs/rotten/data");
    assert.equal(await page.getByText("damaged").count(), 0);
  });
});

/** Shows a page a service whose disk failed or whose database is damaged. */
async function feign(page, { said, status }) {
  await page.route(/\/api\/v1\/(session|alerts)/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response,
      headers: { ...response.headers(), "stepscope-storage": said } });
  });
  await page.route("**/api/v1/storage", (route) => route.fulfill({ json: { ballast: true,
    database: { checked: null, checking: false, damage: "" }, disk_fault: "", damaged_files: [],
    ...status } }));
}

test("a damaged database and a failed disk are reported with what to do", async () => {
  const cases = [
    { said: "database", status: { database: { damage: "row 3 missing from index x" } },
      texts: ["The database is damaged", "Row 3 missing from index x.", "the newest backup"] },
    { said: "disk", status: { disk_fault: "the disk failed to keep what was written" },
      texts: ["nothing more is saved", "The disk failed to keep", "restart stepscope"] },
  ];
  for (const { texts, ...state } of cases) {
    await on_clean_page(browser, server.base, {}, async (page) => {
      await feign(page, state);
      await visit(page, "/docs/api");
      for (const text of texts) await strip(page).getByText(text).first().waitFor();
      await page.unrouteAll({ behavior: "wait" }); // a reply that is fetched when the page closes
                                                   // would fail the test
    });
  }
});
