// SPDX-License-Identifier: Apache-2.0
// What is compared: a field for the base and one for each candidate, repeats, swapping.
import { html, useEffect, useRef, useState } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { address, run_path } from "../../base/address.mjs";
import { count_of, plural, short_gpu } from "../../base/format.mjs";
import { Combobox } from "../../widgets/combobox.mjs";
import { CopyButton } from "../../widgets/widgets.mjs";
import { ranks_here } from "../run/lead_model.mjs";
import {
  choices, is_series, keys_of, MOST_CANDIDATES, series_key, shared_series, side_name,
  swapped, with_candidate,
} from "./side_model.mjs";

const LISTED = 100;

const note_of = ({ gpu, status }) => (status === "done" || status === "partial"
  ? (gpu ? short_gpu(gpu) : "") : status);

/**
 * Runs whose names match, fetched when the field is opened and shortly after the last key; the
 * last answer stays.
 */
function use_choices() {
  const [q, set_q] = useState(null);
  const [asked, set_asked] = useState(null);
  const last = useRef(null);
  useEffect(() => {
    const timer = setTimeout(() => set_asked(q), q ? 200 : 0);
    return () => clearTimeout(timer);
  }, [q]);
  const { data } = use_api(asked === null ? null
    : address("/runs", { q: asked, limit: LISTED, sort: "-created" }));
  if (data) last.current = data.items;
  return { options: last.current && choices(last.current, note_of), search: set_q };
}

/** How many runs the series of a single run has. */
function use_repeats(run) {
  const path = run?.series && address("/runs",
    { project: run.project, series: run.series, limit: 1 });
  return use_api(path || null).data ?? { total: 1 };
}

/** What a side is based on, and how to get more evidence: a line beside its label. */
function SideNote({ side, runs, onpick }) {
  const [run] = runs;
  const repeats = use_repeats(runs.length === 1 ? run : null);
  if (!run) return null;
  const gpus = [...new Set(runs.map(({ gpu }) => short_gpu(gpu)))].filter((gpu) => gpu !== "–");
  const about = [gpus.join(", "), ranks_here(run) > 1 && plural(ranks_here(run), "rank")];
  const series = shared_series(runs);
  return html`<span class="side-note">
    ${runs.length > 1
      ? html`<span>${plural(runs.length, "repeat")}</span>`
      : html`<a href=${run_path(run.id)} aria-label="Open run ${run.name}">Open run</a>`}
    ${about.filter(Boolean).map((text) => html`<span key=${text}>${text}</span>`)}
    ${runs.length === 1 && repeats.total > 1 && html`<button type="button" class="link"
      onClick=${() => onpick(series_key(run))}>Use all ${count_of(repeats)} repeats of ${run.series}
      </button>`}
    ${series && is_series(side) && html`<button type="button" class="link"
      onClick=${() => onpick(run.id)}>Use ${run.name} alone</button>`}
  </span>`;
}

/** The runs of a side; a single one is fetched separately while there is no comparison yet. */
function use_known(side, runs, found) {
  const keys = keys_of(side);
  const asks = !found && runs.length === 0 && keys.length === 1 && !is_series(side);
  const { data } = use_api(asks ? `/runs/${encodeURIComponent(keys[0])}` : null);
  return asks && data ? [data] : runs;
}

function Side({ label, side, found, onpick, onremove, ...more }) {
  const runs = use_known(side, more.runs, found);
  const { options, search } = use_choices();
  const text = runs.length > 0 ? side_name(runs) : keys_of(side).join(", ");
  return html`<div class="side">
    <p class="side-label"><span>${label}</span><${SideNote} side=${side} runs=${runs}
      onpick=${onpick} />${onremove && html`<button type="button" class="icon small"
      aria-label="Remove ${label}" title="Remove ${label}" onClick=${onremove}>×</button>`}</p>
    <${Combobox} label=${label} text=${text} value=${side} options=${options} onsearch=${search}
      onpick=${onpick} placeholder="Choose a run or a series" />
  </div>`;
}

/**
 * @param {{sides: import("./side_model.mjs").Sides, runs_of: (at: number) => any[],
 *          change: (sides: import("./side_model.mjs").Sides) => void, found: boolean,
 *          adding: boolean, set_adding: (adding: boolean) => void}} props
 * `runs_of` returns the known runs of a candidate by index, of the base at -1; `found`: a
 * comparison has them or is loading; `adding`: a field for one more candidate is open
 */
export function Sides({ sides, runs_of, change, found, adding, set_adding }) {
  const { base, cand } = sides;
  const slots = adding || cand.length === 0 ? [...cand, ""] : cand;
  const many = slots.length > 1;
  const pick = (at, value) => {
    set_adding(false);
    change(with_candidate(sides, at, value));
  };
  const remove = (at) => (at < cand.length ? pick(at, "") : set_adding(false));
  return html`<section class="sides" aria-label="Sides of the comparison">
    <${Side} label="Base" side=${base} runs=${runs_of(-1)} found=${found}
      onpick=${(value) => change({ base: value, cand })} />
    <button type="button" class="swap" onClick=${() => change(swapped(sides))}
      aria-label="Swap base and candidate" title="Swap base and candidate">⇄</button>
    <div class="candidates">${slots.map((side, at) => html`<${Side} key=${at}
      label=${many ? `Candidate ${at + 1}` : "Candidate"} side=${side} runs=${runs_of(at)}
      found=${found} onpick=${(value) => pick(at, value)}
      onremove=${many ? () => remove(at) : null} />`)}</div>
  </section>`;
}

/** What can be done with the sides as a whole. */
export function SideActions({ sides, adding, set_adding }) {
  return html`${sides.cand.length < MOST_CANDIDATES && html`<button type="button"
      disabled=${adding} onClick=${() => set_adding(true)}>Add candidate</button>`}
    <${CopyButton} text=${location.href} label="Copy link" className="" />`;
}
