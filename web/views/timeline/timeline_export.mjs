// SPDX-License-Identifier: Apache-2.0
// The shown span for other tools: opened in Perfetto, or as a file.
import { html, useState } from "../../base/ui.mjs";
import { address } from "../../base/address.mjs";
import { api_href } from "../../base/api.mjs";
import { ExportLinks, Segments } from "../../widgets/widgets.mjs";
import { length_text } from "../../charts/timeline/timeline_text.mjs";
import { span_of, whole_span } from "../../charts/timeline/timeline_view.mjs";
import { run_api } from "../run/run_frame.mjs";
import { open_in_perfetto } from "./perfetto.mjs";

const WIDTHS = [["this", "This rank"], ["all", "All ranks"]];

/** The events endpoint for a span of one rank, whose clock the span is by, or of all. */
function events_path({ run, rank, span, all }, format) {
  const { from, to } = whole_span(span);
  return address(run_api(run, "events"),
    { format, rank, ranks: all ? "all" : "", from_ns: Math.max(0, from), to_ns: to });
}

/**
 * @param {{run: string, rank: number, span: {from: number, to: number}, selected: boolean,
 *          several: boolean}} props span: the selection, else the view
 */
export function TimelineExport({ run, rank, span, selected, several }) {
  const [width, set_width] = useState("this");
  const [state, set_state] = useState({ busy: false, problem: "" });
  const what = { run, rank, span, all: width === "all" };
  const open = async () => {
    set_state({ busy: true, problem: "" });
    try {
      const title = `${run} ${what.all ? "all ranks" : `rank ${rank}`}`;
      await open_in_perfetto({ path: events_path(what, "perfetto"), title,
        file_name: `${title.replaceAll(" ", "-")}.pftrace` });
      set_state({ busy: false, problem: "" });
    } catch ({ message }) {
      set_state({ busy: false, problem: message });
    }
  };
  return html`<div class="tl-export"><span class="faint">${selected ? "The selection"
      : "This view"}, ${length_text(span_of(span))}:</span>
    ${several && html`<${Segments} label="Ranks to export" value=${width} options=${WIDTHS}
      onchange=${set_width} />`}
    <button type="button" class="small" disabled=${state.busy} onClick=${open}
      title="Hands it to ui.perfetto.dev in a new window; it stays in this browser">${state.busy
      ? "Opening…" : "Open in Perfetto"}</button>
    <${ExportLinks} links=${[["Perfetto", api_href(events_path(what, "perfetto"))],
      ["Chrome JSON", api_href(events_path(what, "chrome"))],
      ["Arrow", api_href(events_path(what, "arrow"))],
      ["Parquet", api_href(events_path(what, "parquet"))]]} />
    ${state.problem && html`<span class="tl-export-problem" role="alert">${state.problem}</span>`}
  </div>`;
}
