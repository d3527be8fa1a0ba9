// SPDX-License-Identifier: Apache-2.0
// Made-up tables of a job of many ranks in the API's format, for what no test can record.

const MS = 1_000_000;

/** A table in columns from rows. */
function columns_of(rows) {
  const names = Object.keys(rows[0]);
  const columns = Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])]));
  return { columns, units: {}, help: {}, row_count: rows.length, total: rows.length };
}

function rank_row(rank, late) {
  const is_late = rank === late;
  return { rank, gpu: "NVIDIA H100", node: String(Math.floor(rank / 8)), local_rank: rank % 8,
    steady_steps: 9, step_median_ns: 100 * MS, step_p95_ns: 101 * MS, window_ns: 100 * MS,
    compute_ns: is_late ? 70 * MS : 60 * MS, exposed_comm_ns: is_late ? 30 * MS : 40 * MS,
    exposed_memory_ns: 0, idle_ns: 0, gemm_ns: is_late ? 70 * MS : 60 * MS, attention_ns: 0,
    other_compute_ns: 0, idle_host_wait_ns: 0, idle_other_ns: 0, unrecorded_ns: 0,
    headline: rank === 0,
    exposed_wait_ns: is_late ? 0 : 10 * MS, exposed_transfer_ns: 30 * MS,
    lateness_ns: is_late ? 10 * MS : (rank % 7) * 1000, clock_offset_ns: rank };
}

/**
 * The tables ranks and rank_steps of a job with one late rank and some missing ones.
 * @param {{ranks: number, steps: number, late: number, missing?: number[]}} job
 */
export function mock_ranks({ ranks, steps, late, missing = [] }) {
  const present = Array.from({ length: ranks }, (_, rank) => rank)
    .filter((rank) => !missing.includes(rank));
  const cells = present.flatMap((rank) => Array.from({ length: steps }, (_, step) => ({ rank, step,
    steady: step > 0, lateness_ns: rank === late ? 10 * MS : ((rank + step) % 7) * 1000 })));
  return { ranks: columns_of(present.map((rank) => rank_row(rank, late))),
    rank_steps: columns_of(cells) };
}

/** Answers requests for the given tables; everything else comes from the service. */
export async function serve_tables(page, tables) {
  for (const [name, reply] of Object.entries(tables)) {
    await page.route(new RegExp(`/api/v1/runs/[^/]+/${name}(\\?|$)`), (route) =>
      route.fulfill({ json: reply }));
  }
}
