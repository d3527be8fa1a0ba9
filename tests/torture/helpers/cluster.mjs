// SPDX-License-Identifier: Apache-2.0
// Real PostgreSQL, real Ceph, and a service whose network can be cut.
import { spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { no_postgres } from "../../e2e/helpers/postgres.mjs";
import { no_proxy } from "../../e2e/helpers/proxies.mjs";
import { fast_tmpdir, free_port, root, run_program, run_shell, skipped, temporary, until }
  from "../../e2e/helpers/tools.mjs";

const CLUSTER = join(root, "deploy/cluster");

const LACKS = [
  [process.getuid?.() !== 0, "root, for network namespaces"],
  [no_postgres, "PostgreSQL: install postgresql"],
  [!existsSync("/usr/bin/radosgw"), "Ceph: install ceph-mon, ceph-osd and radosgw"],
  [no_proxy("nginx"), "nginx: install nginx-light"],
];
const lack = LACKS.find(([is_missing]) => is_missing);

/** Why there is no cluster; false if there is one. @type {string | false} */
export const no_cluster = lack ? skipped(`the cluster needs ${lack[1]}`) : false;

/**
 * A port below those that connections are given (32768 and up), with nothing at these distances
 * above it.
 * @param {number[]} distances @returns {Promise<number>}
 */
async function free_ports(distances) {
  const port = randomInt(12_000, 32_000);
  const is_free = await Promise.all(distances.map((distance) => can_listen(port + distance)));
  return is_free.every(Boolean) ? port : free_ports(distances);
}

/** @param {number} port @returns {Promise<boolean>} */
function can_listen(port) {
  return new Promise((done) => {
    const server = createServer().once("error", () => done(false));
    server.listen(port, "127.0.0.1", () => server.close(() => done(true)));
  });
}

/** PostgreSQL and Ceph. */
class Engines {
  async start() {
    this.data = temporary("cluster", fast_tmpdir());
    await run_program("chmod", ["755", this.data]);
    this.port = await free_ports([10, 11, 12]);
    process.prependListener("exit", () => this.kill()); // before its folder is removed
    await run_program(CLUSTER, ["--nodes", "0", "--port", `${this.port}`, "--data", this.data]);
    return this;
  }

  get postgres_port() { return this.port + 10; }

  get s3_port() { return this.port + 11; }

  /** Options of a service that reaches them at these addresses. */
  options(postgres = "127.0.0.1", s3 = "127.0.0.1", more = "") {
    return ["--store", `postgres://stepscope@${postgres}:${this.postgres_port}/postgres`,
      "--blobs", `s3://stepscope/team?endpoint=http://${s3}:${this.s3_port}${more}`];
  }

  /** Rows, one a line. @param {string} text */
  async sql(text) {
    return (await run_program("psql", ["-qAt", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p",
      `${this.postgres_port}`, "-U", "stepscope", "-d", "postgres", "-c", text])).trim();
  }

  pids() {
    const path = join(this.data, "pids");
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").map((line) => {
      const [pid, , name] = line.split(" ");
      return { pid: Number(pid), name };
    }) : [];
  }

  pid(name) {
    return this.pids().filter((one) => one.name === name).pop()?.pid ?? 0;
  }

  /** Kills one and starts it again. @param {string} name @param {NodeJS.Signals} signal */
  async restart(name, signal, answers) {
    const pid = this.pid(name);
    process.kill(pid, signal);
    await until(`${name} has ended`, () => !existsSync(`/proc/${pid}/cwd`) ||
      /State:\s+Z/.test(readFileSync(`/proc/${pid}/status`, "utf8")));
    await run_program(CLUSTER, ["--again", name, "--data", this.data]);
    await until(`${name} answers`, answers, 60_000);
  }

  /** A request to Ceph's S3 by curl; @returns {Promise<string>} the status. */
  s3(method, path, { user = "stepscope", file = "" } = {}) {
    return run_program("curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", method,
      "--aws-sigv4", "aws:amz:us-east-1:s3", "-u", `${user}:${user}`, "-H",
      "x-amz-content-sha256: UNSIGNED-PAYLOAD", ...(file ? ["--data-binary", `@${file}`] : []),
      `http://127.0.0.1:${this.s3_port}/stepscope${path}`]);
  }

  /** A user of S3 whose keys are its name. @param {string} name */
  add_user(name) {
    return run_program("radosgw-admin", ["user", "create", `--uid=${name}`,
      `--display-name=${name}`, `--access-key=${name}`, `--secret-key=${name}`],
    { env: { ...process.env, CEPH_CONF: join(this.data, "ceph/ceph.conf") } });
  }

  restart_postgres() {
    return this.restart("postgres", "SIGQUIT", () => this.sql("SELECT 1").catch(() => ""));
  }

  restart_s3() {
    return this.restart("radosgw", "SIGKILL",
      () => run_shell(`curl -s http://127.0.0.1:${this.s3_port}/`).catch(() => ""));
  }

  kill() {
    const name_of = (pid) => readFileSync(`/proc/${pid}/comm`, "utf8").trim();
    for (const { pid, name } of this.pids()) {
      if (existsSync(`/proc/${pid}/comm`) && name_of(pid) === name) process.kill(pid, "SIGKILL");
    }
  }
}

