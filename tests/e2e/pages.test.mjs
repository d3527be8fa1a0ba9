// SPDX-License-Identifier: Apache-2.0
// The dashboard in a real browser, on real data: every page, both themes, wide and narrow, by
// mouse, keyboard and drop.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import {
  axe_faults, launch, NARROW, on_clean_page, open_page, settle, visit, WIDE,
} from "./helpers/browser.mjs";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { skipped, until } from "./helpers/tools.mjs";
import {
  generate, have_real_traces, real_file, small_job, small_json,
} from "./helpers/traces.mjs";

const HOSTILE = '<img src=x onerror="document.title = 1"><script>document.title = 2</script>';
const MANY = 10_000;
const RESPONSE_MS = 100;
const TRIES = 3; // a busy machine is measured again

let server;
let browser;
const ids = {};

async function fill(name, args, more) {
  const { files } = await generate(small_job(...args));
  ids[name] = (await server.analysed(name, files, more)).id;
}

async function fill_odd_runs() {
  const many = Array.from({ length: MANY }, (_, i) => `kernel_${String(i * 7919 % MANY)}`);
  const files = (data, filename = "rank0.json") => [{ data, filename }];
  ids.many = (await server.analysed("many-kernels",
    files(small_json({ names: many, steps: 1, kernel_us: 3 })))).id;
  ids.hostile = (await server.analysed(HOSTILE.slice(0, 60),
    files(small_json({ names: [HOSTILE, "kernel_plain"] }), HOSTILE.replaceAll('"', "'")),
    { tag: `bold=${HOSTILE}`, note: HOSTILE })).id;
  const bad = await server.post([...fields({ run: "bad" }), file_part('{"answer": 42}')]);
  ids.failed = bad.status === 202 ? bad.json.run : null;
  ids.empty = (await server.send("POST", "/runs", { name: "empty-run", world_size: 4 })).json.id;
}

before(async () => {
  server = await start_server();
  browser = await launch();
  await fill("cuda", ["--plant", "exposed_comm", "--steps", "8", "--stacks", "--memory"],
    { tag: "vendor=nvidia" });
  await fill("rocm", ["--flavour", "rocm", "--steps", "8", "--slow", "140"], { tag: "vendor=amd" });
  await fill_odd_runs();
  if (ids.failed) await server.settled(ids.failed);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Runs a test on a page of its own, which must stay without a fault. */
const on_page = (options, body) => on_clean_page(browser, server.base, options, body);

const run_pages = (id) => ["", "/findings", "/kernels", "/kernels?group=category", "/operators",
  "/operators?view=shapes", "/operators?view=tree", "/modules", "/roofline", "/idle",
  "/collectives", "/memory", "/ranks", "/data"].map((rest) => `/runs/${id}${rest}`);
const all_pages = () => ["/", "/upload", "/docs/api", "/docs/recording", "/compare", "/trends",
  "/alerts",
  `/compare?base=${ids.cuda}&cand=${ids.rocm}`, ...run_pages(ids.cuda),
  `/runs/${ids.hostile}`, `/runs/${ids.hostile}/data`, `/runs/${ids.empty}`,
  ...(ids.failed ? [`/runs/${ids.failed}`] : [])];

/** What keeps a page from fitting its window. */
async function overflow(page) {
  const over = await page.evaluate(() =>
    document.documentElement.scrollWidth - document.documentElement.clientWidth);
  return over > 0 ? [`${over} pixels wider than the window`] : [];
}

/** Looks at all pages; axe is slow, so that two of the four ways to look must do. */
async function look_at_all(page, with_axe) {
  const faults = [];
  for (const path of all_pages()) {
    await visit(page, path);
    assert.equal(await page.locator("main h1").count(), 1, path);
    const found = [...await overflow(page), ...(with_axe ? await axe_faults(page) : [])];
    faults.push(...found.map((fault) => `${path}: ${fault}`));
  }
  assert.deepEqual(faults, []);
}

for (const [width, viewport, colorScheme, with_axe] of [
  ["wide", WIDE, "light", true], ["wide", WIDE, "dark", false],
  ["narrow", NARROW, "light", false], ["narrow", NARROW, "dark", true],
]) {
  const barrier = with_axe ? " and has no barrier" : "";
  test(`every page, ${width} and ${colorScheme}, works, fits${barrier}`, () =>
    on_page({ viewport, colorScheme }, (page) => look_at_all(page, with_axe)));
}

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

/** Presses Tab until the element in focus has this text or label. */
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
    const [url, before_it] = [page.url(), await text()];
    await on_page({}, async (other) => {
      await visit(other, url);
      assert.equal(await other.locator("main").innerText(), before_it);
    });
    await page.goBack();
    await page.waitForURL((at) => !at.search.includes("rank=1"));
  });
});

