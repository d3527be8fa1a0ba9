// SPDX-License-Identifier: Apache-2.0
// Signing in, tokens and the audit log as people use them in a browser.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { assert_clean, axe_faults, launch, on_clean_page, open_page, settle, visit }
  from "./helpers/browser.mjs";
import { guide_script } from "./helpers/documents.mjs";
import { look_faults } from "./helpers/looks.mjs";
import { start_server } from "./helpers/server.mjs";
import { run_program, run_shell, stepscope_bin, temporary, until } from "./helpers/tools.mjs";
import { generate, small_job, small_json } from "./helpers/traces.mjs";

const data = join(temporary("access"), "data");
let browser;
let server;
const tokens = {};

async function make_token(name, scopes) {
  const args = ["token", "create", "--name", name, "--scopes", scopes, "--data", data];
  return (await run_program(stepscope_bin(), args)).trim();
}

before(async () => {
  tokens.admin = await make_token("boss", "admin");
  tokens.read = await make_token("guest", "read");
  tokens.upload = await make_token("sender", "upload");
  server = await start_server({ data, options: ["--auth", "required"] });
  const [file] = (await generate(small_job())).files;
  const reply = await server.request("/api/v1/runs/first/ranks/0/trace", { method: "PUT",
    body: file.data, headers: { Authorization: `Bearer ${tokens.admin}` } });
  assert.ok([200, 202].includes(reply.status), reply.text);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

async function sign_in(page, token) {
  await page.getByRole("textbox", { name: "Token" }).fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** A page as seen by someone who has signed in. */
const as = (who, path, body, options) => on_clean_page(browser, server.base, options,
  async (page) => {
    await visit(page, `/login?next=${encodeURIComponent(path)}`);
    await sign_in(page, tokens[who]);
    await page.waitForURL((url) => url.pathname + url.search === path);
    await settle(page);
    await body(page);
  });

const heading = (page, name) => page.getByRole("heading", { level: 1, name, exact: true });

test("a stranger signs in with a token and comes to the page that was asked for", async () => {
  await on_clean_page(browser, server.base, {}, async (page) => {
    await visit(page, "/trends?q=x");
    await heading(page, "Sign in").waitFor();
    assert.deepEqual(await axe_faults(page), []);
    assert.equal(await page.getByRole("navigation").count(), 0, "there is nowhere to go yet");
    await sign_in(page, tokens.read);
    await heading(page, "Trends").waitFor();
    assert.equal(new URL(page.url()).search, "?q=x");
    const cookies = await page.context().cookies();
    assert.deepEqual(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]),
      [["stepscope", true, "Strict"]]);
    assert.equal(await page.evaluate(() => document.cookie), "");
  });
});

test("a wrong token is refused with what helps, and the next try works", async () => {
  const { page, faults, close } = await open_page(browser, server.base);
  await visit(page, "/login");
  await sign_in(page, `ss_${"x".repeat(43)}`);
  await page.getByRole("alert").getByText("unknown token").waitFor();
  await sign_in(page, tokens.read);
  await heading(page, "Runs").waitFor();
  // The browser itself logs the 401 to its console.
  assert_clean(faults.filter((fault) => !fault.includes("401")), "signing in");
  await close();
});

test("the address to go on to is one of ours", async () => {
  for (const next of ["https://evil.example/", "//evil.example", "/\\evil.example"]) {
    await on_clean_page(browser, server.base, {}, async (page) => {
      await visit(page, `/login?next=${encodeURIComponent(next)}`);
      await sign_in(page, tokens.read);
      await heading(page, "Runs").waitFor();
      assert.equal(new URL(page.url()).origin, server.base);
    });
  }
});

test("an administrator makes a token, which works once copied, and revokes it", async () => {
  await as("admin", "/settings/tokens", async (page) => {
    await page.getByLabel("Token name").fill("ci-upload");
    await page.getByRole("checkbox", { name: /^Upload/ }).check();
    await page.getByRole("button", { name: "Create token" }).click();
    const text = await page.getByRole("status").locator("code").textContent();
    assert.match(text, /^ss_\w{43}$/);
    assert.deepEqual(await axe_faults(page), []);
    const ask = (token) => server.request("/api/v1/session",
      { headers: { Authorization: `Bearer ${token}` } });
    assert.deepEqual((await ask(text)).json.scopes, ["read", "upload"]);
    await page.getByRole("button", { name: "Done" }).click();
    assert.ok(!(await page.content()).includes(text), "the token is seen once");
    await page.getByRole("button", { name: "Revoke ci-upload" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("row", { name: /ci-upload.*revoked/ }).waitFor();
    assert.equal((await ask(text)).status, 401);
  });
});

test("the audit log shows who did what, and finds it", async () => {
  await as("admin", "/settings/audit", async (page) => {
    const rows = page.getByRole("table").getByRole("row");
    for (const entry of [/boss.* uploaded rank 0 of run r_\w+ .*done/, /revoked token k_\w+/,
      /boss.* signed in POST \/api\/v1\/session/, /tried to get in .*refused/]) {
      await page.getByRole("row", { name: entry }).first().waitFor();
    }
    assert.equal(await page.getByTitle(/^PUT \/api\/v1\/runs\/\{run\}/).first().count(), 1);
    assert.deepEqual(await axe_faults(page), []);
    const all = await rows.count();
    await page.getByRole("searchbox").fill("ranks/0/trace");
    await page.waitForFunction((before) => document.querySelectorAll("tbody tr").length < before,
      all - 2);
    for (const text of (await rows.allTextContents()).slice(1))
      assert.match(text, /ranks\/0\/trace/);
  });
});

test("a session that ends leaves the page and what is typed, until one signs in", async () => {
  const { page, faults, close } = await open_page(browser, server.base);
  await page.clock.install();
  await visit(page, "/login?next=/runs/first/data");
  await sign_in(page, tokens.admin);
  await page.getByLabel("Name", { exact: true }).fill("typed");
  await page.waitForLoadState("networkidle"); // what is read without a cookie leads to signing in
  await page.context().clearCookies();
  await page.clock.fastForward(60_000); // the count of alerts is asked for
  const notice = page.getByRole("alert").filter({ hasText: "Signed out" });
  await notice.waitFor();
  assert.equal(new URL(page.url()).pathname, "/runs/first/data");
  assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "typed");
  assert.deepEqual(await axe_faults(page), []);
  const [other] = await Promise.all([page.context().waitForEvent("page"),
    notice.getByRole("link", { name: "Sign in" }).click()]);
  await sign_in(other, tokens.admin);
  await heading(other, "Runs").waitFor();
  await page.evaluate(() => dispatchEvent(new Event("focus")));
  await notice.waitFor({ state: "detached" });
  assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), "typed");
  // The browser itself logs each 401 to its console.
  assert_clean(faults.filter((fault) => !fault.includes("401")), "signed out");
  await close();
});

