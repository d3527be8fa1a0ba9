// SPDX-License-Identifier: Apache-2.0
// The pure half of the router: which page a path refers to, and how a query is written.

/** False on the page that needs no server: there, addresses come after a #. */
export const has_server = globalThis.document?.documentElement.dataset.server !== "none";

// Pages of a run; the overview has no name.
const RUN_PAGES = ["findings", "whatif", "kernels", "operators", "modules", "ranges", "roofline",
  "flame", "timeline", "idle", "collectives", "memory", "ranks", "training", "data"];

const ROUTES = [
  ["runs", /^\/(runs\/?)?$/],
  ["home", /^\/news\/?$/],
  ["view", /^\/v\/(?<view>[^/]+)$/],
  ["upload", /^\/upload\/?$/],
  ["compare", /^\/compare\/?$/],
  ["compare_timeline", /^\/compare\/timeline\/?$/],
  ["trends", /^\/trends\/?$/],
  ["alerts", /^\/alerts\/?$/],
  ["plan", /^\/plan\/?$/],
  ["login", /^\/login\/?$/],
  ["tokens", /^\/settings\/tokens\/?$/],
  ["audit", /^\/settings\/audit\/?$/],
  ["bin", /^\/settings\/bin\/?$/],
  ["api", /^\/docs\/api\/?$/],
  ["recording", /^\/docs\/recording\/?$/],
  ["agents", /^\/docs\/agents\/?$/],
  ["overview", /^\/runs\/(?<run>[^/]+)\/?$/],
  ["kernel", /^\/runs\/(?<run>[^/]+)\/kernels\/(?<name>[^/]+)\/?$/],
  ["operator", /^\/runs\/(?<run>[^/]+)\/operators\/(?<name>[^/]+)\/?$/],
  ...RUN_PAGES.map((page) => [page, new RegExp(`^/runs/(?<run>[^/]+)/${page}/?$`)]),
];

/** Percent-decoded, or as it is if that is not possible. @param {string} text */
export function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * @param {string} path
 * @returns {{page: string, run?: string, name?: string, view?: string}} page "none" if there is no
 *   such page
 */
export function match_path(path) {
  for (const [page, pattern] of ROUTES) {
    const match = pattern.exec(path);
    if (!match) continue;
    const named = Object.entries(match.groups ?? {});
    return { page, ...Object.fromEntries(named.map(([name, text]) => [name, decoded(text)])) };
  }
  return { page: "none" };
}

/**
 * A query with some keys changed: defaults and empty values left out, keys sorted, others kept.
 * An array repeats its key, in its order.
 * @param {string} search @param {Record<string, string|string[]|null|undefined>} patch
 * @param {Record<string, string|string[]>} [defaults]
 */
export function patch_query(search, patch, defaults = {}) {
  const params = new URLSearchParams(search);
  for (const [key, value] of Object.entries(patch)) {
    params.delete(key);
    if (value === defaults[key]) continue;
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") params.append(key, one);
    }
  }
  params.sort();
  const text = params.toString();
  return text ? `?${text}` : "";
}

/**
 * An address with parameters; arrays repeat the key, null and "" are left out.
 * @param {string} path @param {Record<string, unknown>} [params]
 */
export function address(path, params = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") query.append(key, String(one));
    }
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/**
 * The address of the sign-in page, which leads back. @param {string} [next] path and query of a
 * page
 */
export function login_path(next) {
  return next && next !== "/" ? `/login?next=${encodeURIComponent(next)}` : "/login";
}

/**
 * Where to go after signing in: always a page of ours, whatever the address says.
 * @param {string|null} next @param {string} origin
 */
export function next_page(next, origin) {
  const url = next?.startsWith("/") && URL.canParse(next, origin) ? new URL(next, origin) : null;
  if (url?.origin !== origin || match_path(url.pathname).page === "none") return "/";
  return match_path(url.pathname).page === "login" ? "/" : url.pathname + url.search + url.hash;
}

/** The address of a run's page. @param {string} run @param {string} [page] */
export function run_path(run, page = "") {
  const base = `/runs/${encodeURIComponent(run)}`;
  return page ? `${base}/${page}` : base;
}

