// SPDX-License-Identifier: Apache-2.0
// Ranks as a picture: the figures shown, each rank's place, which ones stand out; pure.
import { time_text } from "../../base/format.mjs";
import { empty_grid, heat_distance, heat_scale, HOLE, turned } from "../../charts/heat_model.mjs";

/**
 * @typedef {{key: string, label: string, column: string, step_column: string, help: string}} Metric
 * `column` is in the table ranks, or derived from lateness; `step_column` is in rank_steps, "" if
 * there is none.
 */

/** @type {Metric[]} */
export const METRICS = [
  { key: "lateness", label: "Lateness", column: "lateness_ns", step_column: "lateness_ns",
    help: "How much later than the others the rank started the collectives that it started "
      + "last." },
  { key: "caused", label: "Wait it causes", column: "caused_ns", step_column: "",
    help: "How long each of the other ranks waits for it per step. A rank that is late only "
      + "because another group kept it waiting causes none." },
  { key: "step", label: "Step time", column: "step_median_ns", step_column: "step_ns",
    help: "Ranks that wait for each other have the same step time, late or not." },
  { key: "compute", label: "Compute", column: "compute_ns", step_column: "compute_ns",
    help: "Time in which a compute kernel ran." },
  { key: "comm", label: "Exposed communication", column: "exposed_comm_ns",
    step_column: "exposed_comm_ns",
    help: "Communication that no compute hid. The late rank has the least of it." },
  { key: "wait", label: "Exposed wait", column: "exposed_wait_ns", step_column: "exposed_wait_ns",
    help: "The part spent waiting for later ranks. The late rank waits least." },
  { key: "idle", label: "Idle", column: "idle_ns", step_column: "idle_ns",
    help: "Time in which nothing ran on the device." },
];

const STEP_TIME = METRICS.find(({ key }) => key === "step");

/** The metrics that have a figure in any row. @param {any[]} rows of the table ranks */
export function known_metrics(rows) {
  return METRICS.filter(({ column }) => rows.some((row) => is_figure(row[column])));
}

export const is_figure = (value) => value !== null && value !== undefined;

/**
 * The wanted metric if known; else the first by which a rank stands out, else the first known one.
 * @param {Metric[]} known @param {string} key @param {any[]} rows of the table ranks
 * @param {number} step_ns
 */
export function chosen_metric(known, key, rows, step_ns) {
  return known.find((metric) => metric.key === key)
    ?? known.find(({ column }) => outliers(rows, column, step_ns).some(is_outstanding))
    ?? known[0] ?? STEP_TIME;
}

const MOST_PLACES = 8192; // a world size may be wrong; holes for all of it would hide the rest

/**
 * All ranks of the run in order, including missing ones.
 * @param {any[]} rows of the table ranks @param {number|null} world
 */
export function all_ranks(rows, world) {
  const known = new Set(rows.map(({ rank }) => rank).filter(is_figure));
  const end = Math.min(world ?? 0, MOST_PLACES);
  for (let rank = 0; rank < end; rank++) known.add(rank);
  return [...known].sort((a, b) => a - b);
}

const natural = new Intl.Collator("en", { numeric: true });

/** Nodes of equal size with consecutive ranks; null if they are not. */
function regular_nodes(rows) {
  if (rows.some(({ node, local_rank }) => !is_figure(node) || !is_figure(local_rank))) return null;
  const size = Math.max(...rows.map(({ local_rank }) => local_rank)) + 1;
  const names = new Map();
  for (const { rank, node, local_rank } of rows) {
    const block = Math.floor(rank / size);
    if (rank % size !== local_rank || (names.get(block) ?? node) !== node) return null;
    names.set(block, node);
  }
  return { size, names };
}

const UNKNOWN_SIZE = 8;

const block_name = (first, last) => (first === last ? `${first}` : `${first}–${last}`);

/** Blocks of consecutive ranks, for those with a known node and those without. */
function block_grid(ranks, row_of, { size, names }) {
  const blocks = Math.floor(ranks.at(-1) / size) + 1;
  const labels = Array.from({ length: blocks }, (_, block) => names
    ? `node ${names.get(block) ?? "?"}`
    : block_name(block * size, Math.min(ranks.at(-1), block * size + size - 1)));
  const locals = Array.from({ length: Math.min(size, ranks.at(-1) + 1) }, (_, i) => `${i}`);
  const grid = empty_grid(locals, labels, names ? "GPU" : "position", names ? "node" : "ranks");
  for (const rank of ranks) grid.item[rank] = row_of.get(rank) ?? HOLE;
  return grid;
}

function node_grid(rows) {
  const nodes = [...new Set(rows.map(({ node }) => String(node ?? "?")))].sort(natural.compare);
  const locals = [...new Set(rows.map(({ local_rank }) => local_rank ?? 0))].sort((a, b) => a - b);
  const grid = empty_grid(locals.map(String), nodes.map((node) => `node ${node}`), "GPU", "node");
  rows.forEach((row, i) => {
    const at = nodes.indexOf(String(row.node ?? "?")) * locals.length
      + locals.indexOf(row.local_rank ?? 0);
    grid.item[at] = i;
  });
  return grid;
}

