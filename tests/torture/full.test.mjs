// SPDX-License-Identifier: Apache-2.0
// A disk that is really full: nothing is acknowledged that is not stored, reading still works,
// deleting frees space, and with space everything resumes by itself. A data folder on two disks is
// refused.
import assert from "node:assert/strict";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync, writeSync }
  from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fields, file_part } from "../e2e/helpers/multipart.mjs";
import { start_server } from "../e2e/helpers/server.mjs";
import { run_status, skipped, temporary, until } from "../e2e/helpers/tools.mjs";
import { small_json } from "../e2e/helpers/traces.mjs";
import { figure, is_long } from "./helpers/torture.mjs";

const GONE = { method: "DELETE", headers: { "If-Match": "*" } };

const REFUSED = is_long ? 200 : 10;
const OPTIONS = ["--min-free", "0", "--ballast", "2M", "--bin-days", "0"];

const disk = join(temporary("full"), "disk");
mkdirSync(disk);
const mounted = await run_status("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", disk]);
const reason = mounted.status === 0 ? false : skipped(`no disk can be filled: ${mounted.stderr}`);
after(async () => {
  if (!reason) await run_status("umount", ["-l", disk]);
});

/** Writes until no byte fits. */
function fill(path) {
  const fd = openSync(path, "w");
  for (let size = 1 << 20; size >= 1; size >>= 1) {
    const block = Buffer.alloc(size);
    try {
      for (;;) if (writeSync(fd, block) < size) break;
    } catch (failure) {
      assert.equal(failure.code, "ENOSPC");
    }
  }
  closeSync(fd);
}

const upload = (server, run, kernel_us) =>
  server.post([...fields({ run }), file_part(small_json({ kernel_us, steps: 40 }))]);

test("a full disk costs no acknowledged upload and is got over without help", { skip: reason },
  async () => {
    const data = join(disk, "data");
    const server = await start_server({ data, options: OPTIONS });
    const is_kept_back = async () => (await server.get("/storage")).ballast;
    const acknowledged = [];
    for (let i = 0; i < 3; i++) {
      assert.equal((await upload(server, `early${i}`, 20 + i)).status, 202);
      await server.settled(`early${i}`);
      acknowledged.push(`early${i}`);
    }
    await until("the ballast is there", is_kept_back);

    // Each round takes what is left, including what the ballast frees.
    const statuses = new Map();
    let round = 0;
    for (let refused = 0; refused < REFUSED; round++) {
      fill(join(disk, `filler${round}`));
      const reply = await upload(server, `late${round}`, 100 + round);
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
      if (reply.status === 202) acknowledged.push(`late${round}`);
      else refused++;
      assert.ok([202, 507].includes(reply.status), reply.text);
      assert.equal((await server.request("/api/v1/runs")).status, 200, "reading goes on");
    }
    assert.ok(statuses.get(507) >= REFUSED, JSON.stringify([...statuses]));
    await server.alive();

    const gone = await server.request("/api/v1/runs/early0", GONE);
    assert.ok([200, 204, 507].includes(gone.status), gone.text);
    rmSync(join(disk, "filler0"));
    if (gone.status === 507) {
      const again = await server.request("/api/v1/runs/early0", GONE);
      assert.ok([200, 204].includes(again.status), again.text);
    }
    acknowledged.shift();
    for (let i = 1; i < round; i++) rmSync(join(disk, `filler${i}`));
    for (const run of acknowledged) assert.equal((await server.settled(run)).status, "done", run);
    assert.equal((await upload(server, "after", 300)).status, 202);
    assert.equal((await server.settled("after")).status, "done");
    await until("the ballast is there again", is_kept_back);
    await server.stop();
    figure("R4", `${round} uploads on a full disk: ${statuses.get(507)} refused with 507, ` +
      `${acknowledged.length} acknowledged in all and done, 0 lost`);
  });

test("an upload that says no length leaves free what others do", { skip: reason }, async () => {
  const data = join(disk, "unsaid");
  const server = await start_server({ data, options: ["--min-free", "10M", "--ballast", "0"] });
  const file = join(temporary("unsaid"), "padded.json");
  writeFileSync(file, Buffer.concat([small_json(), Buffer.alloc(20 << 20, " ")]));
  const url = `${server.base}/api/v1/runs/unsaid/ranks/0/trace`;
  const { stdout } = await run_status("bash", ["-c", `cat "${file}" | curl -sS -T - "${url}"`]);
  assert.equal(JSON.parse(stdout).status, 507, stdout);
  await until("nothing of it is left", () => readdirSync(join(data, "spool")).length === 0);
  assert.equal((await upload(server, "small", 20)).status, 202);
  await server.stop();
  rmSync(data, { recursive: true });
});

test("the ballast lets a run be deleted on a full disk", { skip: reason }, async () => {
  const data = join(disk, "ballast");
  const server = await start_server({ data, options: OPTIONS });
  assert.equal((await upload(server, "victim", 20)).status, 202);
  await server.settled("victim");
  await until("the ballast is there", () => existsSync(join(data, "ballast")));
  await until("the log of writes was emptied", async () =>
    (await run_status("stat", ["-c", "%s", join(data, "stepscope.db-wal")])).stdout.trim() === "0");
  for (const turn of [1, 2]) { // once alone proves nothing
    fill(join(disk, "filler"));
    const gone = await server.request("/api/v1/runs/victim", GONE);
    assert.ok([200, 204].includes(gone.status), gone.text);
    assert.ok(!existsSync(join(data, "ballast")), "its room was needed");
    assert.deepEqual((await server.get("/runs")).items, []);
    rmSync(join(disk, "filler"));
    await until("the ballast is there again", () => existsSync(join(data, "ballast")));
    if (turn === 2) break;
    assert.equal((await upload(server, "victim", 20)).status, 202);
    await server.settled("victim");
    const log = join(data, "stepscope.db-wal");
    await until("the log of writes was emptied", async () =>
      (await run_status("stat", ["-c", "%s", log])).stdout.trim() === "0");
  }
  await server.stop();
});

test("a data folder on two filesystems is refused at the start", { skip: reason }, async () => {
  const data = join(temporary("split"), "data"), traces = join(data, "traces");
  mkdirSync(traces, { recursive: true, mode: 0o700 });
  await run_status("mount", ["--bind", disk, traces]);
  try {
    await assert.rejects(start_server({ data }), /found traces\/ on another filesystem/);
  } finally {
    await run_status("umount", ["-l", traces]);
  }
});
