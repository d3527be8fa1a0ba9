// SPDX-License-Identifier: Apache-2.0
// Shows on a page that has outlived its session where to sign in; the page and what was typed stay.
import { html, useEffect } from "../base/ui.mjs";
import { signed_out } from "../base/api.mjs";
import { use_store } from "../base/hooks.mjs";
import { look_for_session } from "../base/session.mjs";
import { Notice } from "../widgets/widgets.mjs";

/** People come back to this page after signing in on another. */
function watch_return() {
  const stop = new AbortController();
  const look = () => document.hidden || look_for_session();
  document.addEventListener("visibilitychange", look, { signal: stop.signal });
  addEventListener("focus", look, { signal: stop.signal });
  return () => stop.abort();
}

export function SignedOut() {
  const is_out = use_store(signed_out);
  useEffect(() => (is_out ? watch_return() : undefined), [is_out]);
  return is_out && html`<section class="storage-strip" aria-label="Session"><${Notice}
    kind="warning" role="alert" title="Signed out"><p>The session has ended. This page
      keeps what you typed. <a href="/login" target="_blank">Sign in on a new page</a></p><//>
    </section>`;
}
