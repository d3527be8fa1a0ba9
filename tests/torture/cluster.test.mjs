// SPDX-License-Identifier: Apache-2.0
// Three services on real PostgreSQL and real Ceph behind nginx, while one of them is killed, one is
// stopped past its lease, both engines are killed, and the cables of one are pulled. Takes minutes.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fields, file_part } from "../e2e/helpers/multipart.mjs";
import { assert_same_answers } from "../e2e/helpers/same_answers.mjs";
import { start_proxy } from "../e2e/helpers/proxies.mjs";
import { start_server } from "../e2e/helpers/server.mjs";
import { chance, fast_tmpdir, free_port, real_traces, root, skipped, temporary, until }
  from "../e2e/helpers/tools.mjs";
import { generate } from "../e2e/helpers/traces.mjs";
import { Network, no_cluster, start_engines } from "./helpers/cluster.mjs";
import { Health } from "./helpers/health.mjs";
import { figure, is_long, seed } from "./helpers/torture.mjs";

/** Fewer are enough to try a change. */
const RANKS = Number(process.env.STEPSCOPE_RANKS ?? 46);
const RUNS = 6;
const SENDERS = 6;
// A host of PostgreSQL that says nothing any more is given up after 20 s.
const CUT_MS = { s3: 15_000, pg: 40_000 };
const LEASE_MS = 60_000;
const PATIENCE_MS = 300_000;
const KEYS = { AWS_ACCESS_KEY_ID: "stepscope", AWS_SECRET_ACCESS_KEY: "stepscope" };
Object.assign(process.env, KEYS);

/** What every job did, so that nothing counts twice unnoticed. */
const NOTE_EFFECTS = `CREATE TABLE effect (what TEXT, id TEXT);
  CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO effect VALUES (TG_TABLE_NAME, NEW.id); RETURN NULL; END $$;
  CREATE TRIGGER note AFTER UPDATE OF state ON job FOR EACH ROW WHEN (NEW.state = 'done')
    EXECUTE FUNCTION note();
  CREATE TRIGGER note AFTER UPDATE OF state ON trace FOR EACH ROW WHEN (NEW.state = 'done')
    EXECUTE FUNCTION note();`;

const folder_of = (what) => temporary(what, fast_tmpdir());
const folder = () => join(folder_of("node"), "data");

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function make_runs() {
  const runs = [];
  for (let i = 1; i <= RUNS; i++) {
    const { files } = await generate(["--ranks", `${RANKS}`, "--steps", "3", "--layers", "2",
      "--seed", `${i}`, "--format", "gz"]);
    runs.push({ name: `gen@${i}`, files: files.map((file, rank) => ({ ...file, rank })) });
  }
  const real = readdirSync(real_traces).filter((name) => name.endsWith(".json.gz")).sort();
  for (const filename of real) {
    const data = readFileSync(join(real_traces, filename));
    runs.push({ name: `${filename.split(".")[0]}@1`, files: [{ filename, data, rank: 0 }] });
  }
  return runs;
}

/** Sends files as an impatient client does: again, anywhere, until one is acknowledged. */
class Senders {
  constructor(front) {
    this.front = front;
    this.tries = 0;
    /** @type {{name: string, file: any}[]} */
    this.acknowledged = [];
  }

  /** Every third file comes in pieces, each to whatever service the balancer chooses. */
  send(name, file) {
    const late = performance.now() + PATIENCE_MS;
    return file.rank % 3 === 2 ? this.send_pieces(name, file, late)
      : this.send_form(name, file, late);
  }

  note_try(late) {
    assert.ok(performance.now() < late, "an upload is never taken");
    this.tries++;
  }

  /** One request of the protocol tus. @returns {Promise<any>} null: send it again */
  async ask(late, path, what) {
    this.note_try(late);
    const reply = await this.front.request(path, what).catch(() => null);
    if (reply && reply.status < 500 && ![423, 429].includes(reply.status)) return reply;
    await pause(300);
    return null;
  }

