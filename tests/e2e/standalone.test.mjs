// SPDX-License-Identifier: Apache-2.0
// The page that needs no server: its module says what the command says, byte for byte.
import { test } from "node:test";
import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync,
  writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { ms } from "../../web/base/format.mjs";
import { axe_faults, launch, on_clean_page, settle } from "./helpers/browser.mjs";
import { open_in_module, page_folder, run_module, skip_module } from "./helpers/module.mjs";
import { start_server } from "./helpers/server.mjs";
import { serve_folder } from "./helpers/static.mjs";
import { root, run_status, skipped, stepscope_bin, temporary } from "./helpers/tools.mjs";
import { generate, have_real_traces, real_file, real_names } from "./helpers/traces.mjs";

const ANALYZE = ["analyze", "--format", "json"];

/** Fails unless module and command print the same of files in one folder. */
async function assert_same(paths, what = basename(paths[0])) {
  const module = run_module(ANALYZE, paths);
  const command = await run_status(stepscope_bin(), [...ANALYZE, ...paths.map((p) => basename(p))],
    { cwd: dirname(paths[0]) });
  assert.equal(module.stderr, command.stderr, what);
  assert.equal(module.status === 0, command.status === 0, what);
  assert.ok(module.stdout.equals(Buffer.from(command.stdout)), `${what}: other tables`);
  return module;
}

test("the module's tables of generated jobs are those of the command", { skip: skip_module },
  async () => {
    const jobs = [["--flavour", "rocm", "--stacks", "--format", "gz"],
      ["--ranks", "4", "--strategy", "fsdp", "--format", "zst", "--memory", "--counters"],
      ["--ranks", "2", "--plant", "starvation", "--pretty"]];
    for (const job of jobs) {
      const { folder, files } = await generate(["--steps", "6", "--layers", "3", ...job]);
      await assert_same(files.map(({ filename }) => join(folder, filename)), job.join(" "));
    }
  });

test("the module refuses what is no trace in the words of the command", { skip: skip_module },
  async () => {
    const folder = temporary("refused");
    const refused = [["empty.json", ""], ["list.json", "[]"], ["cut.json.gz", "\x1f\x8b"],
      ["train.log", "iteration 1/10 | lm loss: 2.0\n"]];
    for (const [name, text] of refused) {
      writeFileSync(join(folder, name), text);
      const { status } = await assert_same([join(folder, name)]);
      assert.notEqual(status, 0, name);
    }
  });

/** What the command says about files in one folder. */
const analyzed = async (paths) => JSON.parse((await run_status(stepscope_bin(),
  [...ANALYZE, ...paths.map((p) => basename(p))], { cwd: dirname(paths[0]) })).stdout);

async function one_job(...more) {
  const { folder, files } = await generate(["--ranks", "2", "--steps", "6", "--layers", "2",
    "--format", "gz", ...more]);
  return files.map(({ filename }) => join(folder, filename));
}

test("what pages ask is answered with the command's rows", { skip: skip_module }, async () => {
  const paths = await one_job("--stacks", "--memory");
  const { run, traces } = await analyzed(paths);
  const { said, ask } = open_in_module(paths);
  assert.equal(said, "");
  const same = (name, query, rows) => {
    const { status, data } = ask(`/runs/r_1/${name}?limit=all${query}`);
    assert.equal(status, 200, name);
    assert.deepEqual(data.items, rows, name);
  };
  const of_run = Object.entries(run.tables).filter(([name]) => name !== "summary");
  for (const [name, rows] of of_run) same(name, "", rows);
  const of_rank = Object.entries(traces[1].tables).filter(([name]) => !(name in run.tables));
  for (const [name, rows] of of_rank) same(name, "&rank=1", rows);
  assert.ok(of_run.length > 10 && of_rank.length > 20);
  assert.equal(ask("/runs/r_1/summary").data.summary.step_median_ns,
    run.tables.summary[0].step_median_ns);
  assert.ok(ask("/runs/r_1/timeline?rank=1").data.slices.lane.length > 100);
});

