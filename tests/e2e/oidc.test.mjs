// SPDX-License-Identifier: Apache-2.0
// Signing in at a provider of OpenID Connect: a real one, and one that lies.
import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import Provider from "oidc-provider";
import { launch, open_page, settle } from "./helpers/browser.mjs";
import { start_server } from "./helpers/server.mjs";
import { temporary, until } from "./helpers/tools.mjs";

// Where browsers are sent back to; the test goes to the service's port instead.
const HOME = "http://127.0.0.1:9";
const SECRET = "a secret of 32 characters or more";
const folder = temporary("oidc");
const secret_file = join(folder, "secret");
writeFileSync(secret_file, `${SECRET}\n`);

const listening = (server, host = "127.0.0.1") => new Promise((done) => {
  server.listen(0, host, () => done(`http://${host}:${server.address().port}`));
});

/** A browser's cookies of one site. */
class Jar {
  cookies = new Map();

  take(headers) {
    for (const line of headers) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      if (value === "" || /max-age=0|1970/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }

  get line() {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }
}

/** A request with the jar's cookies; redirects are not followed. */
async function visit(jar, url, form) {
  const reply = await fetch(url, { redirect: "manual", method: form ? "POST" : "GET",
    headers: { Cookie: jar.line }, body: form && new URLSearchParams(form) });
  jar.take(reply.headers.getSetCookie());
  return { status: reply.status, to: reply.headers.get("location"), text: await reply.text() };
}

/** Goes through the forms of the real provider; returns the address it sends the browser to. */
async function sign_in_there(start, login) {
  const jar = new Jar();
  let url = start;
  for (let i = 0; i < 12; i++) {
    const page = await visit(jar, url);
    if (page.to?.startsWith(HOME)) return page.to;
    if (page.to) {
      url = new URL(page.to, url).href;
      continue;
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1];
    const action = /action="([^"]+)"/.exec(page.text)[1];
    const sent = await visit(jar, new URL(action, url).href, { prompt, login, password: "any" });
    url = new URL(sent.to, url).href;
  }
  throw new Error(`the provider never came to an end: ${url}`);
}

function start_service(issuer, options) {
  return start_server({ data: join(temporary("oidc"), "data"), options: ["--public-url", HOME,
    "--oidc-issuer", issuer, "--oidc-client-id", "stepscope", ...options] });
}

const session = async (server, jar) =>
  JSON.parse((await visit(jar, `${server.base}/api/v1/session`)).text);

/** Starts at the service; returns the browser's jar and the provider's address. */
async function begin(server, next = "/trends?q=a&days=7") {
  const jar = new Jar();
  const reply = await visit(jar, `${server.base}/login/oidc?next=${encodeURIComponent(next)}`);
  assert.equal(reply.status, 303, reply.text + server.log);
  return { jar, to: new URL(reply.to) };
}

/** Where a failure leads to: the next attempt goes to the same page. */
const failed = (why) => `/login?failed=${why}&next=/trends%3Fq%3Da%26days%3D7`;

const finish = (server, jar, back) =>
  visit(jar, server.base + back.slice(HOME.length));

// --- a real provider ----------------------------------------------------------------------------

let lying_server, real, real_server, service;

