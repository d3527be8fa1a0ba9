// SPDX-License-Identifier: Apache-2.0
// What deploy/ ships: nginx and Caddy in front of a running service, where they terminate TLS,
// stream uploads through and let nobody pose as someone else; the systemd unit; the image;
// what quickstart refuses.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync,
  writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect as open_plain } from "node:net";
import { after, before, describe, test } from "node:test";
import { connect } from "node:tls";
import { NAME, start_proxy } from "./helpers/proxies.mjs";
import { start_server } from "./helpers/server.mjs";
import { free_port, root, run_program, run_status, skipped, stepscope_bin, temporary, until }
  from "./helpers/tools.mjs";
import { small_json } from "./helpers/traces.mjs";

/** A service token with these scopes. */
async function make_token(data, scopes) {
  const out = await run_program(stepscope_bin(),
    ["token", "create", "--data", data, "--name", scopes, "--scopes", scopes]);
  return /\bss_\w{20,}/.exec(out)[0];
}

async function start_behind(which) {
  const folder = temporary("proxy");
  const data = join(folder, "data");
  const token = await make_token(data, "admin");
  const tls = await free_port();
  const server = await start_server({ data, token, crowd: true, options: [
    "--public-url", `https://${NAME}:${tls}`, "--trusted-proxy", "127.0.0.1"] });
  const proxy = await start_proxy(which, { service: server.port, tls });
  return { folder, data, token, tls, server, proxy, base: `https://${NAME}:${tls}` };
}

/** What curl gets through the proxy: status, raw headers and body. */
async function curl(place, path, ...args) {
  const done = await run_status("curl", ["-sS", "-i", "--cacert", place.proxy.cert,
    "--resolve", `${NAME}:${place.tls}:127.0.0.1`, ...args, place.base + path]);
  assert.equal(done.status, 0, `curl ${path}: ${done.stderr}\n${place.proxy.log}`);
  const last = done.stdout.lastIndexOf("HTTP/");
  const [head, ...rest] = done.stdout.slice(last).split(/\r?\n\r?\n/);
  const body = rest.join("\n\n");
  return { status: Number(/^HTTP\/\S+ (\d+)/.exec(head)[1]), head, body };
}

const PROXY_FILES = ["nginx", "caddy"].flatMap((folder) =>
  readdirSync(join(root, "deploy", folder)).map((name) => join(root, "deploy", folder, name)));

/** How long the proxies of these files keep an idle connection to a service, in seconds. */
function kept_by_proxies(files) {
  const pools = files.map((path) => readFileSync(path, "utf8"))
    .flatMap((text) => [...text.matchAll(/^upstream \w+ {[^}]*}|transport http {[^}]*}/gm)])
    .map(([pool]) => /keepalive(?:_timeout)? (\d+)s\b/.exec(pool)?.[1]);
  return pools.map(Number);
}

test("a balancer learns of a stop, and drops idle connections, before the notice ends", () => {
  const serve = readFileSync(join(root, "server/cli/cmd_serve.c"), "utf8");
  const notice_s = Number(/NOTICE_MS = (\d+),/.exec(serve)[1]) / 1000;
  const files = PROXY_FILES.filter((path) => basename(path).startsWith("nodes."));
  const kept = kept_by_proxies(files);
  assert.equal(kept.length, 4);
  for (const seconds of kept) assert.ok(seconds < notice_s, `${seconds} of ${notice_s} s`);
  const caddy = readFileSync(join(root, "deploy/caddy/nodes.caddy"), "utf8");
  const looks = [...caddy.matchAll(/health_interval (\d+)s\s+health_timeout (\d+)s/g)];
  assert.equal(looks.length, 2);
  for (const [, interval, limit] of looks) assert.ok(Number(interval) + Number(limit) < notice_s);
});

test("a proxy drops an idle connection before the service does, which says when", async () => {
  const server = await start_server();
  const { headers } = await fetch(`${server.base}/api/v1/runs`);
  await server.stop();
  const [, announced] = /^timeout=(\d+)$/.exec(headers.get("keep-alive"));
  const kept = kept_by_proxies(PROXY_FILES);
  assert.ok(kept.length >= 6, `${kept}`);
  for (const seconds of kept) assert.ok(seconds < Number(announced), `${seconds} ${announced}`);
});

const bearer = (token) => ["-H", `Authorization: Bearer ${token}`];

/** Bytes of uploads in progress that the service holds. */
const spooled = (data) => readdirSync(join(data, "spool"))
  .map((name) => statSync(join(data, "spool", name), { throwIfNoEntry: false })?.blocks ?? 0)
  .reduce((sum, blocks) => sum + blocks * 512, 0);

