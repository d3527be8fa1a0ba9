// SPDX-License-Identifier: Apache-2.0
// The dashboard in a real browser, on real data, by mouse, keyboard and drop.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { launch, on_clean_page, open_page, settle, visit } from "./helpers/browser.mjs";
import { start_server } from "./helpers/server.mjs";
import { add_shown_runs, run_pages, TURNED } from "./helpers/shown_runs.mjs";
import { skipped, until } from "./helpers/tools.mjs";
import { generate, have_real_traces, real_file, small_job } from "./helpers/traces.mjs";

let server;
let browser;
let ids;

before(async () => {
  server = await start_server();
  browser = await launch();
  ids = await add_shown_runs(server);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Runs a test on a new page, which must have no fault. */
const on_page = (options, body) => on_clean_page(browser, server.base, options, body);

test("the watch over pages sees errors, violations and requests to other hosts", async () => {
  const { page, faults, close } = await open_page(browser, server.base);
  await visit(page, "/upload");
  assert.deepEqual(faults, []);
  await page.evaluate(() => {
    document.body.append(Object.assign(new Image(), { src: "https://other.example/x.png" }));
    setTimeout(() => {
      throw new Error("planted");
    });
  });
  await until("both are seen", () =>
    [/policy violated: img-src/, /exception: .*planted/].every((one) => one.test(faults.join())));
  await page.goto("https://other.example/").catch(() => null);
  assert.match(faults.join("\n"), /request to another host: https:\/\/other.example/);
  await close();
});

test("the list of runs links to each run and searches it", async () => {
  await on_page({}, async (page) => {
    await visit(page, "/");
    await page.getByRole("link", { name: "cuda", exact: true }).click();
    await page.waitForURL(`**/runs/${ids.cuda}`);
    await visit(page, "/");
    await page.getByRole("searchbox").first().fill("tag:vendor=amd");
    await page.waitForURL(/q=tag/);
    await page.locator('main table[aria-rowcount="2"]').waitFor();
    assert.equal(await page.getByRole("link", { name: "rocm", exact: true }).count(), 1);
    assert.equal(await page.getByRole("link", { name: "cuda", exact: true }).count(), 0);
  });
});

/** Presses Tab until the focused element has this text or label. */
async function tab_to(page, expected) {
  for (let i = 0; i < 120; i++) {
    await page.keyboard.press("Tab");
    const found = await page.evaluate(() => {
      const { activeElement: at } = document;
      const { outlineStyle, boxShadow } = getComputedStyle(at);
      return { text: (at.getAttribute("aria-label") ?? at.textContent ?? "").trim(),
        visible: outlineStyle !== "none" || boxShadow !== "none" };
    });
    if (!expected.test(found.text)) continue;
    assert.ok(found.visible, `the focus on ${found.text} cannot be seen`);
    return;
  }
  assert.fail(`no Tab reached ${expected} on ${page.url()}`);
}

test("the keyboard alone leads from runs to a run, its kernels and a comparison", async () => {
  await on_page({}, async (page) => {
    await visit(page, "/");
    await tab_to(page, /^cuda$/);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/runs/${ids.cuda}`);
    await settle(page);
    await tab_to(page, /^Kernels/);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/runs/${ids.cuda}/kernels`);
    await settle(page);
    await tab_to(page, /^Calls$/);
    await page.keyboard.press("Enter");
    await page.waitForURL(/sort=-calls/);
    await visit(page, "/");
    await tab_to(page, /^Select rocm$/);
    await page.keyboard.press("Space");
    await tab_to(page, /^Select cuda$/);
    await page.keyboard.press("Space");
    await tab_to(page, /^Compare$/);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/compare\?/);
    await settle(page);
    await tab_to(page, /GEMM|gemm/);
    await page.keyboard.press("Enter");
    await page.waitForURL(/bar=gemm/);
  });
});

test("a deep link shows the same as the page it was copied from", async () => {
  await on_page({}, async (page) => {
    await visit(page, `/runs/${ids.cuda}/kernels`);
    await page.getByRole("button", { name: /^p95/ }).click();
    await page.getByRole("searchbox").fill("nccl");
    await page.waitForURL(/q=nccl/);
    await page.getByLabel("Rank").selectOption("1");
    await page.waitForURL(/rank=1/);
    await settle(page);
    const text = () => page.locator("main").innerText();
    await until("the filtered table is shown", async () => /kernel/i.test(await text()));
    await page.locator(".range-pick").waitFor();
    const [url, before_it] = [page.url(), await text()];
    await on_page({}, async (other) => {
      await visit(other, url);
      await other.locator(".range-pick").waitFor();
      const shown = () => other.locator("main").innerText();
      await until("the same is shown", async () => await shown() === before_it).catch(() => {});
      assert.equal(await shown(), before_it);
    });
    await page.goBack();
    await page.waitForURL((at) => !at.search.includes("rank=1"));
  });
});

