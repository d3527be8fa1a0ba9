// SPDX-License-Identifier: Apache-2.0
// Mixed load through each balancer of deploy/ on three services that share PostgreSQL and S3, while
// one of them is killed and another is stopped: uploads of every form, replacements, deletions,
// lists, comparisons, tables, exports, waits for analyses, files that are none, clients that are
// slow or go away. Nothing that was acknowledged is lost, requests to the others take no longer,
// and clients see no failures but those that a balancer cannot hide. The long form has Ceph, and
// ends one after another.
// Timed: nothing runs beside it.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { connect } from "node:net";
import { test } from "node:test";
import { fields, file_part } from "../e2e/helpers/multipart.mjs";
import { no_postgres, start_postgres } from "../e2e/helpers/postgres.mjs";
import { no_proxy, start_proxy } from "../e2e/helpers/proxies.mjs";
import { s3_keys, start_s3 } from "../e2e/helpers/s3.mjs";
import { start_server } from "../e2e/helpers/server.mjs";
import { chance, fast_tmpdir, free_port, temporary } from "../e2e/helpers/tools.mjs";
import { Clients } from "./helpers/clients.mjs";
import { no_cluster, start_engines } from "./helpers/cluster.mjs";
import { Health } from "./helpers/health.mjs";
import { Ledger, look_up, verify_run } from "./helpers/ledger.mjs";
import { slow_client } from "./helpers/slow_clients.mjs";
import { figure, is_long, seed } from "./helpers/torture.mjs";

const WARM_MS = is_long ? 5000 : 1500; // of load before a service ends
const AFTER_MS = is_long ? 15_000 : 2500; // and after it
const ENDS = is_long ? 6 : 2;
const SLOW = is_long ? 200 : 40;
const WRITERS = 4;
const READERS = 3;
const WAIT_S = is_long ? 30 : 3;
const LEAST_ASKED = 100;
/**
 * What was on its way to a service that was killed is answered this long after its end. Until Caddy
 * has asked whether it is ready, it may send a body there, and then not again to another one.
 */
const KILL_MS = { nginx: 1500, caddy: 3500 };
/** A balancer cannot send these again: it passes bodies through as they come. */
const WITH_BODY = ["POST", "PUT", "PATCH"];

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** PostgreSQL and S3: real ones, or a small PostgreSQL and the stand-in for S3. */
async function make_engines() {
  if (is_long) {
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: "stepscope",
      AWS_SECRET_ACCESS_KEY: "stepscope" });
    const engines = await start_engines();
    return { options: engines.options(), stop: () => engines.kill() };
  }
  Object.assign(process.env, s3_keys);
  const [postgres, s3] = [await start_postgres(), await start_s3()];
  return { options: ["--store", await postgres.store("mixed"), "--blobs", s3.place()],
    stop: () => s3.stop() };
}

/** What clients saw go wrong, and what of it they may see. */
class Mishaps {
  constructor() {
    /** @type {{at: number, method: string, what: string, status: number}[]} */
    this.list = [];
    /**
     * When services were killed or stopped.
     * @type {{at: number, until: number, signal: string}[]}
     */
    this.ends = [];
  }

  note(method, what, status) {
    this.list.push({ at: performance.now(), method, what, status });
  }

  is_of_a(signal, at) {
    return this.ends.some((end) => end.signal === signal && at >= end.at && at <= end.until);
  }

  /**
   * In a kill, an answer that had begun ends early, and a request whose body was on its way gets
   * 502. A stop asks for a piece that is on its way again: what came of it is kept. Bytes that were
   * deleted a moment ago are not taken until S3 has said that it removed them.
   */
  may_be({ at, method, status, what }) {
    const is_asked_again = what.startsWith("pieces") && status === 503 &&
      this.is_of_a("SIGTERM", at);
    const is_leaving = status === 503 && what.includes("being removed from S3");
    return is_asked_again || is_leaving || (this.is_of_a("SIGKILL", at) &&
      (status === 0 || (status === 502 && WITH_BODY.includes(method))));
  }

  /** @param {string[]} logs */
  check(logs) {
    const bad = this.list.filter((one) => !this.may_be(one)).map(({ at, method, what, status }) =>
      `${method} ${what}: ${status}, ${this.ends.map((end) =>
        `${(at - end.at).toFixed(0)} ms after ${end.signal}`).join(", ")}`);
    const said = bad.length ? logs.flatMap((log) => log.match(/.* status=50.*/g) ?? []) : [];
    assert.deepEqual([...bad, ...said], []);
  }
}

/** The answer to a change that may be made or not. */
class Unanswered extends Error {
  constructor(form, { status, text }) {
    super(`${form} ${text.slice(0, 200)}`);
    Object.assign(this, { method: form === "delete" ? "DELETE" : "PUT", status });
  }
}

