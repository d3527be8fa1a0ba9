// SPDX-License-Identifier: Apache-2.0
// Every route with every method, as anybody who might send it: nothing is shown or changed without
// its scope, pages of other sites get nowhere, and each change is audited.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { multipart, fields, file_part } from "../e2e/helpers/multipart.mjs";
import { openapi } from "../e2e/helpers/openapi.mjs";
import { start_server } from "../e2e/helpers/server.mjs";
import { run_status, stepscope_bin, temporary, until } from "../e2e/helpers/tools.mjs";
import { small_json } from "../e2e/helpers/traces.mjs";
import { ask, bearer, each, make_token, odd_answers, other_peer, SCOPES, token_command, worth }
  from "./helpers/identities.mjs";
import { files_below, if_there } from "./helpers/ledger.mjs";
import { figure, is_long } from "./helpers/torture.mjs";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const SAFE = ["GET", "HEAD", "OPTIONS"];

/** All sets of scopes in the long form, each alone in the quick one. */
const SETS = is_long
  ? Array.from({ length: 15 }, (_, i) => SCOPES.filter((_scope, bit) => (i + 1) & (1 << bit)))
  : SCOPES.map((scope) => [scope]);

const data = join(temporary("scopes"), "data");
let server;
/** Tokens by their scopes joined. @type {Map<string, string>} */
const tokens = new Map();
const secrets = [];

/** Names that do not exist, so that even admitted requests change nothing. */
const filled = (path) => path.replace("{page}", "tokens").replace(/\{(\w+)\}/g, "nosuch");

/** Every address with every method, and the scopes listed in its description. */
function cases() {
  return Object.entries(openapi.paths).flatMap(([path, item]) => METHODS.map((method) => {
    const own = item[method === "HEAD" ? "get" : method.toLowerCase()];
    const is_page = own?.operationId?.startsWith("page_") && path !== "/login";
    return { method, path: filled(path), known: Boolean(own), scopes: own?.["x-scopes"], is_page };
  }));
}

/** What an identity with these scopes should get; null: anonymous. */
function expected({ method, known, scopes, is_page }, identity) {
  if (!known) return method === "OPTIONS" ? [204] : [405];
  if (scopes.length === 0) return is_page && identity === null ? [303] : "let in";
  if (identity === null) return [401, 429];
  return scopes.some((scope) => worth(identity).includes(scope)) ? "let in" : [403];
}

function assert_met(one, identity, reply, who) {
  const wanted = expected(one, identity);
  const what = `${one.method} ${one.path} as ${who}: ${reply.status}`;
  if (wanted === "let in") assert.ok(![401, 403, 429, 303].includes(reply.status), what);
  else assert.ok(wanted.includes(reply.status), `${what}, expected ${wanted}`);
}

before(async () => {
  for (const scopes of [...SETS, ["admin"], ["read"]]) {
    const name = scopes.join("-");
    if (tokens.has(name)) continue;
    tokens.set(name, await make_token(data, name, scopes));
  }
  secrets.push(...tokens.values());
  server = await start_server({ data, options: ["--auth", "required"] });
});
after(() => server?.stop());

const admin = () => bearer(tokens.get("admin"));
const api = (method, path, options) => ask(server.port, method, `/api/v1${path}`, options);
const json = (value, headers) => ({ body: JSON.stringify(value),
  headers: { "Content-Type": "application/json", ...headers } });

test("S1: each route and method admits those whose scopes it names, nobody else", async () => {
  const all = cases();
  assert.ok(all.length > 600, `only ${all.length} cases`);
  let requests = 0;
  const every = async (identity, who, options) => {
    await each(all, async (one) => {
      requests++;
      assert_met(one, identity, await ask(server.port, one.method, one.path, options()), who);
    });
  };
  await every(null, "nobody", () => ({}));
  const forged = `ss_${"x".repeat(43)}`;
  const known = all.filter(({ scopes, is_page }) => scopes?.length > 0 && !is_page);
  await each(known, async (one) => {
    requests++;
    const options = { headers: bearer(forged), peer: other_peer() };
    assert_met(one, null, await ask(server.port, one.method, one.path, options), "a forger");
  });
  for (const [name, token] of tokens)
    await every(name.split("-"), name, () => ({ headers: bearer(token) }));
  figure("S1", `${all.length} routes and methods, ${tokens.size + 2} identities, ${requests} ` +
    "requests: 0 admitted without their scope");
});

