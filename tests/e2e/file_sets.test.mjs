// SPDX-License-Identifier: Apache-2.0
// Files that a profiler writes apart become one trace: sent together, and on the command line.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { after, before, test } from "node:test";
import { fields, file_part } from "./helpers/multipart.mjs";
import { start_server } from "./helpers/server.mjs";
import { run_program, run_shell, stepscope_bin } from "./helpers/tools.mjs";

const FILES = {
  "908_agent_info.csv": '"Node_Id","Agent_Type","Cu_Count","Name","Product_Name"\n'
    + '4,"GPU",304,"gfx942","AMD Instinct MI300X"\n',
  "908_hip_api_trace.csv": "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,"
    + "End_Timestamp\n" + Array.from({ length: 20 }, (_, i) =>
    `HIP_RUNTIME_API,hipLaunchKernel,5,6,${i + 1},${1000 * i + 100},${1000 * i + 150}\n`).join(""),
  "908_kernel_trace.csv": "Kind,Agent_Id,Queue_Id,Stream_Id,Kernel_Name,Correlation_Id,"
    + "Start_Timestamp,End_Timestamp\n" + Array.from({ length: 20 }, (_, i) =>
    `KERNEL_DISPATCH,Agent 4,1,1,gemm.kd,${i + 1},${1000 * i + 300},${1000 * i + 900}\n`).join(""),
  "908_marker_api_trace.csv": "Domain,Function,Process_Id,Thread_Id,Correlation_Id,"
    + "Start_Timestamp,End_Timestamp\n" + Array.from({ length: 20 }, (_, i) =>
    `MARKER_CORE_API,step,5,6,${i + 100},${1000 * i},${1000 * i + 999}\n`).join(""),
};

let server;
let folder;

before(async () => {
  server = await start_server();
  folder = await mkdtemp(join(tmpdir(), "stepscope-sets-"));
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
});
after(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("the CSV files of rocprofv3 are one trace with launches and ranges", async () => {
  const reply = await server.post([...fields({ run: "set", step: "step" }),
    ...Object.entries(FILES).map(([name, text]) => file_part(text, name))], "/upload?wait=60");
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.json.traces.length, 1);
  assert.equal(reply.json.traces[0].filename, "908.csv");
  const { items: steps } = await server.get("/runs/set/steps?limit=all");
  assert.ok(steps.length > 10, `${steps.length} steps`);
  const [kernel] = (await server.get("/runs/set/kernels")).items;
  assert.deepEqual([kernel.name, kernel.calls, kernel.total_ns], ["gemm", 20, 12_000]);
});

test("compressed files of a set are one trace as well", async () => {
  const parts = Object.entries(FILES).map(([name, text]) => name.includes("agent")
    ? file_part(text, name) : file_part(gzipSync(text), `${name}.gz`));
  const reply = await server.post([...fields({ run: "coded" }), ...parts], "/upload?wait=60");
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(reply.json.traces.map(({ filename }) => filename), ["908.csv.gz"]);
  const [kernel] = (await server.get("/runs/coded/kernels")).items;
  assert.deepEqual([kernel.name, kernel.calls], ["gemm", 20]);
});

test("a compressed copy beside a file of a set does not count twice", async () => {
  const name = "908_kernel_trace.csv";
  const copy = gzipSync(FILES[name]);
  const reply = await server.post([...fields({ run: "copy" }), file_part(copy, `${name}.gz`),
    ...Object.entries(FILES).map(([own, text]) => file_part(text, own))], "/upload");
  assert.equal(reply.status, 202, reply.text);
  const refused = reply.json.traces.filter(({ status }) => status === "refused");
  assert.deepEqual(refused.map(({ filename }) => filename), [`${name}.gz`]);
  assert.equal(refused[0].error, `a compressed copy of ${name} beside it, which is read instead`);
  await server.settled("copy");
  const [kernel] = (await server.get("/runs/copy/kernels")).items;
  assert.equal(kernel.calls, 20);
  const compressed = join(folder, `${name}.gz`);
  await writeFile(compressed, copy);
  const { traces } = JSON.parse(await run_program(stepscope_bin(),
    ["analyze", "--format", "json", folder]));
  await rm(compressed);
  assert.deepEqual(traces.map(({ device_events }) => device_events), [20]);
});

