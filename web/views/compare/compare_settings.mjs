// SPDX-License-Identifier: Apache-2.0
// Whether the sides can be compared at all: settings that differ, their sources, the rest on
// demand.
import { html, useState } from "../../base/ui.mjs";
import { label_of } from "../../base/values.mjs";
import { plural, short_gpu } from "../../base/format.mjs";
import { cand_value, differ_text, ordered_settings, setting_text, source_mark }
  from "./setting_model.mjs";

const IN_LINE = 3; // of the settings that differ, by name and value

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

/** The first few differences in a line. */
function InLine({ rows }) {
  const text = ({ key }, value) => (key === "gpu" ? short_gpu(value) : setting_text(key, value))
    || "not recorded";
  return html`<span class="settings-line">${rows.slice(0, IN_LINE).map((row) => html`<span
    key=${row.key}><span class="faint">${label_of(row.key)}</span> ${text(row, row.base)}${" "}
    <span class="to" aria-label="to">→</span> ${text(row, cand_value(row))}</span>`)}</span>`;
}

/** @param {{settings: any[]}} props rows of compare_settings of one candidate */
export function Settings({ settings }) {
  const [all, set_all] = useState(false);
  const ordered = ordered_settings(settings);
  const differing = ordered.filter(({ differs }) => differs);
  const more = `show all ${plural(ordered.length, "setting")}`;
  return html`<section class="settings ${differing.length > 0 ? "differ" : ""}"
      aria-label="Settings that differ">
    <p class="settings-head"><strong>${differ_text(differing.length)}</strong>
      ${!all && html`<${InLine} rows=${differing} />`}
      ${ordered.length > 0 && html`<button type="button" class="link" aria-expanded=${all}
        onClick=${() => set_all(!all)}>${all ? "show fewer" : more}</button>`}</p>
    ${all && html`<dl>${ordered.map((row) => html`<${Setting} key=${row.key} row=${row} />`)}</dl>`}
  </section>`;
}