/** Changes that really happen, each with the least scope that allows it. */
function changes(number) {
  const form = multipart([...fields({ run: `new${number}` }), file_part(small_json({}))]);
  const upload = { body: form.body, headers: form.headers };
  const merge = { body: '{"note":"changed"}',
    headers: { "Content-Type": "application/merge-patch+json", "If-Match": "*" } };
  return [
    ["upload", "POST", "/upload", upload],
    ["upload", "PUT", `/api/v1/runs/put${number}/ranks/0/trace`, { body: small_json({}) }],
    ["upload", "POST", "/api/v1/runs", json({ name: `empty${number}` })],
    ["write", "PATCH", "/api/v1/runs/kept", merge],
    ["write", "POST", "/api/v1/runs/kept/reanalyze", { body: "" }],
    ["write", "PUT", "/api/v1/baselines/main", json({ run: "kept" })],
    ["write", "DELETE", "/api/v1/baselines/main", {}],
    ["admin", "POST", "/api/v1/tokens", json({ name: `made${number}`, scopes: ["read"] })],
    ["admin", "DELETE", `/api/v1/runs/empty${number}`, { headers: { "If-Match": "*" } }],
  ];
}

/** Everything that a change would alter; the time a token was last used does not count. */
async function state() {
  const replies = [];
  for (const path of ["/runs?limit=500", "/runs/kept", "/baselines", "/tokens"]) {
    const { status, text } = await api("GET", path, { headers: admin() });
    assert.equal(status, 200, text);
    replies.push(JSON.parse(text, (key, value) => (key === "used" ? undefined : value)));
  }
  return replies;
}

async function settled(run) {
  await until(`${run} has settled`, async () => {
    const { text } = await api("GET", `/runs/${run}`, { headers: admin() });
    return !["pending", "running"].includes(JSON.parse(text).status);
  });
}

test("S1: what is refused has changed nothing, and what is admitted has", async () => {
  const form = multipart([...fields({ run: "kept" }), file_part(small_json({}))]);
  const reply = await ask(server.port, "POST", "/upload", { body: form.body,
    headers: { ...form.headers, ...admin() } });
  assert.ok([200, 202].includes(reply.status), reply.text);
  await settled("kept");
  const earlier = await state();
  for (const [needed, method, path, { headers, ...rest }] of changes(0)) {
    for (const [name, token] of [["nobody", null], ...tokens]) {
      if (token && worth(name.split("-")).includes(needed)) continue;
      const all = { ...headers, ...(token ? bearer(token) : {}) };
      const { status } = await ask(server.port, method, path, { ...rest, headers: all });
      assert.equal(status, token ? 403 : 401, `${method} ${path} as ${name}`);
    }
  }
  assert.deepEqual(await state(), earlier, "what was refused changed something");
  let made = 0;
  for (const [needed, method, path, { headers, ...rest }] of changes(1)) {
    const all = { ...headers, ...bearer(tokens.get(needed)) };
    const { status, text } = await ask(server.port, method, path, { ...rest, headers: all });
    assert.ok(status >= 200 && status < 300, `${method} ${path}: ${status} ${text}`);
    made++;
  }
  assert.notDeepEqual(await state(), earlier);
  await assert_audited(changes(1), made);
});

/** S6: one row for each change, with who made it, in the table and in the file. */
async function assert_audited(list, made) {
  const { text } = await api("GET", "/audit?limit=all", { headers: admin() });
  const rows = JSON.parse(text).items;
  const lines = readFileSync(join(data, "audit.log"), "utf8").trim().split("\n").map(JSON.parse);
  for (const entries of [rows, lines]) {
    for (const [needed, method, path] of list) {
      const found = entries.filter(({ action, object, status, who }) => status < 300 &&
        status >= 200 && action.startsWith(`${method} `) && object.startsWith(path) &&
        who.endsWith(`(${needed})`));
      assert.ok(found.length >= 1, `${method} ${path} by ${needed} has no entry`);
    }
  }
  const uploads = rows.filter(({ action, status }) => action === "POST /upload" && status < 300);
  assert.ok(uploads.length > 0);
  for (const { object } of uploads) assert.match(object, /upload u_\w+ run r_\w+ sha256 \w{64}/);
  figure("S6", `${made} of ${made} changes in the audit table and its file`);
}

