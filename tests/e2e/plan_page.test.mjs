// SPDX-License-Identifier: Apache-2.0
// The memory planner: the figures people know by heart, clear refusals, and the page in a browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axe_faults, launch, NARROW, on_clean_page, visit } from "./helpers/browser.mjs";
import { sum } from "./helpers/figures.mjs";
import { reply_faults } from "./helpers/openapi.mjs";
import { start_server } from "./helpers/server.mjs";
import { DEFAULTS, FIRST_SETUPS, plan_path, read_setup } from "../../web/views/plan/plan_model.mjs";

const GB = 1e9;

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

const on_page = (options, body) => on_clean_page(browser, server.base, options, body);
const plan = (query) => server.get(`/plan?${query}`);

const LAYERS = "layers=32&hidden=4096&heads=32&seq_len=4096";

test("7 billion parameters with Adam in mixed precision take 112 GB, 28 GB of 4 GPUs", async () => {
  const one = await plan("parameters=7e9&precision=mixed_bf16&optimizer=adam&strategy=ddp");
  assert.equal(one.bytes_per_parameter, 16);
  assert.equal(one.model_static_bytes, 112 * GB);
  assert.equal(one.static_bytes, 112 * GB);
  const four = await plan("parameters=7B&strategy=zero3&dp=4&gpu=H100+SXM&gpu=MI300X");
  assert.equal(four.static_bytes, 28 * GB);
  assert.equal(four.gpu_count, 4);
  assert.deepEqual(four.gpus.map(({ gpu, memory_bytes }) => [gpu, memory_bytes]),
    [["H100 SXM", 80 * GB], ["MI300X", 192 * GB]]);
});

test("every part tells its formula and source, and known parts sum to the total", async () => {
  const found = await plan(`parameters=7e9&${LAYERS}&strategy=zero3&dp=8&recompute=full`);
  assert.equal(found.complete, true);
  assert.equal(sum(found.parts.map(({ bytes }) => bytes)), found.total_bytes);
  for (const { part, formula, worked, source } of found.parts) {
    assert.ok(formula && worked && source, part);
  }
});

test("a plan fits when all is known, and fails once what is known is too much", async () => {
  const [small] = (await plan("parameters=1e9&gpu=H100+SXM")).gpus;
  assert.equal(small.fits, null);
  const [large] = (await plan("parameters=7e9&gpu=H100+SXM")).gpus;
  assert.equal(large.fits, false);
  const [known] = (await plan(`parameters=1e9&${LAYERS}&attention=flash&gpu=H100+SXM`)).gpus;
  assert.equal(known.fits, true);
  const own = await plan(`parameters=1e9&${LAYERS}&attention=flash&memory_gb=12.5`);
  assert.deepEqual(own.gpus.map(({ memory_bytes, fits }) => [memory_bytes, fits]),
    [[12.5 * GB, false]]);
});

test("the API and the page assume the same where nothing is given", async () => {
  const given = ["parameters", "layers", "hidden", "heads", "vocab", "seq_len"];
  for (const text of [...FIRST_SETUPS, "H100 SXM,zero1,4,8,2"]) {
    const setup = read_setup(text);
    const page = await server.get(plan_path(DEFAULTS, setup));
    const least = new URLSearchParams({ ...setup,
      ...Object.fromEntries(given.map((name) => [name, DEFAULTS[name]])) });
    assert.deepEqual(await plan(least), page, text);
  }
  const [one, standard] = await Promise.all(["", "&attention=standard"].map((also) =>
    plan(`parameters=7e9&${LAYERS}&strategy=zero3&dp=8${also}`)));
  assert.equal(one.inputs.attention, "flash");
  // What standard attention keeps per pair of tokens: 5 a s / h x s b h in each of 32 layers.
  assert.equal(standard.total_bytes - one.total_bytes, 5 * 32 * 4096 * 4096 * 32);
});

