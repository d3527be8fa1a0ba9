// SPDX-License-Identifier: Apache-2.0
// What tests of links measured, the run's collectives beside it, and how devices are connected;
// pure.
import { bytes, number, percent, plural, sentence } from "../../base/format.mjs";

export const LEAST_BYTES = 1000; // smaller transfers say nothing about the link

const key_of = ({ kind, ranks, nodes }) => `${kind}/${ranks}/${nodes ?? ""}`;

const label_of = ({ kind, ranks, nodes }) => `${kind}, ${plural(ranks, "rank")}${
  nodes === null ? "" : ` on ${plural(nodes, "node")}`}`;

/** Rows by what `key` gives for them. */
function grouped(rows, key) {
  const found = new Map();
  for (const row of rows) {
    const own = found.get(key(row));
    if (own) own.push(row);
    else found.set(key(row), [row]);
  }
  return found;
}

/** The best bandwidth at each size, by size. */
function best_points(tests) {
  const found = new Map();
  for (const { bytes: size, bus_gbps, wrong } of tests) {
    if (size >= LEAST_BYTES && bus_gbps > (found.get(size) ?? 0) && !(wrong > 0)) {
      found.set(size, bus_gbps);
    }
  }
  return [...found].map(([size, bus_gbps]) => ({ bytes: size, bus_gbps }))
    .sort((a, b) => a.bytes - b.bytes);
}

/**
 * The rows of link_curves with their points.
 * @param {any[]} curves @param {any[]} tests rows of link_tests
 */
export function curves_of(curves, tests) {
  const by_key = grouped(tests, key_of);
  return curves.map((curve) => ({ ...curve, key: key_of(curve), label: label_of(curve),
    points: best_points(by_key.get(key_of(curve)) ?? []) }))
    .filter(({ points }) => points.length > 0);
}

const can_span = ({ nodes }, { span }) => !span || nodes === null
  || (span === "intra-node") === (nodes === 1);

/** The run's collectives that a curve is the reference for. @param {any[]} rows */
export function own_of(curve, rows) {
  return rows.filter((row) => row.kind === curve.kind && row.group_size === curve.ranks
    && can_span(curve, row) && row.bytes >= LEAST_BYTES && row.bus_gbps > 0);
}

/** The curve that says most about the run first. */
export function by_use(curves, rows) {
  const use = (curve) => own_of(curve, rows).reduce((sum, { total_ns }) => sum + total_ns, 0);
  return curves.map((curve) => ({ curve, ns: use(curve) })).sort((a, b) => b.ns - a.ns)
    .map(({ curve }) => curve);
}

const gbps = (value) => `${number(value)} GB/s`;

/** "Up to 483 GB/s at 8.59 GB; 80 % of that from 134 MB on". */
export function curve_sentence(curve) {
  const peak = `${curve.label}: up to ${gbps(curve.peak_gbps)} at ${bytes(curve.peak_bytes)}`;
  if (curve.points.length < 2) return peak; // one size says nothing of others
  return `${peak}${curve.rising ? ", and still rising" : ""}; 80 % of that from ${
    bytes(curve.enough_bytes)} on`;
}

/** The fastest of all tests; "" without one. @param {any[]} curves */
function fastest_text(curves) {
  const best = [...curves].sort((a, b) => b.peak_gbps - a.peak_gbps)[0];
  return best ? `The links reach up to ${gbps(best.peak_gbps)}: ${best.kind} of ${
    bytes(best.peak_bytes)} between ${plural(best.ranks, "rank")}` : "";
}

const best_record = (records) => [...records].sort((a, b) => b.best_bus_gbps - a.best_bus_gbps)[0];

function recorded_text(records) {
  const best = best_record(records);
  return best?.best_bus_gbps > 0 ? `NCCL recorded up to ${gbps(best.best_bus_gbps)}: ${
    best.operation} of ${bytes(best.bytes)} between ${plural(best.ranks, "rank")}` : "";
}

