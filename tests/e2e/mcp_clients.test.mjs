// SPDX-License-Identifier: Apache-2.0
// The protocol's own SDKs, of both generations, talk to a service over HTTP and to `stepscope mcp`
// over standard input and output: for files, and for a service.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  StreamableHTTPClientTransport as OldHttp,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as types from "@modelcontextprotocol/sdk/types.js";
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp }
  from "@modelcontextprotocol/client";
import { StdioClientTransport as NewStdio } from "@modelcontextprotocol/client/stdio";
import { start_server } from "./helpers/server.mjs";
import { root, run_program, run_status, skipped, stepscope_bin, temporary }
  from "./helpers/tools.mjs";
import { generate, small_job } from "./helpers/traces.mjs";

const ME = { name: "stepscope-test", version: "1" };
const PINNED = "2026-07-28";

let server, token, folder;
before(async () => {
  const data = join(temporary("mcp"), "data");
  const make = (...args) =>
    run_program(stepscope_bin(), ["token", "create", "--data", data, ...args]);
  const admin = /ss_\S+/.exec(await make("--name", "root", "--scopes", "admin"))[0];
  token = /ss_\S+/.exec(await make("--name", "agent", "--scopes", "read"))[0];
  server = await start_server({ data, token: admin, options: ["--auth", "required"] });
  const job = await generate(small_job("--straggler", "1=140"));
  folder = job.folder;
  await server.analyzed("run", job.files);
});
after(() => server?.stop());

/** Where a client finds tools: at the service, in a process for files, in a process as a bridge. */
const PLACES = {
  http: () => ({ url: new URL(`${server.base}/mcp`),
    options: { requestInit: { headers: { Authorization: `Bearer ${token}` } } } }),
  files: () => ({ command: stepscope_bin(), args: ["mcp", folder] }),
  bridge: () => ({ command: stepscope_bin(), args: ["mcp", "--url", server.base],
    env: { ...process.env, STEPSCOPE_TOKEN: token } }),
};
const GENERATIONS = {
  "SDK 1": () => ({ client: new OldClient(ME), Http: OldHttp, Stdio: OldStdio }),
  "SDK 2, legacy": () => ({ client: new NewClient(ME,
    { versionNegotiation: { mode: "legacy" } }), Http: NewHttp, Stdio: NewStdio }),
  "SDK 2, automatic": () => ({ client: new NewClient(ME,
    { versionNegotiation: { mode: "auto" } }), Http: NewHttp, Stdio: NewStdio }),
  "SDK 2, pinned": () => ({ client: new NewClient(ME,
    { versionNegotiation: { mode: { pin: PINNED } } }), Http: NewHttp, Stdio: NewStdio }),
};

async function connected(generation, place) {
  const { client, Http, Stdio } = GENERATIONS[generation]();
  const { url, options, ...program } = PLACES[place]();
  const faults = [];
  client.onerror = (error) => faults.push(error.message);
  await client.connect(url ? new Http(url, options) : new Stdio({ ...program, stderr: "ignore" }));
  return { client, faults };
}

for (const generation of Object.keys(GENERATIONS))
  describe(generation, () => {
    for (const place of Object.keys(PLACES))
      test(`finds and calls tools (${place})`, async () => {
        const { client, faults } = await connected(generation, place);
        const call = (name, args) => client.callTool({ name, arguments: args });
        assert.equal(client.getServerVersion().name, "stepscope");
        assert.ok(client.getInstructions().length < 2048);
        const { tools } = await client.listTools();
        assert.ok(tools.length >= 8 && tools.length <= 9);
        for (const { name, annotations } of tools) {
          assert.match(name, /^[a-z_]{1,20}$/);
          assert.equal(annotations.readOnlyHint, true);
        }
        const answer = await call("explain", { run: "run", topic: "late_rank" });
        assert.deepEqual(JSON.parse(answer.content[0].text), answer.structuredContent);
        assert.equal(answer.structuredContent.lateness.rows[0][0], 1);
        assert.equal((await call("overview", { run: "nope" })).isError, true);
        await assert.rejects(call("no_such_tool", {}), (error) => error.code === -32602);
        await client.close();
        assert.deepEqual(faults, []);
      });
  });

test("the newer SDK negotiates the newer generation", async () => {
  const { client } = await connected("SDK 2, automatic", "http");
  assert.equal(client.getNegotiatedProtocolVersion(), PINNED);
  await client.close();
});

test("answers are as the SDK's own schemas say", async () => {
  const { client } = await connected("SDK 1", "http");
  const list = await client.request({ method: "tools/list" }, types.ListToolsResultSchema);
  assert.equal(list.tools[0].inputSchema.type, "object");
  await client.ping();
  await client.close();
});

test("a wrong token ends at once, without a way to sign in", async () => {
  const client = new NewClient(ME, { versionNegotiation: { mode: "legacy" } });
  const headers = { Authorization: "Bearer ss_wrong" };
  await assert.rejects(client.connect(new NewHttp(new URL(`${server.base}/mcp`),
    { requestInit: { headers } })), /401|Unauthorized/i);
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
  const { stdout } = await run_lines(["--url", server.base], ping, { STEPSCOPE_TOKEN: "ss_wrong" });
  assert.match(JSON.parse(stdout).error.message, /the service answers 401.*STEPSCOPE_TOKEN/);
});