test("eight bits and weights alone are planned by their own bytes", async () => {
  const static_gb = async (query) =>
    (await plan(`parameters=7e9&${LAYERS}&${query}`)).static_bytes / GB;
  assert.equal(await static_gb("precision=fp8"), 126);
  assert.equal(await static_gb("precision=fp8_weights"), 112);
  assert.equal(await static_gb("optimizer=none"), 14);
  assert.equal(await static_gb("optimizer=none&precision=fp8_weights"), 7);
  const { parts } = await plan(`parameters=7e9&${LAYERS}&optimizer=none`);
  const kept = ["gradients", "master", "optimizer", "activations", "recomputed"];
  assert.deepEqual(parts.filter(({ part }) => kept.includes(part)).map(({ bytes }) => bytes),
    [0, 0, 0, 0, 0]);
});

test("generation keeps keys and values of the sequences at once", async () => {
  const llama = "parameters=8.03e9&layers=32&hidden=4096&heads=32&kv_heads=8&seq_len=8192";
  const { parts } = await plan(`${llama}&optimizer=none&cached=16&tp=2`);
  assert.equal(parts.find(({ part }) => part === "cache").bytes, 8 * 2 ** 30);
  const refused = await server.request(`/api/v1/plan?${llama}&cached=1`);
  assert.match(refused.json.detail, /expected optimizer=none/);
});

test("ways to share a model out are listed, those that fit first", async () => {
  const address = `parameters=70.6e9&layers=80&hidden=8192&heads=64&seq_len=8192&gpus=64`;
  const reply = await server.request(`/api/v1/plan/setups?${address}&gpu=H100+SXM`);
  assert.deepEqual(reply_faults("GET", "/api/v1/plan/setups", reply), []);
  const { setups, tried } = reply.json;
  assert.ok(tried > setups.length);
  assert.ok(setups.every(({ dp, tp, pp }) => dp * tp * pp === 64));
  assert.ok(setups[0].fits && setups[0].headroom_bytes >= 0);
  for (const [query, expected] of [["gpu=H100", /gpu=H100/], ["gpu=H100+SXM&dp=2", /'dp'/]]) {
    const { json, status } = await server.request(`/api/v1/plan/setups?${address}&${query}`);
    assert.equal(status, 400);
    assert.match(json.detail, expected);
  }
});

test("without a GPU all known ones are held against the plan", async () => {
  const { gpus } = await plan("parameters=1e9");
  assert.ok(gpus.length > 20);
  assert.ok(gpus.every(({ source }) => source.includes("data sheet")));
});

test("what cannot be understood is refused, and the answer says what was expected", async () => {
  for (const [query, expected] of [
    ["", /parameters=.*7e9 or 7B/], ["parameters=many", /parameters=many/],
    ["parameters=-1", /parameters=-1/], ["parameters=1e15", /1 to 1e14/],
    ["parameters=1.5", /an integer/], ["parameters=nan", /parameters=nan/],
    ["parameters=7e9&precision=int4", /fp32, mixed_bf16, mixed_fp16, bf16/],
    ["parameters=7e9&dp=0", /dp=0, expected a number from 1/],
    ["parameters=7e9&heads=7&hidden=64", /does not divide hidden=64/],
    ["parameters=7e9&overhead_gb=x", /overhead_gb=x, expected gigabytes/],
    ["parameters=7e9&gpu=H100", /gpu=H100/], ["parameters=7e9&gpus=H100", /'gpus'/],
  ]) {
    const reply = await server.request(`/api/v1/plan?${query}`);
    assert.equal(reply.status, 400, query);
    assert.match(reply.json.detail, expected, query);
    assert.deepEqual(reply_faults("GET", "/api/v1/plan", reply), []);
  }
  const reply = await server.request("/api/v1/plan?parameters=7e9&gpu=H100");
  assert.match(reply.json.fix, /H100 SXM, H100 PCIe.*MI300X.*memory_gb/);
});

test("the page shows setups side by side and says which fit", () =>
  on_page({}, async (page) => {
    await visit(page, "/");
    await page.getByRole("link", { name: "Plan", exact: true }).click();
    await page.waitForURL(/\/plan$/);
    await page.getByText("fits, 59.1 GB free").waitFor();
    assert.equal(await page.locator(".plan-bars > li").count(), 4);
    assert.match(await page.locator("main").innerText(), /16 bytes per parameter.*112 GB/);
    assert.match(await page.locator(".plan-bars").innerText(), /does not fit: 52.9 GB over/);
    assert.deepEqual(await axe_faults(page), []);
  }));