/** Clients that count what goes wrong and leave the run open then. */
class MixedClients extends Clients {
  /** @param {Mishaps} mishaps */
  constructor(mishaps) {
    super(new Ledger(), chance(seed), "m");
    Object.assign(this, { mishaps, has_tus: true });
  }

  answered(form, reply, expected) {
    // Sent again by the balancer, after the service that died had done it.
    const is_gone = form === "delete" && reply.status === 404 &&
      this.mishaps.is_of_a("SIGKILL", performance.now());
    if (reply.status >= 500) throw new Unanswered(form, reply);
    if (!is_gone) super.answered(form, reply, expected);
  }

  /** A form that is answered when its file is analyzed. */
  async analyzed(front) {
    const run = this.begin(1, false);
    const parts = [...fields({ run: run.name }), file_part(run.ranks[0][0].data, "rank0.json")];
    this.answered("wait", await front.post(parts, `/upload?wait=${WAIT_S}`));
    run.state = "kept";
    return run;
  }
}

const OF_A_RUN = ["", "/summary", "/kernels?limit=all&format=csv", "/operators", "/findings",
  "/breakdown", "/timeline", "/trust", "/parts", "/workbook", "/events?format=perfetto",
  "/events?format=chrome", "/ranks/0/trace", "/inputs", "/comments"];
const OF_ALL = ["runs?limit=50", "runs?sort=-step_median_ns", "runs?q=m1", "series", "alerts",
  "figures", "storage", "bin", "baselines"];

/** What is of a run that changes meanwhile is refused, or cut, as it would be of two states. */
const has_changed = (path, { status, text }) => (status === 0 && path.endsWith("/workbook")) ||
  (status === 503 && text.includes("the run changed while its table was read"));

class Load {
  constructor(front, mishaps) {
    Object.assign(this, { front, mishaps, is_on: false, reads: 0, changed: 0,
      refused: 0, aborted: 0 });
    this.clients = new MixedClients(mishaps);
    this.random = chance(seed + 1);
  }

  one_of(list) {
    return list[Math.floor(this.random() * list.length)];
  }

  async repeat(work) {
    while (this.is_on) await work();
  }

  /** A change; what is not answered stays open until the end. */
  async change(step) {
    const run = await step().catch((error) => {
      if (error.code === "ERR_ASSERTION") throw error;
      const { method = "PUT", status = 0, message } = error;
      this.mishaps.note(method, message, status);
    });
    if (run) run.busy = false;
  }

  async read() {
    const kept = this.clients.ledger.in_state("kept").map(({ name }) => name);
    const [base, cand] = [this.one_of(kept), this.one_of(kept)];
    const path = `/api/v1/${this.one_of([
      () => this.one_of(OF_ALL),
      () => `runs/${base}${this.one_of(OF_A_RUN)}`,
      () => `compare${this.one_of(["", "/runs", "/waterfall"])}?base=${base}&cand=${cand}`,
    ])()}`;
    const reply = await this.front.request(path).catch(() => ({ status: 0, text: "cut" }));
    if (has_changed(path, reply)) {
      this.changed++;
    } else if (reply.status === 0 || reply.status >= 500) {
      this.mishaps.note("GET", `${path} ${reply.text.slice(0, 200)}`, reply.status);
    } else if (reply.status === 200) {
      this.reads++;
    }
  }

  async send_noise() {
    const reply = await this.front.request("/api/v1/runs/noise/ranks/0/trace?replace=true",
      { method: "PUT", body: randomBytes(20_000) }).catch(() => ({ status: 0 }));
    if (reply.status === 0 || reply.status >= 500) this.mishaps.note("PUT", "noise", reply.status);
    else this.refused++;
    await pause(100);
  }