test("names from outside are shown as text and run nowhere", async () => {
  await on_page({}, async (page) => {
    for (const path of ["/", ...run_pages(ids.hostile),
      `/compare?base=${ids.hostile}&cand=${ids.cuda}`]) {
      await visit(page, path);
      assert.doesNotMatch(await page.title(), /^[12]$/, path);
      assert.equal(await page.locator("img[src=x], main script").count(), 0, path);
    }
    await visit(page, `/runs/${ids.hostile}/kernels`);
    assert.ok((await page.locator("table").innerText()).includes("<img src=x"));
  });
});

/** Makes sending so slow that progress can be seen. */
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

/** Runs in the page: milliseconds from an action to the frame that shows its effect. */
async function time_in_page({ actions, value }) {
  const region = document.querySelector(".table-region");
  const seen = () => (value === "rows"
    ? region.querySelector("tbody tr[aria-rowindex]").getAttribute("aria-rowindex")
    : `${region.querySelector("tbody th").innerText}|${region.querySelector("[aria-sort]")
      ?.getAttribute("aria-sort")}|${region.querySelector("table").getAttribute("aria-rowcount")}`);
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const act = {
    scroll: (top) => (region.scrollTop = top),
    click: (name) => [...document.querySelectorAll("th button")]
      .find((button) => button.innerText.startsWith(name)).click(),
    type: (text) => {
      const box = document.querySelector("[data-search]");
      box.value = text;
      box.dispatchEvent(new Event("input", { bubbles: true }));
    },
  };
  const times = [];
  for (const [kind, argument] of actions) {
    const old = seen();
    await frame();
    const begin = performance.now();
    act[kind](argument);
    while (seen() === old && performance.now() - begin < 5000) await frame();
    times.push(performance.now() - begin);
  }
  return times;
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

test(`${MANY} kernels scroll, sort and filter within ${RESPONSE_MS} ms`, async (t) => {
  await on_page({}, async (page) => {
    await visit(page, `/runs/${ids.many}/kernels`);
    await page.locator(`table[aria-rowcount="${MANY + 1}"]`).waitFor();
    const rows = await page.locator("tbody tr[aria-rowindex]").count();
    assert.ok(rows < 200, `${rows} of ${MANY} rows are in the document`);
    const jumps = Array.from({ length: 15 }, (_, i) => ["scroll", 9000 + i * 19_001]);
    const clicks = ["Calls", "Kernel", "Kernel", "p95", "Kernel", "Kernel"].map((name) =>
      ["click", name]);
    const words = ["kernel_1", "kernel_12", "kernel_123", "kernel_9", "kernel_", ""].map((text) =>
      ["type", text]);
    const actions = { scroll: [jumps, "rows"], sort: [clicks, "order"], filter: [words, "order"] };
    for (const [what, [list, value]] of Object.entries(actions)) {
      const tries = [];
      while (tries.length < TRIES && !(Math.min(...tries) <= RESPONSE_MS)) {
        tries.push(median(await page.evaluate(time_in_page, { actions: list, value })));
      }
      t.diagnostic(`${what}: ${tries.map((ms) => `${ms.toFixed(0)} ms`).join(", ")}`);
      assert.ok(Math.min(...tries) <= RESPONSE_MS, `${what} took ${tries} ms`);
    }
  });
});

test("deleting a run asks twice and then it is gone", async () => {
  await on_page({}, async (page) => {
    await server.send("POST", "/runs", { name: "doomed" });
    const { id } = await server.get("/runs/doomed");
    await visit(page, `/runs/${id}/data`);
    await page.getByRole("button", { name: "Delete…" }).click();
    const dialog = page.getByRole("dialog");
    const confirm = dialog.getByRole("button", { name: "Delete for good" });
    assert.equal(await confirm.isDisabled(), true, "the second question is to type the name");
    await dialog.getByRole("button", { name: "Keep" }).click();
    assert.equal((await server.get("/runs/doomed")).id, id);
    await page.getByRole("button", { name: "Delete…" }).click();
    await dialog.getByRole("textbox").fill("doomed");
    await confirm.click();
    await page.waitForURL(`${server.base}/`);
    assert.equal((await server.request("/api/v1/runs/doomed")).status, 404);
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
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });
});

test("a run that is being analysed appears by itself when it is done", async () => {
  await on_page({}, async (page) => {
    await visit(page, "/");
    const { files } = await generate(small_job("--seed", "21"));
    const arrived = server.analysed("arrives", files);
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
    runs.push((await server.analysed(name, [file])).id);
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