test("what is typed and chosen is in the address, which opens the same page", () =>
  on_page({}, async (page) => {
    await visit(page, "/plan");
    await page.getByLabel("Start from").selectOption("GPT-3 175B");
    await page.waitForURL(/parameters=175e9/);
    await page.getByLabel("GPU of setup 1").selectOption("B200");
    await page.getByLabel("Sharding of setup 1").selectOption("zero3");
    const dp = page.getByLabel("Data-parallel GPUs, setup 1");
    await dp.fill("64");
    await dp.press("Enter");
    await page.waitForURL(/on=B200%2Czero3%2C64%2C1%2C1/);
    await page.getByLabel("Recomputed").selectOption("full");
    const bar = page.locator(".plan-bars > li").first();
    await bar.getByText("64 × B200, ZeRO-3, dp 64").waitFor();
    await page.waitForURL(/recompute=full/);
    await page.getByText("(L / p) f s b h x 2").first().waitFor();
    const shown = await bar.innerText();
    await page.reload();
    await bar.getByText("64 × B200, ZeRO-3, dp 64").waitFor();
    assert.equal(await bar.innerText(), shown);
    assert.equal(await page.getByLabel("Start from").inputValue(), "GPT-3 175B");
  }));

test("setups are added and removed, and one is always left", () =>
  on_page({}, async (page) => {
    await visit(page, "/plan?on=H200,ddp,1,1,1");
    await page.locator(".plan-bars > li").waitFor();
    assert.equal(await page.getByRole("button", { name: /^Remove setup/ }).count(), 0);
    await page.getByRole("button", { name: "Add setup" }).click();
    await page.locator(".plan-bars > li").nth(1).waitFor();
    await page.getByRole("button", { name: "Remove setup 1" }).click();
    await page.locator(".plan-bars > li").nth(1).waitFor({ state: "detached" });
  }));

test("the page reports a refused number beside what can still be shown", async () => {
  const page = await (await browser.newContext({ baseURL: server.base })).newPage();
  await visit(page, "/plan?on=H200,ddp,1,1,1&on=H200,ddp,none,1,1");
  await page.getByRole("alert").getByText(/dp=none/).waitFor();
  assert.equal(await page.locator(".plan-bars > li").count(), 1);
  await page.context().close();
});

test("the page fits a narrow screen and has no barrier there", () =>
  on_page({ viewport: NARROW, colorScheme: "dark" }, async (page) => {
    await visit(page, "/plan");
    await page.locator(".plan-bars > li").first().waitFor();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    assert.deepEqual(await axe_faults(page), []);
  }));

test("no table of the planner is wider than the screen of a tablet", () =>
  on_page({ viewport: { width: 768, height: 1024 } }, async (page) => {
    await visit(page, "/plan");
    await page.locator(".plan-table").waitFor();
    const wide = await page.locator(".table-region").evaluateAll((regions) => regions
      .filter((one) => one.scrollWidth > one.clientWidth + 1)
      .map((one) => one.getAttribute("aria-label")));
    assert.deepEqual(wide, []);
  }));

/** Texts that are partly but not entirely out of sight. Runs in the page. */
function cut_texts(boxes) {
  return boxes.filter((box) => {
    const text = document.createRange();
    text.selectNodeContents(box);
    const [inner, outer] = [text.getBoundingClientRect(), box.getBoundingClientRect()];
    return inner.top < outer.bottom && inner.right > outer.right + 0.5;
  }).map((box) => box.textContent);
}

test("a bar shows no number that it has to cut", () =>
  on_page({ viewport: { width: 768, height: 1024 } }, async (page) => {
    await visit(page, "/plan");
    await page.locator(".plan-bars > li").nth(3).waitFor();
    const cut = await page.locator(".plan-bars .segment-value").evaluateAll(cut_texts);
    assert.deepEqual(cut, []);
  }));
