// SPDX-License-Identifier: Apache-2.0
// Common to all pages of one run: identity, tabs, the trust strip, and states short of done.
import { html, useEffect, useId, useRef, useState } from "../../base/ui.mjs";
import { changed_by_server, use_api } from "../../base/api.mjs";
import { address, has_server, run_path } from "../../base/address.mjs";
import { use_query } from "../../base/router.mjs";
import { use_now, use_store, use_title } from "../../base/hooks.mjs";
import { toggle_in_tray, tray } from "../../base/tray.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { ago, capital, count, plural, sentence, short_commit, when } from "../../base/format.mjs";
import { HangNotice } from "./hang_notice.mjs";
import { FILES } from "./evidence_model.mjs";
import { Lead, Loaded, Notice, ReportLinks, Status, Tags } from "../../widgets/widgets.mjs";
import { RangeIgnored } from "./range_line.mjs";
import { RANGE_PAGES } from "./range_model.mjs";
import { meta_entries } from "./meta_model.mjs";
import { lead_text, ranks_here, ranks_text } from "./lead_model.mjs";
import { first_group, trust_groups } from "./trust_model.mjs";
import { RunAction } from "./run_action.mjs";
import { shown_tabs } from "./tab_model.mjs";

// What a page without a server lacks: it replays no trace and reads no log.
const OF_SERVER = new Set(["whatif", "training"]);

// In groups: the results, the work, what holds it up, where the figures come from.
const TABS = [
  [["", "Overview"], ["findings", "Findings"], ["whatif", "What if"]],
  [["kernels", "Kernels"], ["operators", "Operators"], ["modules", "Modules"],
    ["ranges", "Ranges"], ["flame", "Flame"], ["roofline", "Roofline"]],
  [["timeline", "Timeline"], ["idle", "Idle"], ["collectives", "Communication"],
    ["memory", "Memory"]],
  [["training", "Training"], ["ranks", "Ranks"], ["data", "Data"]],
].map((group) => group.filter(([key]) => has_server || !OF_SERVER.has(key)));
// Pages that can show one rank; a rank or a range chosen on one is kept on the way to another.
const OF_RANK = new Set(["kernels", "operators", "modules", "ranges", "roofline", "flame",
  "timeline", "idle", "collectives", "memory", "data"]);
const BUSY_POLL_MS = 1500;
const META_SHOWN = 6; // the page of data has them all

/** API path of one of a run's resources. @param {string} run */
export function run_api(run, name = "") {
  return `/runs/${encodeURIComponent(run)}${name ? `/${name}` : ""}`;
}

const is_moving = (run) => run.status === "running" || run.status === "pending";

/**
 * The summary, fetched again while the analysis runs, and all else once a new summary shows the run
 * at rest: an analysis may have ended between what else was asked for and the summary.
 */
function use_summary(/** @type {string} */ run) {
  const resource = use_api(run_api(run, "summary"), (data) =>
    data && is_moving(data.run) ? BUSY_POLL_MS : null,
  );
  const { data, etag } = resource;
  const moving = data !== null && is_moving(data.run);
  const last = useRef({ run: "", etag: null, moving: false });
  useEffect(() => {
    if (!data) return;
    const { current: before } = last;
    const is_new = before.run === run && (before.etag !== etag || before.moving);
    if (is_new && !moving) changed_by_server();
    last.current = { run, etag, moving };
  }, [run, etag, moving]);
  return resource;
}

/** A project's name, unless it is the default one. */
export function shown_project({ project }) {
  return project === "default" ? "" : project;
}

function Identity({ run, summary }) {
  const now = use_now();
  const gpu = run.gpu ?? summary?.gpu;
  const gpus = (run.world_size ?? ranks_here(run)) * (summary?.devices ?? 1);
  const meta = meta_entries(run.meta);
  return html`<ul class="identity">
    ${has_server && html`<li><code>${run.id}</code></li>`}
    ${gpu && html`<li>${gpus > 1 ? `${count(gpus)} × ` : ""}${gpu}</li>`}
    <li>${ranks_text(run)}</li>
    ${shown_project(run) && html`<li>${run.project}</li>`}
    <li><time datetime=${run.created} title=${ago(run.created, now)}>${when(run.created)}</time>
    </li>
    <li><${Tags} tags=${run.tags} /></li>
    ${meta.length > 0 && html`<li><ul class="tags meta" aria-label="Metadata">${
      meta.slice(0, META_SHOWN).map(([key, value]) => html`<li key=${key} title="${key}=${value}">
        <span>${key}</span>${key === "commit" ? short_commit(value) : value}</li>`)}</ul></li>`}
  </ul>`;
}

