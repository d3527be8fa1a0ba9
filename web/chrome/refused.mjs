// SPDX-License-Identifier: Apache-2.0
// Shown instead of a page that the server would refuse to this user.
import { html } from "../base/ui.mjs";
import { capital } from "../base/format.mjs";
import { use_title } from "../base/hooks.mjs";
import { may, use_session } from "../base/session.mjs";
import { Empty } from "../widgets/widgets.mjs";

/** @param {{scope: string}} props the scope needed for the page */
export default function Refused({ scope }) {
  use_title("Not allowed");
  const { who, scopes } = use_session();
  return html`<header class="page-head"><h1 tabindex="-1">Not allowed</h1></header>
    <${Empty} title="This page requires the scope ${scope}">
      <p class="faint">${capital(who ?? "nobody")} has ${scopes.join(", ") || "no scope"}. Ask an
        administrator, or sign in with another token.</p>
      <p>${may("read") && html`<a href="/">All runs</a>`}
        ${!may("read") && may("upload") && html`<a href="/upload">Upload</a>`}</p><//>`;
}
