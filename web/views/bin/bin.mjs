// SPDX-License-Identifier: Apache-2.0
// The bin: deleted runs, how long they can be restored, and the disk space they take.
import { html, useMemo, useState } from "../../base/ui.mjs";
import { api_send, use_api } from "../../base/api.mjs";
import { announce } from "../../base/announce.mjs";
import { restore_runs } from "./deeds.mjs";
import { ago, bytes, plural, when } from "../../base/format.mjs";
import { frame_of, row_at } from "../../base/frame.mjs";
import { use_is_shown, use_now, use_title } from "../../base/hooks.mjs";
import { may, short_name } from "../../base/session.mjs";
import { Table } from "../../widgets/table.mjs";
import { Card, Dialog, Empty, Loaded, ProblemNotice } from "../../widgets/widgets.mjs";
import { DeedNotice } from "./deed_notice.mjs";

const day = (time) => when(time).slice(0, 10);

const deleter = (who) => (who === "retention" ? "retention rules" : short_name({ who }));

function columns_of(frame, now, onpurge) {
  const at = (row) => row_at(frame, row);
  const time = (key, text) => (row) => html`<time datetime=${at(row)[key]}
    title=${when(at(row)[key])}>${text(at(row)[key], now)}</time>`;
  return [
    { key: "name", label: "Run", className: "name-cell", cell: (row) => html`<span
      class="run-name">${at(row).name}<span class="run-sub">${at(row).project}<span
        class="only-narrow">${ago(at(row).deleted, now)}</span></span></span>` },
    { key: "deleted", label: "Deleted", priority: 2, cell: time("deleted", ago) },
    { key: "deleted_by", label: "By", priority: 3, cell: (row) => deleter(at(row).deleted_by) },
    { key: "goes", label: "Deleted for good", priority: 2, cell: time("goes", day) },
    { key: "bytes", label: "Disk", kind: "bytes" },
    may("admin") && { key: "actions", sort: false,
      label: html`<span class="visually-hidden">Restore or delete</span>`,
      cell: (row) => html`<span class="form-actions bin-actions"><button type="button"
        class="small" aria-label="Restore ${at(row).name}"
        onClick=${() => restore_runs([at(row)])}>Restore</button><button type="button"
        class="link" aria-label="Delete ${at(row).name} for good"
        onClick=${() => onpurge(at(row))}>Delete…</button></span>` },
  ].filter(Boolean);
}

/** Asks before something is deleted for good; `what` is its name in the question. */
function PurgeDialog({ what, onclose, children }) {
  const [problem, set_problem] = useState(null);
  const [busy, set_busy] = useState(false);
  const is_shown = use_is_shown();
  const purge = async () => {
    set_busy(true);
    try {
      await api_send("DELETE", what.path);
      announce(what.said);
      if (is_shown()) onclose();
    } catch (error) {
      set_problem(error);
      set_busy(false);
    }
  };
  return html`<${Dialog} title=${what.title} onclose=${onclose}>
    <p>${children} This cannot be undone.</p>
    ${problem && html`<${ProblemNotice} problem=${problem} />`}
    <p class="form-actions"><button type="button" class="danger" disabled=${busy}
      onClick=${purge}>Delete for good</button>
      <button type="button" onClick=${onclose}>Keep</button></p><//>`;
}

const purge_of_run = ({ id, name }) => ({ title: `Delete ${name} for good?`,
  path: `/bin/${encodeURIComponent(id)}`, said: `${name} is gone` });
const purge_of_all = { title: "Empty the bin?", path: "/bin", said: "The bin is empty" };

function List({ reply }) {
  const now = use_now();
  const frame = useMemo(() => frame_of(reply.items), [reply]);
  const [purging, set_purging] = useState(null); // a run, or "all"
  const close = () => set_purging(null);
  const all = may("admin") && html`<button type="button" class="small"
    onClick=${() => set_purging("all")}>Empty the bin…</button>`;
  return html`<${Card} title="Deleted runs" note="${plural(reply.runs, "run")}, ${
      bytes(reply.bytes)} on disk" actions=${all} flush>
    <${Table} caption="Deleted runs" frame=${frame}
      columns=${columns_of(frame, now, set_purging)} />
    ${purging === "all" && html`<${PurgeDialog} what=${purge_of_all} onclose=${close}>
      ${plural(reply.runs, "run")} with all traces and results will be deleted, freeing ${
        bytes(reply.bytes)}.<//>`}
    ${purging?.id && html`<${PurgeDialog} what=${purge_of_run(purging)} onclose=${close}>
      The run, its traces and all results will be deleted, freeing ${
        bytes(purging.bytes)}.<//>`}<//>`;
}

function Rules({ days }) {
  return html`<p class="faint bin-note">${days > 0
    ? html`A deleted run is kept for ${plural(days, "day")}, or less if disk space runs short.
      Meanwhile its name can be used again, and its files count towards the uploader's quota.`
    : "This service has no bin: runs are deleted immediately."}</p>`;
}

export default function Bin() {
  use_title("Bin");
  const resource = use_api("/bin");
  return html`<header class="page-head"><h1 tabindex="-1">Bin</h1>
      <p class="page-note"><a href="/">All runs</a></p></header>
    <${Loaded} resource=${resource}>${(reply) => html`<${Rules} days=${reply.days} />
      ${reply.runs > 0 ? html`<${List} reply=${reply} />`
        : html`<${Empty} title="The bin is empty"><//>`}`}<//>
    <div class="dock"><${DeedNotice} /></div>`;
}
