// SPDX-License-Identifier: Apache-2.0
// The bar above every page: navigation, the compare tray, theme and help.
import { html, useState } from "../base/ui.mjs";
import { use_api } from "../base/api.mjs";
import { address } from "../base/address.mjs";
import { use_store } from "../base/hooks.mjs";
import { may, short_name, sign_out, use_session } from "../base/session.mjs";
import { count } from "../base/format.mjs";
import { compare_address, tray } from "../base/tray.mjs";
import { ShortLink } from "./short_link.mjs";
import { apply_theme, chosen_theme } from "./theme.mjs";

const THEMES = { auto: "light", light: "dark", dark: "auto" };
const THEME_MARK = { auto: "◐", light: "○", dark: "●" };

export function ThemeButton() {
  const [theme, set_theme] = useState(chosen_theme());
  const change = () => {
    const next = THEMES[theme];
    apply_theme(next);
    set_theme(next);
  };
  const label = `Theme: ${theme}. Switch to ${THEMES[theme]}`;
  return html`<button type="button" class="icon" aria-label=${label} title=${label}
    onClick=${change}>${THEME_MARK[theme]}</button>`;
}

const ALERTS_POLL_MS = 30000;

/** The link's text with the number of new alerts. */
function AlertsText() {
  const { data } = use_api(address("/alerts", { status: "new", limit: 1 }), () => ALERTS_POLL_MS);
  const news = data?.total ?? 0;
  return html`Alerts${news > 0 && html`<span class="count count-news"
    aria-label="${count(news)} new">${count(news)}</span>`}`;
}

/** Who is signed in, if signing in is required; and signing out. */
function Who() {
  const session = use_session();
  if (!session.required || session.kind === "nobody") return null;
  return html`<span class="who" title=${session.who}><span class="visually-hidden">Signed in as
    </span>${short_name(session)}</span>${session.session && html`<button type="button"
      class="link" onClick=${sign_out}>Sign out</button>`}`;
}

export function Mark() {
  return html`<svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
    <rect x="1" y="10" width="14" height="4" rx="1" class="fill-gemm" />
    <rect x="1" y="6" width="9" height="3" rx="1" class="fill-other_compute" />
    <rect x="11" y="6" width="4" height="3" rx="1" class="fill-exposed_comm" />
    <rect x="1" y="2" width="5" height="3" rx="1" class="fill-idle_host_wait" /></svg>`;
}

const at_runs = ({ page, run }) => page === "runs" || page === "bin" || Boolean(run);

function Pages({ route }) {
  const picked = use_store(tray);
  const session = use_session();
  const link = (href, text, here) =>
    html`<li><a href=${href} aria-current=${here ? "page" : undefined}>${text}</a></li>`;
  const compare = html`Compare${picked.length > 0 && html`<span class="count"
    aria-label="${picked.length} chosen">${picked.length}</span>`}`;
  return html`<nav aria-label="Main"><ul>
      ${may("read") && html`${link("/news", "Home", route.page === "home")}
      ${link("/", "Runs", at_runs(route))}
      ${link(compare_address(picked), compare, route.page === "compare")}
      ${link("/trends", "Trends", route.page === "trends")}
      ${link("/alerts", html`<${AlertsText} />`, route.page === "alerts")}
      ${link("/plan", "Plan", route.page === "plan")}`}
      ${may("upload") && link("/upload", "Upload", route.page === "upload")}
      ${link("/docs/api", "API", route.page === "api")}
      ${session.required && may("admin") &&
        link("/settings/tokens", "Access", ["tokens", "audit"].includes(route.page))}
    </ul></nav>`;
}

export function TopBar({ route, onhelp }) {
  const { kind } = use_session();
  return html`<header class="top-bar">
    <a class="brand" href="/news"><${Mark} />stepscope</a>
    ${kind === "nobody" ? html`<span class="top-space"></span>` : html`<${Pages} route=${route} />`}
    <div class="top-actions"><${Who} /><${ShortLink} /><${ThemeButton} />
      <button type="button" class="icon" aria-label="Help" title="Help (?)" onClick=${onhelp}
        >?</button></div>
  </header>`;
}
