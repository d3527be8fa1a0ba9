// SPDX-License-Identifier: Apache-2.0
// The rules: what each looks at, what it refuses, and samples on which it must and must not fire.
import { dirname, join } from "node:path/posix";
import { line_of } from "./source.mjs";

/**
 * @typedef {import("./source.mjs").Source} Source
 * @typedef {{line: number, what: string}} Complaint
 * @typedef {{name: string, files: RegExp, check: (s: Source) => Complaint[],
 *            bad: [string, string][], good: [string, string][]}} Rule
 * Samples are pairs of path and text.
 */

const C = /\.(c|h)$/;
const SPDX = "SPDX-License-Identifier: Apache-2.0";

/** Complaints for every match of a pattern in a text. */
function matches(text, pattern, what) {
  return [...text.matchAll(pattern)].map((m) => ({
    line: line_of(text, m.index),
    what: what(m),
  }));
}

/** Complaints for every line that a predicate refuses. */
function bad_lines(lines, refuses, what) {
  return lines.flatMap((text, i) => (refuses(text) ? [{ line: i + 1, what: what(text) }] : []));
}

// --- layers -------------------------------------------------------------------------------------

// Folders and single files, lowest first. Every C file belongs to one of them and includes none
// above it, so that folders cannot form a cycle.
const LAYERS = [
  ...["base/", "trace/", "evidence/", "source/", "json/", "csv/", "pickle/", "sqlite/",
    "kineto/", "xplane/", "paraver/", "nsys/", "rocm/", "ncu/", "torch/", "logs/", "monitor/",
    "links/", "attached/", "config/", ""]
    .map((room) => `ingest/${room}`),
  ...["stats/", "report/", "kernel_names/", "names/", "hangs/", "evidence/", "facts/",
    "analysis.h", "trace/", "comm/", "work/", "memory/", "findings/", "ranks/", "replay/",
    "run/", "compare/", "plan/", ""]
    .map((room) => `analysis/${room}`),
  ...["base/", "outbound/", "db/", "exports/", "http/", "store/", "files/", "hooks/", "jobs/",
    "access/", "care/", "api/", "agents/", "steps/", "compare/", "report/", "uploads/", "mcp/",
    "collect/", "routes.", "cli/", "standalone/", ""]
    .map((room) => `server/${room}`),
];

/** The first layer that a path starts with; -1 for one that LAYERS does not name. */
function layer_of(path) {
  const ends = (prefix) => !path.slice(prefix.length).includes("/");
  return LAYERS.findIndex((prefix) => path.startsWith(prefix) && ends(prefix));
}

function check_layers({ path, uncommented }) {
  const own = layer_of(path);
  if (own < 0) return [{ line: 1, what: "found a folder that is not in LAYERS" }];
  return [...uncommented.matchAll(/^[ \t]*#[ \t]*include[ \t]*"([^"]*)"/gm)].flatMap((m) => {
    const line = line_of(uncommented, m.index);
    const other = layer_of(m[1]);
    if (!m[1].includes("/"))
      return [{ line, what: `found include "${m[1]}", expected a path from the source root` }];
    if (other < 0) return [{ line, what: `"${m[1]}" is in no folder of LAYERS` }];
    if (other <= own) return [];
    return [{ line, what: `${LAYERS[own]} must not include ${LAYERS[other]} (arrows point down)` }];
  });
}