/** Sends the first half of an upload over TLS and keeps the connection. */
function begin_upload({ tls, token }, bytes) {
  const socket = connect({ host: "127.0.0.1", port: tls, servername: NAME,
    rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] });
  socket.on("error", () => {});
  socket.write(`PUT /api/v1/runs/half/ranks/0/trace HTTP/1.1\r\nHost: ${NAME}:${tls}\r\n` +
    `Authorization: Bearer ${token}\r\nContent-Length: ${2 * bytes}\r\n\r\n`);
  socket.write(Buffer.alloc(bytes, "["));
  return socket;
}

for (const which of /** @type {const} */ (["nginx", "caddy"])) {
  describe(`behind ${which}`, () => {
    let place;
    before(async () => {
      place = await start_behind(which);
    });
    after(async () => {
      place.proxy.child.kill("SIGTERM");
      await place.server.stop();
    });

    test("TLS ends at the proxy, and links lead to it", async () => {
      const reply = await curl(place, "/healthz");
      assert.equal(reply.status, 200);
      assert.match(reply.head, /^strict-transport-security: max-age=31536000/im);
      assert.match(reply.head, /^content-security-policy: default-src 'none'/im);
    });

    test("a file goes through and is analyzed", async () => {
      const file = join(place.folder, "rank0.json");
      writeFileSync(file, small_json());
      const reply = await curl(place, "/upload?wait=60", ...bearer(place.token),
        "-F", "run=through", "-F", `trace=@${file}`);
      assert.ok([200, 202].includes(reply.status), reply.head + reply.body);
      assert.ok(JSON.parse(reply.body).url.startsWith(`${place.base}/`), reply.body);
      const run = await curl(place, "/api/v1/runs/through", ...bearer(place.token));
      assert.equal(JSON.parse(run.body).status, "done", run.body);
    });

    test("the service writes an upload while it still comes", async () => {
      const half = 4 << 20;
      const socket = begin_upload(place, half);
      await until("half of the file lies with the service", () => spooled(place.data) >= half);
      socket.destroy();
      await until("the cut upload is gone", () => spooled(place.data) < half);
      await place.server.alive();
    });

    test("without a token nothing is shown, whoever one claims to be", async () => {
      for (const claim of ["X-Forwarded-User: admin", "X-Forwarded-User: ", "Remote-User: admin",
        "X-Forwarded-For: 127.0.0.1"]) {
        const reply = await curl(place, "/api/v1/runs", "-H", claim);
        assert.equal(reply.status, 401, `${claim}: ${reply.head}`);
      }
    });

    test("the audit log names the client's address, not the proxy's claim of another", async () => {
      await curl(place, "/api/v1/runs/through", ...bearer(place.token), "-X", "PATCH",
        "-H", "X-Forwarded-For: 203.0.113.9", "-H", "If-Match: *", "--json", '{"note":"seen"}');
      const reply = await curl(place, "/api/v1/audit?format=csv", ...bearer(place.token));
      assert.equal(reply.status, 200, reply.head);
      assert.match(reply.body, /PATCH \/api\/v1\/runs\/\{run\}/);
      assert.doesNotMatch(reply.body, /203\.0\.113\.9/);
    });

    test("under another site's name nothing is shown", async () => {
      const reply = await curl(place, "/api/v1/runs", ...bearer(place.token),
        "-H", "Host: evil.example");
      assert.doesNotMatch(reply.body, /through/);
    });

    test("thousands of silent connections of one address keep nobody out", async (t) => {
      const answered_ms = async () => {
        const from = performance.now();
        assert.equal((await curl(place, "/healthz")).status, 200);
        return performance.now() - from;
      };
      const alone_ms = Math.max(await answered_ms(), await answered_ms());
      const sockets = Array.from({ length: 3000 }, () =>
        open_plain({ host: "127.0.0.1", port: place.tls }).on("error", () => {}));
      t.after(() => sockets.forEach((socket) => socket.destroy()));
      await until("all were opened", () => sockets.every(({ connecting }) => !connecting));
      for (let i = 0; i < 5; i++) {
        const ms = await answered_ms();
        assert.ok(ms < 1500 + 3 * alone_ms, `${ms} ms, ${alone_ms} without them`);
      }
    });

    test("a browser's session is for this site over TLS alone", async () => {
      const reply = await curl(place, "/api/v1/session", "-H", `Origin: ${place.base}`,
        "--json", JSON.stringify({ token: place.token }));
      assert.ok([200, 201, 204].includes(reply.status), reply.head + reply.body);
      assert.match(reply.head, /^set-cookie: __Host-[^\n]*Secure/im);
      assert.match(reply.head, /^set-cookie: [^\n]*HttpOnly/im);
    });
  });
}

/** Whether a program is installed; says so loudly if not. */
async function have(program) {
  const found = (await run_status("which", [program])).status === 0;
  if (!found) skipped(`what needs ${program}`);
  return found;
}

