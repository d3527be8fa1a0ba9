// SPDX-License-Identifier: Apache-2.0
// Word that goes out: webhooks, and the gate of a pipeline.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { start_server } from "./helpers/server.mjs";
import { root, run_program, run_status, stepscope_bin, temporary, until }
  from "./helpers/tools.mjs";
import { small_json } from "./helpers/traces.mjs";

let server;
before(async () => { server = await start_server(); });
after(() => server?.stop());

/** A receiver of webhooks, which is busy at first. */
async function receiver() {
  const got = [];
  let refusals = 1;
  const listening = createServer(async (asked, answer) => {
    let body = "";
    for await (const part of asked) body += part;
    if (refusals-- > 0) {
      answer.writeHead(503, { "Retry-After": "1" }).end();
      return;
    }
    got.push({ path: asked.url, headers: asked.headers, body, json: JSON.parse(body) });
    answer.writeHead(204).end();
  });
  await new Promise((done) => listening.listen(0, "127.0.0.1", done));
  after(() => { listening.closeAllConnections?.(); listening.close(); });
  return { got, url: `http://127.0.0.1:${listening.address().port}` };
}

test("webhooks bring finished runs, alerts and gates, signed, once, and after a restart",
  async () => {
    const folder = temporary("hooks");
    const { got, url } = await receiver();
    const secret = `whsec_${Buffer.from("a secret of some length").toString("base64")}`;
    const targets = join(folder, "hooks.json");
    writeFileSync(targets, JSON.stringify([
      { url: `${url}/json`, secret_env: "HOOK_SECRET" },
      { url: `${url}/slack`, format: "slack", events: ["alert", "gate.failed"] },
      { url: `${url}/other`, project: "other" }]));
    process.env.HOOK_SECRET = secret;
    const data = join(folder, "data");
    const options = ["--webhooks", targets, "--public-url", "https://traces.example",
      "--auth", "off"];
    const hub = await start_server({ data, options: [...options, "--allow-host", "127.0.0.1"] });
    const night = (day, kernel_us) => hub.analyzed(`nightly@${day}`,
      [{ data: small_json({ kernel_us, rank: 0 }), filename: "rank0.json" }], { world_size: 1 });
    for (let day = 1; day < 10; day++) await night(day, 2000);
    await night(10, 3000);
    const of = (path, type) => got.filter((one) =>
      one.path === path && (!type || one.json.type === type));
    await until("all runs have come", () => of("/json", "run.finished").length === 10);
    const [alert] = await until("the alert has come", () => {
      const found = of("/json", "alert.raised");
      return found.length && found;
    });
    assert.match(alert.json.text, /^nightly@10: step .* % slower than before, .* became /);
    assert.equal(alert.json.data.name, "nightly@10");
    const ask = (more, headers = {}) => hub.request("/api/v1/compare/gate?base=nightly@9" +
      `&cand=nightly@10&undecided=fail${more}`, { headers });
    await ask("");
    const link = await ask("&notify=true",
      { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate" });
    assert.equal(link.status, 403, "a link on another page notifies nobody");
    assert.match(link.json.detail, /^found notify=true in a link/);
    for (const limit of ["0.03", "0.03", "0.0301"])
      assert.equal((await ask(`&notify=true&max_regression=${limit}`)).status, 409);
    const [gate] = await until("the gate has come", () => {
      const found = of("/json").filter((one) => one.json.type.startsWith("gate."));
      return found.length && found;
    });
    assert.match(gate.json.url, /^https:\/\/traces.example\/compare\?base=r_/);
    for (const { headers, body } of of("/json")) {
      const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
      const key = Buffer.from(secret.slice(6), "base64");
      const expected = createHmac("sha256", key).update(signed).digest("base64");
      assert.equal(headers["webhook-signature"], `v1,${expected}`);
    }
    // Each target gets its own word: what is not sent by the stop would come after the restart.
    const for_slack = () =>
      of("/json").filter(({ json }) => /^alert\.|^gate\.failed$/.test(json.type));
    await until("the other target has its own", () => of("/slack").length === for_slack().length);
    const [slack] = of("/slack");
    assert.match(slack.json.text, /nightly@10: step .*\n<https:\/\/traces.example\/alerts\|open>$/);
    assert.equal(of("/other").length, 0);
    await hub.stop();
    const before = got.length;
    const again = await start_server({ data, options: [...options, "--allow-host", "127.0.0.1"] });
    await again.analyzed("last", [{ data: small_json(), filename: "a.json" }], { world_size: 1 });
    await until("the last run has come", () => got.length > before);
    assert.deepEqual(got.slice(before).map((one) => one.json.data.name), ["last"]);
    const gates = of("/json").filter(({ json }) => json.type.startsWith("gate."));
    assert.equal(gates.length, 1, "word of a gate goes out once, and only if that was asked for");
    const ids = of("/json").map((one) => one.headers["webhook-id"]);
    assert.equal(new Set(ids).size, ids.length, "each once");
    const text = await again.request("/api/v1/compare/gate?base=nightly@9&cand=nightly@10" +
      "&format=markdown");
    assert.match(text.headers["content-type"], /^text\/markdown/);
    assert.match(text.text, /^### Step time: (undecided|\*\*fail\*\*)\n\n/);
    assert.match(text.text, /\[Open the comparison\]\(https:/);
    await again.stop();
    writeFileSync(targets, '[{"url": "file:///etc/passwd"}]');
    const wrong = await run_status(stepscope_bin(), ["serve", "--data", data, ...options]);
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /webhook 1: found the address 'file:/);
  });

test("who may only look notifies nobody, and who did is in the audit log", async () => {
  const data = join(temporary("gate-scopes"), "data");
  const out = await run_program(stepscope_bin(), ["token", "create", "--data", data, "--name",
    "root", "--scopes", "admin"]);
  const guarded = await start_server({ data, token: /ss_\S+/.exec(out)[0],
    options: ["--auth", "required"] });
  after(() => guarded.stop());
  for (const name of ["a", "b"])
    await guarded.analyzed(name, [{ data: small_json(), filename: "rank0.json" }],
      { world_size: 1 });
  const ask = async (scopes) => {
    const { json } = await guarded.send("POST", "/tokens", { name: "ci", scopes });
    return guarded.request("/api/v1/compare/gate?base=a&cand=b&notify=true",
      { headers: { Authorization: `Bearer ${json.token}` } });
  };
  const refused = await ask(["read"]);
  assert.equal(refused.status, 403, refused.text);
  assert.match(refused.json.detail, /^notify=true requires the scope upload or write/);
  assert.equal((await ask(["read", "upload"])).status, 200);
  const { items } = await guarded.get("/audit");
  const entries = items.filter(({ action }) => action === "GET /api/v1/compare/gate");
  assert.deepEqual(entries.map(({ status }) => status), [200, 403]);
});

test("the gate of a pipeline goes on until it is sure, and writes a comment", async () => {
  const cwd = temporary("gate");
  for (let i = 1; i <= 8; i++) {
    writeFileSync(join(cwd, `base${i}.json`), small_json({ kernel_us: 2000 + i * 3 }));
    writeFileSync(join(cwd, `same${i}.json`), small_json({ kernel_us: 2000 + (i * 5) % 17 }));
    writeFileSync(join(cwd, `slow${i}.json`), small_json({ kernel_us: 3000 + (i * 5) % 17 }));
  }
  const next = (side) => `n=$(cat n 2>/dev/null || echo 0); n=$((n + 1)); echo $n > n
    cp ${side}$(((n + 1) / 2)).json "$TRACES/rank0.json"`;
  const gate = (name, side) => run_status("bash",
    [join(root, "deploy/ci/gate.sh"), next("base"), next(side)],
    { cwd, env: { ...process.env, STEPSCOPE_URL: server.base, STEPSCOPE_TOKEN: "", NAME: name } });
  const slow = await gate("slow", "slow");
  assert.equal(slow.status, 1, slow.stdout + slow.stderr);
  assert.match(readFileSync(join(cwd, "gate.md"), "utf8"), /^### Step time: \*\*fail\*\*/);
  const pairs = slow.stdout.match(/^pair \d+: (fail|undecided|pass)/gm);
  assert.ok(pairs.length < 8, slow.stdout);
  writeFileSync(join(cwd, "n"), "0\n");
  const same = await gate("same", "same");
  assert.equal(same.status, 0, same.stdout + same.stderr);
  const broken = await gate("broken", "nothing");
  assert.equal(broken.status, 2);
  assert.match(broken.stderr, /cannot stat 'nothing\d+\.json'/);
});

test("the gate's token is neither an argument nor in the environment of what is profiled",
  async () => {
    const cwd = temporary("gate-token");
    writeFileSync(join(cwd, "curl"),
      '#!/bin/bash\necho "$*" > arguments\ncat "$2" > config\nexit 7\n', { mode: 0o755 });
    const command = 'echo "$STEPSCOPE_TOKEN" > seen; touch "$TRACES/a.json"';
    const done = await run_status("bash", [join(root, "deploy/ci/gate.sh"), command, command],
      { cwd, env: { PATH: `${cwd}:${process.env.PATH}`, STEPSCOPE_URL: "http://127.0.0.1:9",
        STEPSCOPE_TOKEN: "ss_secret", NAME: "token" } });
    assert.equal(done.status, 2);
    const text = (name) => readFileSync(join(cwd, name), "utf8");
    assert.equal(text("config"), 'header = "Authorization: Bearer ss_secret"\n');
    assert.doesNotMatch(text("arguments"), /ss_secret/);
    assert.equal(text("seen"), "\n");
  });