test("S1: whoever may only upload replaces no trace of others", async () => {
  const put = (token, ts) => api("PUT", "/runs/replaced/ranks/0/trace?replace=true",
    { headers: bearer(token), body: small_json({ names: [`k${ts}`] }) });
  const both = await make_token(data, "both", ["upload", "write"]);
  assert.equal((await put(both, 1)).status, 202);
  assert.equal((await put(tokens.get("upload"), 2)).status, 403);
  const fields64 = ["run replaced", "replace true"].map((field) => field.split(" "))
    .map(([name, value]) => `${name} ${Buffer.from(value).toString("base64")}`).join();
  const piece = await api("POST", "/tus", { body: "", headers: { ...bearer(tokens.get("upload")),
    "Tus-Resumable": "1.0.0", "Upload-Length": 1, "Upload-Metadata": fields64 } });
  assert.equal(piece.status, 403, piece.text);
  assert.equal((await put(both, 2)).status, 202);
});

test("S1: whoever may only upload adds to runs of their own and changes no others", async () => {
  const [mine, theirs] = [tokens.get("upload"), await make_token(data, "theirs", ["upload"])];
  const post = (token, more, k = "k") => {
    const form = multipart([...fields({ run: "owned", rank: 0, ...more }),
      file_part(small_json({ names: [k] }))]);
    return ask(server.port, "POST", "/upload",
      { body: form.body, headers: { ...form.headers, ...bearer(token) } });
  };
  const said = async () => {
    const { text } = await api("GET", "/runs/owned", { headers: admin() });
    const { note, tags, meta, warmup, step, world_size, finalized, received } = JSON.parse(text);
    return JSON.stringify({ note, tags, meta, warmup, step, world_size, finalized, received });
  };
  const attacks = [{ note: "x" }, { tag: "a=b" }, { meta: "a=b" }, { warmup: 1 }, { step: "x*" },
    { world_size: 9 }];
  const refused = async (token) => {
    await settled("owned");
    const earlier = await said();
    for (const more of attacks) {
      const { status, text } = await post(token, more);
      assert.equal(status, 403, `${JSON.stringify(more)}: ${text}`);
    }
    assert.equal((await post(token, { rank: 1 }, "other")).status, 403);
    assert.equal((await post(token, {}, "other")).status, 403);
    assert.equal(await said(), earlier, "a refused upload changed the run");
    assert.equal((await post(token, {})).status, 200, "what is there already may be said again");
    assert.equal(await said(), earlier);
  };
  const finalize = (token) =>
    api("POST", "/runs/owned/finalize", { headers: bearer(token), body: "" });
  assert.equal((await post(mine, { note: "first", tag: "a=c" })).status, 202);
  await refused(theirs);
  assert.equal((await finalize(theirs)).status, 403);
  assert.equal((await post(mine, { note: "second", rank: 2 }, "another")).status, 202, "mine");

  const pin = () => api("PUT", "/baselines/owned", json({ run: "owned" }, admin()));
  assert.ok((await pin()).status < 300);
  await refused(mine);
  assert.equal((await finalize(mine)).status, 403);
  await api("DELETE", "/baselines/owned", { headers: admin() });
  assert.equal((await finalize(mine)).status, 200);
  await refused(mine);
  assert.equal((await finalize(mine)).status, 200, "it changes nothing");
  const both = await make_token(data, "both-more", ["upload", "write"]);
  assert.equal((await post(both, { note: "third", rank: 3 }, "third")).status, 202);
});

test("S1: raw downloads, sessions and wrong credentials are in the audit log", async () => {
  const raw = await api("GET", "/runs/kept/ranks/0/trace", { headers: bearer(tokens.get("read")) });
  assert.equal(raw.status, 200);
  await api("GET", "/runs", { headers: bearer(`ss_${"y".repeat(43)}`), peer: "127.0.9.9" });
  const { text } = await api("GET", "/audit?limit=all", { headers: admin() });
  const rows = JSON.parse(text).items;
  assert.ok(rows.some(({ action }) => action === "GET /api/v1/runs/{run}/ranks/{rank}/trace"));
  assert.ok(rows.some(({ action, peer, status }) => action === "refuse credentials" &&
    peer === "127.0.9.9" && status === 401));
});