test("the unit for systemd is sound and locks the service in", async () => {
  const unit = join(temporary("unit"), "stepscope.service");
  const text = readFileSync(join(root, "deploy/systemd/stepscope.service"), "utf8");
  writeFileSync(unit, text.replace("/usr/local/bin/stepscope", stepscope_bin()));
  await run_program("systemd-analyze", ["verify", unit]);
  await run_program("systemd-analyze", ["security", "--offline=true", "--threshold=15", unit]);
});

test("the unit as a template for several services is sound", async () => {
  const folder = temporary("units");
  const changed = (name) => readFileSync(join(root, "deploy", name), "utf8")
    .replace(/^ExecStart=\S*stepscope\b/m, `ExecStart=${stepscope_bin()}`);
  mkdirSync(join(folder, "stepscope@a.service.d"));
  writeFileSync(join(folder, "stepscope@a.service"), changed("systemd/stepscope.service"));
  writeFileSync(join(folder, "stepscope@a.service.d", "node.conf"), changed("systemd/node.conf"));
  await run_program("systemd-analyze", ["verify", join(folder, "stepscope@a.service")]);
});

test("Slurm's Epilog succeeds whatever becomes of the unit that it asks for", async () => {
  const folder = temporary("epilog");
  mkdirSync(join(folder, "spool", "42"), { recursive: true });
  writeFileSync(join(folder, "systemd-run"), // as one that finds the unit of the last try
    `#!/bin/sh\nprintf '%s\\n' "$@" >'${folder}/asked'\nexit 1\n`, { mode: 0o755 });
  const epilog = (more) => run_status("sh", [join(root, "deploy/collect/slurm-epilog.sh")],
    { env: { PATH: `${folder}:${process.env.PATH}`, STEPSCOPE_SPOOL: join(folder, "spool"),
      ...more } });
  const done = await epilog({ SLURM_JOB_ID: "42", SLURM_JOB_RESTART_COUNT: "2" });
  assert.equal(done.status, 0, done.stderr);
  const asked = readFileSync(join(folder, "asked"), "utf8").split("\n");
  assert.ok(asked.includes("--unit=stepscope-push-42-2"), "a requeued job has another unit");
  assert.ok(asked.includes("--setenv=STEPSCOPE_RUN=job-42"));
  const nothing = await epilog({ SLURM_JOB_ID: "43" });
  assert.equal(nothing.status, 0, nothing.stderr);
});

/** Stands for a service: answers with its number, as long as it lives; lists of runs take time. */
async function start_stand_in(number) {
  const server = createServer(({ url }, reply) =>
    setTimeout(() => reply.end(`${number}`), url === "/api/v1/runs" ? 300 : 0))
    .listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { port, stop: () => (server.closeAllConnections(), server.close()) };
}

const LIVE = ["/api/v1/agents", "/api/v1/agents/poll", "/api/v1/captures", "/api/v1/steps",
  "/api/v1/runs/r_1/live", "/api/v1/runs/p%2Fa@1/live"];

for (const which of /** @type {const} */ (["nginx", "caddy"])) {
  test(`${which} sends agents, captures and steps to one of several services, all else to any`,
    async () => {
      const nodes = await Promise.all([1, 2, 3].map(start_stand_in));
      const tls = await free_port();
      const proxy = await start_proxy(which, { service: 0, tls,
        nodes: nodes.map(({ port }) => port) });
      const place = { proxy, tls, base: `https://${NAME}:${tls}` };
      const who = async (path) => Number((await curl(place, path)).body);
      const first = await who(LIVE[0]);
      for (const path of LIVE) assert.equal(await who(path), first, path);
      const others = new Set();
      await until("several services answer", async () => {
        const numbers = await Promise.all([1, 2, 3].map(() => who("/api/v1/runs")));
        return numbers.forEach((number) => others.add(number)) ?? others.size > 1;
      });
      nodes[first - 1].stop();
      const next = await who(LIVE[0]);
      assert.notEqual(next, first);
      for (const path of LIVE) assert.equal(await who(path), next, path);
      nodes.forEach(({ stop }) => stop());
      proxy.child.kill();
    });
}