  async send_pieces(name, file, late) {
    const said = { run: name, project: "p", rank: `${file.rank}`, filename: file.filename };
    const tus = { "Tus-Resumable": "1.0.0" };
    const metadata = Object.entries(said).map(([key, text]) =>
      `${key} ${Buffer.from(text).toString("base64")}`).join(",");
    const headers = { ...tus, "Idempotency-Key": `${name}/${file.filename}`,
      "Upload-Length": file.data.length, "Upload-Metadata": metadata };
    let made = null;
    while (!made) made = await this.ask(late, "/api/v1/tus", { method: "POST", headers });
    assert.ok(made.status === 201, `${name}: ${made.status} ${made.text}`);
    const path = new URL(made.headers.location, this.front.base).pathname;
    for (let taken = 0; ;) {
      const head = await this.ask(late, path, { method: "HEAD", headers: tus });
      if (!head) continue;
      assert.equal(head.status, 200, `${name}: the upload is lost`);
      if (head.headers["upload-run"]) break;
      const from = Number(head.headers["upload-offset"]);
      assert.ok(from >= taken, `${name}: of ${taken} bytes that were taken, ${from} are there`);
      const body = file.data.subarray(from, from + Math.ceil(file.data.length / 3));
      const reply = await this.ask(late, path, { method: "PATCH", body, headers: { ...tus,
        "Upload-Offset": from, "Content-Type": "application/offset+octet-stream" } });
      if (reply?.status === 204) taken = Number(reply.headers["upload-offset"]);
    }
    this.acknowledged.push({ name, file });
  }

  async send_form(name, file, late) {
    const parts = [...fields({ run: name, project: "p", rank: `${file.rank}` }),
      file_part(file.data, file.filename)];
    const headers = { "Idempotency-Key": `${name}/${file.filename}` };
    for (;;) {
      this.note_try(late);
      const reply = await this.front.post(parts, "/upload", headers).catch(() => null);
      if (reply && reply.status < 300) {
        this.acknowledged.push({ name, file });
        return;
      }
      const status = reply?.status ?? 503;
      assert.ok(status === 429 || status >= 500, `${name}: ${status} ${reply?.text}`);
      await pause(300);
    }
  }

  /** @param {{name: string, file: any}[]} todo */
  async send_all(todo) {
    const left = [...todo];
    const one = async () => {
      for (let next = left.shift(); next; next = left.shift()) {
        await this.send(next.name, next.file);
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, one));
  }
}

/** Stops a service at a moment when it has a job. @returns {Promise<string>} the job's id */
function stop_at_work(engines, server) {
  const own = readFileSync(join(server.data, "node"), "utf8");
  return until("it is stopped with a job", async () => {
    server.child.kill("SIGSTOP");
    const id = await engines.sql("SELECT id FROM job WHERE state = 'running' AND owner = " +
      `'${own}' LIMIT 1`);
    if (!id) {
      server.child.kill("SIGCONT");
      await pause(20);
    }
    return id;
  }, LEASE_MS);
}

const taken_over = (engines, ids) => until("their jobs were done by others", async () =>
  await engines.sql(`SELECT count(*) FROM job WHERE id IN (${ids}) AND attempts > 1 AND
    state = 'done'`).catch(() => "") === `${ids.length}`, 3 * LEASE_MS);

/** After a cut, a service knows for a moment only that its database did not answer. */
const ready = (server) => until("it is ready", async () =>
  (await server.request("/readyz")).status === 200, 60_000);

async function assert_kept(senders, servers) {
  const random = chance(seed);
  for (const { name, file } of senders.acknowledged) {
    const server = servers[Math.floor(random() * servers.length)];
    const run = encodeURIComponent(`p/${name}`);
    const raw = await server.request(`/api/v1/runs/${run}/ranks/${file.rank}/trace`);
    const found = raw.status === 404 ? "nothing" : raw.text.slice(0, 200);
    assert.equal(raw.status, 200, `${name} ${file.filename}: ${found}`);
    assert.ok(raw.body.equals(file.data), `${name}: other bytes`);
  }
}

