// SPDX-License-Identifier: Apache-2.0
// Entries of the audit log in words.
import { decoded } from "../../base/address.mjs";
import { plural } from "../../base/format.mjs";
import { short_name } from "../../base/session.mjs";
import { outcome_of } from "./access_model.mjs";

const RUN = "/api/v1/runs/{run}";
const TUS = "/api/v1/tus";

/** By method and route, or by the service's own name for it: infinitive and past participle. */
const WORDS = {
  "POST /api/v1/session": ["sign in", "signed in"],
  "DELETE /api/v1/session": ["sign out", "signed out"],
  "POST /api/v1/tokens": ["create a token", "created {token}"],
  "DELETE /api/v1/tokens/{token}": ["revoke {token}", "revoked {token}"],
  "create token": ["create a token", "created {token}"],
  "revoke token": ["revoke {token}", "revoked {token}"],
  "refuse credentials": ["get in", "got in"],
  "POST /mcp": ["call a tool as an agent", "called a tool as an agent"],
  "POST /upload": ["upload", "uploaded to {run}"],
  "POST /api/v1/uploads": ["upload", "uploaded to {run}"],
  [`PUT ${RUN}/ranks/{rank}/trace`]: ["upload rank {rank} of {run}",
    "uploaded rank {rank} of {run}"],
  [`GET ${RUN}/ranks/{rank}/trace`]: ["download the raw trace of rank {rank} of {run}",
    "downloaded the raw trace of rank {rank} of {run}"],
  [`POST ${TUS}`]: ["start a resumable upload", "started a resumable upload"],
  [`GET ${TUS}/{upload}`]: ["finish a resumable upload", "uploaded to {run}"],
  [`HEAD ${TUS}/{upload}`]: ["finish a resumable upload", "uploaded to {run}"],
  [`PATCH ${TUS}/{upload}`]: ["continue a resumable upload", "uploaded to {run}"],
  [`POST ${TUS}/{upload}`]: ["continue a resumable upload", "uploaded to {run}"],
  [`DELETE ${TUS}/{upload}`]: ["cancel a resumable upload", "cancelled a resumable upload"],
  "POST /api/v1/runs": ["create a run", "created a run"],
  [`PATCH ${RUN}`]: ["change {run}", "changed {run}"],
  [`DELETE ${RUN}`]: ["delete {run}", "deleted {run}"],
  "delete run": ["delete {run} by the retention rules",
    "deleted {run} by the retention rules"],
  "delete run for good": ["permanently delete {run}", "permanently deleted {run}"],
  "POST /api/v1/bin/{run}/restore": ["restore {run}", "restored {run}"],
  "DELETE /api/v1/bin/{run}": ["permanently delete {run}", "permanently deleted {run}"],
  "DELETE /api/v1/bin": ["empty the bin", "emptied the bin"],
  [`POST ${RUN}/reanalyze`]: ["reanalyze {run}", "reanalyzed {run}"],
  [`POST ${RUN}/cancel`]: ["cancel the analysis of {run}", "cancelled the analysis of {run}"],
  [`POST ${RUN}/finalize`]: ["mark {run} complete", "marked {run} complete"],
  [`POST ${RUN}/promises`]: ["save a promise for {run}", "saved a promise for {run}"],
  [`DELETE ${RUN}/promises/{promise}`]: ["remove a promise of {run}",
    "removed a promise of {run}"],
  [`PUT ${RUN}/dismissals/{finding}`]: ["dismiss a finding of {run}",
    "dismissed a finding of {run}"],
  [`DELETE ${RUN}/dismissals/{finding}`]: ["restore a finding of {run}",
    "restored a finding of {run}"],
  [`POST ${RUN}/whatif`]: ["simulate changes to {run}", "simulated changes to {run}"],
  [`POST ${RUN}/comments`]: ["comment on {run}", "commented on {run}"],
  [`DELETE ${RUN}/comments/{comment}`]: ["remove a comment on {run}", "removed a comment on {run}"],
  "POST /api/v1/agents/poll": ["report as the agent of a node", "reported as the agent of a node"],
  "POST /api/v1/captures": ["record a running job", "recorded a running job"],
  "POST /api/v1/steps": ["report steps", "reported steps"],
  "POST /api/v1/views": ["save a view", "saved a view"],
  "DELETE /api/v1/views/{view}": ["remove view {view}", "removed view {view}"],
  "PUT /api/v1/baselines/{baseline}": ["set baseline {baseline}", "set baseline {baseline}"],
  "DELETE /api/v1/baselines/{baseline}": ["unset baseline {baseline}", "unset baseline {baseline}"],
  "PATCH /api/v1/alerts/{alert}": ["update alert {alert}", "updated alert {alert}"],
};

/** The parts of an entry's object: "/path (run r_x)" has both, others only one. */
function halves(object) {
  const found = /^(\/\S*)(?: \((.*)\))?$/.exec(object);
  return found ? { path: found[1], named: found[2] ?? "" } : { path: "", named: object };
}

/**
 * The values of a route's parameters in an address, and what the service added about its object.
 */
function parts_of(action, object) {
  const { path, named } = halves(object);
  const route = action.split(" ").at(-1).split("/");
  const found = {};
  path.split("/").forEach((piece, i) => {
    const part = /^\{(\w+)\}$/.exec(route[i] ?? "")?.[1];
    if (part) found[part] = decoded(piece);
  });
  const run = /\br_\w+/.exec(named)?.[0] ?? found.run;
  const token = /\bk_\w+/.exec(named)?.[0] ?? found.token;
  return { ...found, run: run ? `run ${run}` : "a run",
    token: token ? `token ${token}` : "a token" };
}

/**
 * "deleted run r_7q2k9d0x"; "tried to sign in".
 * @param {{action: string, object: string, status: number}} entry
 * @param {string} outcome in a word
 */
export function deed_of({ action, object }, outcome) {
  const words = WORDS[action];
  if (!words) return action;
  const parts = parts_of(action, object ?? "");
  const text = outcome === "done" ? words[1] : `tried to ${words[0]}`;
  return text.replace(/\{(\w+)\}/g, (_, part) => parts[part] ?? "");
}

/** "61 entries; the newest: boss signed in." @param {{items: any[], total: number}} reply */
export function audit_lead({ items, total }, q) {
  if (items.length === 0) return "";
  const [newest] = items;
  const entries = plural(total, "entry", "entries");
  return `${entries}${q ? " found" : ""}; the newest: ${short_name(newest) || "someone"} ${
    deed_of(newest, outcome_of(newest.status))}.`;
}

/** Whether there are words for a route. @param {string} action */
export const has_words = (action) => Object.hasOwn(WORDS, action);