test("the image holds the libraries that the program is linked with", async (context) => {
  if (!await have("dpkg-query")) return context.skip("no Debian");
  const stages = readFileSync(join(root, "deploy/Dockerfile"), "utf8").split(/^FROM /m);
  // Indirect dependencies come with their packages.
  const dynamic = await run_program("readelf", ["-d", stepscope_bin()]);
  const needed = new Set(dynamic.match(/(?<=\(NEEDED\).*\[)[^\]]+/g));
  assert.ok(![...needed].some((name) => /curl|libpq/.test(name)), "loaded only when asked for");
  const all = (await run_program("ldd", [stepscope_bin()])).matchAll(/(\S+) => (\S+)/g);
  const libraries = [...all].filter(([, name]) => needed.has(name)).map(([, , at]) => at);
  // By file name: the system may list them under /lib or under /usr/lib.
  const names = libraries.map((at) => `*/${basename(realpathSync(at))}`);
  const owners = await run_program("dpkg-query", ["-S", ...names]);
  // Every image has libc6; later releases than the image's append t64 to some names.
  const found = owners.match(/^(?!libc6)[^:]+/gm);
  const packages = new Set(found.map((name) => name.replace(/t64$/, "")));
  assert.ok(packages.size >= 5, owners);
  // Loaded when needed, and whom it trusts.
  for (const name of ["libcurl4", "libpq5", "ca-certificates"]) packages.add(name);
  // Another release than the image's may number a library otherwise.
  const same = /^VERSION_ID="12"$/m.test(readFileSync("/etc/os-release", "utf8"));
  for (const name of packages) {
    const expected = same ? name : name.replace(/\d+$/, "\\d+");
    assert.match(stages.at(-1), new RegExp(`\\b${expected}\\b`));
  }
  assert.match(stages.at(-1), /standalone \/usr\/local\/share\/stepscope\/standalone\n/);
});

test("quickstart refuses before it builds what could not be served", async (context) => {
  const copy = temporary("a copy of 'it'");
  for (const name of ["quickstart", "packages.sh"]) {
    cpSync(join(root, "deploy", name), join(copy, "deploy", name));
  }
  const taken = createServer().listen(0, "127.0.0.1");
  context.after(() => taken.close());
  await once(taken, "listening");
  const address = `127.0.0.1:${taken.address().port}`;
  for (const [options, words, more] of [
    [[], "or set STEPSCOPE_MIN_FREE", { STEPSCOPE_MIN_FREE: "1048576g" }],
    [[], "found STEPSCOPE_MIN_FREE=1GiB, expected a size such", { STEPSCOPE_MIN_FREE: "1GiB" }],
    [["--listen", address], `something else listens on ${address}: stop it, or choose another`],
    [["--listen", "127.0.0.1:65536"], "found port 65536 in --listen, expected 1 to 65535"],
    [["--data", "/proc/here"], "cannot write in /proc/here: choose another folder with --data"]]) {
    const env = { ...process.env, ...more };
    const { status, stderr } = await run_status(join(copy, "deploy/quickstart"), options, { env });
    assert.equal(status, 1);
    assert.ok(stderr.includes(words), stderr);
  }
  assert.ok(!existsSync(join(copy, "build/quickstart.log")));
});

test("the program says what it was built from", async () => {
  const lines = (await run_program(stepscope_bin(), ["version"])).trim().split("\n");
  const expected = [/^stepscope \d+\.\d+\.\d+ \(analysis version \d+\)$/, /^database schema \d+$/,
    /^commit ([0-9a-f]{40}|not recorded)$/, /^compiler (gcc|clang) \d.*glibc \d/,
    /^libraries (\S+ \d[^ ,]*(, |$)){12}$/];
  assert.equal(lines.length, expected.length);
  expected.forEach((pattern, i) => assert.match(lines[i], pattern));
});

test("the components of a package are listed as SPDX, the same for the same package", async () => {
  const file = join(temporary("sbom"), "stepscope_1.deb");
  writeFileSync(file, "a package");
  const library = ["libuv1", "1.44.2-1+deb12u1", "libuv1", "1.44.2-1+deb12u1", "CONTAINS"];
  const line = `printf '%s\\n' '${library.join("\t")}' | ` +
    `SOURCE_DATE_EPOCH=1790000000 node deploy/sbom.mjs '${file}' 1+2 abc .`;
  const text = (await run_status("sh", ["-c", line], { cwd: root })).stdout;
  assert.equal((await run_status("sh", ["-c", line], { cwd: root })).stdout, text);
  const { packages, relationships, spdxVersion, creationInfo } = JSON.parse(text);
  assert.equal(spdxVersion, "SPDX-2.3");
  assert.equal(creationInfo.created, "2026-09-21T14:13:20Z");
  assert.deepEqual(packages.map(({ name }) => name), ["stepscope", library[0], "htm", "preact"]);
  assert.match(packages[1].externalRefs[0].referenceLocator, /^pkg:deb\/\w+\/libuv1.*1\.44\.2-1/);
  assert.equal(new Set(packages.map(({ SPDXID }) => SPDXID)).size, packages.length);
  assert.ok(packages.every(({ SPDXID }) => /^SPDXRef-[A-Za-z0-9.-]+$/.test(SPDXID)));
  assert.deepEqual(relationships.map((one) => one.relatedSpdxElement),
    packages.map(({ SPDXID }) => SPDXID));
});
