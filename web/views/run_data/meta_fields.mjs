// SPDX-License-Identifier: Apache-2.0
// Editing the metadata of a run: rows of key and value, with the keys that comparisons use.
import { html, useId } from "../../base/ui.mjs";
import { focus_once } from "../../base/hooks.mjs";
import { meta_entries, meta_help, missing_keys } from "../run/meta_model.mjs";

/** Rows for the metadata of a run. @param {Record<string, string>} meta */
export const meta_rows = (meta) => meta_entries(meta).map(([key, value]) => ({ key, value }));

function Row({ row, list, onchange, onremove }) {
  const help = meta_help(row.key.trim());
  return html`<li class="meta-row">
    <input value=${row.key} ref=${row.fresh === "key" ? focus_once : undefined}
      list=${list} aria-label="Setting" placeholder="setting"
      autocomplete="off" spellcheck=${false} maxlength="64"
      onInput=${(event) => onchange({ ...row, key: event.target.value })} />
    <input value=${row.value} ref=${row.fresh === "value" ? focus_once : undefined}
      placeholder="value" autocomplete="off" spellcheck=${false}
      maxlength="200" aria-label="Value of ${row.key || "the new setting"}"
      onInput=${(event) => onchange({ ...row, value: event.target.value })} />
    <button type="button" class="icon" aria-label="Remove ${row.key || "the new setting"}"
      title="Remove" onClick=${onremove}>×</button>
    ${help && html`<span class="meta-help">${help}.</span>`}</li>`;
}

/**
 * @param {{rows: {key: string, value: string}[],
 *          onchange: (rows: {key: string, value: string}[]) => void}} props
 */
export function MetaFields({ rows, onchange }) {
  const list = useId();
  const put = (i, row) => onchange(rows.map((one, at) => (at === i ? row : one)));
  const add = (key) => onchange([...rows, { key, value: "", fresh: key ? "value" : "key" }]);
  const missing = missing_keys(rows);
  return html`<fieldset class="meta-fields"><legend>Metadata</legend>
    <p class="faint">Settings that a trace may not contain. Comparisons show which differ; values
      given here override the trace.</p>
    ${rows.length > 0 && html`<ul>${rows.map((row, i) => html`<${Row} key=${i} row=${row}
      list=${list} onchange=${(next) => put(i, next)}
      onremove=${() => onchange(rows.filter((_, at) => at !== i))} />`)}</ul>`}
    <p class="meta-add"><span class="faint">Add</span>
      ${missing.map(({ key, help, example }) => html`
      <button type="button" class="small" key=${key} title="${help}, such as ${example}"
        onClick=${() => add(key)}>${key}</button>`)}
      <button type="button" class="small" onClick=${() => add("")}>another…</button></p>
    <datalist id=${list}>${missing.map(({ key, help }) => html`<option key=${key} value=${key}>${
      help}</option>`)}</datalist></fieldset>`;
}
