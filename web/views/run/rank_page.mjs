// SPDX-License-Identifier: Apache-2.0
// A page about one rank: which one, and what is shown while there are no figures.
import { html } from "../../base/ui.mjs";
import { run_path } from "../../base/address.mjs";
import { Card, Empty } from "../../widgets/widgets.mjs";
import { evidence_pages, FILES } from "./evidence_model.mjs";
import { Lacks } from "./lacks.mjs";
import { RangeBar } from "./range_pick.mjs";
import { OfRank, use_rank } from "./rank_data.mjs";
import { RunFrame } from "./run_frame.mjs";
import { use_table } from "./run_table.mjs";

const BUSY = new Set(["failed", "running", "pending"]); // the frame already says so

/** Where the run's other files are shown. @param {{run: string, page: string}} props */
function Elsewhere({ run, page }) {
  const files = use_table(run, "inputs", FILES);
  const pages = evidence_pages(files.rows).filter(({ key }) => key !== page);
  if (!files.resource.data || pages.length === 0) return null;
  return html`Its files are shown under ${pages.map(({ key, label }, i, { length }) => html`${
    i === 0 ? "" : i === length - 1 ? " and " : ", "}<a
    href=${run_path(run, key)}>${label}</a>`)}.${" "}`;
}

/** Shown before, or without, a result; `page` is where, if it shows what other files say. */
export function NoResult({ run, page = "" }) {
  if (BUSY.has(run.status)) return null;
  if (run.received === 0 && run.evidence > 0) {
    return html`<${Empty} title="This run has no trace">
      <p><${Elsewhere} run=${run.id} page=${page} />Kernels, collectives and idle time need a
        trace of each rank: upload them to this run.</p><//>`;
  }
  return html`<${Empty} title="No figures yet">
    <p>${run.status === "empty" ? html`This run has no trace. The steps that its job sends are
      under <a href=${run_path(run.id, "training")}>Training</a>; the members of its archives, and
      the runs they went to, are under <a href=${run_path(run.id, "data")}>Data</a>.`
      : "No rank has been analyzed."}</p><//>`;
}

function Content({ data, run, rank, change, page, title, by_range, needs_device, untraced, lead,
  children }) {
  if (!data.summary) return html`${untraced?.(run)}<${NoResult} run=${data.run}
    page=${page} />`;
  const has_device = data.summary.device_events > 0 || rank !== "" || !needs_device;
  return html`${has_device && lead?.(run, rank)}
    <${OfRank} run=${run} summary=${data.summary} rank=${rank} onchange=${change}>
    ${by_range && has_device && html`<${RangeBar} run=${run} rank=${rank}
      what=${typeof by_range === "string" ? by_range : undefined} />`}${
    has_device ? children(run, rank, data) : html`<${Card} title=${title}><${Lacks} run=${run}
      rank=${rank} items=${["device_events"]} title="No device activity was recorded" /><//>`}<//>`;
}

/**
 * @param {{route: any, title: string, above?: [string, string], by_range?: boolean|string,
 *          needs_device?: boolean,
 *          untraced?: (run: string) => any,
 *          lead?: (run: string, rank: string) => any,
 *          children: (run: string, rank: string, data: any) => any}} props
 * `by_range` is whether a named range filters tables of the page, or what it filters there
 */
export function RankPage({ route, title, above, by_range = false, needs_device = true, untraced,
  lead, children }) {
  const [rank, change] = use_rank();
  return html`<${RunFrame} route=${route} title=${title} above=${above}>${(data, run) =>
    html`<${Content}
    data=${data} run=${run} rank=${rank} change=${change} page=${route.page} title=${title}
    by_range=${by_range} needs_device=${needs_device} untraced=${untraced}
    lead=${lead}>${children}<//>`}<//>`;
}
