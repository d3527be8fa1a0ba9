// SPDX-License-Identifier: Apache-2.0
// Who is using this page and what they may do; the server decides, pages only hide what it would
// refuse.
import { api_get, api_send, changed_by_server, signed_out } from "./api.mjs";
import { login_path } from "./address.mjs";
import { use_store } from "./hooks.mjs";
import { create_store } from "./ui.mjs";

/**
 * @typedef {{required: boolean, kind: "nobody"|"local"|"token"|"user", who: string|null,
 *            scopes: string[], expires: string|null, session: boolean,
 *            provider: string|null, standalone: boolean}} Session
 */

/** Assumed when the server is unreachable: pages then show why nothing works. @type {Session} */
const UNKNOWN = { required: false, kind: "local", who: null,
  scopes: ["read", "upload", "write", "admin"], expires: null, session: false, provider: null,
  standalone: false };

const store = create_store(UNKNOWN);

/** Fetches the session, before the first page is shown. */
export async function load_session() {
  const reply = await api_get("/session", undefined, { keeps: false }).catch(() => null);
  if (reply) store.set(reply.data);
}

/** Goes on with a session that another page has started: all that is shown is asked for again. */
export async function look_for_session() {
  const reply = await api_get("/session", undefined, { keeps: false }).catch(() => null);
  if (!reply || reply.data.kind === "nobody") return;
  store.set(reply.data);
  signed_out.set(false);
  changed_by_server();
}

/** @returns {Session} */
export const use_session = () => use_store(store);

/** Whether the server would allow something. @param {string} scope */
export const may = (scope) => store.get().scopes.includes(scope);

/** Trades a token for a cookie that scripts cannot read. @param {string} token */
export async function sign_in(token) {
  store.set(await api_send("POST", "/session", { body: { token } }));
}

/** Ends the session and leaves the page, so that nothing stays in memory. */
export async function sign_out() {
  await api_send("DELETE", "/session", { shown: false });
  location.assign(login_path());
}

/** A shell command with the token that the server requires. @param {string} line */
export const with_token = (line) => store.get().required
  ? line.replace(/(^|\n *)curl /, '$1curl -H "Authorization: Bearer $TOKEN" \\\n  ') : line;

/** "ci" of "token k_7q2k9d0x (ci)", "alice" of "user alice". @param {Session} session */
export function short_name({ who }) {
  return /\((.+)\)$/.exec(who ?? "")?.[1] ?? who?.replace(/^user /, "") ?? "";
}
