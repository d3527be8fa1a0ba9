// SPDX-License-Identifier: Apache-2.0
// A PostgreSQL server for a test, in a temporary folder and on its own socket.
import { spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { run_program, skipped, temporary, until } from "./tools.mjs";

const BASE = "/usr/lib/postgresql";
const found = existsSync(BASE)
  ? readdirSync(BASE).map((version) => join(BASE, version, "bin"))
    .find((folder) => existsSync(join(folder, "postgres")))
  : undefined;

/** Why there is no server; false if there is one. @type {string | false} */
export const no_postgres = found ? false : skipped("what needs PostgreSQL: install postgresql");

// It refuses to run as root.
const as_user = process.getuid?.() === 0
  ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=QUIT"]
  : ["setpriv", "--pdeathsig=QUIT"];

class Postgres {
  constructor() {
    this.folder = temporary("postgres");
    chmodSync(this.folder, 0o777);
  }

  /** @param {string} name @param {string[]} args */
  command(name, args) {
    const [program, ...rest] = [...as_user, join(`${found}`, name), ...args];
    return { program, rest };
  }

  async make() {
    const { program, rest } = this.command("initdb", ["-D", join(this.folder, "data"), "-U", "app",
      "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
    await run_program(program, rest, { cwd: this.folder });
    return this.start();
  }

  async start() {
    const { program, rest } = this.command("postgres", ["-D", join(this.folder, "data"), "-c",
      "listen_addresses=", "-c", "fsync=off", "-k", this.folder]);
    this.child = spawn(program, rest, { stdio: "ignore", cwd: this.folder });
    this.child.unref();
    await until("PostgreSQL answers", () => this.run("SELECT 1").then(() => true, () => false));
    return this;
  }

  /** As after a loss of power. */
  async kill() {
    this.child?.ref(); // waited for
    const ended = new Promise((done) => this.child?.once("exit", done));
    this.child?.kill("SIGQUIT");
    await ended;
  }

  /** Runs SQL; @returns {Promise<string>} the rows. @param {string} sql @param {string} [schema] */
  run(sql, schema = "public") {
    return this.client("psql", ["-qAt", "-v", "ON_ERROR_STOP=1", "-c", sql], { schema });
  }

  /** Runs a program of PostgreSQL. @param {string} name @param {string[]} args */
  client(name, args, { schema = "", user = "app", database = "postgres" } = {}) {
    const env = { ...process.env, PGHOST: this.folder, PGUSER: user, PGDATABASE: database,
      ...(schema ? { PGOPTIONS: `-csearch_path=${schema}` } : {}) };
    return run_program(name, args, { env });
  }

  /** A place with its own user. @param {string} user @param {string} database */
  place(user, database) {
    return `postgres://${user}@/${database}?host=${this.folder}`;
  }

  /** The place of a new store. @param {string} name */
  async store(name) {
    await this.run(`CREATE SCHEMA ${name}`);
    return `postgres://app@/postgres?host=${this.folder}&options=-csearch_path%3D${name}`;
  }
}

export const start_postgres = () => new Postgres().make();