test("what a page asks wrongly, or of a service, is refused", { skip: skip_module }, async () => {
  const { ask } = open_in_module(await one_job());
  for (const [target, status] of [["/runs/r_1/kernels?sort=nothing", 400], ["/runs/r_2", 404],
    ["/runs/r_1/kernels?rank=9&range=x", 404], ["/runs/r_1/whatif", 404], ["/tokens", 404],
    ["/runs/%zz/kernels", 400], ["/runs/r_1/timeline?from_ns=9&to_ns=3", 400]]) {
    assert.equal(ask(target).status, status, target);
  }
});

test("a dropped trace is analyzed in the browser, which asks for the page's own files only",
  { skip: skip_module }, async () => {
    const paths = await one_job();
    const { run } = await analyzed(paths);
    const browser = await launch();
    const server = await serve_folder(page_folder, "/below/here/");
    try {
      await on_clean_page(browser, server.origin, { acceptDownloads: true }, async (page) => {
        await page.goto("/below/here/");
        await settle(page);
        assert.deepEqual(await axe_faults(page), []);
        await page.setInputFiles("input[aria-label='Trace files']", paths);
        await page.getByRole("link", { name: "Kernels", exact: true }).click();
        await settle(page);
        const top = run.tables.kernels.reduce((a, b) => (b.total_ns > a.total_ns ? b : a));
        await page.getByRole("row").filter({ hasText: ms(top.total_ns) }).first().waitFor();
        const [file] = await Promise.all([page.waitForEvent("download"),
          page.getByRole("link", { name: "CSV" }).first().click()]);
        assert.equal(file.suggestedFilename(), "kernels.csv");
        for (const name of ["Findings", "Operators", "Timeline", "Idle", "Communication", "Ranks",
          "Data", "Overview"]) {
          await page.getByRole("link", { name: new RegExp(`^${name}`) }).first().click();
          await settle(page);
          assert.equal(await page.locator(".notice-error").count(), 0, name);
        }
        const text = await page.locator("main").innerText();
        assert.ok(text.includes(ms(run.tables.summary[0].step_median_ns, 4)), text);
        await page.goBack();
        await page.getByRole("heading", { level: 1 }).getByText("Data").waitFor();
      });
      const own = new Set(["index.html", "theme.js", "all.css", "app.mjs", "worker.mjs",
        "stepscope.wasm.gz", "mark.svg"]);
      assert.deepEqual(server.asked.filter((name) => !own.has(name)), []);
    } finally {
      server.close();
      await browser.close();
    }
  });

test("the demo that comes with the page opens by a press",
  { skip: skip_module }, async () => {
    // The module is not optimized in tests; deploy/wasm/README.md has its size when it is.
    const bytes = readdirSync(page_folder).filter((name) => !name.startsWith("stepscope.wasm"))
      .map((name) => join(page_folder, name)).filter((path) => statSync(path).isFile())
      .reduce((sum, path) => sum + gzipSync(readFileSync(path)).length, 0);
    assert.ok(bytes < 6e5, `${bytes} bytes beside the module`);
    const browser = await launch();
    const server = await serve_folder(page_folder, "/below/here/");
    try {
      await on_clean_page(browser, server.origin, {}, async (page) => {
        await page.goto("/below/here/");
        await page.getByRole("button", { name: "Open the demo trace" }).click();
        await page.getByText(/40\.7 synchronizing calls per step/).first().waitFor();
      });
    } finally {
      server.close();
      await browser.close();
    }
  });

test("shorter addresses lead to the page of a service that has one", async () => {
  const folder = temporary("page");
  writeFileSync(join(folder, "index.html"), "<!doctype html><title>here</title>");
  const server = await start_server({ options: ["--standalone-dir", folder] });
  for (const path of ["/standalone", "/standalone/"]) {
    const { status, headers } = await server.request(path);
    assert.deepEqual([status, headers.location], [303, "/standalone/index.html"], path);
  }
  assert.match((await server.request("/standalone/index.html")).text, /here/);
  await server.stop();
});

