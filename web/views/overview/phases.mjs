// SPDX-License-Identifier: Apache-2.0
// Prefill and decode of an inference, if annotations or shapes separate them; else nothing.
import { html, useMemo } from "../../base/ui.mjs";
import { frame_of } from "../../base/frame.mjs";
import { Card, ExportLinks } from "../../widgets/widgets.mjs";
import { RankTable } from "../run/rank_table.mjs";
import { rank_table_links, use_rank_table } from "../run/rank_data.mjs";

const VIEW = {
  id: "phases",
  caption: "Prefill and decode",
  sort: "",
  columns: [
    { key: "phase", label: "Phase", width_px: 110 },
    { key: "passes", label: "Passes" },
    { key: "tokens", label: "Tokens" },
    { key: "tokens_per_second", label: "Tokens per second" },
    { key: "median_pass_ns", label: "Median pass" },
    { key: "window_ns", label: "Time" },
    { key: "gemm_ns", label: "GEMM", priority: 2 },
    { key: "attention_ns", label: "Attention", priority: 2 },
    { key: "other_compute_ns", label: "Other compute", priority: 2 },
    { key: "exposed_comm_ns", label: "Exposed communication", priority: 3 },
    { key: "exposed_memory_ns", label: "Exposed copies", priority: 4 },
    { key: "idle_ns", label: "Idle", priority: 2 },
    { key: "unrecorded_ns", label: "Unrecorded", priority: 3 },
  ],
};

/** @param {{run: string, rank?: string}} props rank "" for the typical rank */
export function Phases({ run, rank = "" }) {
  const { data } = use_rank_table(run, "phases", rank);
  const frame = useMemo(() => frame_of(data), [data]);
  if (frame.length === 0) return null;
  return html`<${Card} title="Prefill and decode" flush=${true}
    note="passes of the model, from the first event that each launched to the end of the last"
    actions=${html`<${ExportLinks} links=${rank_table_links(run, "phases", rank)} />`}>
    <${RankTable} frame=${frame} view=${VIEW} /><//>`;
}
