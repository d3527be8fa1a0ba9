// SPDX-License-Identifier: Apache-2.0
// The pages whose code comes with the frame, because they are opened first.
export { default as home } from "../views/home/home.mjs";
export { default as view } from "../views/said/view_link.mjs";
export { default as runs } from "../views/runs/runs.mjs";
export { default as login } from "../views/access/login.mjs";
export { default as overview } from "../views/overview/overview.mjs";
export { default as findings } from "../views/overview/findings.mjs";
export { default as none } from "../chrome/not_found.mjs";

// What several of the other bundles share is packed with these: each would otherwise be a separate
// file and one more request.
import "../charts/canvas.mjs";
import "../charts/log_axes.mjs";
import "../charts/segments.mjs";
import "../charts/share_bar.mjs";
import "../chrome/drop_target.mjs";
import "../views/run/event_sizes.mjs";
import "../widgets/pick.mjs";
import "../widgets/tree.mjs";
