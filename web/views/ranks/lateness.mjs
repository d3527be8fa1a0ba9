// SPDX-License-Identifier: Apache-2.0
// Which rank comes last how often, what that costs the others, and why.
import { html, useMemo } from "../../base/ui.mjs";
import { address, run_path } from "../../base/address.mjs";
import { ShareBar } from "../../charts/share_bar.mjs";
import { percent } from "../../base/format.mjs";
import { value_at } from "../../base/frame.mjs";
import { Card, ExportLinks } from "../../widgets/widgets.mjs";
import { lateness_per_step, reason_label, reason_words } from "./lateness_model.mjs";
import { per_step } from "../run/lead_model.mjs";
import { RankTable } from "../run/rank_table.mjs";

const TOP = 20;

const labels_of = (whole) => ({
  lateness_ns: "Sum of lateness",
  caused_wait_ns: "Sum of waits caused",
  caused_per_rank_ns: `Others wait, ${whole ? "per rank" : "per step and rank"}`,
  lateness_per_step_ns: whole ? "Late by" : "Late by, per step",
});

const shows_share = (at, row) =>
  at("reason_share", row) > 0 && at("reason", row) !== "unknown";

/** @param {import("../../base/frame.mjs").Frame} frame @param {boolean} whole no step is marked */
function columns_of(frame, whole) {
  const at = (key, row) => value_at(frame, key, row);
  const per = per_step(whole);
  const excess = (key, label, help) => ({ key: `excess_${key}_per_step_ns`, label, kind: "ms",
    priority: 5, help: `${help} before its late collectives, more than on the median rank${
      whole ? "" : ", per step"}.` });
  return [
    { key: "rank", label: "Rank", kind: "text", className: "kernel-cell", width_px: 110 },
    { key: "late_share", label: "Last in", className: "share-column late-share", width_px: 200,
      help: "Share of its matched collectives that it starts last.", cell: (row) =>
        html`<${ShareBar} share=${at("late_share", row)} />` },
    { key: "caused_per_rank_ns", label: "Others wait", kind: "ms",
      help: `How long each of the other ranks waits for it${per}, on average.` },
    { key: "lateness_per_step_ns", label: "Late by", kind: "ms", priority: 2,
      help: `Its start minus the others' median start, over its late collectives${
        whole ? "" : ", per step"}.` },
    { key: "process_group", label: "Process group", className: "clip short", priority: 3 },
    { key: "reason", label: "Why", width_px: 190, className: "why-cell", cell: (row) => html`<span
      title=${reason_words(at("reason", row))}>${reason_label(at("reason", row))}${
        shows_share(at, row) && html` <span class="faint only-wide">${
          percent(at("reason_share", row))}</span>`}</span>` },
    excess("compute", "More compute", "Compute"),
    excess("host", "More host", "Idle time waiting for the host"),
    excess("data_loading", "More loading", "Idle time waiting for data"),
    excess("memory", "More copies", "Exposed copies"),
    excess("comm", "More comm", "Exposed communication"),
  ].filter(({ key }) => key in frame.columns);
}

function RankLinks({ run, rank }) {
  const pages = [["timeline", "Timeline"], ["kernels", "Kernels"], ["idle", "Idle"],
    ["ranks", "Compare ranks"]];
  return html`<p class="row-links">${pages.map(([page, label]) => html`<a key=${page}
    href=${address(run_path(run, page), { rank })}>${label}</a>`)}</p>`;
}

/**
 * @param {{run: string, frame: import("../../base/frame.mjs").Frame, steps: number,
 *          whole: boolean, links: any}} props
 * the table lateness
 */
export function Lateness({ run, frame, steps, whole, links }) {
  const own = useMemo(() => lateness_per_step(frame, steps), [frame, steps]);
  const view = useMemo(() => ({ id: "late", caption: "Late ranks", sort: "-caused_per_rank_ns",
    opens: true, prose: true, limit: TOP, labels: labels_of(whole),
    columns: columns_of(own, whole),
    more: (_, row) => html`<${RankLinks} run=${run} rank=${value_at(own, "rank", row)} />` }),
  [own, run, whole]);
  return html`<${Card} title="Who is late" flush=${true} note="longest wait first"
      actions=${html`<${ExportLinks} links=${links} />`}>
    <${RankTable} frame=${own} view=${view} />
    <p class="table-foot">The late rank has the <em>shortest</em> time in a collective, because
      all others are already waiting.</p><//>`;
}