/** Since PostgreSQL was started. */
async function assert_no_deadlock(engines) {
  assert.equal(await engines.sql("SELECT sum(deadlocks) FROM pg_stat_database"), "0");
}

async function assert_once(engines) {
  assert.equal(await engines.sql("SELECT state, count(*) FROM job GROUP BY state"),
    `done|${await engines.sql("SELECT count(*) FROM job")}`);
  const twice = await engines.sql("SELECT what, id, count(*) FROM effect GROUP BY what, id " +
    "HAVING count(*) > 1");
  assert.equal(twice, "", "what was done twice");
}

async function assert_as_one_on_sqlite(runs, servers) {
  const single = await start_server({ options: ["--jobs", "2"] });
  const senders = new Senders(single);
  for (const { name, files: [file] } of runs) await senders.send(name, file);
  await senders.send_all(runs.flatMap(({ name, files }) => files.slice(1).map((file) =>
    ({ name, file }))));
  for (const { name } of runs) await single.settled(`p/${name}`, 240_000);
  let compared = 0;
  for (const [i, { name }] of runs.entries()) {
    const asked = { run: `p/${name}`, other: `p/gen@${i % RUNS + 1}`, rank: "0",
      series: name.split("@")[0] };
    compared += await assert_same_answers(single, servers[i % servers.length], asked, 60);
  }
  await single.stop();
  return compared;
}

/** A file of deploy/s3, for the bucket and prefix of the test. */
const filled_in = (name) => JSON.parse(readFileSync(join(root, "deploy/s3", name), "utf8")
  .replaceAll("BUCKET", "stepscope").replaceAll("PREFIX", "team"));

/** For whom the bucket allows it; requests here are without TLS. */
function policy_of(user) {
  const { Version, Statement } = filled_in("policy.json");
  const Principal = { AWS: [`arn:aws:iam:::user/${user}`] };
  return { Version, Statement: Statement.filter(({ Sid }) => Sid !== "OnlyOverTls")
    .map((one) => ({ ...one, Principal })) };
}

const in_xml = (value, name) => (Array.isArray(value)
  ? value.map((one) => in_xml(one, name)).join("")
  : `<${name}>${typeof value === "object"
    ? Object.entries(value).map(([key, one]) => in_xml(one, key)).join("") : value}</${name}>`);

function lifecycle() {
  const rules = filled_in("lifecycle.json").Rules;
  return in_xml({ Rule: rules }, "LifecycleConfiguration");
}

test("with the policy of deploy/ a service does all it has to, below its prefix alone",
  { skip: no_cluster, timeout: 600_000 }, async () => {
    const engines = await start_engines();
    await engines.add_user("service");
    const files = [join(folder_of("s3"), "policy"), join(folder_of("s3"), "lifecycle")];
    writeFileSync(files[0], JSON.stringify(policy_of("service")));
    writeFileSync(files[1], lifecycle());
    assert.equal(await engines.s3("PUT", "?policy=", { file: files[0] }), "204");
    assert.equal(await engines.s3("PUT", "?lifecycle=", { file: files[1] }), "200");
    assert.equal(await engines.s3("PUT", "/other/x", { file: files[0] }), "200");
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: "service", AWS_SECRET_ACCESS_KEY: "service" });
    const server = await start_server({ data: folder(), options: [...engines.options("127.0.0.1",
      "127.0.0.1", "&part_bytes=5242880"), "--bin-days", "0"] });
    const { files: [file] } = await generate(["--size", "12M"]);
    const run = await server.analyzed("a@1", [file]);
    assert.equal(run.status, "done");
    const raw = await server.request(`/api/v1/runs/${run.id}/ranks/0/trace`);
    assert.ok(raw.body.equals(file.data));
    const gone = await server.request(`/api/v1/runs/${run.id}`, { method: "DELETE",
      headers: { "If-Match": "*" } });
    assert.ok(gone.status < 300, gone.text);
    const user = "service";
    // A missing object has to be 404, or the place would have no mark.
    assert.equal(await engines.s3("GET", "/team/place", { user }), "200");
    assert.equal(await engines.s3("GET", "/team/nothing", { user }), "404");
    for (const [method, path] of [["GET", "/other/x"], ["PUT", "/other/y"], ["DELETE", "/other/x"],
      ["GET", "?list-type=2&prefix=other%2F"], ["DELETE", ""], ["PUT", "?policy="]]) {
      const more = method === "PUT" ? { file: files[0] } : {};
      assert.equal(await engines.s3(method, path, { user, ...more }), "403", `${method} ${path}`);
    }
    await server.stop();
    engines.kill();
    Object.assign(process.env, KEYS);
    figure("C1", "the policy of deploy/s3 lets a service do its work on Ceph, and nothing beside");
  });

