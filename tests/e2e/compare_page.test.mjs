// SPDX-License-Identifier: Apache-2.0
// The compare page in a real browser: sides, verdict, waterfall with its drill-down, tables, gate,
// by mouse and by keyboard, wide and narrow, in both themes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { launch, on_clean_page, open_page, settle, visit, WIDE } from "./helpers/browser.mjs";
import { look_faults, LOOKS } from "./helpers/looks.mjs";
import { start_server } from "./helpers/server.mjs";
import { skipped, until } from "./helpers/tools.mjs";
import { generate, have_real_traces, real_file, small_job, unmarked_file }
  from "./helpers/traces.mjs";

const REPEATS = 4;
const ODD = /NaN|undefined|\[object|Infinity/;

let server;
let browser;
const ids = {};

async function fill(name, args, more) {
  const { files } = await generate(small_job(...args));
  ids[name] = (await server.analyzed(name, files, more)).id;
}

/** Repeats of a job and of the same job with slower products, plus two single runs. */
before(async () => {
  server = await start_server();
  browser = await launch();
  for (let i = 1; i <= REPEATS; i++) {
    await fill(`plain@${i}`, ["--seed", String(i), "--stacks", "--memory"]);
    await fill(`slow@${i}`, ["--seed", String(50 + i), "--slow", "gemm=150", "--stacks",
      "--memory"]);
  }
  await fill("rocm", ["--flavour", "rocm", "--slow", "140"]);
  await fill("starved", ["--plant", "starvation=4000000"]);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const on_page = (options, body) => on_clean_page(browser, server.base, options, body);
const series = "base=plain@*&cand=slow@*";
const two = () => `base=${ids["plain@1"]}&cand=${ids.rocm}`;
const many = () => `base=plain@*&cand=slow@*&cand=${ids.rocm}&cand=${ids.starved}`;
const main_text = (page) => page.locator("main").innerText();
const card = (page, title) => page.locator("section.card", {
  has: page.getByRole("heading", { name: title, exact: true }) });

/** "+1,234.5", "▲ 12.3" or "−0.012" as a number of milliseconds. */
function shown_ms(text) {
  const plain = text.replace(/[▲▼\s]/g, "").replace("−", "-").replaceAll(",", "");
  return plain.startsWith("<") ? 0 : Number(plain);
}

test("recordings without steps are compared without the word, one of them with a warning", () =>
  on_page({}, async (page) => {
    const base = (await server.analyzed("whole", [unmarked_file({ kernel_us: 20 })])).id;
    const cand = (await server.analyzed("longer", [unmarked_file({ kernel_us: 900 })])).id;
    await visit(page, `/compare?base=${base}&cand=${cand}`);
    await page.locator(".verdict-line").waitFor();
    const text = await main_text(page);
    assert.match(text, /longer is [\d.]+ ms slower \(\+[\d,.]+\s%\) than whole/);
    assert.doesNotMatch(text, /per step|median step|mean step|steady step/i);
    await visit(page, `/compare?base=${base}&cand=${ids["plain@1"]}`);
    await page.getByText("no step of whole is marked, so its whole recording counts").first()
      .waitFor();
    assert.doesNotMatch(await page.locator(".verdict-line").innerText(), /per step/);
  }));

test("a long name leaves room for the figures of a reason", () => on_page({}, async (page) => {
  await visit(page, `/compare?${series}`);
  const head = page.locator(".reason-head").first();
  await head.locator(".reason-title").evaluate((title) => {
    title.textContent = "vectorized_elementwise_kernel".repeat(8);
  });
  const [figures, delta] = await Promise.all([".reason-figures", ".reason-delta"]
    .map((part) => head.locator(part).boundingBox()));
  const figure = await head.locator(".reason-figures > span").first().boundingBox();
  assert.ok(figure.x + figure.width <= delta.x, `${figure.x} ${figure.width} ${delta.x}`);
  assert.ok(figure.height < 24 && figure.x >= figures.x, "the figure is on one line");
}));

test("every comparison shows, fits wide and narrow in light and dark, and has no barrier", () =>
  on_page({}, async (page) => {
    const wider = { viewport: { width: 1600, height: 1000 }, colorScheme: "dark" };
    for (const query of ["", `base=${ids.rocm}`, two(), series, many(), `${many()}&show=3`]) {
      await page.setViewportSize(WIDE);
      await visit(page, `/compare?${query}`);
      assert.equal(await page.locator("main [role=alert]").count(), 0, query);
      assert.doesNotMatch(await main_text(page), ODD, query);
      assert.deepEqual(await look_faults(page, [wider, ...LOOKS]), [], query);
    }
  }));

test("the waterfall's columns sum to the difference that the page shows, at every level", () =>
  on_page({}, async (page) => {
    const { candidates: [{ summary }] } = await server.get(`/compare?${two()}`);
    await visit(page, `/compare?${two()}`);
    const figure = page.locator("figure", { has: page.locator(".waterfall") });
    const caption_ms = async () => {
      const caption = await page.locator("#waterfall figcaption").innerText();
      const [, figure, unit] = /sum to (\S+) (s|ms|µs|ns) exactly/.exec(caption);
      return shown_ms(figure) * { s: 1000, ms: 1, "µs": 1e-3, ns: 1e-6 }[unit];
    };
    const close = (a, b) => assert.ok(Math.abs(a - b) <= Math.max(Math.abs(b) * 2e-3, 2e-5),
      `${a} ${b}`);
    close(await caption_ms(), summary.delta_ns / 1e6);
    assert.equal(summary.bridge_ns, summary.delta_ns - summary.delta_mean_ns);
    const { items: bars } = await server.get(`/compare/waterfall?${two()}&level=bar`);
    const there = bars.filter(({ base_ns, cand_ns }) => base_ns !== 0 || cand_ns !== 0);
    assert.equal(await figure.locator(".wf-step").count(), there.length + 1); // and the bridge
    for (let level = 0; level < 4; level++) {
      const opens = page.locator(".wf-step.opens");
      if (await opens.count() === 0) break;
      const title = await opens.first().locator("title").textContent();
      const size = /, ([\d.,]+) ms (slower|faster)/.exec(title);
      await opens.first().focus();
      await page.keyboard.press("Enter");
      await settle(page);
      if (size) close(Math.abs(await caption_ms()), shown_ms(size[1]));
    }
    await page.locator("#waterfall").getByRole("button", { name: "Table" }).click();
    const cells = await page.locator("#waterfall tbody tr td:last-child").allInnerTexts();
    const numbers = cells.map(shown_ms);
    const total = numbers.pop();
    const sum = numbers.reduce((all, one) => all + one, 0);
    assert.ok(Math.abs(sum - total) <= Math.max(...numbers.map(Math.abs)) * 2e-3 + 1e-5,
      cells.join(" "));
  }));

test("a place in the waterfall survives a reload, and Escape leads up again", () =>
  on_page({}, async (page) => {
    await visit(page, `/compare?${two()}`);
    const place = page.getByRole("navigation", { name: "Place in the waterfall" });
    while (!/node=|cat=/.test(page.url())) {
      await page.locator(".wf-step.opens").first().focus();
      await page.keyboard.press("Enter");
      await settle(page);
    }
    const shown = await place.innerText();
    await page.reload();
    await settle(page);
    assert.equal(await place.innerText(), shown);
    assert.match(await card(page, "Changes").innerText(), /as the waterfall/);
    await page.locator(".waterfall").focus();
    while (/bar=/.test(page.url())) await page.keyboard.press("Escape");
    await place.waitFor({ state: "detached" });
    await page.goBack();
    await page.waitForURL(/bar=/);
  }));

test("with repeats the verdict names the test, p and the interval, and slow products", () =>
  on_page({}, async (page) => {
    const { candidates: [{ summary }] } = await server.get(`/compare?${series}`);
    assert.equal(summary.verdict, "significant");
    await visit(page, `/compare?${series}`);
    const verdict = page.getByRole("region", { name: "Verdict" });
    await verdict.getByText(/^How certain: significant, 4 runs against 4/).click();
    await verdict.getByText("Which rank").waitFor();
    const text = await verdict.innerText();
    assert.match(text, /Which rank [^\n]*ms slower/);
    assert.match(text, /Limits (none in the trust reports|trust report of (plain|slow)@1)/);
    assert.match(text,
      /slow@1 to @4 \(4 runs\) is [\d.]+ ms per step slower \(\+[\d.]+\s%\) than plain@1/);
    assert.match(text, /Mann-Whitney/);
    assert.match(text, /95\s% interval[^…]*\+[\d.]+\s% … \+[\d.]+\s%/);
    const reason = verdict.locator(".reason").first();
    assert.match(await reason.innerText(),
      /aten::(mm|addmm|bmm)[^]*▲ [\d.]+\sms[^]*takes \d+\s% longer/);
    assert.ok((await reason.boundingBox()).y < 400, "the answer is on the first screen");
    await reason.getByRole("button").click();
    await page.waitForURL(/bar=gemm/);
    await settle(page);
    assert.equal(await page.locator(".run-dots circle").count(), 2 * REPEATS);
    const first = card(page, "Changes").locator("tbody tr").first();
    assert.match(await first.innerText(), /aten::(mm|addmm|linear|bmm)/);
  }));

test("one run a side says that noise is unknown and how to get repeats", () =>
  on_page({}, async (page) => {
    await visit(page, `/compare?${two()}`);
    const verdict = page.getByRole("region", { name: "Verdict" });
    assert.match(await verdict.innerText(), /noise unknown/);
    await verdict.getByText("How certain: noise unknown").click();
    await verdict.getByText("How to get repeats").click();
    assert.match(await verdict.innerText(), /3 more of the base and 3 of the candidate would tell/);
    assert.match(await verdict.locator("pre").innerText(), /^curl -F run=rocm@\$\(date \+%s\) /);
  }));

test("a run against itself differs in nothing and hides nothing that matters", () =>
  on_page({}, async (page) => {
    await visit(page, `/compare?base=${ids.rocm}&cand=${ids.rocm}`);
    const text = await main_text(page);
    assert.match(text, /takes the same time as/);
    assert.match(text, /No recorded setting differs/);
    assert.match(text, /No relevant change/);
  }));

test("repeats are taken with one click, sides swapped, candidates added and removed", () =>
  on_page({}, async (page) => {
    await visit(page, `/compare?base=${ids["plain@1"]}&cand=${ids["slow@1"]}`);
    await page.getByRole("button", { name: "Use all 4 repeats of plain" }).click();
    await page.getByRole("button", { name: "Use all 4 repeats of slow" }).click();
    await page.waitForURL((url) => url.searchParams.get("cand") === "slow@*");
    await settle(page);
    await page.getByRole("button", { name: "Swap base and candidate" }).click();
    await page.waitForURL((url) => url.searchParams.get("base") === "slow@*");
    await settle(page);
    assert.match(await page.getByRole("region", { name: "Verdict" }).innerText(), /faster/);
    await page.getByRole("button", { name: "Add candidate" }).click();
    const field = page.getByRole("combobox", { name: "Candidate 2" });
    await field.click();
    await field.fill("rocm");
    await page.getByRole("option", { name: /^rocm/ }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.getAll("cand").length === 2);
    await settle(page);
    await page.getByRole("button", { name: "Remove Candidate 2" }).click();
    await page.waitForURL((url) => url.searchParams.getAll("cand").length === 1);
  }));

test("of several candidates the chosen one is shown in detail, and links keep it", () =>
  on_page({}, async (page) => {
    await visit(page, `/compare?${many()}`);
    await page.locator(".stack-rows li").nth(3).waitFor();
    assert.equal(await page.locator(".stack-rows li").count(), 4);
    await card(page, "Candidates").getByRole("button", { name: "starved", exact: true }).click();
    await page.waitForURL(/show=3/);
    await settle(page);
    assert.match(await page.getByRole("region", { name: "Verdict" }).innerText(), /starved is/);
    const before_it = await main_text(page);
    await page.reload();
    await settle(page);
    await until("the same is shown", async () => await main_text(page) === before_it);
    await card(page, "Candidates").getByRole("button", { name: "Table" }).click();
    assert.equal(await card(page, "Candidates").locator("figure tbody tr").count(), 4);
  }));

test("changes are shown by any level, filtered, opened, and hidden ones on demand", () =>
  on_page({}, async (page) => {
    await visit(page, `/compare?${two()}`);
    const changes = card(page, "Changes");
    const rows = changes.locator("tbody tr:not(.spacer)");
    const few = await rows.count();
    await changes.getByRole("checkbox").uncheck();
    await page.waitForURL(/noise=yes/);
    await until("all rows are shown", async () => await rows.count() > few);
    for (const level of ["shape", "kernel", "category", "op"]) {
      await changes.getByLabel("Level of the changes").selectOption(level);
      await settle(page);
      await rows.first().waitFor();
      assert.doesNotMatch(await changes.innerText(), ODD, level);
    }
    await changes.getByRole("searchbox").fill("addmm");
    await page.waitForURL(/q=addmm/);
    await rows.first().getByRole("button").click();
    assert.match(await changes.innerText(), /From the number of calls/);
    await changes.getByRole("searchbox").fill("no such operator");
    await changes.getByText("No change matches").waitFor();
  }));

test("per token needs tokens, and says what to give", async () => {
  const { page, close } = await open_page(browser, server.base);
  try {
    await visit(page, `/compare?${two()}`);
    await page.getByRole("button", { name: "Per token" }).click();
    await page.waitForURL(/per=token/);
    await settle(page);
    assert.match(await page.locator("main [role=alert]").innerText(), /tokens/);
    await page.getByRole("button", { name: "Compare per step" }).click();
    await page.getByRole("region", { name: "Verdict" }).waitFor();
  } finally {
    await close();
  }
});

test("settings that people gave are marked, and tokens let steps of two sizes be compared", () =>
  on_page({}, async (page) => {
    for (const [name, tokens] of [["small", 1000], ["large", 2000]]) {
      await fill(name, ["--seed", "7"], { meta: `tokens_per_step=${tokens}` });
    }
    await visit(page, `/compare?base=${ids.small}&cand=${ids.large}`);
    const settings = page.getByRole("region", { name: "Settings that differ" });
    assert.match(await settings.innerText(), /Tokens per step\s+1000 → 2000/);
    await settings.getByRole("button", { name: /^show all/ }).click();
    assert.match(await settings.innerText(), /Tokens per step\s+1000 given → 2000 given/);
    assert.match(await page.getByRole("region", { name: "Verdict" }).innerText(), /same time/);
    await page.getByRole("button", { name: "Per token" }).click();
    await page.waitForURL(/per=token/);
    await settle(page);
    const verdict = await page.getByRole("region", { name: "Verdict" }).innerText();
    assert.match(verdict, /faster \(−50\.0\s%\)/);
  }));

test("the slowest rank is one click away and kept in the address", () =>
  on_page({}, async (page) => {
    await visit(page, `/compare?${two()}`);
    await page.getByRole("button", { name: "Slowest rank" }).click();
    await page.waitForURL(/rank=slowest/);
    await settle(page);
    await page.getByRole("region", { name: "Verdict" }).waitFor();
    await page.getByRole("button", { name: "Typical rank" }).click();
    await page.waitForURL((url) => !url.searchParams.has("rank"));
  }));

test("the gate's line is what the service answers", () =>
  on_page({}, async (page) => {
    await visit(page, `/compare?${series}`);
    const gate = card(page, "Gate for CI");
    const address_of = async () => /'(http[^']+)'/.exec(await gate.locator("pre").innerText())[1];
    const ask = async () => server.request((await address_of()).slice(server.base.length));
    assert.equal((await ask()).status, 409, "a regression");
    await gate.getByLabel("Allowed slowdown per step").selectOption("0.1");
    await page.waitForURL(/limit=0.1/);
    const reply = await ask();
    assert.match(await address_of(), /max_regression=0.1/);
    assert.ok([200, 409].includes(reply.status));
    assert.ok(reply.text.trim().split("\n").length >= 3, reply.text);
  }));

const skip = have_real_traces() ? false : skipped("real traces: ../shared/traces is absent");

test("pairs of two vendors compare without a fault, matched and with named work", { skip },
  async () => {
    for (const pair of ["qwen1.5", "bert_small", "vit_detection"]) {
      const upload = async (name) => (await server.analyzed(name, [{ filename: `${name}.json.gz`,
        data: readFileSync(real_file(name)) }])).id;
      const query = `base=${await upload(`mi300x_${pair}`)}&cand=${await upload(`h100_${pair}`)}`;
      await on_page({}, async (page) => {
        await visit(page, `/compare?${query}`);
        assert.doesNotMatch(await main_text(page), ODD, pair);
        assert.equal(await page.locator("main [role=alert]").count(), 0, pair);
        const matched = /([\d.]+)\s% of device time is matched/.exec(await main_text(page));
        assert.ok(Number(matched[1]) >= 90, `${pair}: ${matched[1]} %`);
      });
    }
  });
