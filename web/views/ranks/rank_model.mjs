// SPDX-License-Identifier: Apache-2.0
// Ranks as a picture: each rank's place, and holes; pure.
import { empty_grid, HOLE, turned } from "../../charts/heat_model.mjs";
import { is_figure } from "./outlier_model.mjs";

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

/** Missing ranks of the world. @param {any[]} rows @param {number|null} world */
export function missing_ranks(rows, world) {
  const here = new Set(rows.map(({ rank }) => rank));
  return all_ranks(rows, world).filter((rank) => !here.has(rank));
}