export const start_engines = () => new Engines().start();

/** Passes connections on. */
function forward(host, port, to_host) {
  createServer((from) => {
    const to = connect(port, to_host);
    from.pipe(to).pipe(from);
    for (const end of [from, to]) {
      end.unref();
      end.on("error", () => [from, to].forEach((one) => one.destroy()));
    }
  }).listen(port, host).unref();
}

const FORWARD = `const { connect, createServer } = require("net");
  const [host, port] = process.argv.slice(1);
  createServer((a) => {
    const b = connect(port, "127.0.0.1");
    a.pipe(b).pipe(a);
    for (const one of [a, b]) one.on("error", () => [a, b].forEach((end) => end.destroy()));
  }).listen(port, host);`;

/** A separate network, with a cable to PostgreSQL, one to S3 and one to its clients. */
export class Network {
  /** @param {Engines} engines */
  constructor(engines) {
    this.engines = engines;
    this.name = `stepscope${process.pid}`;
    const net = `10.${64 + process.pid % 128}`; // two tests at a time do not meet
    this.cables = ["pg", "s3", "web"].map((what, i) => ({ what, near: `${net}.${i + 1}.1`,
      far: `${net}.${i + 1}.2`, end: `${what}${process.pid}` }));
  }

  async make() {
    const lines = [`ip netns add ${this.name}`, `ip -n ${this.name} link set lo up`];
    for (const { what, near, far, end } of this.cables) {
      lines.push(`ip link add ${end} type veth peer name ${what} netns ${this.name}`,
        `ip addr add ${near}/30 dev ${end}`, `ip link set ${end} up`,
        `ip -n ${this.name} addr add ${far}/30 dev ${what}`,
        `ip -n ${this.name} link set ${what} up`);
    }
    await run_shell(lines.join("; "));
    process.once("exit", () => spawnSync("sh", ["-c", [`ip netns del ${this.name}`,
      ...this.cables.map(({ end }) => `ip link del ${end}`)].join("; ")]));
    forward(this.near("pg"), this.engines.postgres_port, "127.0.0.1");
    forward(this.near("s3"), this.engines.s3_port, "127.0.0.1");
    return this;
  }

  cable(what) {
    const found = this.cables.find((one) => one.what === what);
    if (!found) throw new Error(`no cable ${what}`);
    return found;
  }

  near(what) { return this.cable(what).near; }

  /** What starts a service in it, at a port that its clients reach as if it were here. */
  async service() {
    const port = await free_port();
    const far = this.cable("web").far;
    const inside = spawn("ip", ["netns", "exec", this.name, process.execPath, "-e", FORWARD, far,
      `${port}`], { stdio: "ignore" });
    inside.unref();
    process.once("exit", () => inside.kill());
    forward("127.0.0.1", port, far);
    return { under: ["ip", "netns", "exec", this.name],
      options: [...this.engines.options(this.near("pg"), this.near("s3")), "--listen",
        `127.0.0.1:${port}`] };
  }

  /** Pulls a cable, or puts it back: packets vanish without a word. */
  set(what, state) {
    return run_program("ip", ["link", "set", this.cable(what).end, state]);
  }
}