  /** Goes away in the middle of an upload, or of an answer. */
  go_away() {
    const kept = this.clients.ledger.in_state("kept").map(({ name }) => name);
    const head = this.random() < 0.5
      ? "PUT /api/v1/runs/away/ranks/0/trace HTTP/1.1\r\nContent-Length: 1000000\r\n"
      : `GET /api/v1/runs/${this.one_of(kept)}/events HTTP/1.1\r\n`;
    const socket = connect(this.front.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(`${head}Host: localhost\r\n\r\n${"x".repeat(10_000)}`);
    this.aborted++;
    return pause(this.random() * 50).then(() => socket.destroy());
  }

  /** All of it, until it is stopped. */
  async start() {
    const { clients, front } = this;
    this.is_on = true;
    await this.change(() => clients.multipart(front)); // there is something to read
    // Each of another address: the balancer lets none have more than 64 requests at a time.
    this.slow = Array.from({ length: SLOW }, (_, i) =>
      slow_client(front.port, i, `127.0.1.${1 + i % 250}`));
    const many = (count, work) => Array.from({ length: count }, () => this.repeat(work));
    this.done = Promise.all([
      ...many(WRITERS, () => this.change(() => clients.step(front))),
      ...many(2, () => this.change(() => clients.analyzed(front))),
      ...many(READERS, () => this.read()),
      ...many(1, () => this.send_noise()),
      ...many(2, () => this.go_away())]);
    this.done.catch(() => {}); // awaited later
  }

  stop() {
    this.is_on = false;
    this.slow.forEach(({ socket }) => socket.destroy());
    return this.done;
  }

  get text() {
    const forms = Object.entries(this.clients.acknowledged).map(([form, count]) =>
      `${form} ${count}`).join(", ");
    return `${this.reads} reads, ${this.changed} of runs that changed, ${forms}, ` +
      `${this.refused} files that are none, ${this.aborted} clients that went away, ` +
      `beside ${SLOW} slow ones; ` +
      `${this.mishaps.list.length} requests to be sent again: cut or answered 502 in the moment ` +
      "of a kill, or of bytes that are being removed";
  }
}

/** Everything that was acknowledged is there, whichever service is asked, and nothing else. */
async function verify(load, servers) {
  const { clients } = load;
  const random = chance(seed);
  const any = () => servers[Math.floor(random() * servers.length)];
  for (const upload of [...clients.unfinished]) await clients.resume(any(), upload);
  for (const run of clients.ledger.runs.values()) await look_up(any(), run);
  for (const run of clients.ledger.in_state("kept")) await verify_run(any(), run);
  const { items } = await any().get("/runs?limit=all&fields=name");
  const kept = clients.ledger.in_state("kept").map(({ name }) => name).sort();
  assert.deepEqual(items.map(({ name }) => name).filter((name) => name.startsWith("m")).sort(),
    kept, "runs that nobody uploaded");
  return kept.length;
}

/** The others while one of three ends, which then starts again. */
async function end_one(servers, at, load, kill_ms) {
  const signal = load.mishaps.ends.length % 2 === 0 ? "SIGKILL" : "SIGTERM";
  const victim = servers[at];
  const health = servers.filter((server) => server !== victim).map((one) => new Health(one));
  for (const one of health) await one.calibrate(); // with the load, and what else is running
  const end = performance.now() + AFTER_MS;
  const watching = Promise.all(health.map((one) => one.watch(() =>
    performance.now() < end || one.times.length < LEAST_ASKED)));
  const ending = { at: performance.now(), until: Infinity, signal };
  load.mishaps.ends.push(ending);
  await (signal === "SIGKILL" ? victim.kill() : victim.stop());
  ending.until = performance.now() + kill_ms;
  await watching;
  const { data, options } = victim;
  servers[at] = await start_server({ data, crowd: true, options });
  const times = health.map(({ text }) => text).join("; ");
  figure("C1", `mixed load, ${signal} to one of three: ${times}`);
  health.forEach((one) => one.check(LEAST_ASKED));
}

// Not in tests/run: half a minute, and what it waits for depends on what else the machine does.
const by_hand = !process.env.STEPSCOPE_TORTURE && "by hand: STEPSCOPE_TORTURE=quick or long";
const skip = by_hand || no_postgres || (is_long && no_cluster);

async function end_services(which) {
  const engines = await make_engines();
  const start = async () => start_server({ data: join(temporary("node", fast_tmpdir()), "data"),
    crowd: true, options: [...engines.options, "--jobs", "1", "--bin-days", "0",
      "--auth", "off", "--trusted-proxy", "127.0.0.1", "--listen",
      `127.0.0.1:${await free_port()}`] });
  const servers = [await start(), await start(), await start()];
  const balancer = await start_proxy(which, { nodes: servers.map(({ port }) => port) });
  const front = Object.assign(Object.create(servers[0]), { port: balancer.plain,
    base: `http://127.0.0.1:${balancer.plain}` });
  const load = new Load(front, new Mishaps());
  await load.start();
  await pause(WARM_MS);
  for (let i = 0; i < ENDS; i++) await end_one(servers, i % servers.length, load, KILL_MS[which]);
  await load.stop();
  const kept = await verify(load, servers);
  load.mishaps.check(servers.map(({ log }) => log));
  figure("C1", `${which}: ${load.text}; ${kept} runs kept, 0 lost`);
  await Promise.all(servers.map((server) => server.stop()));
  balancer.child.kill();
  engines.stop();
}

for (const which of /** @type {const} */ (["nginx", "caddy"])) {
  test(`mixed load through ${which} does not notice that services end, ${ENDS} times`,
    { skip: skip || no_proxy(which), timeout: is_long ? 900_000 : 120_000 },
    () => end_services(which));
}
