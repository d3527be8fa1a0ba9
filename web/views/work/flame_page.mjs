// SPDX-License-Identifier: Apache-2.0
// Flame graphs: device time by operators, modules or ranges, idle time by cause; of one run, or the
// difference to another.
import { html, useMemo } from "../../base/ui.mjs";
import { use_api } from "../../base/api.mjs";
import { address, kernel_path, operator_path } from "../../base/address.mjs";
import { frame_of, rows_of } from "../../base/frame.mjs";
import { percent, short_gpu, short_kernel, time_text } from "../../base/format.mjs";
import { distinct_labels } from "../../base/kernel_distinct.mjs";
import { use_all_labels } from "../../base/kernel_labels.mjs";
import { use_query } from "../../base/router.mjs";
import { Flame } from "../../charts/flame.mjs";
import { found_ns, nodes_at, per_step_difference } from "../../charts/flame_model.mjs";
import { Card, Empty, Lead, Loaded, SearchBox, Segments } from "../../widgets/widgets.mjs";
import { KernelLabels } from "../../widgets/kernel_text.mjs";
import { RankPage } from "../run/rank_page.mjs";
import { FLAMES, use_flame, use_step_count } from "./flame_data.mjs";
import { difference_text } from "./work_leads.mjs";

const DEFAULTS = { of: "operators", dir: "icicle", q: "", at: "", vs: "", kernels: "" };
const DIRECTIONS = [["icicle", "Icicle"], ["flame", "Flame"]];
const ROOTS = { operators: "All device work", modules: "All device work",
  ranges: "All device work", idle: "All idle time" };

// Nodes that differ by shade alone.
const SHADED = { operators: "Operators", modules: "Modules", ranges: "Ranges",
  idle: "Host events and operators" };

/** Runs to compare with, the newest first. */
function use_others(run) {
  const { data } = use_api(address("/runs", { fields: "id,name,status,gpu", limit: "100",
    format: "columns" }));
  return useMemo(() => rows_of(frame_of(data)).filter(({ id, status }) =>
    id !== run && status === "done"), [data, run]);
}

function VsPick({ run, vs, onchange }) {
  const others = use_others(run);
  const known = others.some(({ id }) => id === vs);
  return html`<label class="pick"><span>Compare with</span><select value=${vs}
      onChange=${(event) => onchange(event.target.value)}><option value="">no other run</option>
    ${vs !== "" && !known && html`<option value=${vs}>${vs}</option>`}
    ${others.map(({ id, name, gpu }) => html`<option key=${id} value=${id}>${name}${
      gpu ? `, ${short_gpu(gpu)}` : ""}</option>`)}</select></label>`;
}

function name_writer(of, labels) {
  return (node) => {
    if (node.kind === "root") return ROOTS[of];
    if (node.kind === "kernel") return labels.get(node.name);
    if (of === "modules" && node.name === "") return ROOTS[of];
    return node.name || "no operator";
  };
}

/** Labels of a tree's kernels, all different: those of two runs may be alike. */
function labels_in(root, known) {
  const pairs = [];
  const open = root ? [root] : []; // a tree may be deeper than the stack
  while (open.length > 0) {
    const { kind, name, children } = open.pop();
    if (kind === "kernel") pairs.push([name, known.get(name) ?? short_kernel(name)]);
    for (const child of children) open.push(child);
  }
  return distinct_labels(pairs);
}

/** The page about a node, if it is a kernel or an operator. */
const page_of = (run, rank) => ({ kind, name }) => {
  if (!name || name.startsWith("no ") || name === "end") return null;
  if (kind === "kernel") return kernel_path(run, name, rank);
  return kind === "op" ? operator_path(run, name, rank) : null;
};

function Zoomed({ root, at, write, onzoom, page }) {
  const nodes = nodes_at(root, at);
  if (nodes.length < 2) return null;
  const path = at.split(".");
  const href = page?.(nodes.at(-1));
  return html`<nav class="flame-path" aria-label="Zoomed to"><ol>${nodes.map((node, i) => html`<li
    key=${i}>${i === nodes.length - 1 ? html`<strong>${write(node)}</strong>${
      href && html` <a href=${href}>Its page</a>`}`
    : html`<button type="button" class="link" onClick=${() =>
      onzoom(path.slice(0, i).join("."))}>${write(node)}</button>`}</li>`)}</ol></nav>`;
}

