// SPDX-License-Identifier: Apache-2.0
// Roles of a reinforcement learning job: what each did, and how long nobody worked before it.
import { html } from "../../base/ui.mjs";
import { Card, ExportLinks } from "../../widgets/widgets.mjs";
import { Table } from "../../widgets/table.mjs";
import { columns_for } from "../../base/values.mjs";
import { use_table } from "../run/run_table.mjs";
import { SplitLegend } from "./split_tree.mjs";
import { ShareBar } from "../../charts/share_bar.mjs";
import { role_classes, role_device_ns, roles_line } from "./role_model.mjs";

const columns_of = (rows) => {
  const all = rows.reduce((sum, row) => sum + role_device_ns(row), 0) || 1;
  return [
    { key: "role", label: "Role", cell: (row) => rows[row].role },
    { key: "ranks", label: "Ranks", priority: 4 },
    { key: "steps", label: "Steps", priority: 3 },
    { key: "span_ns", label: "From start to end" },
    { key: "device_ns", label: "Device time", className: "share-column",
      cell: (row) => html`<${ShareBar} share=${role_device_ns(rows[row]) / all}
        split=${role_classes(rows[row])} />` },
    { key: "compute_ns", label: "Compute", priority: 3 },
    { key: "communication_ns", label: "Communication", priority: 4 },
    { key: "copy_ns", label: "Copies", priority: 5 },
    { key: "idle_ns", label: "Idle inside", priority: 2 },
    { key: "wait_ns", label: "Wait before" },
    { key: "after", label: "Mostly after", priority: 3 },
  ];
};

/** Nothing unless the run has two roles. @param {{run: string}} props */
export function Roles({ run }) {
  const { frame, rows, links } = use_table(run, "roles");
  if (rows.length < 2) return null;
  return html`<${Card} title="Roles" flush=${true} note=${roles_line(rows)}
      actions=${html`<${ExportLinks} links=${links} />`}>
    <${SplitLegend} parts=${role_classes(rows[0])} />
    <${Table} caption="Roles" frame=${frame} rows=${rows.map((_, row) => row)}
      columns=${columns_for(frame, columns_of(rows))} /><//>`;
}
