// SPDX-License-Identifier: Apache-2.0
// nginx and Caddy with the configurations from deploy/, in which only name, ports and certificate
// are changed.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect as connect_plain } from "node:net";
import { connect } from "node:tls";
import { free_port, root, skipped, temporary, until } from "./tools.mjs";

export const NAME = "traces.example";

/** Why a proxy cannot be started; false if it can. @returns {string | false} */
export const no_proxy = (which) =>
  ["/usr/sbin", "/usr/bin"].some((folder) => existsSync(join(folder, which))) ? false
    : skipped(`what runs behind ${which}: not installed`);

const live = new Set();
process.prependListener("exit", () => live.forEach((child) => child.kill("SIGKILL")));

/** A self-signed certificate for NAME. */
function make_certificate(folder) {
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
    "-nodes", "-days", "2", "-subj", `/CN=${NAME}`, "-addext", `subjectAltName=DNS:${NAME}`,
    "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { cert, key };
}

/** Text with each pattern replaced; all must occur. */
function change(text, changes) {
  return changes.reduce((so_far, [from, to]) => {
    if (!so_far.includes(from)) throw new Error(`the configuration does not hold: ${from}`);
    return so_far.replaceAll(from, to);
  }, text);
}

/** Several services in place of the one, as deploy/ says; without their ports the one. */
function with_nodes(site, pattern, path, ports) {
  if (!ports) return site;
  if (!pattern.test(site)) throw new Error(`the configuration does not hold: ${pattern}`);
  const nodes = change(readFileSync(join(root, "deploy", path), "utf8"),
    ports.map((port, i) => [`10.0.0.1${i + 1}:8080`, `127.0.0.1:${port}`]));
  return site.replace(pattern, () => nodes);
}

/** How nginx listens: with TLS and a redirect to it, or without both. */
function nginx_listens(site, folder, { tls, plain }) {
  if (!tls) {
    return change(site, [["listen 443 ssl http2", `listen 127.0.0.1:${plain}`]])
      .replace(/^ *ssl_.*\n/gm, "").replace(/^server \{\s+listen 80;[^}]*\}/m, "");
  }
  const { cert, key } = make_certificate(folder);
  return change(site, [["listen 443", `listen 127.0.0.1:${tls}`],
    ["listen 80;", `listen 127.0.0.1:${plain};`],
    ["/etc/ssl/stepscope/fullchain.pem", cert], ["/etc/ssl/stepscope/privkey.pem", key]]);
}

function nginx_files(folder, ports) {
  const read = readFileSync(join(root, "deploy/nginx/stepscope.conf"), "utf8");
  const site = change(nginx_listens(read, folder, ports), [
    ["127.0.0.1:8080", `127.0.0.1:${ports.service}`]]);
  writeFileSync(join(folder, "site.conf"), with_nodes(site, /^map [^}]*\}\nupstream [^}]*\}/m,
    "nginx/nodes.conf", ports.nodes));
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((what) => `${what}_temp_path ${folder}/${what};`).join("\n  ");
  writeFileSync(join(folder, "nginx.conf"), `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr warn;
events { worker_connections 1024; }
http {
  access_log off;
  ${temp}
  include ${folder}/site.conf;
}
`);
  return ["nginx", ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")]];
}

/** The address of Caddy's site. */
function caddy_listens(folder, { tls, plain }) {
  if (!tls) return `http://:${plain} {`;
  const { cert, key } = make_certificate(folder);
  return `${NAME}:${tls} {\n\ttls ${cert} ${key}`;
}

function caddy_files(folder, ports) {
  const path = join(folder, "Caddyfile");
  const site = change(readFileSync(join(root, "deploy/caddy/Caddyfile"), "utf8"), [
    ["\n{\n", `\n{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_bind 127.0.0.1\n`],
    [`\n${NAME} {`, `\n${caddy_listens(folder, ports)}`],
    ["127.0.0.1:8080", `127.0.0.1:${ports.service}`]]);
  writeFileSync(path, with_nodes(site, /^\treverse_proxy [^]*?\n\t\}/m, "caddy/nodes.caddy",
    ports.nodes));
  return ["caddy", ["run", "--config", path, "--adapter", "caddyfile"]];
}

const makers = { nginx: nginx_files, caddy: caddy_files };

/** Whether a proxy takes connections. */
function accepts({ tls, plain }) {
  return new Promise((resolve) => {
    const socket = tls
      ? connect({ host: "127.0.0.1", port: tls, servername: NAME, rejectUnauthorized: false })
      : connect_plain({ host: "127.0.0.1", port: plain });
    const end = (ok) => () => (socket.destroy(), resolve(ok));
    socket.once(tls ? "secureConnect" : "connect", end(true)).once("error", end(false));
  });
}

/**
 * Starts a proxy in front of a service, or of several (nodes); without a port for TLS it takes
 * plain HTTP.
 * @param {"nginx"|"caddy"} which
 * @param {{service?: number, tls?: number, nodes?: number[]}} places
 */
export async function start_proxy(which, places) {
  const folder = temporary(which);
  mkdirSync(folder, { recursive: true });
  const ports = { ...places, plain: await free_port() };
  const [program, args] = makers[which](folder, ports);
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], env });
  const proxy = { child, log: "", plain: ports.plain, cert: join(folder, "cert.pem"), exit: null };
  child.stderr.on("data", (text) => (proxy.log += text));
  child.on("exit", (status) => (live.delete(child), (proxy.exit = { status })));
  live.add(child);
  for (const handle of [child, child.stderr]) handle.unref();
  await until(`${which} answers`, () => {
    if (proxy.exit) throw new Error(`${which} ended: ${proxy.log}`);
    return accepts(ports);
  });
  return proxy;
}