const MOST_NAME = 6000; // characters encoded; longer ones do not fit the lines of proxies

/** Whether a name is short enough for an address. @param {string} name */
export const fits_address = (name) => encodeURIComponent(name).length <= MOST_NAME;

const name_path = (page, run, name, rank) => {
  const text = encodeURIComponent(name);
  if (!fits_address(name) || /^\.*$/.test(name)) {
    return address(run_path(run, page), { q: name.slice(0, 200), rank });
  }
  return address(`${run_path(run, page)}/${text}`, { rank });
};

/**
 * The page of a kernel, or of an operator. Of a name too long for an address, the table's rows.
 * @param {string} run @param {string} name in full @param {string|number|null} [rank]
 */
export const kernel_path = (run, name, rank) => name_path("kernels", run, name, rank);

/** Null without a name, and for "(no operator)" and the like, which have no page. */
export const operator_path = (run, name, rank) =>
  (!name || name.startsWith("(") ? null : name_path("operators", run, name, rank));

/**
 * The address of a run's timeline around a highlighted span. Tables count from the start of device
 * work; the page shifts that to the start of the trace.
 * @param {string} run @param {string|number|null} rank null or "" for the typical rank
 * @param {number} begin_ns @param {number} dur_ns
 */
export function timeline_path(run, rank, begin_ns, dur_ns) {
  return address(run_path(run, "timeline"), { rank, at: `${begin_ns}-${begin_ns + dur_ns}` });
}

// Evidence refers to tables of the API; these are shown on a page with another name.
const PAGE_OF_TABLE = {
  critical_path: "whatif",
  ready_changes: "whatif",
  steps: "",
  breakdown: "",
  parts: "",
  trust: "data",
  environment: "data",
  recording: "data",
  launches: "data",
  short_kernels: "kernels?sort=median_ns",
  categories: "kernels?group=category",
  uncategorized: "kernels?group=category",
  ops: "operators",
  op_shapes: "operators?view=shapes",
  op_tree: "operators?view=tree",
  idle_causes: "idle",
  idle_gaps: "idle",
  stream_idle: "idle",
  queues: "idle",
  launch_delays: "idle",
  phases: "",
  work: "roofline",
  metrics: "roofline",
  memory_timeline: "memory",
  memory_peak: "memory",
  counters: "memory",
  counter_steps: "memory",
  counter_series: "memory",
  copies: "memory",
  process_groups: "collectives",
  comm_sizes: "collectives",
  comm_waits: "collectives",
  lateness: "collectives",
  clocks: "collectives",
  rank_steps: "ranks?by=steps",
  efficiency: "ranks",
  strategy: "ranks",
  pipeline: "ranks",
};

// Keys of a table's query that mean the same on its page, with their names there.
const KEYS_OF_TABLE = {
  comm_waits: { process_group: "group", dimension: "dim", kind: "kind" },
  rank_steps: { rank: "rank", step: "step" },
};
const RANK_ONLY = { rank: "rank" };

/**
 * The address of a finding's evidence inside a run, or null if it is not one of our pages: evidence
 * comes from the analysis of uploads and is not trusted to be an address.
 * @param {string} run @param {unknown} href
 */
export function evidence_path(run, href) {
  if (typeof href !== "string" || !/^[a-z_]+(\?[^#]*)?$/.test(href)) return null;
  const [table, query] = href.split("?");
  const page = Object.hasOwn(PAGE_OF_TABLE, table) ? PAGE_OF_TABLE[table] : table;
  const path = run_path(run, page);
  if (match_path(path.split("?")[0]).page === "none") return null;
  if (page === table) return run_path(run, href);
  const names = Object.hasOwn(KEYS_OF_TABLE, table) ? KEYS_OF_TABLE[table] : RANK_ONLY;
  return with_keys(path, query, names);
}

/** The keys of a query that keep their meaning on another page, under their names there. */
function with_keys(path, query, names) {
  const [base, own] = path.split("?");
  const given = new URLSearchParams(query);
  const patch = Object.entries(names).map(([name, there]) => [there, given.get(name)]);
  return base + patch_query(own ?? "", Object.fromEntries(patch));
}
