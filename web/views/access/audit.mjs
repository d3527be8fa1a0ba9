// SPDX-License-Identifier: Apache-2.0
// The audit log: who changed what, and when.
import { html, useMemo } from "../../base/ui.mjs";
import { api_href, use_api } from "../../base/api.mjs";
import { address, patch_query } from "../../base/address.mjs";
import { ago, when } from "../../base/format.mjs";
import { frame_of, row_at } from "../../base/frame.mjs";
import { use_now, use_title, use_typed } from "../../base/hooks.mjs";
import { use_query } from "../../base/router.mjs";
import { short_name } from "../../base/session.mjs";
import { Table } from "../../widgets/table.mjs";
import { Card, ExportLinks, Lead, Loaded, SearchBox } from "../../widgets/widgets.mjs";
import { AccessHead } from "./access_tabs.mjs";
import { outcome_of } from "./access_model.mjs";
import { audit_lead, deed_of } from "./audit_model.mjs";

const DEFAULTS = { q: "", before: "" };
const PAGE_ROWS = 200;

const TONES = { done: "good", refused: "warn", failed: "bad", "not done": "neutral" };

/** "DELETE /api/v1/runs/x (run r_7q2k9d0x)", or what the service itself did, and to what. */
const request_line = ({ action, object }) =>
  object.startsWith("/") ? `${action.split(" ")[0]} ${object}` : `${action}: ${object}`;

/** Equal refusals within an hour are one entry. */
const status_title = ({ status, count, last_at }) =>
  count > 1 ? `HTTP ${status}, ${count} times until ${when(last_at)}` : `HTTP ${status}`;

function columns_of(frame, now) {
  const at = (row) => row_at(frame, row);
  const outcome = (row) => outcome_of(at(row).status);
  return [
    { key: "at", label: "When", width_px: 96, cell: (row) => html`<time datetime=${at(row).at}
      title=${when(at(row).at)}>${ago(at(row).at, now)}</time>` },
    { key: "who", label: "Who", width_px: 150, className: "audit-cell",
      cell: (row) => html`<span title=${at(row).who}>${short_name(at(row)) || "–"}</span>` },
    { key: "action", label: "Action", width_px: 320, className: "audit-cell",
      cell: (row) => html`<span title=${at(row).action}>${
        deed_of(at(row), outcome(row))}</span>` },
    { key: "object", label: "Request", width_px: 240, className: "audit-cell faint mono",
      priority: 2, cell: (row) => html`<span title=${`${at(row).action} ${at(row).object}`}>${
        request_line(at(row))}</span>` },
    { key: "status", label: "Outcome", width_px: 96, cell: (row) => html`<span
      class="status status-${TONES[outcome(row)]}" title=${status_title(at(row))}>${
        outcome(row)}</span>${at(row).count > 1 && html` <span class="faint">× ${
          at(row).count}</span>`}` },
    { key: "peer", label: "From", width_px: 120, priority: 3 },
    { key: "request_id", label: "Request ID", width_px: 150, priority: 5 },
  ];
}

function Entries({ reply, query }) {
  const now = use_now();
  const frame = useMemo(() => frame_of(reply), [reply]);
  const last = frame.length > 0 ? row_at(frame, frame.length - 1).id : null;
  const to = (before) => `/settings/audit${patch_query(location.search, { before })}`;
  return html`<${Table} caption="Audit log" frame=${frame} columns=${columns_of(frame, now)}
      view=${query.q + query.before} empty=${html`<p class="empty-line">No entry.</p>`} />
    ${(query.before || reply.total > frame.length) && html`<nav class="pager"
      aria-label="Pages of the log">${query.before && html`<a href=${to("")}>Newest</a>`}
      ${reply.total > frame.length && html`<a href=${to(String(last))}>Older</a>`}</nav>`}`;
}

export default function Audit() {
  use_title("Audit log");
  const [query, change] = use_query(DEFAULTS);
  const [text, set_text] = use_typed(query.q, (q) => change({ q, before: "" }, { replace: true }));
  const asked = { q: query.q, before: query.before };
  const resource = use_api(address("/audit", { ...asked, limit: PAGE_ROWS }));
  const href = (format) => api_href(address("/audit", { ...asked, limit: "all", format }));
  return html`<${AccessHead} page="audit" note="changes, sessions and downloads of raw traces" />
    <div class="filter-bar"><${SearchBox} label="Search the log" value=${text}
        placeholder="a token, an address, a run" oninput=${set_text} oncommit=${set_text} />
      <${ExportLinks} links=${[["CSV", href("csv")], ["JSON", href("json")]]} /></div>
    <${Loaded} resource=${resource}>${(reply) => html`${query.before === "" && html`<${Lead}
        text=${audit_lead(reply, query.q)} />`}
      <${Card} title="Newest first" flush><${Entries} reply=${reply} query=${query} /><//>`}<//>`;
}
