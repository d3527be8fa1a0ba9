// SPDX-License-Identifier: Apache-2.0
// The trees that the page of flame graphs shows, of one run or of two.
import { useMemo } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { address } from "../../base/address.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { cause_label } from "../../base/values.mjs";
import { tree_of_paths, tree_of_rows } from "../../charts/flame_model.mjs";
import { run_api } from "../run/run_frame.mjs";
import { steps_of_rank } from "./call_model.mjs";

const MOST_NODES = "10000"; // those with the most time, and so all nodes above them

/** What a flame graph can be of: word in the address, label, table. */
export const FLAMES = [["operators", "Operators", "op_tree"], ["modules", "Modules", "modules"],
  ["ranges", "Ranges", "ranges"], ["idle", "Idle causes", "idle_gaps"]];

const TREE = { sort: "-total_owned_ns", limit: MOST_NODES };
const GAPS = { limit: "all" };

/** Idle time by cause, what the host did, and the work that came next; the rest as one box. */
function idle_tree(gaps, causes) {
  const merged = (rows) => rows.filter(({ device }) => device === null);
  const items = merged(gaps).map(({ cause, host_event, after_op, after, dur_ns }) => ({
    ns: dur_ns, path: [[cause_label(cause), "cause"], [host_event || "host unknown", "host"],
      [after_op || "no operator", "op"], [after || "end", "kernel"]] }));
  const listed = new Map();
  for (const { cause, dur_ns } of merged(gaps)) {
    listed.set(cause, (listed.get(cause) ?? 0) + dur_ns);
  }
  const rest = merged(causes).map(({ cause, total_ns }) => ({
    ns: total_ns - (listed.get(cause) ?? 0),
    path: [[cause_label(cause), "cause"], ["shorter gaps", "rest"]] }));
  return tree_of_paths("", [...items, ...rest.filter(({ ns }) => ns > 0)]);
}

/**
 * @param {string} run "" for none @param {string} rank @param {string} of a word of FLAMES
 * @param {boolean} kernels whether those are leaves
 */
export function use_flame(run, rank, of, kernels) {
  const [, , table] = FLAMES.find(([word]) => word === of) ?? FLAMES[0];
  const is_idle = table === "idle_gaps";
  const resource = use_api(run === "" ? null : address(run_api(run, table),
    { ...(is_idle ? GAPS : TREE), rank, format: "columns" }));
  const causes = use_api(run === "" || !is_idle ? null
    : address(run_api(run, "idle_causes"), { rank, limit: "all", format: "columns" }));
  const root = useMemo(() => {
    if (!resource.data || (is_idle && !causes.data)) return null;
    const rows = rows_of(frame_of(resource.data));
    if (is_idle) return idle_tree(rows, rows_of(frame_of(causes.data)));
    return tree_of_rows(rows, (row) => kernels || row.kind !== "kernel");
  }, [resource.data, causes.data, kernels]);
  return { resource: is_idle && resource.data ? causes : resource, root };
}

/** How many steps a rank has, null until known. @param {string} run "" for none */
export function use_step_count(run, rank) {
  const resource = use_api(run === "" ? null : address(run_api(run, "steps"),
    { fields: "rank,step", limit: "all", rank, format: "columns" }));
  const count = useMemo(() => (resource.data === null ? null
    : steps_of_rank(rows_of(frame_of(resource.data)))), [resource.data]);
  return { resource, count };
}