test("pages leave out what one may not do", async () => {
  const seen = async (page) => {
    const links = await page.getByRole("navigation", { name: "Main" }).getByRole("link")
      .allTextContents();
    const stars = await page.locator("button.star").count();
    return { upload: links.includes("Upload"), access: links.includes("Access"), stars };
  };
  await as("read", "/", async (page) => {
    await page.getByRole("link", { name: "first", exact: true }).waitFor();
    assert.deepEqual(await seen(page), { upload: false, access: false, stars: 0 });
    await visit(page, "/runs/first/data");
    assert.equal(await page.getByRole("button", { name: "Save" }).count(), 0);
    assert.equal(await page.getByText("guest").count(), 1);
  });
  await as("admin", "/", async (page) => {
    await page.getByRole("link", { name: "first", exact: true }).waitFor();
    assert.deepEqual(await seen(page), { upload: true, access: true, stars: 1 });
    await visit(page, "/runs/first/data");
    assert.equal(await page.getByRole("button", { name: "Save" }).count(), 1);
  });
});

test("a page that one may not see says what it needs and asks the server nothing", async () => {
  for (const path of ["/settings/tokens", "/settings/audit", "/upload"]) {
    await as("read", path, async (page) => {
      await heading(page, "Not allowed").waitFor();
      await page.getByText(/guest\) has read\./).waitFor();
      assert.deepEqual(await axe_faults(page), []);
    });
  }
});

test("who may only upload comes to the page for that, whose lines name a token", async () => {
  await on_clean_page(browser, server.base, {}, async (page) => {
    await visit(page, "/login");
    await sign_in(page, tokens.upload);
    await heading(page, "Upload traces").waitFor();
    const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
    assert.deepEqual(await links.allTextContents(), ["Upload", "API"]);
    const lines = await page.getByRole("group", { name: "Command" })
      .filter({ hasText: "curl" }).allTextContents();
    assert.ok(lines.length > 3);
    for (const line of lines)
      assert.match(line, /^(tar .*\n *)?curl -H "Authorization: Bearer \$TOKEN" \\\n/);
  });
});

test("comments carry the name of the token, and only who may edit runs writes them", async () => {
  await as("read", "/runs/first", async (page) => {
    assert.equal(await page.getByRole("textbox", { name: /^Comment/ }).count(), 0);
    assert.equal(await page.getByRole("button", { name: /^Link/ }).count(), 0);
  });
  await as("admin", "/runs/first", async (page) => {
    await page.getByLabel("Comment on this run").fill("seen");
    assert.equal(await page.getByLabel("Your name").count(), 0, "the sender is known");
    await page.keyboard.press("Enter");
    await page.locator(".comments").getByText("boss").waitFor();
  });
  const send = (who, body) => server.request("/api/v1/runs/first/comments", { method: "POST",
    body: JSON.stringify(body), headers: { Authorization: `Bearer ${tokens[who]}`,
      "Content-Type": "application/json" } });
  for (const who of ["read", "upload"]) {
    assert.equal((await send(who, { text: "no" })).status, 403, who);
  }
  assert.equal((await send("admin", { text: "x", author: "other" })).status, 400);
});