test("files of the same name are their own ranks", async () => {
  const name = "908_kernel_trace.csv";
  const reply = await server.post([...fields({ run: "pair" }), file_part(FILES[name], name),
    file_part(FILES[name].replaceAll("gemm", "conv"), name)], "/upload?wait=60");
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.json.traces.length, 2);
});

test("the files of a set have one rank", async () => {
  const send = (run, ranks) => server.post([...fields({ run }),
    ...ranks.flatMap((rank) => fields({ rank })),
    ...Object.entries(FILES).map(([name, text]) => file_part(text, name))], "/upload?wait=60");
  const same = await send("one_rank", ["3", "3", "3", "3"]);
  assert.equal(same.status, 200, same.text);
  assert.deepEqual(same.json.traces.map(({ rank }) => rank), [3]);
  const different = await send("two_ranks", ["3", "3", "3", "4"]);
  assert.equal(different.status, 400, different.text);
  assert.match(different.text, /ranks 3 and 4 for files that are read as one/);
});

test("files that only have names are refused by themselves", async () => {
  const reply = await server.post([...fields({ run: "names" }),
    file_part("LEVEL THREAD SIZE 1\nTHREAD 1.1.1\n", "job.row")]);
  assert.equal(reply.status, 422, reply.text);
  for (const name of ["job.pcf.gz", "908_agent_info.csv.gz"]) {
    const coded = await server.post([...fields({ run: "names" }),
      file_part(gzipSync(FILES["908_agent_info.csv"]), name)]);
    assert.equal(coded.status, 422, coded.text);
    assert.match(coded.text, /found the names of a trace without its events: send its files in /);
  }
});

test("a table of kernels alone says that the host is missing", async () => {
  const stdout = await run_program(stepscope_bin(),
    ["analyze", "--format", "json", join(folder, "908_kernel_trace.csv")]);
  const items = JSON.parse(stdout).traces[0].tables.trust.map(({ item }) => item);
  assert.ok(items.includes("no_host_side"));
  assert.ok(!items.includes("no_operators"));
});

test("the command line joins those of a folder, too", async () => {
  const stdout = await run_program(stepscope_bin(),
    ["analyze", "--step", "step", "--format", "json", folder]);
  const { traces } = JSON.parse(stdout);
  assert.equal(traces.length, 1);
  const [{ device_events, linked_device_events }] = traces;
  assert.deepEqual([device_events, linked_device_events], [20, 20]);
});

test("compare and whatif join those of a folder, too", async () => {
  const { result, tables } = JSON.parse(await run_program(stepscope_bin(),
    ["compare", "--step", "step", "--format", "json", folder, folder]));
  assert.equal(result, "pass");
  assert.ok(tables.compare_summary[0].base_steps > 10, "steps are of the set's markers");
  const { traces } = JSON.parse(await run_program(stepscope_bin(),
    ["whatif", "--step", "step", "--change", "host_free", "--format", "json", folder]));
  assert.deepEqual(traces.map(({ answers }) => answers.length), [1]);
});

test("the command line joins those of an archive, too", async () => {
  const archive = join(folder, "job.tar.gz");
  await run_shell(`cd ${folder} && tar czf ${archive} *.csv`);
  const stdout = await run_program(stepscope_bin(),
    ["analyze", "--step", "step", "--format", "json", archive]);
  await rm(archive);
  const { traces } = JSON.parse(stdout);
  assert.deepEqual(traces.map(({ device_events, linked_device_events }) =>
    [device_events, linked_device_events]), [[20, 20]]);
});

test("inspect joins those of an archive, and says of a copy that it is not read", async () => {
  const archive = join(folder, "job.tar.gz");
  const copy = "908_kernel_trace.csv.gz";
  await writeFile(join(folder, copy), gzipSync(FILES["908_kernel_trace.csv"]));
  await run_shell(`cd ${folder} && tar czf ${archive} *.csv ${copy}`);
  const { files: [file] } = JSON.parse(await run_program(stepscope_bin(),
    ["inspect", "--format", "json", archive]));
  await rm(archive);
  await rm(join(folder, copy));
  assert.deepEqual(file.members.map(({ file: name }) => name).sort(), ["908.csv", copy]);
  const joined = file.members.find(({ file: name }) => name === "908.csv");
  assert.deepEqual([joined.figures.kernels, file.figures.traces], [20, 1]);
});
