// SPDX-License-Identifier: Apache-2.0
// Texts and checks for the pages of tokens and of the audit log.
import { ago, plural } from "../../base/format.mjs";

export const SCOPES = [
  ["read", "Read", "view runs, comparisons and alerts, and download raw traces"],
  ["upload", "Upload", "upload traces and follow their status"],
  ["write", "Write", "edit names, notes, baselines and alerts; includes Read"],
  ["admin", "Admin", "everything: delete runs, manage tokens, read the audit log"],
];

export const LIFETIMES = [["90d", "in 90 days"], ["7d", "in 7 days"], ["365d", "in a year"],
  ["", "never"]];

/** Whether a name is valid for a token. @param {string} name */
export const is_token_name = (name) =>
  /^[\w.-]{1,64}$/.test(name) && !/^\.+$/.test(name);

/** The request that creates a token, from its form. @param {FormData} form */
export function token_request(form) {
  const body = { name: String(form.get("name") ?? "").trim(), scopes: form.getAll("scopes") };
  const lifetime = String(form.get("expires_in") ?? "");
  return lifetime ? { ...body, expires_in: lifetime } : body;
}

/** "3 tokens are active; ci-upload was used last, 5 min ago." @param {any[]} tokens */
export function tokens_lead(tokens, now) {
  const active = tokens.filter(({ state }) => state === "active");
  const [last] = active.filter(({ used }) => used)
    .sort((a, b) => Date.parse(b.used) - Date.parse(a.used));
  const count = `${plural(active.length, "token")} ${active.length === 1 ? "is" : "are"} active`;
  return last ? `${count}; ${last.name} was used last, ${ago(last.used, now)}.` : `${count}.`;
}

/** @param {string} state */
export const state_tone = (state) =>
  state === "active" ? "good" : state === "expired" ? "warn" : "neutral";

/** The meaning of an HTTP status for readers of the log. @param {number} status */
export function outcome_of(status) {
  if (status === 0 || (status >= 200 && status < 400)) return "done";
  if (status === 401 || status === 403 || status === 429) return "refused";
  return status >= 500 ? "failed" : "not done";
}