/** "2 of 8 ports are not active"; "" for none. */
function some_text(some, all, what, [is, are]) {
  if (some === 0) return "";
  return all.length === 1 ? `the only ${what} ${is}`
    : `${some} of ${all.length} ${what}s ${some === 1 ? is : are}`;
}

/**
 * What files about links say, without collectives of a trace beside them: how fast they are, and
 * what is broken.
 * @param {Record<"curves"|"records"|"ports"|"communicators"|"topology", any[]>} rows
 */
export function links_lead({ curves, records, ports, communicators, topology }) {
  const broken = communicators.filter(is_broken).length;
  const off = ports.filter(is_off).length;
  const parts = [fastest_text(curves) || recorded_text(records),
    some_text(broken, communicators, "communicator",
      ["has ranks missing, failed or behind", "have ranks missing, failed or behind"]),
    some_text(off, ports, "network port", ["is not active", "are not active"])].filter(Boolean);
  if (parts.length > 0) return sentence(parts.join("; "));
  if (topology.some(is_of_gpus)) return `${topology_sentence(topology)}.`;
  if (ports.length === 1) return "The only network port is active.";
  return ports.length > 0 ? `All ${plural(ports.length, "network port")} are active.` : "";
}

const NEAR = 0.8;
const ABOVE = 1.1;

const BESIDE = 0.1;

/** The share of a row's time beside compute; null if unknown. @param {any} row */
function hidden_of({ transfer_ns, exposed_transfer_ns, exposed_share }) {
  if (transfer_ns > 0) return 1 - exposed_transfer_ns / transfer_ns;
  return exposed_share === null || exposed_share === undefined ? null : 1 - exposed_share;
}

/** Why a row may be slower than the test, by what the trace says. @param {any} row */
function slow_text(row) {
  const hidden = hidden_of(row);
  const waits = "transfer_ns" in row ? "" : "its times include waiting for other ranks, and ";
  if (hidden !== null && hidden > BESIDE) {
    return `slower than the links allow: ${waits}compute overlaps ${percent(hidden)} of it, `
      + "taking SMs and memory bandwidth";
  }
  return `slower than the links allow: ${waits}little compute overlaps it, so `
    + "look at other collectives on the same links and at NCCL settings that differ from the "
    + "test's";
}

/** What a share means. @param {any} row @param {any} curve */
function meaning_of(row, curve) {
  if (row.reference_share > ABOVE) {
    return "faster than the test, which may have run with other NCCL settings or next to other "
      + "jobs";
  }
  if (row.reference_share >= NEAR) {
    return row.bytes < curve.enough_bytes
      ? `as fast as these links are at this size; messages of ${bytes(curve.enough_bytes)} or `
        + "more would use them better"
      : "about what these links can do";
  }
  return slow_text(row);
}

const MOST_SENTENCES = 3;

/**
 * The collectives with a reference that take the most time, in words.
 * @param {any[]} rows of comm_waits or collectives @param {any[]} curves
 */
export function share_sentences(rows, curves) {
  return rows.filter(({ reference_share }) => reference_share > 0)
    .sort((a, b) => b.total_ns - a.total_ns).slice(0, MOST_SENTENCES)
    .map((row) => {
      const curve = curves.find((one) => own_of(one, [row]).length > 0);
      return { key: `${row.process_group} ${row.kind} ${row.dtype} ${row.bytes}`,
        head: `${row.kind} of ${bytes(row.bytes)}`,
        text: ` reaches ${percent(row.reference_share)} of the ${gbps(row.reference_gbps)} that ${
          row.reference_basis} measured: ${meaning_of(row, curve ?? {})}.` };
    });
}

/** Why collectives have no reference, with how many. @param {any[]} rows */
export function without_sentence(rows) {
  const why = rows.filter(({ reference_gbps, reference_basis }) =>
    reference_gbps === null && reference_basis);
  if (why.length === 0) return "";
  const counts = [...grouped(why, ({ reference_basis }) => reference_basis)]
    .sort((a, b) => b[1].length - a[1].length)
    .map(([reason, of]) => `${of.length} ${reason}`);
  return `${plural(why.length, "row")} of the tables below without a reference: ${
    counts.join(", ")}.`;
}

