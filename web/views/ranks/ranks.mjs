// SPDX-License-Identifier: Apache-2.0
// Which GPU or host is different: all ranks as a picture, those that stand out, how well all are
// used, the parallel strategy.
import { html, useMemo } from "../../base/ui.mjs";
import { address, run_path } from "../../base/address.mjs";
import { use_query } from "../../base/router.mjs";
import { sort_rows } from "../../base/frame.mjs";
import { PARTS } from "../../base/parts.mjs";
import { Legend } from "../../charts/figure.mjs";
import { Card, ExportLinks, Loaded } from "../../widgets/widgets.mjs";
import { with_blame } from "./lateness_model.mjs";
import { RankMap } from "./rank_map.mjs";
import { chosen_metric, known_metrics, without_unrecorded } from "./outlier_model.mjs";
import { RankOutliers } from "./rank_outliers.mjs";
import { is_whole } from "../run/lead_model.mjs";
import { NoResult } from "../run/rank_page.mjs";
import { RankRows } from "./rank_rows.mjs";
import { RunFrame } from "../run/run_frame.mjs";
import { awaited, use_table } from "../run/run_table.mjs";
import { Efficiency, Pipeline, Strategy } from "./strategy.mjs";

const DEFAULTS = { metric: "", by: "places", rank: "", step: "" };

function AllRanks({ run, ranks, slowest, whole }) {
  const [query, change] = use_query({ sort: "rank" });
  const { frame, resource, links } = ranks;
  const rows = useMemo(() =>
    sort_rows(frame, Array.from({ length: frame.length }, (_, i) => i), query.sort),
  [frame, query.sort]);
  return html`<${Card} title="All ranks" flush=${true}
      note="${whole ? "all that was recorded" : "mean per steady step"}; all bars on one scale"
      actions=${html`${frame.length > 1 && html`<a class="small-link"
        href=${address(run_path(run, "whatif"), { by: "rank" })}>Critical path by rank</a>`}
        <${ExportLinks} links=${links} />`}>
    <${RankRows} reply=${resource.data} rows=${rows} slowest=${slowest} sort=${query.sort}
      whole=${whole} onsort=${(sort) => change({ sort })} />
    <${Legend} parts=${PARTS} /><//>`;
}

function Compared({ run, ranks, lateness, world, step_ns, steps, whole }) {
  const [query, change] = use_query(DEFAULTS);
  const rows = useMemo(() => with_blame(ranks.rows.map(without_unrecorded), lateness.rows, steps),
    [ranks.rows, lateness.rows, steps]);
  const metric = useMemo(() => chosen_metric(known_metrics(rows, whole), query.metric,
    rows, step_ns), [rows, query.metric, step_ns, whole]);
  return html`<${RankMap} run=${run} rows=${rows} world=${world} step_ns=${step_ns}
      whole=${whole} steps=${steps} lateness=${lateness.rows} query=${query} change=${change} />
    ${ranks.rows.length > 1 && html`<${RankOutliers} run=${run} rows=${rows}
      metric=${metric} step_ns=${step_ns} whole=${whole} lateness=${lateness.rows} />`}`;
}

function Content({ data, run }) {
  const ranks = use_table(run, "ranks");
  const lateness = use_table(run, "lateness");
  const efficiency = use_table(run, "efficiency");
  const strategy = use_table(run, "strategy");
  const pipeline = use_table(run, "pipeline");
  if (!data.summary) return html`<${NoResult} run=${data.run} />`;
  const world = data.run.world_size ?? null;
  const whole = is_whole(data);
  const waiting = awaited([ranks, lateness, efficiency, strategy, pipeline]);
  return html`<${Loaded} resource=${waiting}>${() => {
    const is_many = ranks.rows.length > 1 || world > 1;
    const has_ranks = ranks.rows.length > 0 && ranks.rows.every(({ rank }) => rank !== null);
    return html`${is_many && has_ranks && html`<${Compared} run=${run} ranks=${ranks}
        lateness=${lateness} world=${world} step_ns=${data.summary.step_median_ns}
        steps=${data.summary.steady_steps} whole=${whole} />`}
      <${Efficiency} rows=${efficiency.rows} />
      <div class=${pipeline.rows.length > 0 ? "columns-2" : ""}>
        <${Strategy} rows=${strategy.rows} /><${Pipeline} rows=${pipeline.rows} /></div>
      <${AllRanks} run=${run} ranks=${ranks} slowest=${data.summary.slowest_rank}
        whole=${whole} />`;
  }}<//>`;
}

export default function Ranks({ route }) {
  return html`<${RunFrame} route=${route} title="Ranks">${(data, run) =>
    html`<${Content} data=${data} run=${run} />`}<//>`;
}
