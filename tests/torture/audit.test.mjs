// SPDX-License-Identifier: Apache-2.0
// S6: endless refusals make a counter in the audit log grow, not the log itself.
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { start_server } from "../e2e/helpers/server.mjs";
import { temporary } from "../e2e/helpers/tools.mjs";
import { ask, bearer, each, make_token } from "./helpers/identities.mjs";
import { figure } from "./helpers/torture.mjs";

const REQUESTS = 4000;

test("S6: thousands of refused deletions are two lines and a count", async () => {
  const data = join(temporary("audit"), "data");
  const reader = await make_token(data, "reader", ["read"]);
  const admin = await make_token(data, "admin", ["admin"]);
  const server = await start_server({ data, options: ["--auth", "required"] });
  const list = async () => JSON.parse((await ask(server.port, "GET", "/api/v1/audit?limit=all",
    { headers: bearer(admin) })).text).items;
  const log_bytes = () => readdirSync(data).filter((name) => name.startsWith("audit.log"))
    .reduce((sum, name) => sum + statSync(join(data, name)).size, 0);
  const before = log_bytes();
  await each(Array.from({ length: REQUESTS }, (_, i) => i), async (i) => {
    const reply = await ask(server.port, "DELETE", `/api/v1/runs/run-${i}`,
      { headers: bearer(reader) });
    assert.ok([403, 429].includes(reply.status), reply.text);
  });
  const rows = (await list()).filter(({ who }) => who.includes("(reader)"));
  assert.ok(rows.length <= 4, `${rows.length} entries`); // two kinds of answer, and the hour may
                                                         // change
  assert.equal(rows.reduce((sum, { count }) => sum + count, 0), REQUESTS);
  assert.ok(rows.some(({ at, last_at }) => last_at >= at));
  await server.stop();
  const grown = log_bytes() - before;
  assert.ok(grown < 8000, `audit.log grew by ${grown} bytes`);
  figure("S6", `${REQUESTS} refused deletions: ${rows.length} entries, ${grown} bytes of log`);
});