const has_nodes = (rows) =>
  rows.every(({ node, local_rank }) => is_figure(node) && is_figure(local_rank));

/** Whether two ranks claim one place. */
function is_crowded(rows) {
  return new Set(rows.map(({ node, local_rank }) => `${local_rank} ${node}`)).size < rows.length;
}

/**
 * Nodes and their GPUs, the longer side across; items are indices of rows. If the nodes are
 * unknown, blocks of eight ranks. A missing rank is a hole if its place is known.
 * @param {any[]} rows of the table ranks, at least one, all with their rank
 * @param {number|null} world
 */
export function places_grid(rows, world) {
  const row_of = new Map(rows.map((row, i) => [row.rank, i]));
  const regular = regular_nodes(rows);
  const grid = !regular && has_nodes(rows) && !is_crowded(rows) ? node_grid(rows)
    : block_grid(all_ranks(rows, world), row_of, regular ?? { size: UNKNOWN_SIZE, names: null });
  return grid.rows.length > grid.columns.length ? turned(grid) : grid;
}

const RANKS_DOWN = 32; // up to here a rank is a row, from here on a column

/**
 * Ranks and steps; items are indices of rows of rank_steps.
 * @param {{length: number, columns: Record<string, any[]>}} frame @param {number[]} ranks all
 */
export function steps_grid(frame, ranks) {
  const { rank, step } = frame.columns;
  const steps = [...new Set(step ?? [])].sort((a, b) => a - b);
  const row_of = new Map(ranks.map((one, i) => [one, i]));
  const column_of = new Map(steps.map((one, i) => [one, i]));
  const grid = empty_grid(steps.map(String), ranks.map(String), "step", "rank");
  grid.item.fill(HOLE);
  for (let i = 0; i < frame.length; i++) {
    const at = row_of.get(rank[i]);
    if (at !== undefined) grid.item[at * steps.length + column_of.get(step[i])] = i;
  }
  return ranks.length > RANKS_DOWN ? turned(grid) : grid;
}

const STANDS_OUT_AT = 3.5; // robust deviations, as recommended by Iglewicz and Hoaglin
export const MATTERS_FROM = 0.005; // of the step

/** The difference between ranks below which no color shows: a hundredth of the step. */
export const color_floor = (step_ns) => 0.01 * (step_ns ?? 0);

/**
 * Where each rank's figure is among all of them, the farthest from the median first.
 * @param {any[]} rows of the table ranks @param {string} column @param {number} step_ns
 * @returns {{row: number, value: number, away_ns: number, distance: number|null,
 *            stands_out: boolean}[]}
 */
export function outliers(rows, column, step_ns) {
  const scale = heat_scale(rows.map((row) => row[column] ?? null));
  if (!scale) return [];
  return rows.map((row, i) => ({ row: i, value: row[column] }))
    .filter(({ value }) => is_figure(value))
    .map(({ row, value }) => {
      const away_ns = value - scale.median;
      const distance = heat_distance(scale, value);
      const far = distance === null ? away_ns !== 0 : Math.abs(distance) >= STANDS_OUT_AT;
      return { row, value, away_ns, distance,
        stands_out: far && Math.abs(away_ns) >= MATTERS_FROM * step_ns };
    })
    .sort((a, b) => Math.abs(b.away_ns) - Math.abs(a.away_ns));
}

const is_outstanding = ({ stands_out }) => stands_out;
const MOST_NAMED = 3;

/**
 * "Rank 5 stands out by its compute: 3.23 ms per step, 23.7 ms less than the median." Nothing if
 * no rank or a crowd of them does.
 * @param {any[]} rows of the table ranks @param {Metric} metric @param {number} step_ns
 */
export function outlier_sentence(rows, metric, step_ns) {
  const found = outliers(rows, metric.column, step_ns).filter(is_outstanding);
  if (found.length === 0 || found.length > MOST_NAMED) return "";
  const [first] = found;
  const names = ranks_text(found.map(({ row }) => rows[row].rank).sort((a, b) => a - b));
  const who = found.length === 1 ? `Rank ${names} stands` : `Ranks ${names} stand`;
  const which = found.length === 1 ? "" : ` on rank ${rows[first.row].rank}`;
  return `${who} out by ${metric.label.toLowerCase()}: ${
    time_text(first.value)} per step${which}, ${time_text(Math.abs(first.away_ns))} ${
    first.away_ns > 0 ? "more" : "less"} than the median.`;
}

/** "0–7, 12": ranks as people write them. @param {number[]} ranks ascending */
export function ranks_text(ranks, most = 8) {
  const runs = [];
  for (const rank of ranks) {
    const last = runs.at(-1);
    if (last && last[1] === rank - 1) last[1] = rank;
    else runs.push([rank, rank]);
  }
  const shown = runs.slice(0, most).map(([a, b]) => (b > a + 1 ? `${a}–${b}`
    : b > a ? `${a}, ${b}` : `${a}`));
  return runs.length > most ? `${shown.join(", ")} and more` : shown.join(", ");
}

/** Missing ranks of the world. @param {any[]} rows @param {number|null} world */
export function missing_ranks(rows, world) {
  const here = new Set(rows.map(({ rank }) => rank));
  return all_ranks(rows, world).filter((rank) => !here.has(rank));
}