// --- topology -----------------------------------------------------------------------------------

// From the fastest to the slowest; NV matches any number of links.
const KINDS = [["NV", "nv"], ["C2C", "nv"], ["PSB", "near"], ["PIX", "near"], ["PXB", "pcie"],
  ["PHB", "host"], ["NODE", "host"], ["SYS", "far"]];

/** The look of a kind of path. @param {string} kind */
export const tone_of = (kind) => KINDS.find(([start]) => kind.startsWith(start))?.[1] ?? "other";

const rank_of = (kind) => {
  const at = KINDS.findIndex(([start]) => kind.startsWith(start));
  return at < 0 ? KINDS.length : at;
};

const host_key = ({ file, matrix }) => `${file}/${matrix ?? 0}`;

/**
 * The rows of each host's matrix.
 * @param {any[]} rows of link_topology
 * @returns {{key: string, label: string, rows: any[]}[]}
 */
export function hosts_of(rows) {
  return [...grouped(rows, host_key)].map(([key, of]) => ({ key, rows: of,
    label: of[0].matrix > 0 ? `${of[0].file}, ${of[0].matrix + 1}` : of[0].file }));
}

/**
 * The matrix of a host.
 * @param {any[]} rows of link_topology, of one host
 */
export function matrix_of(rows) {
  const places = new Map();
  const cells = new Map();
  for (const row of rows) {
    places.set(row.from_name, { name: row.from_name, device: row.from_device,
      numa: row.from_numa });
    cells.set(`${row.from_name} ${row.to_name}`, row);
  }
  const kinds = new Map(rows.map(({ kind, meaning }) => [kind, meaning]));
  return { places: [...places.values()], cell: (from, to) => cells.get(`${from} ${to}`) ?? null,
    kinds: [...kinds].map(([kind, meaning]) => ({ kind, meaning, tone: tone_of(kind) }))
      .sort((a, b) => rank_of(a.kind) - rank_of(b.kind)) };
}

const is_of_gpus = ({ from_name, to_name }) =>
  from_name.startsWith("GPU") && to_name.startsWith("GPU");

/** "GPU0 to GPU3 are connected by NV18, ..." in one sentence. @param {any[]} rows */
export function topology_sentence(rows) {
  const gpus = rows.filter(is_of_gpus);
  const names = new Set(gpus.map(({ from_name }) => from_name));
  if (gpus.length === 0) return "Paths between devices";
  const kinds = [...new Set(gpus.map(({ kind }) => kind))].sort((a, b) => rank_of(a) - rank_of(b));
  const worst = gpus.find(({ kind }) => kind === kinds.at(-1));
  return kinds.length === 1
    ? `All ${names.size} GPUs reach each other by ${kinds[0]}${
      worst.meaning ? `: ${worst.meaning}` : ""}`
    : `GPUs reach each other by ${kinds.slice(0, -1).join(", ")} or ${kinds.at(-1)}; the slowest: ${
      worst.meaning ?? worst.kind}`;
}

const is_off = ({ state }) => state !== "Active";

/** "1 of 8 ports is not active". @param {any[]} ports */
export function ports_note(ports) {
  const off = ports.filter(is_off).length;
  return off === 0 ? `all ${ports.length} active`
    : `${off} of ${ports.length} not active`;
}

const is_broken = ({ missing_ranks, failed_ranks, behind_rank }) =>
  missing_ranks > 0 || failed_ranks > 0 || behind_rank !== null;

/** "1 of 3 lacks ranks or has one behind; by NCCL RAS". @param {any[]} rows */
export function communicators_note(rows) {
  const bad = rows.filter(is_broken).length;
  return bad === 0 ? "by NCCL RAS: every rank responded, none is behind"
    : `by NCCL RAS: ${bad} of ${rows.length} with ranks missing, failed or behind`;
}