test("S1: whoever is not known writes little into the audit log", async () => {
  const entries = async () => JSON.parse((await api("GET", "/audit?limit=all",
    { headers: admin() })).text).items.length;
  const before = await entries();
  const changing = cases().filter(({ method, known }) => known && !SAFE.includes(method));
  await each(changing, (one) => ask(server.port, one.method, one.path));
  assert.equal(await entries(), before);
  for (let i = 0; i < 30; i++) {
    await api("GET", "/runs", { headers: bearer(`ss_${"z".repeat(43)}`), peer: "127.0.9.8" });
  }
  assert.equal(await entries(), before + 1); // and counts the others
});

test("S1: a session makes no change unless a page of ours sends it", async () => {
  const { status, headers } = await api("POST", "/session", json({ token: tokens.get("admin") }));
  assert.equal(status, 200);
  const [cookie, ...attributes] = headers["set-cookie"][0].split("; ");
  assert.deepEqual(attributes.sort(), ["HttpOnly", "Path=/", "SameSite=Strict"]);
  secrets.push(cookie.split("=")[1]);
  const changing = cases().filter(({ method, known, scopes }) =>
    known && !SAFE.includes(method) && scopes.length > 0);
  assert.ok(changing.length > 15);
  const with_cookie = (one, more) => ask(server.port, one.method, one.path,
    { headers: { Cookie: cookie, ...more } });
  await each(changing, async (one) => {
    const what = `${one.method} ${one.path}`;
    assert.equal((await with_cookie(one, {})).status, 403, what);
    assert.equal((await with_cookie(one, { "Sec-Fetch-Site": "same-site" })).status, 403, what);
    const origin = { Origin: `http://127.0.0.1:${server.port}` };
    assert.notEqual((await with_cookie(one, origin)).status, 403, what);
  });
  const who = JSON.parse((await api("GET", "/session", { headers: { Cookie: cookie } })).text);
  assert.equal(who.kind, "token");
  assert.deepEqual(who.scopes, SCOPES);
  const own = { Cookie: cookie, "Sec-Fetch-Site": "same-origin" };
  assert.equal((await api("DELETE", "/session", { headers: own })).status, 204);
  assert.equal((await api("GET", "/runs", { headers: { Cookie: cookie } })).status, 401);
});

test("S2: other names and other sites get nowhere on any route", async () => {
  const all = cases().filter(({ known }) => known);
  const foreign = ["evil.example", `127.0.0.1.evil.example:${server.port}`];
  const site = (headers) => ({ headers: { ...admin(), ...headers } });
  let refused = 0;
  await each(all, async ({ method, path }) => {
    for (const host of foreign) {
      const { status } = await ask(server.port, method, path, site({ Host: host }));
      assert.equal(status, 421, `${method} ${path} for ${host}`);
      refused++;
    }
    if (SAFE.includes(method)) return;
    for (const headers of [{ Origin: "https://evil.example" }, { Origin: "null" },
      { "Sec-Fetch-Site": "cross-site" }, { "Sec-Fetch-Site": "same-site" },
      { Origin: `http://127.0.0.1.evil.example:${server.port}` }]) {
      const { status } = await ask(server.port, method, path, site(headers));
      assert.equal(status, 403, `${method} ${path} with ${JSON.stringify(headers)}`);
      refused++;
    }
  });
  figure("S2", `${refused} of ${refused} requests with a foreign Host or Origin refused`);
});

test("S2: every answer so far had its security headers, and none allows another origin", () => {
  assert.deepEqual(Object.fromEntries(odd_answers), {});
});

/** Announces an upload and waits for the answer, which comes before any of its bytes. */
const announce = (token, announced) => api("PUT", "/runs/quota/ranks/0/trace",
  { headers: bearer(token), announced });

