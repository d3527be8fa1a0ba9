// SPDX-License-Identifier: Apache-2.0
// Perfetto's own trace processor: it imports a trace as ui.perfetto.dev does, and answers SQL.
// tests/trace_processor.sh fetches it. Its driver was made for a web worker; here it gets what a
// worker has, and the module's bytes without a request.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runInThisContext } from "node:vm";
import { root } from "./tools.mjs";

const FOLDER = process.env.STEPSCOPE_TRACE_PROCESSOR ?? join(root, "build/trace_processor");
const PART_BYTES = 32 << 20; // a message holds less than 64 MiB

const EDITS = [
  ["this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;"],
  ["locateFile: (s) => s,", "wasmBinary: perfetto_here.bytes, locateFile: (s) => s,"],
  ["onRuntimeInitialized: () => deferredRuntimeInitialized.resolve(),",
    "onRuntimeInitialized: () => (deferredRuntimeInitialized.resolve(), perfetto_here.started()),"],
  ["const wasmBridge = new wasm_bridge_1.WasmBridge();",
    "const wasmBridge = perfetto_here.bridge = new wasm_bridge_1.WasmBridge();"],
];

const file = (name) => join(FOLDER, name);
export const have_trace_processor = () => existsSync(file("trace_processor.wasm"));

function driver() {
  return EDITS.reduce((code, [from, to]) => {
    if (!code.includes(from)) throw new Error(`the driver has no ${from}`);
    return code.replace(from, to);
  }, readFileSync(file("engine_bundle.node.js"), "utf8"));
}

/** Starts the module. @returns {Promise<MessagePort>} where it takes requests */
async function start_module() {
  const here = { bytes: readFileSync(file("trace_processor.wasm")), bridge: null, started: null };
  const started = new Promise((done) => (here.started = done));
  Object.assign(globalThis, { self: globalThis, WorkerGlobalScope: Object, perfetto_here: here,
    location: { href: pathToFileURL(FOLDER).href } });
  runInThisContext(driver());
  const { port1, port2 } = new MessageChannel();
  here.bridge.initialize(port1);
  await started;
  return port2;
}

async function start_engine() {
  const { EngineBase } = await import(pathToFileURL(file("engine.mjs")).href);
  const port = await start_module();
  class Engine extends EngineBase {
    mode = "WASM";
    id = "stepscope";
    rpcSendRequestBytes(bytes) {
      port.postMessage(bytes);
    }
    close() {
      port.close();
    }
  }
  const engine = new Engine();
  port.onmessage = ({ data }) => engine.onRpcResponseBytes(data);
  return engine;
}

/** Its program logs fields of answers that its driver does not know, and how far it has read. */
async function quietly(work) {
  const { log, warn } = console;
  Object.assign(console, { log() {}, warn() {} });
  try {
    return await work();
  } finally {
    Object.assign(console, { log, warn });
  }
}

/** Rows for each question. @param {Buffer} bytes of a trace @param {string[]} questions in SQL */
async function ask_about(bytes, questions) {
  const engine = await start_engine();
  for (let at = 0; at < bytes.length; at += PART_BYTES)
    await engine.parse(new Uint8Array(bytes.subarray(at, at + PART_BYTES)));
  await engine.notifyEof();
  const cell = (value) => (typeof value === "bigint" ? Number(value) : value);
  const answers = [];
  for (const question of questions) {
    const result = await engine.query(question);
    const rows = [];
    for (const row = result.iter({}); row.valid(); row.next())
      rows.push(Object.fromEntries(result.columns().map((name) => [name, cell(row.get(name))])));
    answers.push(rows);
  }
  engine.close();
  return answers;
}

const FAULTS = "select name, value from stats where value <> 0 and severity <> 'info'";
const OF_RANKS = `join process_track as here on here.id = track.id
  join process using (upid)`;
const SLICES = `select process.name as rank, track.name as track, slice.name as name,
    count(*) as calls, sum(dur) as total_ns, min(ts) as first_ns, max(depth) as depth
  from slice join track on slice.track_id = track.id ${OF_RANKS} group by 1, 2, 3`;
const SAMPLES = `select process.name as rank, track.name as track, count(*) as samples,
    min(counter.value) as least, max(counter.value) as most
  from counter join process_counter_track as track on counter.track_id = track.id
  join process using (upid) group by 1, 2`;
const FLOWS = "select count(*) as flows from flow";
const WAITS = `select sum(int_value) as wait_ns from slice join args using (arg_set_id)
  where key = 'debug.wait_ns'`;

/**
 * What Perfetto makes of a trace: what it complains of, slices by rank, track and name, samples of
 * counters by rank and track, arrows, and the sum of the notes wait_ns.
 * @param {Buffer} bytes
 */
export async function imported(bytes) {
  const [faults, slices, samples, [{ flows }], [{ wait_ns }]] =
    await quietly(() => ask_about(bytes, [FAULTS, SLICES, SAMPLES, FLOWS, WAITS]));
  return { faults, slices, samples, flows, wait_ns: wait_ns ?? 0 };
}