/** No text from outside has become an element or has run. */
async function assert_inert(page) {
  assert.doesNotMatch(await page.title(), /^[12]$/, page.url());
  assert.equal(await page.locator("img[src=x], main script").count(), 0, page.url());
}

test("names from outside are shown as text and run nowhere", async () => {
  await on_page({}, async (page) => {
    for (const path of ["/", `/runs/${ids.hostile}`, `/runs/${ids.hostile}/data`,
      `/compare?base=${ids.hostile}&cand=${ids.cuda}`]) {
      await visit(page, path);
      await assert_inert(page);
    }
    await visit(page, `/runs/${ids.hostile}/kernels`);
    assert.ok((await page.locator("table").innerText()).includes("<img src=x"));
  });
});

/** Runs in the page: texts that hide something or are not isolated from what surrounds them. */
function unsafe_texts() {
  const hidden = /[\u200b\u202a-\u202e\u2066-\u2069]/;
  const apart = (element) => element.namespaceURI.endsWith("svg") ||
    element.closest("option, title") ||
    getComputedStyle(element).unicodeBidi.includes("isolate");
  const found = hidden.test(document.title) ? [`title: ${document.title}`] : [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const { data, parentElement } = walk.currentNode;
    if (hidden.test(data)) found.push(`hidden: ${escape(data)}`);
    if (/[\u05d0-\u05ea]/.test(data) && !apart(parentElement)) found.push(`turns: ${escape(data)}`);
  }
  for (const element of document.querySelectorAll("[title], [aria-label]")) {
    const read = `${element.title} ${element.getAttribute("aria-label")}`;
    if (hidden.test(read)) found.push(`attribute: ${escape(read)}`);
  }
  return found;
}

test("names run nowhere, and cannot hide characters or turn the text around them", async () => {
  await on_page({}, async (page) => {
    for (const path of ["/", "/trends", `/compare?base=${ids.turned}&cand=${ids.cuda}`,
      ...run_pages(ids.turned), `/runs/${ids.turned}/timeline`]) {
      await visit(page, path);
      assert.deepEqual(await page.evaluate(unsafe_texts), [], path);
      await assert_inert(page);
    }
    await visit(page, "/");
    await page.getByRole("link", { name: "exp [U+202E]gnp.1[U+202C]" }).waitFor();
    await visit(page, `/runs/${ids.turned}/data`);
    assert.equal(await page.getByRole("textbox", { name: "Name" }).inputValue(), TURNED);
  });
});

/** Slows uploads down enough for progress to be seen. */
async function slow_uploads(page) {
  const session = await page.context().newCDPSession(page);
  const limit = (uploadThroughput) => session.send("Network.emulateNetworkConditions",
    { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput });
  await session.send("Network.enable");
  await limit(300_000);
  return { fast: () => limit(-1) };
}

test("files dropped on the page are uploaded with progress and appear in the list", async () => {
  await on_page({}, async (page) => {
    const { files } = await generate(small_job("--ranks", "2", "--format", "json", "--seed", "9"));
    await visit(page, "/");
    const texts = files.map(({ filename, data }) => ({ filename, text: data.toString() }));
    await page.evaluate((list) => {
      const transfer = new DataTransfer();
      for (const { filename, text } of list) transfer.items.add(new File([text], filename));
      const event = { dataTransfer: transfer, bubbles: true, cancelable: true };
      document.body.dispatchEvent(new DragEvent("dragover", event));
      document.body.dispatchEvent(new DragEvent("drop", event));
    }, texts);
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await dialog.getByLabel("Run", { exact: true }).fill("dropped");
    const network = await slow_uploads(page);
    await dialog.getByRole("button", { name: "Upload" }).click();
    await page.waitForFunction(() => [...document.querySelectorAll(".upload-panel progress")]
      .some(({ value, max }) => value > 0 && value < max));
    await network.fast();
    const panel = page.getByRole("complementary", { name: "Uploads" });
    await panel.getByText("all sent").waitFor();
    await panel.getByRole("link", { name: "Open dropped" }).waitFor();
    const run = await server.settled("dropped");
    assert.equal(run.status, "done");
    assert.equal(run.received, 2);
    await page.getByRole("link", { name: "dropped", exact: true }).waitFor();
  });
});