test("S6: uploads over a quota are refused before their body", async () => {
  const own = (name, ...more) => make_token(data, name, ["upload"], ...more);
  const [day, stored, places] = [await own("day", "--day-bytes", "1000"),
    await own("stored", "--stored-bytes", "1000"), await own("places", "--in-flight", "1")];
  const over = await announce(day, 1001);
  assert.equal(over.status, 429, over.text);
  assert.ok(Number(over.headers["retry-after"]) > 0);
  const full = await announce(stored, 1001);
  assert.equal(full.status, 507, full.text);
  assert.ok(Number(full.headers["retry-after"]) > 0);
  const stop = new AbortController();
  const slow = ask(server.port, "PUT", "/api/v1/runs/slow/ranks/0/trace",
    { headers: bearer(places), announced: 100, signal: stop.signal }).catch(() => null);
  await until("the first upload is under way", async () => /^stepscope_uploads_in_flight 1$/m.test(
    (await ask(server.port, "GET", "/metrics", { headers: admin() })).text));
  assert.equal((await announce(places, 1_000_000_000_000_000)).status, 413);
  const second = await ask(server.port, "PUT", "/api/v1/runs/x/ranks/0/trace",
    { headers: bearer(places), body: "x" });
  assert.equal(second.status, 429, second.text);
  stop.abort();
  await slow;
  await server.alive();
  figure("S6", "429 for bytes a day and uploads at a time, 507 for bytes stored, before the body");
});

