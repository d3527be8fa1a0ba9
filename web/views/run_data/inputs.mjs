// SPDX-License-Identifier: Apache-2.0
// Archives and other files of a run: what became of each, and attachments to download.
import { html, useMemo } from "../../base/ui.mjs";
import { api_href, use_api } from "../../base/api.mjs";
import { address, run_path } from "../../base/address.mjs";
import { may } from "../../base/session.mjs";
import { count, sentence } from "../../base/format.mjs";
import { frame_of } from "../../base/frame.mjs";
import { Card, ExportLinks, Loaded, Status } from "../../widgets/widgets.mjs";
import { Table } from "../../widgets/table.mjs";
import { run_api } from "../run/run_frame.mjs";

const BUSY_POLL_MS = 1500;
const SHOWN = 1000;

const is_moving = ({ status }) => status === "queued" || status === "running";

function InputName({ input }) {
  const { id, filename, has_file, secrets, reason, status } = input;
  const is_withheld = has_file && secrets !== 0 && !may("admin");
  return html`<span class="trace-name">${has_file && !is_withheld
    ? html`<a href=${api_href(`/inputs/${id}/file`)} download title="Download">${filename}</a>`
    : html`<span>${filename}</span>`}
    ${is_withheld && html`<span class="trace-note">No download: the file seems to contain secrets,
      so it needs the scope admin.</span>`}
    ${reason && html`<span class=${status === "failed" ? "trace-error" : "trace-note"}>${
      sentence(reason)}</span>`}</span>`;
}

function InputTable({ title, has_archive, run, items, total }) {
  const frame = useMemo(() => frame_of(items), [items]);
  const at = (row) => items[row];
  return html`<${Table} caption=${title} frame=${frame} columns=${[
    { key: "filename", label: "File", className: "wrap", cell: (row) =>
      html`<${InputName} input=${at(row)} />` },
    { key: "kind", label: "Kind" },
    ...items.some(({ rank }) => rank !== null)
      ? [{ key: "rank", label: "Rank", kind: "count", cell: (row) => at(row).rank ?? "–" }] : [],
    { key: "status", label: "State", cell: (row) => at(row).kind === "skipped"
      && at(row).status === "done" ? "–"
      : html`<${Status} status=${at(row).status} progress=${at(row).progress} />` },
    ...has_archive ? [{ key: "run_name", label: "Run", priority: 2, cell: (row) =>
      (at(row).run === run ? "this run"
        : html`<a href=${run_path(at(row).run)}>${at(row).run_name}</a>`) }] : [],
    { key: "format", label: "Format", priority: 3, cell: (row) => at(row).format ?? "–" },
    { key: "bytes", label: "Size", kind: "bytes" },
  ]} />
  ${total > items.length && html`<p class="footnote">The first ${count(items.length)} of ${
    count(total)}.</p>`}`;
}

/** Nothing without such files. @param {{run: string, id: string}} props */
export function Inputs({ run, id }) {
  const path = run_api(run, "inputs");
  const resource = use_api(address(path, { limit: SHOWN }), (data) =>
    data?.items.some(is_moving) ? BUSY_POLL_MS : null);
  if (resource.data && resource.data.items.length === 0) return null;
  const has_archive = resource.data?.items.some(({ kind }) => kind !== "attachment");
  const title = has_archive ? "Archives" : "Other files";
  const href = (format) => api_href(address(path, { format, limit: "all" }));
  return html`<${Card} title=${title} flush=${true}
      note="${has_archive ? "each member and what became of it; " : ""}links download attachments"
      actions=${html`<${ExportLinks} links=${[["CSV", href("csv")], ["JSON", href("json")]]} />`}>
    <${Loaded} resource=${resource}>${(data) => html`<${InputTable} title=${title}
      has_archive=${has_archive} run=${id} items=${data.items} total=${data.total} />`}<//><//>`;
}