before(async () => {
  real_server = createServer((request, reply) => real.callback()(request, reply));
  const issuer = await listening(real_server);
  real = new Provider(issuer, {
    clients: [{ client_id: "stepscope", client_secret: SECRET,
      redirect_uris: [`${HOME}/login/oidc/callback`] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    findAccount: (_, sub) => ({ accountId: sub,
      claims: () => ({ sub, email: `${sub}@example.com`, email_verified: sub !== "mallory" }) }),
  });
  service = await start_service(issuer, ["--oidc-secret-file", secret_file,
    "--oidc-users", "@example.com", "--oidc-admins", "boss@example.com"]);
});
after(async () => {
  await service?.stop();
  real_server?.close();
  lying_server?.close();
});

async function sign_in(login) {
  const { jar, to } = await begin(service);
  const reply = await finish(service, jar, await sign_in_there(to.href, login));
  return { jar, reply };
}

test("people sign in at a real provider and come to the page they asked for", async () => {
  const stranger = await session(service, new Jar());
  assert.deepEqual([stranger.kind, stranger.required, stranger.provider],
    ["nobody", true, "127.0.0.1"]);
  const { jar, reply } = await sign_in("alice");
  assert.equal(reply.status, 200, reply.text + service.log);
  assert.match(reply.text, /0;url=\/trends\?q=a&amp;days=7"/);
  const known = await session(service, jar);
  assert.equal(known.who, "user alice@example.com");
  assert.deepEqual([known.kind, known.session, known.scopes.includes("admin")],
    ["user", true, false]);
  const left_s = (Date.parse(known.expires) - Date.now()) / 1000;
  assert.ok(left_s > 11 * 3600 && left_s <= 12 * 3600, known.expires);
  const boss = await sign_in("boss");
  assert.ok((await session(service, boss.jar)).scopes.includes("admin"));
  const audit = await visit(boss.jar, `${service.base}/api/v1/audit`);
  assert.match(audit.text, /user alice@example\.com.*sign in|sign in.*user alice@example\.com/);
});

test("a session ends for good when its user signs out", async () => {
  const { jar } = await sign_in("alice");
  const kept = jar.line;
  const reply = await fetch(`${service.base}/api/v1/session`, { method: "DELETE",
    headers: { Cookie: kept, Origin: HOME } });
  assert.equal(reply.status, 204);
  const old = new Jar();
  old.take([kept]);
  assert.equal((await session(service, old)).kind ?? "refused", "nobody");
});

test("an address that nobody has confirmed does not sign in", async () => {
  const { jar, reply } = await sign_in("mallory");
  assert.deepEqual([reply.status, reply.to], [303, failed("answer")]);
  assert.match(service.log, /e-mail address that the provider has not verified/);
  assert.equal((await session(service, jar)).kind, "nobody");
});

test("a code is good once, and in the browser that asked for it", async () => {
  const { jar, to } = await begin(service);
  const back = await sign_in_there(to.href, "alice");
  const stolen = await finish(service, new Jar(), back);
  assert.equal(stolen.to, "/login?failed=late&next=/");
  const other = await begin(service);
  assert.equal((await finish(service, other.jar, back)).to, failed("answer"));
  const copy = new Jar();
  copy.take([jar.line]);
  assert.equal((await finish(service, jar, back)).status, 200);
  assert.equal((await finish(service, copy, back)).to, failed("answer"));
  assert.match(service.log, /invalid_grant/);
});

test("nobody is sent elsewhere afterwards", async () => {
  for (const next of ["//evil.example", "https://evil.example", "/\\evil.example", "/a\"><b>"]) {
    const { jar } = await begin(service, next);
    const [cookie] = [...jar.cookies.values()];
    assert.match(cookie, /^ssgo_[0-9A-Za-z]{43}\/$/, next);
  }
});

// --- one that lies ------------------------------------------------------------------------------

const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
const other_keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
const jwk = { ...keys.publicKey.export({ format: "jwk" }), kid: "k1", use: "sig", alg: "RS256" };
const part = (object) => Buffer.from(JSON.stringify(object)).toString("base64url");

/** What the token endpoint answers; what the description says beside the truth. */
const lies = { token: "", description: {} };

function write_token(claims, header = {}, key = keys.privateKey) {
  const now_s = Math.floor(Date.now() / 1000);
  const text = `${part({ alg: "RS256", kid: "k1", ...header })}.${part({ aud: "stepscope",
    iat: now_s, exp: now_s + 300, email: "eve@example.com", email_verified: true, ...claims })}`;
  return `${text}.${key ? sign("sha256", Buffer.from(text), key).toString("base64url") : ""}`;
}

function answer_lies(issuer, request, reply) {
  const answers = {
    "/.well-known/openid-configuration": { issuer, authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys`, ...lies.description },
    "/keys": { keys: [jwk] },
    "/token": { id_token: lies.token },
  };
  reply.setHeader("Content-Type", "application/json");
  reply.end(JSON.stringify(answers[request.url]));
}

test("what does not hold is refused, and the log says why", async () => {
  let issuer = "";
  lying_server = createServer((request, reply) => answer_lies(issuer, request, reply));
  issuer = await listening(lying_server);
  const server = await start_service(issuer, ["--oidc-users", "*"]);
  lies.description = { issuer: "https://evil.example" };
  assert.equal((await visit(new Jar(), `${server.base}/login/oidc`)).to,
    "/login?failed=answer&next=/");
  assert.match(server.log, /description is of another issuer, expected exactly http/);
  lies.description = {};
  const start = () => visit(new Jar(), `${server.base}/login/oidc`);
  await until("the provider is asked again", async () => !/failed/.test((await start()).to));
  const attempt = async (make) => {
    const { jar, to } = await begin(server);
    lies.token = make({ iss: issuer, nonce: to.searchParams.get("nonce") });
    const state = to.searchParams.get("state");
    return finish(server, jar, `${HOME}/login/oidc/callback?code=x&state=${state}`);
  };
  const by_public_key = (claims) => {
    const text = write_token(claims, { alg: "HS256" }, null).slice(0, -1);
    const pem = keys.publicKey.export({ format: "pem", type: "spki" });
    return `${text}.${createHmac("sha256", pem).update(text).digest("base64url")}`;
  };
  const now_s = Math.floor(Date.now() / 1000);
  const refused = [
    [/signed by 'none'/, (good) => write_token(good, { alg: "none" }, null)],
    [/signed by 'HS256'/, by_public_key],
    [/wrong signature/, (good) => write_token(good, {}, other_keys.privateKey)],
    [/is for another client/, (good) => write_token({ ...good, aud: "other" })],
    [/has expired/, (good) => write_token({ ...good, iat: now_s - 400, exp: now_s - 100 })],
    [/is of another sign-in/, (good) => write_token({ ...good, nonce: "0".repeat(64) })],
    [/is of another issuer/, (good) => write_token({ ...good, iss: "https://evil.example" })],
  ];
  assert.equal((await attempt((good) => write_token(good))).status, 200, server.log);
  assert.match(server.log, /everybody with an account at 127\.0\.0\.1 may sign in/);
  assert.doesNotMatch(service.log, /everybody with an account/);
  for (const [why, make] of refused) {
    const reply = await attempt(make);
    assert.deepEqual([reply.status, reply.to], [303, failed("answer")], `${why}`);
    assert.match(server.log, why);
  }
  const refuse = async (query) => {
    const { jar, to } = await begin(server);
    const state = to.searchParams.get("state");
    return (await finish(server, jar, `${HOME}/login/oidc/callback?${query(state)}`)).to;
  };
  assert.equal(await refuse((state) => `error=invalid_scope&state=${state}`),
    failed("refused"));
  assert.match(server.log, /the provider says invalid_scope/);
  for (let i = refused.length; i < 10; i++)
    assert.equal(await refuse(() => "code=x&state=none"), failed("answer"));
  assert.equal(await refuse((state) => `code=x&state=${state}`), failed("often"));
  await server.stop();
});

test("a browser comes back from another site to the page it asked for", async (t) => {
  let issuer = "", server;
  const provider = createServer((request, reply) => {
    const { pathname, searchParams } = new URL(request.url, issuer);
    if (pathname !== "/auth") return answer_lies(issuer, request, reply);
    lies.token = write_token({ iss: issuer, nonce: searchParams.get("nonce") });
    reply.setHeader("Content-Type", "text/html");
    return reply.end(`<a href="${server.base}/login/oidc/callback?code=x&amp;state=${
      searchParams.get("state")}">Allow</a>`);
  });
  t.after(() => provider.close());
  issuer = await listening(provider, "127.0.0.2");
  server = await start_service(issuer, ["--oidc-users", "*"]);
  const browser = await launch();
  t.after(() => browser.close());
  const { page, faults } = await open_page(browser, server.base);
  await page.goto("/trends?q=a&days=7");
  await page.click("text=Sign in at 127.0.0.2");
  await page.click("text=Allow");
  await page.waitForURL(`${server.base}/trends?q=a&days=7`);
  await settle(page);
  assert.match(await page.textContent("header"), /eve@example\.com/);
  const others = `request to another host: ${issuer}/`;
  assert.deepEqual(faults.filter((fault) => !fault.startsWith(others)), []);
  await server.stop();
});