test("S6: stage times and new runs count towards the day", async () => {
  const own = (name) => make_token(data, name, ["upload"], "--day-bytes", "120000");
  const [staged, noted] = [await own("staged"), await own("noted")];
  const send = (path, token, body) => api("POST", path, json(body, bearer(token)));
  const stages = Array.from({ length: 16 }, (_, i) => `s${i}`);
  const rows = Array(1000).fill(Array(16).fill(0));
  const steps = (rank) => send("/steps", staged,
    { run: "staged", rank, first_step: 0, stages, rows });
  assert.equal((await steps(0)).status, 202);
  const more = await steps(1);
  assert.equal(more.status, 429, more.text);
  assert.match(more.text, /problem\/quota-day"/);
  assert.equal((await announce(staged, 40000)).status, 429, "as uploads do");
  const run = (name) => send("/runs", noted, { name, note: "n".repeat(4000) });
  let made = 0;
  while ((await run(`noted${made}`)).status === 201) made++;
  assert.equal(made, 29);
});

test("S6: announced lengths hold nothing, and what came counts as stored", async () => {
  const headers = (more) => ({ ...bearer(pieces_token), "Tus-Resumable": "1.0.0", ...more });
  const pieces_token = await make_token(data, "pieces", ["upload"], "--stored-bytes", "1000");
  const begin = (key, bytes) => api("POST", "/tus", { body: "", headers: headers({
    "Upload-Length": bytes, "Idempotency-Key": key,
    "Upload-Metadata": `run ${Buffer.from(key).toString("base64")}` }) });
  const first = await begin("first", 900);
  assert.equal(first.status, 201, first.text);
  assert.equal((await begin("too-much", 1001)).status, 507);
  assert.equal((await begin("second", 900)).status, 201, "nothing came of the first");
  assert.equal((await begin("first", 900)).headers.location, first.headers.location);
  const path = first.headers.location;
  const piece = await ask(server.port, "PATCH", path, { body: `{"a":"${"b".repeat(400)}`,
    headers: headers({ "Upload-Offset": 0, "Content-Type": "application/offset+octet-stream" }) });
  assert.equal(piece.status, 204, piece.text);
  assert.equal((await begin("third", 900)).status, 507, "406 bytes are stored");
  const stop = new AbortController();
  const hanging = api("PUT", "/runs/hanging/ranks/0/trace", { headers: bearer(pieces_token),
    announced: 500, signal: stop.signal }).catch(() => {});
  assert.equal((await begin("fourth", 500)).status, 201, "nothing came of what was announced");
  stop.abort();
  await hanging;
  assert.equal((await ask(server.port, "DELETE", path, { headers: headers() })).status, 204);
  assert.equal((await begin("third", 900)).status, 201);
});

test("one sender cannot take the places of all uploads in pieces", async () => {
  const greedy = await make_token(data, "greedy", ["upload"]);
  const begin = (token) => api("POST", "/tus", { body: "",
    headers: { ...bearer(token), "Tus-Resumable": "1.0.0", "Upload-Length": 1 } });
  let status = 201;
  let count = 0;
  for (; status === 201 && count < 1024; count++) ({ status } = await begin(greedy));
  assert.equal(status, 503);
  assert.equal(count, 257);
  assert.equal((await begin(tokens.get("upload"))).status, 201);
});

test("a token ends when it is revoked on the command line and when its time is over", async () => {
  const short = await make_token(data, "short", ["read"], "--expires", "1s");
  const gone = await make_token(data, "gone", ["read"]);
  const status_of = async (token) => (await api("GET", "/runs",
    { headers: bearer(token), peer: other_peer() })).status;
  assert.equal(await status_of(gone), 200);
  await token_command(data, "revoke", "gone");
  assert.equal(await status_of(gone), 401);
  await until("the short one has expired", async () => await status_of(short) === 401);
});

test("ten wrong tokens make an address wait, and no other one", async () => {
  const peer = "127.0.7.7";
  const wrong = () => api("GET", "/runs", { headers: bearer("ss_wrong"), peer });
  for (let i = 0; i < 10; i++) assert.equal((await wrong()).status, 401);
  const eleventh = await wrong();
  assert.equal(eleventh.status, 429);
  assert.ok(Number(eleventh.headers["retry-after"]) <= 61);
  assert.equal((await api("GET", "/runs", { headers: admin() })).status, 200);
});

test("sessions that ended are taken from the browser and keep nobody from signing in", async () => {
  const peer = "127.0.7.8";
  for (let i = 0; i < 12; i++) { // pages that were left open ask for many things
    const { status, headers } = await api("GET", "/runs",
      { headers: { Cookie: `stepscope=ssweb_${"x".repeat(42)}${i % 10}` }, peer });
    assert.equal(status, 401);
    assert.match(String(headers["set-cookie"]), /^stepscope=; .*Max-Age=0/);
  }
  const page = await ask(server.port, "GET", "/", { peer,
    headers: { Cookie: `stepscope=ssweb_${"y".repeat(43)}`, Accept: "text/html" } });
  assert.equal(page.status, 303, "to the page to sign in");
  const mistyped = await api("GET", "/runs", { headers: bearer("ss_wrong"), peer });
  assert.equal(mistyped.status, 401, "it is the first wrong token");
});

/** Every byte of every file in the data folder, and the log. */
function everything_written() {
  const files = files_below(data).map((path) => if_there(() => readFileSync(path)) ?? "");
  return Buffer.concat([...files, server.log].map((text) => Buffer.from(text)));
}

test("no token and no session is written anywhere, not even when sent in an address", async () => {
  const token = tokens.get("admin");
  for (const path of [`/?token=${token}`, `/api/v1/runs?access_token=${token}`,
    `/api/v1/runs?q=${token}`])
    assert.equal((await ask(server.port, "GET", path)).status, 400);
  const gone = await api("DELETE", `/tokens/${token}`, { headers: admin() }); // not its id
  assert.equal(gone.status, 404);
  const bytes = everything_written();
  assert.ok(bytes.length > 10_000);
  for (const secret of secrets) assert.equal(bytes.indexOf(secret), -1, "a secret was written");
});

test("S1: a service that others could reach does not start unless it knows them", async () => {
  const start = (...more) => run_status(stepscope_bin(),
    ["serve", "--data", join(temporary("bare"), "data"), ...more]);
  for (const more of [["--listen", "0.0.0.0:0"], ["--auth", "required"],
    ["--listen", "127.0.0.1:0", "--public-url", "https://traces.example"],
    ["--listen", "0.0.0.0:0", "--auth", "off"]]) {
    const { status, stdout, stderr } = await start(...more);
    assert.equal(status, 2, `${more}: ${stdout} ${stderr}`);
    assert.match(stderr, more.includes("off") ? /--auth off/ : /stepscope token create/);
  }
  figure("S1", "4 of 4 starts that would let everybody in refused");
});

test("a proxy is believed from its own address alone", async () => {
  const own = join(temporary("proxied"), "data");
  const proxied = await start_server({ data: own, options: ["--trusted-proxy", "127.0.0.1",
    "--proxy-admins", "alice"] });
  const as = (user, peer) => ask(proxied.port, "GET", "/api/v1/tokens",
    { headers: { "X-Forwarded-User": user, "X-Forwarded-For": "6.6.6.6, 10.1.2.3" }, peer });
  assert.equal((await as("alice")).status, 200);
  assert.equal((await as("bob")).status, 403);
  assert.equal((await as("alice", "127.0.0.2")).status, 403);
  assert.equal((await as(["alice", "bob"])).status, 400);
  assert.equal((await ask(proxied.port, "GET", "/api/v1/tokens")).status, 401);
  assert.match(proxied.log, /peer=10\.1\.2\.3/);
  await proxied.stop();
});
