// SPDX-License-Identifier: Apache-2.0
// Which GPU or host is different.
import { html, useMemo } from "../ui.mjs";
import { api_href, use_api } from "../api.mjs";
import { use_query } from "../router.mjs";
import { address } from "../address.mjs";
import { frame_of, sort_rows } from "../frame.mjs";
import { PARTS } from "../parts.mjs";
import { Legend } from "../charts/figure.mjs";
import { Card, ExportLinks, Loaded } from "../widgets.mjs";
import { RankRows } from "./rank_rows.mjs";
import { run_api, RunFrame } from "./run_frame.mjs";

function AllRanks({ run, data }) {
  const [query, change] = use_query({ sort: "rank" });
  const path = run_api(run, "ranks");
  const resource = use_api(address(path, { format: "columns" }));
  const href = (format) => api_href(address(path, { sort: query.sort, format }));
  const rows = useMemo(() => {
    if (!resource.data) return [];
    const frame = frame_of(resource.data);
    return sort_rows(frame, Array.from({ length: frame.length }, (_, i) => i), query.sort);
  }, [resource.data, query.sort]);
  return html`<${Card} title="Ranks" flush=${true}
      note="mean per steady step; all bars on one scale"
      actions=${html`<${ExportLinks} links=${[["CSV", href("csv")], ["JSON", href("json")]]} />`}>
    <${Loaded} resource=${resource}>${(reply) => html`<${RankRows} reply=${reply} rows=${rows}
      slowest=${data.summary?.slowest_rank} sort=${query.sort}
      onsort=${(sort) => change({ sort })} />`}<//>
    <${Legend} parts=${PARTS} /><//>`;
}

export default function Ranks({ route }) {
  return html`<${RunFrame} route=${route} title="Ranks">${(data, run) =>
    html`<${AllRanks} run=${run} data=${data} />`}<//>`;
}