function TrayButton({ run }) {
  const inside = use_store(tray).some(({ id }) => id === run.id);
  return html`<button type="button" aria-pressed=${inside} onClick=${() => toggle_in_tray(run)}>${
    inside ? "In compare tray" : "Add to compare"}</button>`;
}

function use_tab_href(run, key) {
  const [{ rank, range }] = use_query({ rank: "", range: "" });
  return address(run_path(run, key), OF_RANK.has(key) ? { rank, range } : {});
}

function Tab({ run, page, tab: [key, label], findings }) {
  return html`<li><a href=${use_tab_href(run, key)}
    aria-current=${page === (key || "overview") ? "page" : undefined}>${label}${
      key === "findings" && findings > 0 && html`<span class="count">${findings}</span>`}</a></li>`;
}

/** The run's files, where its tabs depend on them. */
const files_path = ({ id, received, evidence }) => (received === 0 && evidence > 0
  ? address(run_api(id, "inputs"), { ...FILES, format: "columns" }) : null);

/** A strip of links; on a narrow screen one button that opens them as a list. */
function Tabs({ run, about, page, findings }) {
  const [open, set_open] = useState(false);
  const id = useId();
  const files = rows_of(frame_of(use_api(files_path(about)).data));
  const groups = shown_tabs(TABS, { run: about, files, page });
  const here = TABS.flat().find(([key]) => (key || "overview") === page)?.[1] ?? page;
  return html`<nav class="tabs ${open ? "tabs-open" : ""}" aria-label="Pages of this run">
    <button type="button" class="tabs-button" aria-expanded=${open} aria-controls=${id}
      onClick=${() => set_open(!open)}><span class="faint">Page</span> ${here}
      <span aria-hidden="true">${open ? "▴" : "▾"}</span></button>
    <div class="tab-groups" id=${id}>${groups.map((group) => html`<ul key=${group[0][0]}>${
      group.map((tab) => html`<${Tab} key=${tab[0]} run=${run} page=${page} tab=${tab}
        findings=${findings} />`)}</ul>`)}</div></nav>`;
}

/** Missing ranks are reported by the strip about them. */
const is_missing_ranks = ({ item }) => item === "missing_ranks";

function trust_text({ detail, effect, count: n, ranks }, { received }) {
  const who = received > 1 && ranks !== "run" ? `${/^\d+$/.test(ranks) ? "rank" : "ranks"} ${
    ranks}: ` : "";
  const often = n > 1 ? ` (${count(n)} in all)` : "";
  return `${capital(who + detail)}${often}: ${effect || "see the report"}.`;
}

/** The page of the log says why there is no MFU. */
const is_of_log = ({ item }) => item === "model_flops_unknown";

/** The worst entry of the trust report, on every page. */
function TrustStrip({ run, trust, partial }) {
  const groups = trust_groups((trust ?? []).filter((row) => !is_of_log(row) &&
    (!partial || !is_missing_ranks(row))));
  if (groups.length === 0) return null;
  const others = groups.length - 1;
  return html`<${Notice} kind="warning">
    <p><strong>Trust: </strong>${trust_text(first_group(groups), run)}
      ${" "}<a href=${run_path(run.id, "data")}>${
        others > 0 ? `${others} more in the trust report` : "Trust report"}</a></p><//>`;
}

function PartialStrip({ run, partial }) {
  if (is_moving(run)) {
    return html`<${Notice}><p><strong>Analyzing. </strong>Figures appear as ranks finish.
      ${" "}<${Status} status=${run.status} progress=${run.progress} /></p>
      <${RunAction} run=${run} action="cancel" /><//>`;
  }
  if (!partial) return null;
  return html`<${Notice} kind="warning"><p><strong>${count(partial.received)} of ${
    count(partial.world_size)} ranks ${partial.received === 1 ? "is" : "are"} here.
    </strong>${" "}Everything below covers only ${partial.received === 1 ? "it" : "these"}.</p>
  <//>`;
}