const options_of_test = { timeout: 1_500_000,
  skip: no_cluster || !is_long && skipped("the cluster: tests/torture/run cluster") };

test("three services lose nothing and do nothing twice, whatever dies", options_of_test,
  async () => {
    const engines = await start_engines();
    const network = await new Network(engines).make();
    const start = async (data = folder()) => start_server({ data, options: [...engines.options(),
      "--jobs", "2", "--listen", `127.0.0.1:${await free_port()}`] });
    let [killed, stopped] = [await start(), await start()];
    const { under, options } = await network.service();
    const cut = await start_server({ data: folder(), under, options: [...options, "--jobs", "2"] });
    await engines.sql(NOTE_EFFECTS);
    const balancer = await start_proxy("nginx",
      { nodes: [killed, stopped, cut].map(({ port }) => port) });
    const front = Object.assign(Object.create(cut), { base: `http://127.0.0.1:${balancer.plain}` });
    const runs = await make_runs();
    const senders = new Senders(front);
    const rest = runs.flatMap(({ name, files }) => files.slice(1).map((file) => ({ name, file })));
    const third = Math.ceil(rest.length / 3);
    for (const { name, files: [file] } of runs) await senders.send(name, file);

    let load = senders.send_all(rest.slice(0, third));
    const health = [stopped, cut].map((server) => new Health(server));
    for (const one of health) await one.calibrate();
    const jobs = [await stop_at_work(engines, killed)];
    const from = performance.now();
    const watching = Promise.all(health.map((one) => one.watch(() =>
      performance.now() < from + 5000)));
    await killed.kill();
    await watching;
    await load;
    health.forEach((one) => one.check(20));
    figure("C1", `one killed: ${health.map(({ text }) => text).join("; ")}`);

    load = senders.send_all(rest.slice(third, 2 * third));
    jobs.push(await stop_at_work(engines, stopped));
    await assert_no_deadlock(engines);
    await engines.restart_postgres();
    await engines.restart_s3();
    await load;
    await taken_over(engines, jobs);
    stopped.child.kill("SIGCONT");
    killed = await start(killed.data);

    load = senders.send_all(rest.slice(2 * third));
    for (const [what, ms] of Object.entries(CUT_MS)) {
      await network.set(what, "down");
      await pause(ms);
      await network.set(what, "up");
    }
    await load;
    const servers = [killed, stopped, cut];
    for (const server of servers) await ready(server);
    for (const [i, { name }] of runs.entries()) {
      await servers[i % servers.length].settled(`p/${name}`, 240_000);
    }
    await until("no job is left", async () =>
      await engines.sql("SELECT count(*) FROM job WHERE state IN ('queued', 'running')") === "0",
    120_000);
    await assert_once(engines);
    await assert_no_deadlock(engines);
    await assert_kept(senders, servers);
    const again = await engines.sql("SELECT count(*) FROM job WHERE attempts > 1");
    figure("C1", `${senders.acknowledged.length} uploads acknowledged in ${senders.tries} tries, ` +
      `0 lost; ${again} jobs done again, each counted once`);
    const compared = await assert_as_one_on_sqlite(runs, servers);
    figure("C1", `${compared} answers byte-equal to those of one service on SQLite`);
    await Promise.all(servers.map((server) => server.stop()));
    balancer.child.kill();
    engines.kill();
  });
