// SPDX-License-Identifier: Apache-2.0
// Uploads from the page over a bad connection: they resume by themselves, also after a restart of
// the service and, for the same file, after a reload, and send hardly anything twice.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { launch, open_page, visit } from "./helpers/browser.mjs";
import { Line } from "./helpers/line.mjs";
import { start_server } from "./helpers/server.mjs";
import { temporary, until } from "./helpers/tools.mjs";
import { small_json } from "./helpers/traces.mjs";

const MIB = 1 << 20;
const SIZE = 24 * MIB; // several pieces
const folder = temporary("upload-page");

let browser;
let server;
let line;

before(async () => {
  browser = await launch();
  server = await start_server();
  line = await new Line().open(server.port);
});
after(async () => {
  await browser?.close();
  line?.close();
  await server?.stop();
});

/** A trace followed by enough blanks that sending it takes a while. */
function big_file(name) {
  const bytes = Buffer.alloc(SIZE, " ");
  Buffer.from(small_json({ names: [name] })).copy(bytes);
  writeFileSync(join(folder, `${name}.json`), bytes);
  return { path: join(folder, `${name}.json`), sha256: createHash("sha256").update(bytes)
    .digest("hex") };
}

async function choose(page, run, path) {
  await page.getByLabel("Trace files").setInputFiles(path);
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Run", { exact: true }).fill(run);
  await dialog.getByRole("button", { name: "Upload" }).click();
  return page.getByRole("complementary", { name: "Uploads" });
}

/** Asserts that a run has the file, and how many bytes went over the line for it. */
async function assert_arrived(run, { sha256 }) {
  const { traces } = await server.settled(run);
  assert.equal(traces.length, 1);
  assert.equal(traces[0].sha256, sha256);
  const twice = line.sent - SIZE;
  assert.ok(twice < 8 * MIB, `${(twice / MIB).toFixed(1)} MiB were sent twice`);
}

test("an upload goes on after lost connections and a restart of the service", async () => {
  const { page, close } = await open_page(browser, line.base);
  const file = big_file("cut");
  await visit(page, "/upload");
  Object.assign(line, { sent: 0, cut_at: 6 * MIB });
  const panel = await choose(page, "cut", file.path);
  await panel.getByText("paused", { exact: true }).waitFor();
  await panel.getByText(/Resuming in \d+ s/).waitFor();
  Object.assign(line, { cut_at: line.sent + 10 * MIB });
  line.mend();
  await until("the line is cut again", () => !line.up);
  await server.kill();
  server = await start_server({ data: server.data });
  line.mend(server.port);
  await panel.getByText("all sent").waitFor();
  await assert_arrived("cut", file);
  await close();
});

test("the same file, chosen again after a reload, goes on where it stopped", async () => {
  const { page, faults, close } = await open_page(browser, line.base);
  const file = big_file("reload");
  await visit(page, "/upload");
  Object.assign(line, { sent: 0, cut_at: 15 * MIB });
  const panel = await choose(page, "reload", file.path);
  await panel.getByText("paused", { exact: true }).waitFor();
  line.mend();
  page.on("dialog", (dialog) => dialog.accept());
  await page.reload();
  await visit(page, "/upload");
  assert.equal(await page.getByRole("complementary", { name: "Uploads" }).count(), 0);
  const again = await choose(page, "reload", file.path);
  await again.getByText("all sent").waitFor();
  await again.getByRole("link", { name: "Open reload" }).waitFor();
  await assert_arrived("reload", file);
  assert.deepEqual(faults.filter((fault) => !/ERR_(CONNECTION|EMPTY|SOCKET)/.test(fault)), []);
  const kept = await page.evaluate(() => localStorage.getItem("unfinished-uploads"));
  assert.equal(kept, "[]", "what is done is forgotten");
  await close();
});

test("an upload that is stopped leaves nothing behind", async () => {
  const { page, close } = await open_page(browser, line.base);
  const file = big_file("stop");
  await visit(page, "/upload");
  Object.assign(line, { sent: 0, cut_at: 12 * MIB });
  const panel = await choose(page, "stop", file.path);
  await panel.getByText("paused", { exact: true }).waitFor();
  line.mend();
  await panel.getByRole("button", { name: `Stop ${basename(file.path)}`, exact: true }).click();
  await panel.getByText("stopped").waitFor();
  await until("the service gave back the space", () =>
    readdirSync(join(server.data, "pieces")).length === 0);
  await panel.getByRole("button", { name: `Try again: ${basename(file.path)}`, exact: true })
    .click();
  await panel.getByText("all sent").waitFor();
  assert.equal((await server.settled("stop")).traces[0].sha256, file.sha256);
  await close();
});
