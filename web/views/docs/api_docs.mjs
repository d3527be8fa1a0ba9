// SPDX-License-Identifier: Apache-2.0
// The REST API's own description (OpenAPI 3.1), rendered.
import { html, useMemo } from "../../base/ui.mjs";
import { api_href, use_api } from "../../base/api.mjs";
import { plural } from "../../base/format.mjs";
import { use_title } from "../../base/hooks.mjs";
import { use_query } from "../../base/router.mjs";
import { Card, Command, Lead, Loaded, SearchBox } from "../../widgets/widgets.mjs";
import { answers_of, operations_of, properties_of, refusals_of, type_text }
  from "./openapi_model.mjs";

/** Prose of the description: code in backquotes is the only markup. */
function Prose({ text }) {
  if (!text) return null;
  return html`${text.split(/\n\n+/).map((paragraph, i) => html`<p key=${i}>${
    paragraph.split("`").map((piece, j) => (j % 2 ? html`<code>${piece}</code>` : piece))}</p>`)}`;
}

function Parameters({ list }) {
  if (list.length === 0) return null;
  return html`<h3>Parameters</h3><dl class="api-params">${list.map((one) => html`
    <div key=${one.name}>
    <dt><code>${one.name}</code><span class="faint"> ${one.in}${one.required ? ", required" : ""}${
      one.schema ? `, ${type_text(one.schema)}` : ""}</span></dt>
    <dd><${Prose} text=${one.description} /></dd></div>`)}</dl>`;
}

function Properties({ api, schema }) {
  const list = properties_of(api, schema);
  if (list.length === 0) return null;
  return html`<details class="fold"><summary>${list.length} fields</summary>
    <dl class="api-params">${list.map(({ name, type, description, unit }) => html`<div key=${name}>
      <dt><code>${name}</code><span class="faint"> ${type}${unit ? `, ${unit}` : ""}</span></dt>
      <dd><${Prose} text=${description} /></dd></div>`)}</dl></details>`;
}

function Responses({ api, responses }) {
  const { own, refusals } = answers_of(api, responses);
  return html`<h3>Answers</h3><dl class="api-params">${own.map(([status, response]) => {
      const content = Object.values(response.content ?? {})[0];
      return html`<div key=${status}><dt><code>${status}</code></dt><dd>
        <${Prose} text=${response.description} />
        ${content?.schema && html`<${Properties} api=${api} schema=${content.schema} />`}</dd>
      </div>`;
    })}
    <div><dt><code>${refusals.join(", ")}</code></dt>
      <dd><p>Refused: see the last section of this page.</p></dd></div></dl>`;
}

function Refusals({ api }) {
  return html`<${Card} title="refusals" note="Responses to refused requests.">
    <dl class="api-params">${refusals_of(api).map(({ status, description }) => html`
      <div key=${description}><dt><code>${status}</code></dt>
        <dd><${Prose} text=${description} /></dd></div>`)}</dl>
    <${Properties} api=${api} schema=${api.components?.schemas?.Problem} /><//>`;
}

/** A command to try an operation; the reader fills in what is in braces. */
function curl_of({ method, path, body }) {
  const types = Object.keys(body?.content ?? {});
  if (types.includes("multipart/form-data")) {
    return `curl -F run=NAME -F trace=@rank0.json.gz '${location.origin}${path}'`;
  }
  if (method === "put") return `curl -T rank0.json.gz '${location.origin}${path}'`;
  const verb = method === "get" ? "" : ` -X ${method.toUpperCase()}`;
  return `curl${verb} '${location.origin}${path}'`;
}

function Operation({ api, operation }) {
  const { method, path, summary, description, parameters, body, responses } = operation;
  return html`<details class="operation" id="${method}${path}">
    <summary><span class="method method-${method}">${method.toUpperCase()}</span>
      <code>${path}</code><span class="operation-sum">${summary}</span></summary>
    <div class="operation-body"><${Prose} text=${description} />
      <${Command} text=${curl_of(operation)} />
      <${Parameters} list=${parameters} />
      ${body && html`<h3>Body</h3><${Prose} text=${body.description} />
        ${Object.entries(body.content ?? {}).map(([type, { schema }]) => html`<div key=${type}>
          <p><code>${type}</code></p><${Properties} api=${api} schema=${schema} /></div>`)}`}
      <${Responses} api=${api} responses=${responses} /></div>
  </details>`;
}

function matches({ path, summary, description }, q) {
  return `${path} ${summary} ${description}`.toLowerCase().includes(q.trim().toLowerCase());
}

function Description({ api, q }) {
  const groups = useMemo(() => operations_of(api), [api]);
  const shown = groups
    .map(({ tag, about, operations }) => ({
      tag, about, operations: operations.filter((operation) => matches(operation, q)),
    }))
    .filter(({ operations }) => operations.length > 0);
  const count = groups.reduce((sum, { operations }) => sum + operations.length, 0);
  const found = shown.reduce((sum, { operations }) => sum + operations.length, 0);
  return html`<${Lead} text=${q ? `${found} of ${plural(count, "endpoint")}.`
      : `${plural(count, "endpoint")}; every number on the pages comes from one of them.`} />
    ${!q && html`<p class="api-intro">From Python: <code>stepscope.py</code> is a single-file client
      without dependencies, <code>example.ipynb</code> a notebook that uploads two runs, compares
      them and lets a gate decide. Agents use <a href="/docs/agents">tools</a>.</p>
    <div class="api-intro"><${Prose} text=${api.info?.description} /></div>`}
    ${shown.map(({ tag, about, operations }) => html`<${Card} key=${tag} title=${tag} note=${about}
      flush=${true}>${operations.map((operation) => html`<${Operation} api=${api}
      key=${operation.method + operation.path} operation=${operation} />`)}<//>`)}
    ${shown.length === 0 && html`<p class="empty-line">No endpoint matches.</p>`}
    ${!q && html`<${Refusals} api=${api} />`}`;
}

export default function ApiDocs() {
  use_title("API");
  const [query, change] = use_query({ q: "" });
  const resource = use_api("/openapi.json");
  return html`<header class="page-head"><h1 tabindex="-1">REST API</h1>
      <p class="page-note">${resource.data && `version ${resource.data.info?.version}`}</p></header>
    <div class="filter-bar"><${SearchBox} label="Filter endpoints" value=${query.q}
        placeholder="Filter endpoints" oninput=${(q) => change({ q }, { replace: true })} />
      <span class="exports"><a href=${api_href("/openapi.json")} download>openapi.json</a>
        <a href="/client/stepscope.py" download>stepscope.py</a>
        <a href="/client/example.ipynb" download>example.ipynb</a></span></div>
    <${Loaded} resource=${resource}>${(api) => html`<${Description} api=${api}
      q=${query.q} />`}<//>`;
}
