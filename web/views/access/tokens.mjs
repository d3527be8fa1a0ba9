// SPDX-License-Identifier: Apache-2.0
// Tokens: created, shown once, listed, revoked.
import { html, useId, useMemo, useState } from "../../base/ui.mjs";
import { api_send, use_api } from "../../base/api.mjs";
import { announce } from "../../base/announce.mjs";
import { ago, when } from "../../base/format.mjs";
import { frame_of, row_at } from "../../base/frame.mjs";
import { use_is_shown, use_now, use_title } from "../../base/hooks.mjs";
import { use_session } from "../../base/session.mjs";
import { Table } from "../../widgets/table.mjs";
import { Card, Command, Dialog, Lead, Loaded, Notice, ProblemNotice }
  from "../../widgets/widgets.mjs";
import { AccessHead } from "./access_tabs.mjs";
import { is_token_name, LIFETIMES, SCOPES, state_tone, token_request, tokens_lead }
  from "./access_model.mjs";

function ScopeChoice() {
  return html`<fieldset class="scopes"><legend>Scopes</legend>
    ${SCOPES.map(([key, word, help]) => html`<label class="check" key=${key}>
      <input type="checkbox" name="scopes" value=${key} defaultChecked=${key === "read"} />
      <span><strong>${word}</strong> <span class="faint">${help}</span></span></label>`)}
  </fieldset>`;
}

function NewToken({ oncreated }) {
  const [name, set_name] = useState("");
  const [problem, set_problem] = useState(null);
  const id = useId();
  const is_wrong = Boolean(name) && !is_token_name(name);
  const submit = async (event) => {
    event.preventDefault();
    const form = event.target;
    try {
      oncreated(await api_send("POST", "/tokens", { body: token_request(new FormData(form)) }));
      form.reset();
      set_name("");
      set_problem(null);
      announce("Token created");
    } catch (error) {
      set_problem(error);
    }
  };
  return html`<${Card} title="New token"><form class="form new-token" onSubmit=${submit}>
    <label class="field"><span>Token name</span><input name="name" value=${name} required
      maxlength="64" autocomplete="off" spellcheck=${false} placeholder="ci-upload"
      aria-invalid=${is_wrong} aria-describedby=${id}
      onInput=${(event) => set_name(event.target.value)} /></label>
    <p class="form-note ${is_wrong ? "bad" : "faint"}" id=${id}>Letters, digits and . _ -</p>
    <${ScopeChoice} />
    <label class="field"><span>Expires</span><select name="expires_in">
      ${LIFETIMES.map(([value, text]) => html`<option key=${value} value=${value}>${text}
        </option>`)}</select></label>
    ${problem && html`<${ProblemNotice} problem=${problem} />`}
    <p class="form-actions"><button type="submit" class="primary"
      disabled=${!is_token_name(name)}>Create token</button></p></form><//>`;
}

/** The only time that the secret is shown. */
function Secret({ made, onclose }) {
  return html`<${Notice} title="Token ${made.name}" role="status">
    <p>Copy it now: it is not shown again, as only its hash is stored.</p>
    <${Command} text=${made.token} />
    <p><button type="button" onClick=${onclose}>Done</button></p><//>`;
}

function Revoke({ token, onclose }) {
  const [problem, set_problem] = useState(null);
  const is_shown = use_is_shown();
  const revoke = async () => {
    try {
      await api_send("DELETE", `/tokens/${encodeURIComponent(token.id)}`);
      announce(`${token.name} is revoked`);
      if (is_shown()) onclose();
    } catch (error) {
      set_problem(error);
    }
  };
  return html`<${Dialog} title="Revoke ${token.name}?" onclose=${onclose}>
    <p>Anyone using it is signed out and refused from now on.</p>
    ${problem && html`<${ProblemNotice} problem=${problem} />`}
    <p class="form-actions"><button type="button" class="danger" onClick=${revoke}>Revoke</button>
      <button type="button" onClick=${onclose}>Keep</button></p><//>`;
}

function columns_of(frame, now, onrevoke) {
  const at = (row) => row_at(frame, row);
  const time = (key, none) => (row) => at(row)[key]
    ? html`<time datetime=${at(row)[key]} title=${when(at(row)[key])}>${ago(at(row)[key], now)}
      </time>` : none;
  const day = (row) => at(row).expires?.slice(0, 10) ?? "never";
  return [
    { key: "name", label: "Name", className: "name-cell" },
    { key: "scopes", label: "Scopes", cell: (row) => at(row).scopes.replaceAll(",", ", ") },
    { key: "state", label: "State", priority: 2, cell: (row) => html`<span class="status status-${
      state_tone(at(row).state)}">${at(row).state}</span>` },
    { key: "used", label: "Last used", priority: 2, cell: time("used", "never") },
    { key: "created", label: "Created", priority: 2, cell: time("created", "–") },
    { key: "expires", label: "Expires", priority: 2, cell: day },
    { key: "id", label: "Identifier", priority: 4 },
    { key: "revoke", label: html`<span class="visually-hidden">Revoke</span>`, sort: false,
      cell: (row) => at(row).state !== "revoked" && html`<button type="button" class="small"
        aria-label="Revoke ${at(row).name}" onClick=${() => onrevoke(at(row))}>Revoke…</button>` },
  ];
}

function List({ reply }) {
  const now = use_now();
  const frame = useMemo(() => frame_of(reply), [reply]);
  const [revoked, set_revoked] = useState(null);
  return html`<${Card} title="Tokens" flush>
    <${Table} caption="Tokens" frame=${frame} columns=${columns_of(frame, now, set_revoked)}
      empty=${html`<p class="empty-line">No tokens yet.</p>`} />
    ${revoked && html`<${Revoke} token=${revoked} onclose=${() => set_revoked(null)} />`}<//>`;
}

export default function Tokens() {
  use_title("Tokens");
  const resource = use_api("/tokens?limit=all");
  const { required } = use_session();
  const [made, set_made] = useState(null);
  return html`<${AccessHead} page="tokens" note="credentials for people and programs" />
    ${!required && html`<${Notice} title="Tokens are not required at present">
      <p>This service accepts connections only from its own machine. It requires tokens when
        started with <code>--auth required</code>, or when it listens on another
        address.</p><//>`}
    ${made && html`<${Secret} made=${made} onclose=${() => set_made(null)} />`}
    <${Loaded} resource=${resource}>${(reply) => html`<${Lead} text=${tokens_lead(reply.items,
      Date.now())} /><${List} reply=${reply} />`}<//>
    <${NewToken} oncreated=${set_made} />`;
}
