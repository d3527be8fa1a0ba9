// SPDX-License-Identifier: Apache-2.0
// The shown span for other tools: opened in Perfetto, or as a file.
import { html, useState } from "../../base/ui.mjs";
import { address, has_server } from "../../base/address.mjs";
import { use_settled } from "../../base/hooks.mjs";
import { ExportLinks, Segments } from "../../widgets/widgets.mjs";
import { length_text } from "../../charts/timeline/timeline_text.mjs";
import { span_of, whole_span } from "../../charts/timeline/timeline_view.mjs";
import { use_event_links } from "../run/event_sizes.mjs";
import { run_api } from "../run/run_frame.mjs";
import { open_in_perfetto } from "./perfetto.mjs";

const SETTLED_MS = 700;
const WIDTHS = [["this", "This rank"], ["all", "All ranks"]];

/** What is asked for a span of one rank, whose clock the span is by, or of all. */
function asked({ rank, span, all }) {
  const { from, to } = whole_span(span);
  return { rank, ranks: all ? "all" : "", from_ns: Math.max(0, from), to_ns: to };
}

/**
 * @param {{run: string, rank: number, span: {from: number, to: number}, selected: boolean,
 *          several: boolean}} props span: the selection, else the view
 */
export function TimelineExport({ run, rank, span, selected, several }) {
  const [width, set_width] = useState("this");
  const [state, set_state] = useState({ busy: false, problem: "" });
  const all = width === "all";
  const what = asked({ rank, span, all });
  const links = use_event_links(run, what, use_settled(what, SETTLED_MS));
  const open = async () => {
    set_state({ busy: true, problem: "" });
    try {
      const title = `${run} ${all ? "all ranks" : `rank ${rank}`}`;
      const path = address(run_api(run, "events"), { format: "perfetto", ...what });
      await open_in_perfetto({ path, title, file_name: `${title.replaceAll(" ", "-")}.pftrace` });
      set_state({ busy: false, problem: "" });
    } catch ({ message }) {
      set_state({ busy: false, problem: message });
    }
  };
  if (!has_server) return null;
  return html`<div class="tl-export"><span class="faint">${selected ? "The selection"
      : "This view"}, ${length_text(span_of(span))}:</span>
    ${several && html`<${Segments} label="Ranks to export" value=${width} options=${WIDTHS}
      onchange=${set_width} />`}
    <button type="button" class="small" disabled=${state.busy} onClick=${open}
      title="Opens it at ui.perfetto.dev in a new window; the data stays in this browser">${
      state.busy ? "Opening…" : "Open in Perfetto"}</button>
    <${ExportLinks} links=${links} />
    ${state.problem && html`<span class="tl-export-problem" role="alert">${state.problem}</span>`}
  </div>`;
}