/** Runs `stepscope mcp` on some input. */
function run_lines(args, input, env = {}) {
  return new Promise((done) => {
    const child = spawn(stepscope_bin(), ["mcp", ...args], { env: { ...process.env, ...env } });
    let stdout = "";
    child.stdout.on("data", (text) => (stdout += text));
    child.on("close", (status, signal) => done({ status, signal, stdout }));
    child.stdin.end(input);
  });
}

test("standard output has nothing but answers, one a line, and nothing stays behind", async () => {
  const tmp = temporary("tmpdir");
  const lines = ["junk", `"${"x".repeat(400_000)}"`, '{"jsonrpc":"2.0","id":7,"method":"ping"}',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}'].join("\n");
  const { status, stdout } = await run_lines([folder], lines, { TMPDIR: tmp });
  const codes = stdout.trimEnd().split("\n").map((line) => JSON.parse(line))
    .map(({ id, error }) => error?.code ?? id);
  assert.equal(status, 0);
  assert.deepEqual(codes, [-32700, -32700, 7]);
  assert.deepEqual(readdirSync(tmp), []);
});

test("a signal ends it, and nothing stays behind", async () => {
  const tmp = temporary("tmpdir");
  const child = spawn(stepscope_bin(), ["mcp", folder], { env: { ...process.env, TMPDIR: tmp } });
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await new Promise((done) => child.stdout.once("data", done));
  child.kill("SIGTERM");
  await new Promise((done) => child.once("close", done));
  assert.deepEqual(readdirSync(tmp), []);
});

test("runs are named, and what is wrong with the command line is said", async () => {
  const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_runs"}}\n';
  const { stdout } = await run_lines([`base=${join(folder, "rank0.json")}`,
    join(folder, "rank0.json"), join(folder, "rank1.json")], call);
  const { runs } = JSON.parse(stdout).result.structuredContent;
  assert.deepEqual(runs.rows.map(([, name, , , , received]) => [name, received]).sort(),
    [["base", 1], ["run", 2]]);
  for (const [args, status, said] of [[[], 2, /trace files or --url/],
    [["/nope.json"], 3, /found no such file/], [["--url", "ftp://x"], 2, /expected http/],
    [[join(folder, "truth.json"), "--job-memory", "x"], 2, /job-memory/]]) {
    const out = await run_status(stepscope_bin(), ["mcp", ...args]);
    assert.equal(out.status, status, out.stderr);
    assert.match(out.stderr, said);
  }
});

// Its packages need Node 22: tests/mcp_conformance.sh fetches both. Other scenarios call tools,
// prompts and resources that only a server made for the suite has.
const CONFORMANCE = process.env.STEPSCOPE_MCP_CONFORMANCE
  ?? join(root, "build/mcp_conformance/conformance");
const SCENARIOS = {
  "2025-11-25": ["server-initialize", "server-session-lifecycle", "ping", "tools-list",
    "dns-rebinding-protection", "server-sse-multiple-streams", "sep-2164-resource-not-found"],
  "2026-07-28": ["server-stateless", "tools-list", "caching", "dns-rebinding-protection",
    "http-header-validation", "server-sse-multiple-streams", "sep-2164-resource-not-found",
    "input-required-result-unsupported-methods", "input-required-result-validate-input",
    "input-required-result-missing-input-response", "input-required-result-ignore-extra-params"],
};
// Of the scenarios above, what needs a tool, a prompt or a resource of the suite's own server.
const NEEDS_ITS_OWN_SERVER = ["sep-2575-server-rejects-undeclared-capability",
  "sep-2575-missing-capability-http-400", "sep-2575-http-server-no-independent-requests-on-stream",
  "sep-2575-server-no-log-without-loglevel", "sep-2549-prompts-list-caching-hints",
  "sep-2549-resources-list-caching-hints", "sep-2549-resources-templates-list-caching-hints"];

/** The checks of a scenario that fail, and how many pass. */
async function conformance_of(url, revision, scenario) {
  const { stdout } = await run_status(CONFORMANCE, ["server", "--url", url, "--scenario", scenario,
    "--spec-version", revision]);
  const checks = [...stdout.matchAll(/\[([a-z0-9-]+) *\] \S*?(SUCCESS|FAILURE)/g)];
  return { passed: checks.filter(([, , verdict]) => verdict === "SUCCESS").length,
    failed: checks.filter(([, , verdict]) => verdict === "FAILURE").map(([, name]) => name) };
}

test("the published conformance suite finds nothing in either generation", async (t) => {
  if (!existsSync(CONFORMANCE))
    return t.skip(skipped("no conformance suite (tests/mcp_conformance.sh fetches it)"));
  const open = await start_server({ options: ["--auth", "off"] });
  let count = 0;
  for (const [revision, scenarios] of Object.entries(SCENARIOS))
    for (const scenario of scenarios) {
      const { passed, failed } = await conformance_of(`${open.base}/mcp`, revision, scenario);
      const wrong = failed.filter((name) => !NEEDS_ITS_OWN_SERVER.includes(name));
      assert.deepEqual(wrong, [], `${scenario} of ${revision}`);
      count += passed;
    }
  assert.ok(count >= 60, `${count} checks`);
  process.stderr.write(`NOTE: ${count} checks of the conformance suite pass\n`);
  await open.stop();
});