test("a program finds the page that came with it", async (t) => {
  const folder = temporary("install");
  const program = join(folder, "bin/stepscope");
  const page = join(folder, "share/stepscope/standalone");
  [dirname(program), page].forEach((path) => mkdirSync(path, { recursive: true }));
  copyFileSync(stepscope_bin(), program);
  writeFileSync(join(page, "index.html"), "<!doctype html><title>came along</title>");
  const STEPSCOPE_BIN = stepscope_bin();
  t.after(() => Object.assign(process.env, { STEPSCOPE_BIN }));
  process.env.STEPSCOPE_BIN = program;
  const server = await start_server();
  assert.match((await server.request("/standalone/index.html")).text, /came along/);
  await server.stop();
});

test("a service that has the page links to it, and lets only it run WebAssembly",
  { skip: skip_module }, async () => {
    const paths = await one_job();
    const server = await start_server({ options: ["--standalone-dir", page_folder] });
    const browser = await launch();
    try {
      const policy = async (path) =>
        (await server.request(path)).headers["content-security-policy"];
      for (const path of ["/standalone/index.html", "/standalone/worker.mjs"]) {
        assert.match(await policy(path), /'wasm-unsafe-eval'.* trusted-types standalone$/, path);
      }
      for (const path of ["/", "/upload", "/standalone/stepscope.wasm.gz", "/standalone/none"]) {
        assert.doesNotMatch(await policy(path), /wasm|standalone/, path);
      }
      const { etag } = (await server.request("/standalone/app.mjs")).headers;
      assert.equal((await server.request("/standalone/app.mjs",
        { headers: { "If-None-Match": etag } })).status, 304);
      for (const path of ["..%2Fstepscope.wasm", "client", ".%2Fapp.mjs"]) {
        assert.equal((await server.request(`/standalone/${path}`)).status, 404, path);
      }
      await on_clean_page(browser, server.base, {}, async (page) => {
        await page.goto("/");
        await page.getByRole("link", { name: "Analyze in this browser" }).waitFor();
        await page.goto("/upload");
        await page.getByRole("link", { name: "Analyze in this browser" }).click();
        await page.setInputFiles("input[aria-label='Trace files']", paths);
        await page.getByRole("link", { name: "Kernels", exact: true }).click();
        await settle(page);
        assert.equal(await page.locator(".notice-error").count(), 0);
      });
      assert.deepEqual((await server.get("/runs")).items, []);
    } finally {
      await browser.close();
      await server.stop();
    }
  });

const samples = join(root, "../shared/samples");
const no_real = have_real_traces() ? skip_module
  : skipped("the WASM module on real traces: ../shared/traces is absent");

test("the module's tables of every real trace are those of the command, byte for byte",
  { skip: no_real }, async () => {
    const names = real_names();
    for (const name of names) await assert_same([real_file(name)]);
    await assert_same(["pair_rank0", "pair_rank1"].map(real_file), "a job of two ranks");
    assert.ok(names.length > 20);
  });

/** A path, and of a .prv the files of names beside it, which a command reads unasked. */
function with_names(path) {
  const stem = path.replace(/\.prv(\.gz)?$/, "");
  return [path, ...[".pcf", ".row"].map((ending) => stem + ending).filter(existsSync)];
}

test("so are those of other profilers' recordings", { skip: no_real }, async () => {
  const chosen = { nsys: /\.sqlite\.gz$/, xplane: /\.pb$/, paraver: /\.prv(\.gz)?$/,
    rocm: /\.(db|rpd)\.gz$|results\.json\.gz$|kernel_trace\.csv$/ };
  for (const [folder, pattern] of Object.entries(chosen)) {
    const files = readdirSync(join(samples, folder)).filter((name) => pattern.test(name));
    assert.ok(files.length > 0, folder);
    for (const name of files) await assert_same(with_names(join(samples, folder, name)));
  }
});