function caption_of(root, { of, q, vs }, run_names, write) {
  if (vs !== "") return `Each box per step: ${run_names[1]} compared with ${run_names[0]}`;
  const what = of === "idle" ? "of idle time by what delayed the next work"
    : "of device time, each nanosecond counted once";
  const found = q === "" ? "" : `; ${percent(found_ns(root, q, write)
    / (root.ns || 1))} in “${q}”`;
  return `${time_text(root.ns)} ${what}${found}`;
}

function Graph({ root, query, change, run, rank, names }) {
  const labels = use_all_labels();
  const write = useMemo(() => name_writer(query.of, labels_in(root, labels)),
    [query.of, root, labels]);
  const onzoom = (at) => change({ at });
  if (!root || root.children.length === 0) {
    return html`<${Empty} title="Nothing to draw"><p>The recording has no such tree: operators,
      modules or ranges were not recorded, or the device was never idle.</p><//>`;
  }
  const page = query.of === "modules" || query.of === "ranges" ? undefined : page_of(run, rank);
  return html`<${Zoomed} root=${root} at=${query.at} write=${write} onzoom=${onzoom}
      page=${page} />
    <${Flame} root=${root} zoom=${query.at} q=${query.q} is_flame=${query.dir === "flame"}
      caption=${caption_of(root, query, names, write)} names=${names} write=${write}
      shaded=${SHADED[query.of]}
      onzoom=${onzoom} page=${page} />`;
}

function WithoutSteps({ names }) {
  return html`<${Empty} title="The runs cannot be compared per step"><p>No steps were recorded in ${
    names.join(" and ")}, so times of recordings of different lengths would be compared.</p><//>`;
}

/** The name of a run in a list, else what the address has. */
function use_name(key) {
  const { data } = use_api(key === "" ? null : `/runs/${encodeURIComponent(key)}`);
  return data?.name ?? key;
}

function Content({ run, rank, name }) {
  const [asked, change] = use_query(DEFAULTS);
  const of = FLAMES.some(([word]) => word === asked.of) ? asked.of : DEFAULTS.of;
  const query = { ...asked, of };
  const { vs } = query;
  const shows_kernels = query.kernels !== "no";
  const own = use_flame(run, rank, of, shows_kernels);
  const other = use_flame(vs, "", of, shows_kernels);
  const sides = [use_step_count(vs && run, rank), use_step_count(vs, "")];
  const steps = sides.map((side) => side.count);
  const root = useMemo(() => (vs === "" ? own.root
    : per_step_difference(own.root, other.root, steps)), [own.root, other.root, vs, ...steps]);
  const needed = vs === "" ? [own.resource]
    : [own.resource, other.resource, ...sides.map(({ resource }) => resource)];
  const names = [name, use_name(vs)];
  const has_kernels = of === "operators";
  const is_compared = vs !== "" && root && !steps.includes(0)
    && needed.every(({ data }) => data !== null);
  return html`${is_compared && html`<${Lead} text=${difference_text(root, of, names)} />`}
    <${KernelLabels} runs=${[run, vs].filter(Boolean)} />
    <div class="view-bar"><${Segments} label="Of" value=${of} options=${FLAMES}
      onchange=${(next) => change({ of: next, at: "" })} /></div>
    <${Card} title="Flame graph" note=${vs === "" ? "the whole recording"
      : "the whole recordings, divided by their steps"}>
    <div class="filter-bar"><${SearchBox} label="Search names" value=${query.q}
        placeholder="Search names" oninput=${(q) => change({ q }, { replace: true })} />
      <${Segments} label="Direction" value=${query.dir} options=${DIRECTIONS}
        onchange=${(dir) => change({ dir })} />
      ${has_kernels && html`<label class="check"><input type="checkbox" checked=${shows_kernels}
        onChange=${() => change({ kernels: shows_kernels ? "no" : "", at: "" })} />
        Kernels</label>`}
      <${VsPick} run=${run} vs=${vs} onchange=${(next) => change({ vs: next, at: "" })} /></div>
    <${Loaded} resource=${needed.find(({ data }) => data === null) ?? own.resource}>${() => (
      vs !== "" && steps.includes(0) ? html`<${WithoutSteps} names=${names.filter((_, i) =>
        steps[i] === 0)} />` : html`<${Graph} root=${root} query=${query} change=${change}
        run=${run} rank=${rank} names=${names} />`)}<//><//>`;
}

export default function FlamePage({ route }) {
  return html`<${RankPage} route=${route} title="Flame">${(run, rank, data) =>
    html`<${Content} run=${run} rank=${rank} name=${data.run.name} />`}<//>`;
}
