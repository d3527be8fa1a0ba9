// SPDX-License-Identifier: Apache-2.0
// Whether the sides can be compared at all: settings that differ, their sources, the rest on
// demand.
import { html, useState } from "../../base/ui.mjs";
import { label_of } from "../../base/values.mjs";
import { plural } from "../../base/format.mjs";
import { cand_value, differ_text, ordered_settings, setting_text, source_mark }
  from "./setting_model.mjs";

const AT_FIRST = 8;

const TITLES = { trace: "from the trace", file: "from a file of the run" };

function Value({ value, source, file, contradicts }) {
  const mark = source_mark(source);
  if (value === null || value === "") return html`<span class="faint">not recorded</span>`;
  const title = file ? `from ${file}` : TITLES[source];
  return html`<span title=${title}>${value}</span>${contradicts
    && html` <span class="given" title="files of the run contradict each other">contradictory
    </span>`}${
    mark && html` <span class="given" title="set by a person, with the upload or later">${mark}
    </span>`}`;
}

function Setting({ row }) {
  const text = (value) => setting_text(row.key, value);
  const base = html`<${Value} value=${text(row.base)} source=${row.base_source}
    file=${row.base_file} contradicts=${row.base_contradicts} />`;
  const both = row.differs || row.base !== cand_value(row); // host names never count as different
  return html`<div class=${row.differs ? "" : "equal"}>
    <dt>${label_of(row.key)}</dt>
    <dd>${base}${both && html` <span class="to" aria-label="to">→</span>${" "}
      <${Value} value=${text(cand_value(row))} source=${row.cand_source}
        file=${row.cand_file} contradicts=${row.cand_contradicts} />`}</dd></div>`;
}

/** @param {{settings: any[]}} props rows of compare_settings of one candidate */
export function Settings({ settings }) {
  const [all, set_all] = useState(false);
  const ordered = ordered_settings(settings);
  const differing = ordered.filter(({ differs }) => differs);
  const shown = all ? ordered : differing.slice(0, AT_FIRST);
  const left = ordered.length - shown.length;
  const others = plural(ordered.length - differing.length, "other");
  const more = differing.length > AT_FIRST
    ? `show all ${differing.length}, and ${others}` : `show ${others} too`;
  return html`<section class="settings ${differing.length > 0 ? "differ" : ""}"
      aria-label="Settings that differ">
    <p class="settings-head"><strong>${differ_text(differing.length)}</strong>
      ${differing.length > 0 && html`<span class="faint">Part of a difference may come from
        these.</span>`}
      ${(left > 0 || all) && html`<button type="button" class="link" aria-expanded=${all}
        onClick=${() => set_all(!all)}>${all ? "show fewer" : more}</button>`}</p>
    ${shown.length > 0 && html`<dl>${shown.map((row) =>
      html`<${Setting} key=${row.key} row=${row} />`)}</dl>`}
  </section>`;
}
