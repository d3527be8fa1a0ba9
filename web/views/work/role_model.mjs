// SPDX-License-Identifier: Apache-2.0
// Figures of roles; pure.
import { time_text } from "../../base/format.mjs";
import { classes_of } from "./split_model.mjs";

/** Device time of a role, each instant counted once. @param {any} role */
export const role_device_ns = ({ compute_ns, communication_ns, copy_ns }) =>
  compute_ns + communication_ns + copy_ns;

/** Its parts for a bar. @param {any} role */
export const role_classes = (role) => classes_of({ ...role, total_owned_ns: role_device_ns(role) });

/** "no role works for 2.1 ms in all, mostly before critic". @param {any[]} roles */
export function roles_line(roles) {
  const wait_ns = roles.reduce((sum, role) => sum + role.wait_ns, 0);
  if (wait_ns === 0) return "all ranks; some role works at any time";
  const most = roles.reduce((a, b) => (b.wait_ns > a.wait_ns ? b : a));
  return `all ranks; no role works for ${time_text(wait_ns)} in all, mostly before ${most.role}`;
}
