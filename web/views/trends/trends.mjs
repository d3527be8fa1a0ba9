// SPDX-License-Identifier: Apache-2.0
// Series of runs over time: all of them small, or one large when the query names it.
import { html } from "../../base/ui.mjs";
import { use_query } from "../../base/router.mjs";
import { SeriesPage } from "./trends_series.mjs";
import { SeriesList } from "./trends_list.mjs";

export default function Trends() {
  const [{ project, series }] = use_query({ project: "", series: "" });
  return series
    ? html`<${SeriesPage} key=${`${project} ${series}`} project=${project} series=${series} />`
    : html`<${SeriesList} />`;
}