function FailedNotice({ run, page }) {
  if (run.status !== "failed") return null;
  if (run.error === "cancelled") {
    return html`<${Notice} kind="warning" title="The analysis of this run was cancelled">
      <${RunAction} run=${run} action="reanalyze" /><//>`;
  }
  return html`<${Notice} kind="error" title="The analysis of this run failed">
    <p>${run.error && sentence(run.error)}${page !== "data" && html`${" "}<a
      href=${run_path(run.id, "data")}>Files and their errors</a>`}</p>
    <p>A file that could not be read will fail again: <a href="/upload">upload another</a>, or
      see${" "}
      <a href="/docs/recording">how to record one</a>.</p>
    <${RunAction} run=${run} action="reanalyze" /><//>`;
}

/** Figures without some of the files must not look complete. */
function UnreadNotice({ run, page }) {
  if (run.status !== "partial") return null;
  const was_cancelled = run.error === "cancelled";
  return html`<${Notice} kind="warning" title=${was_cancelled
    ? "The analysis of some files of this run was cancelled"
    : "Some files of this run could not be read"}>
    <p>${run.error && !was_cancelled && `${sentence(run.error)} `}Everything here covers only the
      others.${page !== "data" && html`${" "}<a
        href=${run_path(run.id, "data")}>Files and their errors</a>`}</p><//>`;
}

function DamagedNotice({ run, files, page }) {
  if (!files) return null;
  return html`<${Notice} kind="warning" title="${plural(files, "file")} of this run ${
      files === 1 ? "is" : "are"} damaged on the server's disk"
      fix="upload the same ${files === 1 ? "file" : "files"} again">
    <p>Figures computed earlier remain valid.${page !== "data" && html`${" "}<a
      href=${run_path(run, "data")}>Show the file</a>`}</p><//>`;
}

/**
 * The frame around a page of a run.
 * @param {{route: {page: string, run: string}, title: string, above?: [string, string],
 *          children: (summary: any, run: string) => any}} props
 * `above` is the page, in the tabs, that a page below it belongs to, and its title
 */
export function RunFrame({ route, title, above, children }) {
  const resource = use_summary(route.run);
  const is_unknown = !resource.data && resource.problem?.status === 404;
  const [shown] = use_query({ rank: "", range: "", vs: "", of: "" });
  const name = resource.data?.run.name ?? (is_unknown ? "No such run" : route.run);
  use_title(title === "Overview" ? name : `${title} · ${name}`);
  return html`<nav class="breadcrumb" aria-label="Breadcrumb"><ol>
      <li><a href="/">${has_server ? "Runs" : "Files"}</a></li>
      ${title !== "Overview" && html`<li><a href=${run_path(route.run)}>${name}</a></li>`}
      ${above && html`<li><a href=${run_path(route.run, above[0])}>${above[1]}</a></li>`}
      <li aria-current="page">${title === "Overview" ? name : title}</li></ol></nav>
    <header class="page-head run-head">
      <h1 tabindex="-1">${name}<span class="visually-hidden">: ${title}</span></h1>
      ${resource.data && html`<${Identity} run=${resource.data.run}
        summary=${resource.data.summary} />`}
      ${has_server && resource.data && html`<div class="run-links"><${ReportLinks}
        sides=${[resource.data.run.id]} /><${TrayButton} run=${resource.data.run} /></div>`}
    </header>
    <${Loaded} resource=${resource}>${(data) => html`
      <${Tabs} run=${route.run} about=${data.run} page=${above?.[0] ?? route.page}
        findings=${data.summary?.findings ?? 0} />
      <${FailedNotice} run=${data.run} page=${route.page} />
      <${UnreadNotice} run=${data.run} page=${route.page} />
      <${DamagedNotice} run=${route.run} files=${data.damaged_files} page=${route.page} />
      ${data.run.evidence > 0 && html`<${HangNotice} run=${route.run} page=${route.page} />`}
      <${PartialStrip} run=${data.run} partial=${data.partial} />
      ${route.page !== "data" && html`<${TrustStrip} run=${data.run}
        trust=${data.trust} partial=${data.partial} />`}
      <${Lead} text=${lead_text(route.page, data, shown)} />
      ${!RANGE_PAGES.has(route.page) && html`<${RangeIgnored} />`}
      ${children(data, route.run)}`}
    <//>`;
}
