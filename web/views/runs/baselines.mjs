// SPDX-License-Identifier: Apache-2.0
// Baselines in the list of runs: a star to set and unset, the existing ones, differences from them.
import { html, useState } from "../../base/ui.mjs";
import { api_send } from "../../base/api.mjs";
import { may } from "../../base/session.mjs";
import { announce } from "../../base/announce.mjs";
import { run_path } from "../../base/address.mjs";
import { time_text } from "../../base/format.mjs";
import { use_is_shown } from "../../base/hooks.mjs";
import { Dialog, ProblemNotice } from "../../widgets/widgets.mjs";
import { baseline_of, delta_mark, delta_of, delta_sentence, is_baseline_name, takes_over }
  from "../trends/baseline_model.mjs";
import { compare_runs } from "../trends/trends_model.mjs";

const path_of = (name) => `/baselines/${encodeURIComponent(name)}`;

/** A row's star: filled on a baseline. */
export function BaselineStar({ run, onopen }) {
  const names = run.baselines ?? [];
  const set = names.length > 0;
  if (!may("write")) {
    return set ? html`<span class="star-set" title=${names.join(", ")}>★</span>` : null;
  }
  const label = set ? `${run.name} is baseline ${names.join(", ")}: change`
    : `Make ${run.name} a baseline`;
  return html`<button type="button" class="star ${set ? "star-set" : ""}" aria-label=${label}
    title=${label} onClick=${() => onopen(run)}>${set ? "★" : "☆"}</button>`;
}

function OwnNames({ names, onremove }) {
  if (names.length === 0) return null;
  return html`<ul class="baseline-names">${names.map((name) => html`<li key=${name}>
    <span><span aria-hidden="true">★ </span>${name}</span>
    <button type="button" class="small" aria-label="Unset ${name}"
      onClick=${() => onremove(name)}>Unset</button></li>`)}</ul>`;
}

/** Makes a run a named baseline, or removes that. */
export function BaselineDialog({ run, baselines, onclose }) {
  const [name, set_name] = useState(run.baselines?.length > 0 ? "" : "main");
  const [problem, set_problem] = useState(null);
  const is_shown = use_is_shown();
  const attempt = async (method, at, said, body) => {
    try {
      await api_send(method, path_of(at), { body });
      announce(said);
      if (is_shown()) onclose();
    } catch (error) {
      set_problem(error);
    }
  };
  const save = (event) => {
    event.preventDefault();
    attempt("PUT", name, `${run.name} is baseline ${name}`, { run: run.id });
  };
  const fits = is_baseline_name(name);
  const hint = name && !fits ? "Letters, digits, dots, _ and - only."
    : takes_over(name, run, baselines);
  return html`<${Dialog} title="Baseline" onclose=${onclose}>
    <p>Other runs are compared with a baseline. Its name works wherever a run is
      expected: <code>@baseline:${name || "main"}</code></p>
    <${OwnNames} names=${run.baselines ?? []} onremove=${(at) =>
      attempt("DELETE", at, `${at} is no longer a baseline`)} />
    <form class="form" onSubmit=${save}><label class="field"><span>Make ${run.name} the baseline
        called</span><input value=${name} autocomplete="off" spellcheck=${false} maxlength="64"
        aria-invalid=${Boolean(name) && !fits} onInput=${(e) => set_name(e.target.value)} /></label>
      <p class="faint baseline-hint" role="status">${hint}</p>
      ${problem && html`<${ProblemNotice} problem=${problem} />`}
      <p class="form-actions"><button type="submit" class="primary" disabled=${!fits}>Set</button>
        <button type="button" onClick=${onclose}>Cancel</button></p></form><//>`;
}

/** All baselines, whatever the filter of the list below. */
export function BaselineStrip({ baselines }) {
  if (baselines.length === 0) return null;
  return html`<ul class="baseline-strip" aria-label="Baselines">${baselines.map((one) => html`
    <li key=${one.name}><span class="star-set" aria-hidden="true">★</span> <strong>${one.name}
      </strong> <a href=${run_path(one.run)}>${one.run_name}</a>${" "}<span class="faint">${
        time_text(one.step_median_ns, 4)}</span></li>`)}</ul>`;
}

/**
 * How a run compares with its baseline; links to the comparison, which considers noise. No color,
 * which would suggest that it is more than noise.
 */
export function BaselineDelta({ run, baselines, chosen, none = "–" }) {
  const baseline = baseline_of(run, baselines, chosen);
  if (baseline?.run === run.id) return html`<span class="faint">baseline</span>`;
  const delta = delta_of(run, baseline);
  if (!delta) return none && html`<span class="faint">${none}</span>`;
  const text = delta_sentence(delta);
  return html`<a class="delta-chip" title=${text}
    href=${compare_runs(baseline.run, run.id)}><span aria-hidden="true">${delta_mark(delta.share)}
    </span><span class="visually-hidden">${text}</span>
    <span class="delta-verdict" aria-hidden="true">noise unknown</span></a>`;
}