test("signing out ends the session, here and at the server", async () => {
  await as("admin", "/", async (page) => {
    const [{ value }] = await page.context().cookies();
    await page.getByRole("button", { name: "Sign out" }).click();
    await heading(page, "Sign in").waitFor();
    assert.deepEqual(await page.context().cookies(), []);
    const reply = await server.request("/api/v1/runs",
      { headers: { Cookie: `stepscope=${value}` } });
    assert.equal(reply.status, 401);
  });
});

test("a page whose session has ended leads to signing in", async () => {
  const { page, close } = await open_page(browser, server.base);
  await visit(page, "/login");
  await sign_in(page, tokens.read);
  await page.getByRole("link", { name: "first", exact: true }).first().waitFor(); // all loaded
  const link = await page.getByRole("link", { name: "Trends" }).elementHandle();
  await page.context().clearCookies();
  await link.evaluate((a) => a.click()); // at once: a look at changes may find it out first
  await heading(page, "Sign in").waitFor();
  assert.match(page.url(), /next=%2Ftrends/);
  await close();
});

test("what was typed survives the end of the session", async () => {
  const { page, close } = await open_page(browser, server.base);
  await visit(page, "/login?next=/runs/first/data");
  await sign_in(page, tokens.admin);
  await page.getByRole("heading", { level: 1, name: "first" }).waitFor();
  const note = page.getByLabel("Note");
  await note.fill("a long story");
  await page.waitForLoadState("networkidle"); // what is read without a cookie leads to signing in
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("You are signed out").waitFor();
  const [other] = await Promise.all([page.context().waitForEvent("page"),
    page.getByRole("link", { name: "Sign in (new page)" }).click()]);
  await sign_in(other, tokens.admin);
  await heading(other, "Runs").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await visit(page, "/runs/first/data");
  assert.equal(await note.inputValue(), "a long story");
  await close();
});

test("the pages hold in the dark and on a narrow screen", async () => {
  for (const path of ["/settings/tokens", "/settings/audit"])
    await as("admin", path, async (page) => assert.deepEqual(await look_faults(page), [], path));
});

test("without a need for tokens nothing of this shows", async () => {
  const open = await start_server();
  await on_clean_page(browser, open.base, {}, async (page) => {
    await visit(page, "/");
    assert.equal(await page.getByRole("button", { name: "Sign out" }).count(), 0);
    assert.equal(await page.getByRole("link", { name: "Access" }).count(), 0);
    await page.getByRole("navigation").getByRole("link", { name: "Upload" }).waitFor();
    await visit(page, "/settings/tokens");
    await page.getByText("Tokens are not required at present").waitFor();
    assert.deepEqual(await axe_faults(page), []);
  });
  await open.stop();
});

test("the guide's lines for tokens work, and notebooks can hold a token", async () => {
  const folder = temporary("readme");
  writeFileSync(join(folder, "rank0.json.gz"), (await generate(small_job())).files[0].data);
  const [, ci, curl] = guide_script("token create").split("\n").map((line) => line
      .replace("stepscope ", `${stepscope_bin()} `).replace("--data DIR", `--data ${data}`)
      .replace("http://HOST", server.base).replace("curl ", "curl -sS "));
  const reply = JSON.parse(await run_shell(`TOKEN=$(${ci})\n${curl}`, { cwd: folder }));
  assert.equal(reply.run_name, "my-run");
  const client = await server.request("/client/stepscope.py");
  writeFileSync(join(folder, "stepscope.py"), client.body);
  const ask = (token) => run_shell(`python3 -c 'from stepscope import Hub
print(len(Hub("${server.base}").runs()))'`, { cwd: folder,
    env: { ...process.env, STEPSCOPE_TOKEN: token } });
  assert.equal((await ask(tokens.read)).trim(), "2");
  await assert.rejects(ask(""), /Unauthorized/);
});

test("a file that holds secrets has no link for those who may not have it", async () => {
  const data = small_json({ names: ["plain", `--token ghp_${"a1B2".repeat(9)}`] });
  const reply = await server.request("/api/v1/runs/leaky/ranks/0/trace", { method: "PUT",
    body: data, headers: { Authorization: `Bearer ${tokens.admin}` } });
  assert.ok([200, 202].includes(reply.status), reply.text);
  const [file, found] = await until("the file was read", async () => {
    const { json } = await server.request("/api/v1/runs/leaky",
      { headers: { Authorization: `Bearer ${tokens.read}` } });
    return json.status === "done" && [json.traces[0].filename, json.traces[0].secrets];
  });
  assert.ok(found > 0, "the secret was found");
  const link = (page) => page.getByRole("table", { name: "Files" })
    .getByRole("link", { name: file });
  await as("read", "/runs/leaky/data", async (page) => {
    await page.getByText("No download: the file seems to contain secrets").waitFor();
    assert.equal(await link(page).count(), 0);
    assert.deepEqual(await axe_faults(page), []);
    await visit(page, "/runs/first/data");
    assert.equal(await page.getByText("No download").count(), 0);
  });
  await as("admin", "/runs/leaky/data", async (page) => {
    await link(page).waitFor();
    assert.equal(await page.getByText("No download").count(), 0);
  });
});
