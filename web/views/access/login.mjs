// SPDX-License-Identifier: Apache-2.0
// Signing in with a token or at a provider; the service returns a cookie.
import { html, useState } from "../../base/ui.mjs";
import { next_page } from "../../base/address.mjs";
import { use_title } from "../../base/hooks.mjs";
import { may, sign_in, sign_out, use_session } from "../../base/session.mjs";
import { Card, Command, ProblemNotice } from "../../widgets/widgets.mjs";

/** Reloads the page that people came from, now with what they may see. */
function go_on() {
  const next = next_page(new URLSearchParams(location.search).get("next"), location.origin);
  location.assign(next === "/" && !may("read") ? "/upload" : next);
}

function Known() {
  const { required, who, session } = use_session();
  return html`<p>${required ? html`You are signed in as <strong>${who}</strong>.`
    : "This service does not require signing in."}</p>
    <p class="form-actions"><button type="button" class="primary" onClick=${go_on}>Continue</button>
      ${session && html`<button type="button" onClick=${sign_out}>Sign out</button>`}</p>`;
}

/** Titles of problems are those of HTTP. */
const worded = (problem) => problem.status === 401
  ? { ...problem, title: "Not signed in" } : problem;

function Form() {
  const [problem, set_problem] = useState(null);
  const [busy, set_busy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    set_busy(true);
    try {
      await sign_in(String(new FormData(event.target).get("token") ?? "").trim());
      go_on();
    } catch (error) {
      set_problem(error);
      set_busy(false);
    }
  };
  return html`<form class="form" onSubmit=${submit}>
    <label class="field"><span>Token</span><input name="token" type="password" required autofocus
      autocomplete="current-password" spellcheck=${false} placeholder="ss_…" /></label>
    ${problem && html`<${ProblemNotice} problem=${worded(problem)} />`}
    <p class="form-actions"><button type="submit" class="primary" disabled=${busy}>Sign in</button>
    </p></form>`;
}

const FAILURES = {
  answer: "The provider's answer was not valid. The service's log says why.",
  late: "It took too long, or was started in another browser.",
  often: "Too many attempts from this address failed. Try again in a minute.",
  provider: "The provider cannot be reached. The service's log says why.",
  refused: "The provider refused the sign-in.",
  user: "This name may not sign in here. Ask an administrator to add it.",
};

/** Why the way to the provider and back ended here, from ?failed=. */
function Failure() {
  const why = new URLSearchParams(location.search).get("failed") ?? "";
  if (!Object.hasOwn(FAILURES, why)) return null;
  return html`<${ProblemNotice} problem=${{ title: "Not signed in", detail: FAILURES[why] }} />`;
}

function Provider({ host }) {
  const next = new URLSearchParams(location.search).get("next") ?? "/";
  const address = `/login/oidc?next=${encodeURIComponent(next)}`;
  return html`<${Card} title="With your account"><${Failure} />
    <p class="form-actions"><a class="button primary" href=${address}>Sign in at ${host}</a>
    </p><//>`;
}

export default function Login() {
  use_title("Sign in");
  const { kind, provider } = use_session();
  return html`<div class="login"><h1 tabindex="-1">Sign in</h1>
    ${kind === "nobody" && provider && html`<${Provider} host=${provider} />`}
    ${kind === "nobody" ? html`<${Card} title="With a token"><${Form} /><//>`
      : html`<${Card} title="Signed in"><${Known} /><//>`}
    <details class="fold"><summary>How to get a token</summary>
      <p>An administrator creates one under Access, or on the server:</p>
      <${Command} text="stepscope token create --name NAME --scopes read,upload --data DIR" />
      <p class="faint">The session ends when you sign out, after 12 hours without use, or with the
        token; at a provider, 12 hours after signing in.</p></details></div>`;
}
