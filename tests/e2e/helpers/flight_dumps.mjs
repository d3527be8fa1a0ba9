// SPDX-License-Identifier: Apache-2.0
// Flight Recorder dumps of a job whose ranks reduce in one process group, as JSON.

const DONE = 20;

const entry = (number, state, rank) => ({ record_id: number, pg_id: 0,
  process_group: ["0", "default_pg"], collective_seq_id: number, p2p_seq_id: 0, op_id: number,
  profiling_name: "nccl:all_reduce",
  time_created_ns: 1_763_632_800_000_000 + number * 1e6 + rank * 1000,
  input_sizes: [[1024]], input_dtypes: ["BFloat16"], output_sizes: [[1024]],
  output_dtypes: ["BFloat16"], state, time_discovered_started_ns: 0,
  time_discovered_completed_ns: 0, retired: state === "completed", timeout_ms: 600_000,
  is_p2p: false });

/**
 * The dump of a rank: all wait in collective 21, which the absent one never entered.
 * @param {{ranks: number, absent: number}} job @param {number} rank
 */
export function flight_dump({ ranks, absent }, rank) {
  const last = rank === absent ? DONE : DONE + 1;
  const entries = Array.from({ length: last }, (_, i) =>
    entry(i + 1, i < DONE ? "completed" : "scheduled", rank));
  const all = `[${Array.from({ length: ranks }, (_, i) => i).join(", ")}]`;
  return JSON.stringify({ version: "2.9", nccl_version: "2.27.3",
    pg_config: { 0: { name: "0", desc: "default_pg", ranks: all } },
    pg_status: { 0: { last_enqueued_collective: String(last), last_started_collective: "-1",
      last_completed_collective: String(DONE) } }, entries });
}