test("a chosen file that is no trace is refused in words", async () => {
  const { page, close } = await open_page(browser, server.base);
  await visit(page, "/upload");
  await page.getByLabel("Trace files").setInputFiles(
    { name: "shot.png", mimeType: "image/png", buffer: Buffer.from("89504e470d0a1a0a", "hex") });
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Run", { exact: true }).fill("picture");
  await dialog.getByRole("button", { name: "Upload" }).click();
  const panel = page.getByRole("complementary", { name: "Uploads" });
  await panel.getByText(/expected|neither|no trace|not/).first().waitFor();
  assert.match(await panel.innerText(), /failed/);
  await close();
});

test("deleting a run asks, leads to the list, and is undone there", async () => {
  await on_page({}, async (page) => {
    await server.send("POST", "/runs", { name: "doomed" });
    const { id } = await server.get("/runs/doomed");
    await visit(page, `/runs/${id}/data`);
    await page.getByRole("button", { name: "Delete…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Keep" }).click();
    assert.equal((await server.get("/runs/doomed")).id, id);
    await page.getByRole("button", { name: "Delete…" }).click();
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await page.waitForURL(`${server.base}/`);
    assert.equal((await server.request("/api/v1/runs/doomed")).status, 404);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Restored doomed").waitFor();
    assert.equal((await server.get("/runs/doomed")).id, id);
  });
});

test("the theme button and the help dialog work and the theme is kept", async () => {
  await on_page({ colorScheme: "light" }, async (page) => {
    await visit(page, "/");
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    await page.getByRole("button", { name: /^Theme: auto/ }).click();
    await page.getByRole("button", { name: /^Theme: light/ }).click();
    assert.equal(await theme(), "dark");
    await visit(page, "/upload");
    assert.equal(await theme(), "dark");
    await page.getByRole("button", { name: "Help" }).click();
    await page.getByRole("dialog").waitFor();
    await page.getByRole("textbox", { name: "Look up a term" }).fill("typical rank");
    await page.getByText("whose figures represent the run").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });
});

test("a run that is being analyzed appears by itself when it is done", async () => {
  await on_page({}, async (page) => {
    await visit(page, "/");
    const { files } = await generate(small_job("--seed", "21"));
    const arrived = server.analyzed("arrives", files);
    await page.getByRole("link", { name: "arrives", exact: true }).waitFor();
    await arrived;
    const row = page.locator("tr", { hasText: "arrives" });
    await row.getByRole("img").waitFor();
  });
});

const skip = have_real_traces() ? false : skipped("real traces: ../shared/traces is absent");

test("real traces of two vendors are shown and compared without a fault", { skip }, async () => {
  const names = ["mi300x_qwen1.5", "h100_qwen1.5", "mi300x_resnet_ddp8_rank0", "cpu_only"];
  const runs = [];
  for (const name of names) {
    const file = { filename: `${name}.json.gz`, data: readFileSync(real_file(name)) };
    runs.push((await server.analyzed(name, [file])).id);
  }
  await on_page({}, async (page) => {
    for (const path of ["/", ...runs.flatMap(run_pages), ...runs.slice(1).map((id) =>
      `/compare?base=${runs[0]}&cand=${id}`).slice(0, 2)]) {
      await visit(page, path);
      assert.equal(await page.locator("main [role=alert]").count(), 0, path);
      assert.doesNotMatch(await page.locator("main").innerText(), /NaN|undefined|\[object/, path);
    }
  });
});

test("Back finds a page where it was left, with the focus on its heading", () =>
  on_page({}, async (page) => {
    await visit(page, `/runs/${ids.cuda}`);
    await page.evaluate(() => scrollTo(0, 500));
    await page.waitForFunction(() => history.state?.y === scrollY && scrollY > 300);
    const left = await page.evaluate(() => scrollY);
    await page.locator("main a[href*='/kernels/']").first().click();
    await page.locator(".name-card").waitFor();
    assert.equal(await page.evaluate(() => scrollY), 0);
    await page.goBack();
    await page.waitForFunction((y) => Math.abs(scrollY - y) <= 1, left);
    await page.waitForFunction(() => document.activeElement?.tagName === "H1");
  }));