// Headers of libraries that may only be used behind one narrow interface each.
const FENCED = [
  [/^civetweb\.h$/, /^server\/http\/http[^/]*$/],
  [/^sqlite3\.h$/, /^(server\/db\/db_sqlite[^/]*|ingest\/sqlite\/database\.c)$/],
  [/^jansson\.h$/, /^(ingest\/(json|kineto)|server)\//],
  [/^archive(_entry)?\.h$/, /^ingest\/(unpack|format_archive)\.c$/],
  [/^curl\/.*$/, /^server\/base\/curl_calls\.h$/],
  [/^xlsxwriter\.h$/, /^server\/(report\/report_xlsx|exports\/(xlsx_book|xlsx_close))\.[ch]$/],
  [/^yaml\.h$/, /^ingest\/config\/format_config_yaml\.c$/],
  [/^(isa-l\.h|isa-l\/.*|igzip_lib\.h)$/,
    /^(ingest\/source\/source_(gzip|stored)|server\/http\/gzip)\.c$/],
];

function check_fences({ path, code }) {
  return [...code.matchAll(/^[ \t]*#[ \t]*include[ \t]*<([^>]*)>/gm)].flatMap((m) => {
    const fence = FENCED.find(([header]) => header.test(m[1]));
    if (!fence || fence[1].test(path)) return [];
    return [{ line: line_of(code, m.index), what: `<${m[1]}> belongs only in ${fence[1].source}` }];
  });
}

// --- size ---------------------------------------------------------------------------------------

const FILE_LINES = 800;
const FUNCTION_LINES = 60;
const PARAMETERS = 5;

function check_file_size({ lines }) {
  const count = lines.length - 1;
  if (count <= FILE_LINES) return [];
  return [{ line: count, what: `file of ${count} lines, expected at most ${FILE_LINES}` }];
}

// The formatter puts the braces of C functions, and no others, alone in column 0; in JavaScript the
// closing brace has the indent of the opening line.
const FUNCTION_OPENS = /^(\{)$|^( *)(?:export |default |async )*function\b.*\{$/;

function check_function_size({ lines }) {
  return lines.flatMap((text, begin) => {
    const opens = FUNCTION_OPENS.exec(text);
    if (!opens) return [];
    const count = lines.indexOf(`${opens[2] ?? ""}}`, begin) - begin - 1;
    if (count <= FUNCTION_LINES) return [];
    const what = `function of ${count} lines, expected at most ${FUNCTION_LINES}`;
    return [{ line: begin + 1, what }];
  });
}

/** The number of parameters after an opening parenthesis; the error's does not count. */
function count_parameters(list) {
  let depth = 1;
  let commas = 0;
  for (const c of list.replace(/,\s*struct err \*err\)$/, ")")) {
    if (c === "(") depth++;
    if (c === ")" && --depth === 0) break;
    if (c === "," && depth === 1) commas++;
  }
  return commas + 1;
}

function check_parameters({ code }) {
  return [...code.matchAll(/^[a-z][\w \t*]*?\b(\w+)\(([^;{}]*)\)\s*\n\{$/gm)].flatMap((m) => {
    const count = count_parameters(m[2] + ")");
    if (count <= PARAMETERS) return [];
    const what = `${m[1]} has ${count} parameters, expected at most ${PARAMETERS}`;
    return [{ line: line_of(code, m.index), what }];
  });
}

// Four columns per level: a function's statements start at column 4.
const TOO_DEEP = /^ {16,}(if|for|while|do|switch)\b/;

function check_nesting({ code }) {
  const what = () => "nested more than 3 levels deep";
  return bad_lines(code.split("\n"), (text) => TOO_DEEP.test(text), what);
}

// --- C ------------------------------------------------------------------------------------------

const BANNED_C =
  /\b(strcpy|strcat|v?sprintf|gets|strtok|ato[ilf]|alloca|system|popen|tmpnam)[ \t]*\(/g;
// The only parts of the HTTP library we use; the rest is banned: its forms, files, scripts, TLS and
// parsers have killed processes (mg_handle_form_request, mg_get_var, document_root,
// ssl_certificate).
const CIVETWEB = new Set(["context", "callbacks", "connection", "header", "request_info",
  "server_port", "get_context", "get_request_info", "get_server_ports", "get_user_data",
  "get_user_connection_data", "set_user_connection_data", "disable_connection_keep_alive",
  "read", "write", "start", "stop"].map((name) => `mg_${name}`));
const BANNED_OPTIONS = new RegExp('"(document_root|ssl_\\w+|\\w+_auth_file|\\w*websocket\\w*|' +
  'lua_\\w+|url_rewrite_patterns|cgi_(?!pattern)\\w+)"', "g");

function check_civetweb({ uncommented }) {
  const used = [...uncommented.matchAll(/\bmg_\w+/g)].filter(([name]) => !CIVETWEB.has(name));
  return [
    ...used.map((m) => ({ line: line_of(uncommented, m.index), what: `${m[0]} is banned` })),
    ...matches(uncommented, BANNED_OPTIONS, (m) => `${m[0]} is banned`),
  ];
}

function check_banned({ code }) {
  return matches(code, BANNED_C, (m) => `${m[1]} is banned`);
}

function check_sql({ uncommented }) {
  return matches(
    uncommented,
    /\bsqlite3_exec\(\s*[^,()]+,\s*(?!["\s])([^,]*)/g,
    (m) => `sqlite3_exec of ${m[1].trim()}, expected a literal (or a prepared statement)`,
  );
}

/** Declarations and definitions at file scope, with empty braces. */
function top_level(code) {
  const found = [];
  let depth = 0;
  let begin = 0;
  let text = "";
  const end = (i) => {
    found.push({ text: text.trim(), at: begin + text.length - text.trimStart().length });
    text = "";
    begin = i + 1;
  };
  for (let i = 0; i < code.length; i++) {
    const c = code[i];
    if (c === "{") depth++;
    text += depth === 0 || c === "\n" ? c : " ";
    if (c === "}" && --depth === 0 && /\)\s*$/.test(text)) end(i);
    else if (c === ";" && depth === 0) end(i);
  }
  return found;
}

/** Whether the declared object is constant. */
function is_constant(declaration) {
  const left = declaration.split("=")[0];
  const star = left.lastIndexOf("*");
  return /\bconst\b/.test(star < 0 ? left : left.slice(star + 1));
}

function check_globals({ code }) {
  const plain = code.replace(/^[ \t]*#(?:[^\n]*\\\n)*[^\n]*/gm, (s) => s.replace(/[^\n]/g, " "));
  const complaints = top_level(plain).flatMap(({ text, at }) => {
    const left = text.split("=")[0];
    if (/^(typedef|extern|_Static_assert)\b/.test(text) || /\([^*]/.test(left)) return [];
    if (!/\w[\w\s*]*[\s*]\**(\w+)\s*(\[[^\]]*\]\s*)*;?\s*$/.test(left)) return [];
    if (/^(struct|enum|union)\s+\w+\s*;?$/.test(left.trim()) || is_constant(text)) return [];
    return [{ line: line_of(plain, at), what: `mutable global: ${left.trim().split("\n")[0]}` }];
  });
  const local = /^[ \t]+static[ \t]+([^;=(){]*)(?:\{[^}]*\})?([^;=(){]*)[;=]/gm;
  const locals = matches(plain, local, (m) => `${m[1]} ${m[2]}`);
  return complaints.concat(
    locals
      .filter(({ what }) => !is_constant(what))
      .map(({ line, what }) => ({ line, what: `mutable static: ${what.trim()}` })),
  );
}

// --- web ----------------------------------------------------------------------------------------

const BANNED_WEB =
  /\b(?:(?:inner|outer|insertAdjacent|dangerouslySetInner)HTML|document\.write)\b|\beval\(/g;

function check_web({ uncommented }) {
  return [
    ...matches(uncommented, BANNED_WEB, (m) => `${m[0]} is banned`),
    ...matches(uncommented, /\bnew\s+Function\(/g, () => "new Function is banned"),
  ];
}

function check_imports({ uncommented }) {
  return matches(
    uncommented,
    /(?:\bfrom|\bimport)\s*\(?\s*["']((?!\.{1,2}\/)[^"'\s]+)["']/g,
    (m) => `import of "${m[1]}", expected a relative path`,
  );
}

// Rooms of web/ from the ground up, "." for the frame at its top.
const WEB_ROOMS = ["vendor", "base", "widgets", "charts", "charts/timeline", "uploads", "chrome",
  ...["said", "run", "bin", "docs", "access", "plan", "work", "memory", "timeline", "ranks", "comm",
    "overview", "whatif", "run_data", "training", "compare", "trends", "home", "runs"]
    .map((room) => `views/${room}`), "pages", "standalone", "."];

function check_web_rooms({ path, uncommented }) {
  const room = (from) => dirname(from).replace(/^web\/?/, "") || ".";
  const own = WEB_ROOMS.indexOf(room(path));
  if (own < 0) return [{ line: 1, what: `${room(path)} is not in WEB_ROOMS` }];
  const imports = /(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"/g;
  return [...uncommented.matchAll(imports)].flatMap((m) => {
    const other = room(join(dirname(path), m[1]));
    if (WEB_ROOMS.indexOf(other) <= own) return [];
    const what = `${WEB_ROOMS[own]} must not import ${other} (arrows point down)`;
    return [{ line: line_of(uncommented, m.index), what }];
  });
}

// Turns of phrase that must not come back, also across line breaks and joined strings: anywhere,
const STRANGE = ["held down", "trainings", "also while", "for that long", "(un)?parted",
  "for want of", "by a fault of", "uploads? in pieces", "somebody", "better set", "worked out"];
// in texts for users,
const STRANGE_TEXTS = [...STRANGE, "the begin of", "(had|not yet) begun", "told (apart|from)",
  "held against", "nobody knows", "places? of files", "left behind are", "goes for good"];
const STRANGE_PAGES = [...STRANGE_TEXTS, "begins? last", "ha(s|ve)( not)? come", "point at",
  "of its own", "the run before", "the one above", "as it was asked", "were found to make"];
const STRANGE_WEB = [...STRANGE_PAGES, "stands for", "what costs", "shared? (it |the model )?out",
  "read are", "the runs before", "were asked about", "key heads"];
const STRANGE_API = [...STRANGE_PAGES, "likewise", "as good as", "so many", "its begin",
  "as the (trace|service) says", "stands? on", "is told", "shared? (it |a model )?out"];
// in Markdown, where a phrase may be quoted,
const STRANGE_DOCS = [...STRANGE_TEXTS, "an? [a-z]+ of its own", "shared? (it )?out",
  "says? of (?!which)", "is told"];
// and in comments.
const STRANGE_COMMENTS = [...STRANGE, "(the|its|their) begin",
  "so many (bytes|rows|files|requests)", "begins? to stand", "in the place of", "is worth little",
  "had rather", "is said to", "log of writes", "held? against", "in vain", "all the same",
  "says? of (?!which)", "told apart", "held? the (clock|device)s? down"];

const BRITISH =
  /[Aa]nalys(e(?!s(\b|_))|ing)|[Cc]olour|\b[Cc]entre|_centre|[Nn]eighbour|[Bb]ehaviour/;

function check_words({ uncommented }, phrases) {
  const joined = uncommented.replace(/"\s*\\?\n\s*(\+ )?"/g, (s) => s.replace(/["+\\]/g, " "));
  const pattern = new RegExp(`\\b(${phrases.join("|").replaceAll(" ", "\\s+")})\\b`, "gi");
  return matches(joined, pattern, (m) => `"${m[0].replace(/\s+/g, " ")}", expected plainer words`);
}

function check_comments({ path, lines, uncommented }) {
  const code = uncommented.split("\n");
  const comments = lines.map((line, i) => {
    if (path.endsWith(".sh")) return /^\s*#/.test(line) ? line.replace(/^[\s#]+/, "") : "";
    if (line === code[i]) return "";
    let at = 0;
    while (line[at] === code[i][at]) at++;
    return line.slice(at).replace(/^[/*\s]+/, "");
  });
  return check_words({ uncommented: comments.join("\n") }, STRANGE_COMMENTS);
}

function check_docs({ text }) {
  const plain = text.replace(/`[^`\n]*`|"[^"\n]*"/g, (s) => "x".repeat(s.length));
  return check_words({ uncommented: plain }, STRANGE_DOCS);
}

function check_html({ text }) {
  const inline = /<script(?![^>]*\bsrc=)[^>]*>|<style\b|\sstyle=|\son[a-z]+=/g;
  return [
    ...matches(text, inline, (m) => `inline ${m[0].trim()}: the page's policy refuses it`),
    ...matches(text, /(?:src|href)="(?:https?:)?\/\/[^"]*"/g, (m) => `${m[0]}: another host`),
  ];
}

// --- every file ---------------------------------------------------------------------------------

function check_spdx({ lines, path }) {
  const at = lines[0].startsWith("#!") ? 1 : 0;
  const line = lines[at] ?? "";
  if (line.includes(SPDX)) return [];
  return [{ line: at + 1, what: `found no licence line, expected "${SPDX}" to open ${path}` }];
}

const HOSTS = new RegExp(
  ["registry\\.[a-z0-9.-]+", "npmmirror\\.com", "pypi\\.org", "pythonhosted\\.org"].join("|"),
);
// A folder on some machine; "work" is a room of ours.
const MACHINE_PATH = /(?<![\w.\/~-])\/((root|home)(?=\/|["'\s)]|$)|work(?=\/))/;

function check_places({ lines }) {
  const what = () => "a path or registry of one machine";
  return bad_lines(lines, (text) => MACHINE_PATH.test(text) || HOSTS.test(text), what);
}

function check_lock({ lines }) {
  const refuses = (text) => /^\s*"resolved":/.test(text);
  return bad_lines(lines, refuses, () => 'found "resolved", expected only versions and hashes');
}

/** @param {string} text */
function long(text) {
  return [...text].length > 100;
}

const static_h = "struct x {\n    int a;\n};\nint f(void);\nextern int g;\n";
const repeat = (text, count) => Array(count).fill(text).join("");

/** @type {Rule[]} */
export const rules = [
  {
    name: "layers",
    files: /^(ingest|analysis|server)\/.*\.(c|h)$/,
    check: check_layers,
    bad: [
      ["ingest/a.c", '#include "analysis/report/report.h"\n'],
      ["ingest/base/a.c", '#include "ingest/trace/trace.h"\n'],
      ["ingest/json/a.c", '#include "ingest/kineto/kineto_walk.h"\n'],
      ["analysis/stats/a.c", '#include "analysis/report/report.h"\n'],
      ["analysis/a.h", '#include "server/store/store.h"\n'],
      ["analysis/a.h", '#include "report.h"\n'],
      ["server/http/a.h", '#include "server/store/store.h"\n'],
      ["server/cli/a.c", '#include "server/other/a.h"\n'],
      ["server/other/a.c", "int f(void);\n"],
    ],
    good: [
      ["analysis/a.c", '#include "ingest/trace/trace.h"\n#include "analysis/a.h"\n'],
      ["server/routes.c", '#include "server/api/api.h"\n#include "server/routes.h"\n'],
      ["server/cli/a.c", '#include "server/routes.h"\n'],
    ],
  },
  {
    name: "library-fences",
    files: /^(ingest|analysis|server)\/.*\.(c|h)$/,
    check: check_fences,
    bad: [
      ["server/api/api_runs.c", "#include <sqlite3.h>\n"],
      ["server/uploads/upload.c", "#include <civetweb.h>\n"],
      ["analysis/trace/summary.c", "#include <jansson.h>\n"],
    ],
    good: [["server/db/db_sqlite_x.c", "#include <sqlite3.h>\n"]],
  },
  {
    name: "file-size",
    files: /\.(c|h|js|mjs|css|sh)$/,
    check: check_file_size,
    bad: [["a.c", repeat("\n", 801)]],
    good: [["a.c", repeat("\n", 800)]],
  },
  {
    name: "function-size",
    files: /\.(c|h|js|mjs)$/,
    check: check_function_size,
    bad: [
      ["a.c", `void f(void)\n{\n${repeat("    g();\n", 61)}}\n`],
      ["a.mjs", `export async function f() {\n${repeat("  g();\n", 61)}}\n`],
    ],
    good: [["a.c", `void f(void)\n{\n${repeat("    g();\n", 60)}}\n`]],
  },
  {
    name: "parameters",
    files: /\.c$/,
    check: check_parameters,
    bad: [["a.c", "static int f(int a, int b, int c,\n             int d, int e, int g)\n{\n}\n"]],
    good: [
      ["a.c", "int f(int a, void (*b)(int, int), int c, int d, int e)\n{\n}\n"],
      ["a.c", "int f(int a, int b, int c, int d, int e, struct err *err)\n{\n}\n"],
    ],
  },
  {
    name: "nesting",
    files: C,
    check: check_nesting,
    bad: [["a.c", `${repeat(" ", 16)}if (a)\n`]],
    good: [["a.c", `${repeat(" ", 12)}for (;;)\n${repeat(" ", 16)}done(a);\n`]],
  },
  {
    name: "banned-c",
    files: C,
    check: check_banned,
    bad: [
      ["a.c", "void f(char *a)\n{\n    strcpy(a, b);\n}\n"],
      ["a.c", "int f(void)\n{\n    return atoi (x);\n}\n"],
    ],
    good: [["server/a.c", '// strcpy( is not used\nchar *s = "sprintf(";\nsnprintf(a, 1, "");\n']],
  },
  {
    name: "http-library",
    files: /^server\/.*\.(c|h)$/,
    check: check_civetweb,
    bad: [
      ["server/http/http.c", 'const char *o[] = {"document_root", "."};\n'],
      ["server/http/http.c", "mg_handle_form_request(c, &h);\n"],
      ["server/http/http.c", '{"ssl_certificate", p}\n'],
      ["server/http/http.c", "mg_get_var(a, 1, b, c, 2);\n"],
      ["server/http/http.c", "mg_send_file(c, path);\n"],
      ["server/http/http.c", '{"global_auth_file", p}\n'],
    ],
    good: [["server/http/http.c", '// no document_root\nmg_read(c, b, 1); x = "cgi_pattern";\n']],
  },
  {
    name: "sql-literals",
    files: /\.c$/,
    check: check_sql,
    bad: [["server/a.c", "sqlite3_exec(db, text, 0, 0, 0);\n"]],
    good: [["server/a.c", 'sqlite3_exec(s->db,\n   "BEGIN", 0, 0, 0);\n']],
  },
  {
    name: "mutable-globals",
    files: /^(ingest|analysis|server)\/.*\.c$/,
    check: check_globals,
    bad: [
      ["server/a.c", "static int count;\n"],
      ["server/a.c", "int f(void)\n{\n}\n\nstruct x y = {1};\n"],
      ["server/a.c", 'static const char *names[] = {"a"};\n'],
      ["server/a.c", "static _Atomic bool *p = NULL;\n"],
      ["server/a.c", "int f(void)\n{\n    static int calls = 0;\n    return calls;\n}\n"],
      ["server/a.c", "int f(void)\n{\n    static struct {\n        int a;\n    } s;\n}\n"],
    ],
    good: [
      ["server/a.c", 'static const char *const names[] = {"a", "b"};\nstatic int f(int);\n'],
      ["server/a.c", `#define A(x) \\\n  int b = x;\n${static_h}static const int a[2] = {1};\n`],
      ["server/a.c", "enum e { A, B };\nstatic int f(struct x *y)\n{\n    int z = 0;\n}\n"],
      ["server/a.c", "static const struct route routes[] = {\n    {.f = f},\n};\n"],
      ["server/a.c", "int f(void)\n{\n    static const int t[] = {1};\n    return t[0];\n}\n"],
      ["server/a.c", "int f(void)\n{\n    static const struct {\n        int a;\n    } s[];\n}\n"],
    ],
  },
  {
    name: "banned-web",
    files: /^web\/.*\.(js|mjs|html)$/,
    check: check_web,
    bad: [
      ["web/a.mjs", "node.innerHTML = x;\n"],
      ["web/a.mjs", "node.insertAdjacentHTML('x', y);\n"],
      ["web/a.mjs", "eval(x);\n"],
      ["web/a.mjs", "const f = new Function(x);\n"],
    ],
    good: [["web/a.mjs", "// never innerHTML\nnode.textContent = evaluate(x);\n"]],
  },
  {
    name: "web-imports",
    files: /^web\/.*\.(js|mjs)$/,
    check: check_imports,
    bad: [
      ["web/a.mjs", 'import { h } from "preact";\n'],
      ["web/a.mjs", 'await import("https://example.com/x.mjs");\n'],
    ],
    good: [["web/a.mjs", 'import { h } from "./vendor/preact.mjs";\nimport "../b.mjs";\n']],
  },
  {
    name: "web-rooms",
    files: /^web\/.*\.mjs$/,
    check: check_web_rooms,
    bad: [
      ["web/base/a.mjs", 'import { Card } from "../widgets/widgets.mjs";\n'],
      ["web/charts/a.mjs", 'import "./timeline/b.mjs";\n'],
      ["web/views/run/a.mjs", 'const b = import("../trends/b.mjs");\n'],
      ["web/chrome/a.mjs", 'import "../app.mjs";\n'],
      ["web/views/a.mjs", "export const a = 1;\n"],
    ],
    good: [
      ["web/app.mjs", 'import "./base/ui.mjs";\nimport("./views/runs/runs.mjs");\n'],
      ["web/views/trends/a.mjs", 'import "../run/b.mjs";\nimport "./c.mjs";\n'],
      ["web/charts/a.mjs", '/** @type {import("../widgets/b.mjs").B} */\n'],
    ],
  },
  {
    name: "web-words",
    files: /^web\/.*\.(mjs|html)$/,
    check: (file) => check_words(file, STRANGE_WEB),
    bad: [
      ["web/a.mjs", 'help: "Since the begin of the trace",\n'],
      ["web/a.mjs", 'help: "later runs are held "\n  + "against it",\n'],
      ["web/a.mjs", "html`<p>Point\n  at a mark</p>`\n"],
    ],
    good: [["web/a.mjs", 'help: "Since the start of the trace",\n']],
  },
  {
    name: "comment-words",
    files: /\.(c|h|mjs|css|sh)$/,
    check: check_comments,
    bad: [
      ["a.h", "// Room for so\n// many bytes.\n"],
      ["web/a.mjs", "/**\n * Since the\n * begin of a step.\n */\n"],
      ["a.css", "/* Resumes an upload in pieces. */\n"],
      ["a.sh", "# the begin of a run\n"],
    ],
    good: [
      ["a.c", '// Read again.\nconst char *s = "so many rows";\n'],
      ["a.mjs", "// There are so many of them that the table scrolls.\n"],
    ],
  },
  {
    name: "api-words",
    files: /^(ingest|analysis|server)\/.*\.(c|h|tables)$|^schema\/openapi\.json$/,
    check: (file) => check_words(file, STRANGE_API),
    bad: [
      ["analysis/a.tables", "    a  i64  ns  Since the\n                begin of it.\n"],
      ["server/a.c", '"the ranks of "\n    "one run, likewise"\n'],
      ["analysis/a.h", '"Runs are held "  \\\n    "against others."\n'],
      ["schema/openapi.json", '"description": "Uploads in pieces."\n'],
    ],
    good: [
      ["analysis/a.tables", "    a_ns  i64  ns  Since the start of the trace.\n"],
      ["schema/openapi.json", '"description": "Resumable uploads."\n'],
    ],
  },
  {
    name: "docs-words",
    files: /\.md$/,
    check: check_docs,
    bad: [
      ["a.md", "Each reads it in a process of its own.\n"],
      ["README.md", "What the log says\nof a run.\n"],
    ],
    good: [["a.md", 'It ends with "places of files". A message says of which run it is.\n']],
  },
  {
    name: "page-policy",
    files: /^web\/.*\.html$/,
    check: check_html,
    bad: [
      ["web/index.html", "<script>alert(1)</script>\n"],
      ["web/index.html", '<p style="color:red">\n'],
      ["web/index.html", '<script src="//cdn.example.com/x.js"></script>\n'],
    ],
    good: [["web/index.html", '<script type="module" src="/static/a/app.mjs"></script>\n']],
  },
  {
    name: "spdx",
    files: /\.(c|h|cpp|m?js|css|sql|sh|awk|cmake|tables)$|(^|\/)(run|quickstart|CMakeLists\.txt)$/,
    check: check_spdx,
    bad: [
      ["a.c", "int a;\n"],
      ["a.sh", "#!/bin/bash\nset -e\n"],
    ],
    good: [
      ["a.c", `// ${SPDX}\n`],
      ["a.sh", `#!/bin/bash\n# ${SPDX}\n`],
    ],
  },
  {
    name: "tabs",
    files: /./,
    check: ({ lines }) => bad_lines(lines, (t) => /\t/.test(t), () => "tab"),
    bad: [["a.c", "\tint a;\n"]],
    good: [["a.c", "    int a;\n"]],
  },
  {
    name: "trailing-space",
    files: /\.(c|h|cpp|js|mjs|css|html|sql|sh|awk|cmake|tables|txt)$/,
    check: ({ lines }) => bad_lines(lines, (t) => /[ \r]$/.test(t), () => "space at line's end"),
    bad: [["a.c", "int a; \n"]],
    good: [["a.c", "int a;\n"]],
  },
  {
    name: "columns",
    files: /\.(c|h|cpp|js|mjs|css|sql|sh)$/,
    check: ({ lines }) =>
      bad_lines(lines, long, (t) => `${[...t].length} columns, expected at most 100`),
    bad: [["a.c", `${repeat("x", 101)}\n`]],
    good: [["a.c", `${repeat("\u00e9", 100)}\n`]],
  },
  {
    name: "unfinished",
    files: /\.(c|h|cpp|js|mjs|css|html|sql|sh|awk|tables)$/,
    check: ({ lines }) =>
      bad_lines(lines, (t) => /\b(TO[D]O|FIX[M]E|XX[X])\b/.test(t), () => "unfinished work"),
    bad: [["a.c", `// ${"TO"}DO later\n`]],
    good: [["a.c", "// done\n"]],
  },
  {
    name: "old-node", // tests run on Debian 12's own Node 18
    files: /^tests\/.*\.mjs$/,
    check: ({ code }) => matches(code,
      /\.(toSorted|toReversed|toSpliced)\(|timers\.enable\([[{]|\b(Object|Map)\.groupBy\(/g,
      (m) => `${m[0]} is not in Node 18`),
    bad: [["tests/a.mjs", "x.toSorted();\n"], ["tests/a.mjs", "mock.timers.enable({});\n"]],
    good: [["tests/a.mjs", "[...x].sort();\n"], ["web/a.mjs", "x.toSorted();\n"]],
  },
  {
    name: "places",
    files: /./,
    check: check_places,
    bad: [
      ["a.md", `see ${"/wo"}rk/main\n`],
      ["a.sh", `cd "${"/ro"}ot"\n`],
      ["a.json", `"https://${"regis"}try.npmjs.org/x"\n`],
    ],
    good: [["a.md", 'ingest/work/a and ./home/x and ~/work\n']],
  },
  {
    name: "plain-words", // in names, too
    files: /^(?!schema\/sqlite\/|tests\/lint\/).*\.(c|h|mjs|css|html|md|json|sh|tables|py)$/,
    check: ({ lines }) =>
      bad_lines(lines, (t) => /(?<![A-Za-z])(told|anew)(?![A-Za-z])/.test(t),
        () => '"told" or "anew", expected plainer words'),
    bad: [["a.mjs", 'test("a file is made anew");\n'], ["a.c", "bool is_told;\n"]],
    good: [["a.c", "int renewed, untold;\n"]],
  },
  {
    name: "spelling", // one, that of the field's tools
    files: /^(?!schema\/sqlite\/|tests\/lint\/).*\.(c|h|mjs|css|html|md|json|sh|tables)$/,
    check: ({ lines }) =>
      bad_lines(lines, (t) => BRITISH.test(t), () => "British spelling, expected American"),
    bad: [
      ["a.c", "analyse_trace();\n"], ["a.md", "Colours\n"], ["a.mjs", "const centre = 1;\n"],
    ],
    good: [["a.c", "// both analyses of the center's colors\n"]],
  },
  {
    name: "lock",
    files: /package-lock\.json$/,
    check: check_lock,
    bad: [["web/package-lock.json", '{\n  "resolved": "https://x/y.tgz"\n}\n']],
    good: [["web/package-lock.json", '{\n  "integrity": "sha512-x"\n}\n']],
  },
];

/** C file names twice in different folders; `pairs` are x.c and x.h. @param {Source[]} all */
export function repeated_names(all) {
  const first = new Map();
  return all
    .filter(({ path }) => C.test(path))
    .flatMap(({ path }) => {
      const name = path.slice(path.lastIndexOf("/") + 1);
      const other = first.get(name);
      first.set(name, path);
      return other ? [{ path, line: 1, what: `same file name as ${other}` }] : [];
    });
}
