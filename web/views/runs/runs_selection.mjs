// SPDX-License-Identifier: Apache-2.0
// What can be done with ticked runs: compare, find the partner on the other GPU, tag, delete.
import { html, useMemo, useState } from "../../base/ui.mjs";
import { announce } from "../../base/announce.mjs";
import { api_send, use_api } from "../../base/api.mjs";
import { address } from "../../base/address.mjs";
import { plural, short_gpu } from "../../base/format.mjs";
import { focus_once, use_is_shown, use_store } from "../../base/hooks.mjs";
import { navigate } from "../../base/router.mjs";
import { may } from "../../base/session.mjs";
import { compare_address, ROOM, set_tray, tray } from "../../base/tray.mjs";
import { ProblemNotice, ReportLinks } from "../../widgets/widgets.mjs";
import { DeleteDialog } from "../bin/delete_dialog.mjs";
import { partners_of } from "../run/partner_model.mjs";
import { tag_patch } from "./tag_model.mjs";

const MOST_SEARCHED = 500; // runs among which a partner is looked for

/** The ticked runs, in order of ticking; a search hides some of them. */
export function use_ticks() {
  const [ticked, set_ticked] = useState([]);
  const has = (wanted) => ticked.some(({ id }) => id === wanted);
  const toggle = ({ id, name }) =>
    set_ticked(has(id) ? ticked.filter((run) => run.id !== id) : [...ticked, { id, name }]);
  const drop = (gone) => set_ticked((now) =>
    now.filter(({ id }) => !gone.some((run) => run.id === id)));
  return { ticked, has, toggle, drop, clear: () => set_ticked([]) };
}

const names_of = (runs) => html`<span class="faint selection-names">${
  runs.map(({ name }) => name).join(" · ")}</span>`;

function CompareButton({ runs }) {
  const compare = () => {
    set_tray(runs);
    navigate(compare_address(runs));
  };
  const text = runs.length < 2 ? "Compare: choose one more"
    : runs.length > ROOM ? `Compare: at most ${ROOM}` : "Compare";
  return html`<button type="button" class="primary" disabled=${text !== "Compare"}
    onClick=${compare}>${text}</button>`;
}

/** The tray collects runs across searches; ticking does not affect it. */
function TrayBar() {
  const picked = use_store(tray);
  if (picked.length === 0) return null;
  return html`<div class="selection-bar" role="region" aria-label="Compare tray">
    <span class="selection-what"><strong>${picked.length} in the compare tray</strong> ${
      names_of(picked)}</span>
    <span class="form-actions"><${CompareButton} runs=${picked} />
      <button type="button" class="link" onClick=${() => set_tray([])}>Empty</button></span></div>`;
}

/** Leads to the comparison with the run of the same work on the GPU of another vendor. */
function Partner({ run }) {
  const { data } = use_api(address("/runs", { sort: "-created", limit: MOST_SEARCHED }));
  const [partner] = useMemo(() => partners_of(run, data?.items ?? []), [run, data]);
  if (!partner) return null;
  return html`<a class="button" href=${compare_address([run, partner])}
    title="The same work on the GPU of another vendor">Compare with ${partner.name} (${
    short_gpu(partner.gpu)})</a>`;
}

/** Sets or removes a tag of all chosen runs. */
function TagForm({ runs, onclose }) {
  const [problem, set_problem] = useState(null);
  const is_shown = use_is_shown();
  const save = async (event) => {
    event.preventDefault();
    try {
      const body = { tags: tag_patch(String(new FormData(event.target).get("tag") ?? "")) };
      const type = "application/merge-patch+json";
      for (const [i, { id }] of runs.entries()) {
        const shown = i === runs.length - 1; // what is shown is fetched once
        await api_send("PATCH", `/runs/${encodeURIComponent(id)}`,
          { body, etag: "*", type, shown });
      }
      announce(`Changed the tag of ${plural(runs.length, "run")}`);
      if (is_shown()) onclose();
    } catch (error) {
      set_problem(error);
    }
  };
  return html`<form class="tag-form" onSubmit=${save}><input name="tag" required ref=${focus_once}
      autocomplete="off" aria-label="Tag of ${plural(runs.length, "run")}"
      placeholder="branch=main; branch= removes it" pattern=".+=.*" maxlength="400" />
    <button type="submit">Tag ${plural(runs.length, "run")}</button>
    <button type="button" onClick=${onclose}>Cancel</button>
    ${problem && html`<${ProblemNotice} problem=${problem} />`}</form>`;
}

/** Actions on ticked runs apply only to the visible ones. */
export function SelectionBar({ ticks, shown }) {
  const [deleting, set_deleting] = useState(null);
  const [tagging, set_tagging] = useState(false);
  const ids = new Set(shown.map(({ id }) => id));
  const here = ticks.ticked.filter(({ id }) => ids.has(id));
  const hidden = ticks.ticked.length - here.length;
  const to_tray = () => {
    const chosen = new Set(here.map(({ id }) => id));
    set_tray([...tray.get().filter(({ id }) => !chosen.has(id)), ...here]);
    ticks.clear();
  };
  const full = (id) => shown.find((run) => run.id === id);
  const dialog = deleting && html`<${DeleteDialog} runs=${deleting} ondeleted=${ticks.drop}
    onclose=${() => set_deleting(null)} />`;
  if (ticks.ticked.length === 0) return html`<${TrayBar} />${dialog}`;
  return html`<div class="selection-bar" role="region" aria-label="Selected runs">
    <span class="selection-what"><strong>${here.length} selected</strong> ${names_of(here)}${
      hidden > 0 && html`<span class="selection-hidden">${hidden} more not in this list</span>`}
    </span>
    <span class="form-actions">
      ${here.length === 1 && html`<${Partner} key=${here[0].id} run=${full(here[0].id)} />`}
      ${here.length > 0 && html`<${CompareButton} runs=${here} />
        <button type="button" onClick=${to_tray}>Add to tray</button>
        ${here.length <= 9 && html`<${ReportLinks} sides=${here.map(({ id }) => id)} />`}
        ${may("write") && html`<button type="button" aria-expanded=${tagging}
          onClick=${() => set_tagging(!tagging)}>Tag…</button>`}
        ${may("admin") && html`<button type="button"
          onClick=${() => set_deleting(here)}>Delete…</button>`}`}
      <button type="button" class="link" onClick=${ticks.clear}>Clear</button></span>
    ${tagging && here.length > 0 && html`<${TagForm} runs=${here}
      onclose=${() => set_tagging(false)} />`}</div>${dialog}`;
}
