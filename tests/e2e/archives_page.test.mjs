// SPDX-License-Identifier: Apache-2.0
// The run's page of data lists an archive's members, each with what became of it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { tar } from "./helpers/archives.mjs";
import { axe_faults, launch, NARROW, on_clean_page, visit } from "./helpers/browser.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { small_json } from "./helpers/traces.mjs";

let browser;
let server;

before(async () => {
  browser = await launch();
  server = await start_server();
  const windows = [10, 20].map((n) => ({ name: `traces/iteration_${n}/rank0_trace.json`,
    data: small_json({ rank: 0, kernel_us: n }) }));
  const others = [{ name: "train.log", data: "step 1\n" }, { name: "link", type: "2" },
    { name: "rank7.json", data: "" }];
  await server.post([...fields({ run: "titan" }), file_part(tar([...windows, ...others]),
    "titan.tar")], "/upload?wait=60");
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("members, their runs, attachments and reasons are on the page of data", () =>
  on_clean_page(browser, server.base, { viewport: NARROW }, async (page) => {
    await visit(page, "/runs/titan");
    await page.getByText("This run has no trace").waitFor();
    await page.locator("main").getByRole("link", { name: "Data" }).last().click();
    const table = page.getByRole("table", { name: "Archives" });
    await table.waitFor();
    const text = await table.innerText();
    for (const words of ["titan.tar", "iteration_10/rank0_trace.json", "A symbolic link",
      "An empty file"]) assert.ok(text.includes(words), `${words}: ${text}`);
    const link = table.getByRole("link", { name: "train.log" });
    const file = await server.request(new URL(await link.evaluate((a) => a.href)).pathname);
    assert.equal(file.text, "step 1\n");
    assert.deepEqual(await axe_faults(page), []);
  }));

test("a run of a window shows its own members", () =>
  on_clean_page(browser, server.base, {}, async (page) => {
    await visit(page, "/runs/titan@iteration_10/data");
    const table = page.getByRole("table", { name: "Archives" });
    await table.waitFor();
    assert.ok((await table.innerText()).includes("this run"));
    assert.deepEqual(await axe_faults(page), []);
  }));
