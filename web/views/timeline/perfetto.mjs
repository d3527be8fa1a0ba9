// SPDX-License-Identifier: Apache-2.0
// Hands a cut-out of the trace to Perfetto's page: a new window, a greeting until it
// answers, then the bytes. They go from this page to that one and not over the network.
import { api_bytes } from "../../base/api.mjs";

const PERFETTO = "https://ui.perfetto.dev";
const GREET_MS = 50;
const PATIENCE_MS = 60_000;

/** Resolves when the page in that window says it is ready. */
function ready(page) {
  return new Promise((done, fail) => {
    const begin = Date.now();
    const end = (settle, value) => {
      clearInterval(timer);
      removeEventListener("message", hear);
      settle(value);
    };
    const hear = (event) => {
      if (event.origin === PERFETTO && event.source === page && event.data === "PONG") end(done);
    };
    const greet = () => {
      if (page.closed) end(fail, new Error("Perfetto's window was closed."));
      else if (Date.now() - begin > PATIENCE_MS)
        end(fail, new Error(`${PERFETTO} does not answer. Download the trace and open it there.`));
      else page.postMessage("PING", "*"); // says nothing, and the window is not there yet
    };
    const timer = setInterval(greet, GREET_MS);
    addEventListener("message", hear);
  });
}

/**
 * Opens a trace in Perfetto. Called by a click, or browsers block the window.
 * @param {{path: string, title: string, file_name: string}} what path: below /api/v1
 */
export async function open_in_perfetto({ path, title, file_name }) {
  const page = window.open(PERFETTO);
  if (!page)
    throw new Error("The browser blocked the new window. Allow it for this site, or download "
      + "the trace.");
  const [buffer] = await Promise.all([api_bytes(path), ready(page)]);
  const perfetto = { buffer, title, fileName: file_name, url: location.href };
  page.postMessage({ perfetto }, PERFETTO, [buffer]);
}
