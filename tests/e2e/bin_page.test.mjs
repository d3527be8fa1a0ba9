// SPDX-License-Identifier: Apache-2.0
// Deleting runs in a real browser: what is ticked and visible goes, and nothing else; undo from the
// message, and the bin.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, on_clean_page, open_page, settle, visit } from "./helpers/browser.mjs";
import { look_faults } from "./helpers/looks.mjs";
import { start_server } from "./helpers/server.mjs";
import { until } from "./helpers/tools.mjs";
import { small_json } from "./helpers/traces.mjs";

let server;
let browser;

const make = (name) =>
  server.analyzed(name, [{ data: small_json({ names: [name] }), filename: "rank0.json" }]);

before(async () => {
  server = await start_server();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const on_page = (options, body) => on_clean_page(browser, server.base, options, body);
/** Same where the service refuses something, which browsers log as an error. */
async function on_refused_page(body) {
  const { page, faults, close } = await open_page(browser, server.base);
  try {
    await body(page);
    assert.deepEqual(faults.filter((fault) => !/status of 409/.test(fault)), []);
  } finally {
    await close();
  }
}

const tick = (page, name) => page.getByRole("checkbox", { name: `Select ${name}` }).check();
const selection = (page) => page.getByRole("region", { name: "Selected runs" });
const message = (page) => page.getByRole("region", { name: "Last action" });
const is_there = async (name) => (await server.request(`/api/v1/runs/${name}`)).status === 200;
const in_bin = async () => (await server.get("/bin")).items.map(({ name }) => name).sort();
const empty_bin = () => server.request("/api/v1/bin", { method: "DELETE" });

async function search(page, text, name) {
  await page.getByRole("searchbox").fill(text);
  await until("the search is done", async () =>
    await page.getByRole("checkbox", { name: /^Select / }).count() === 1 &&
    page.getByRole("checkbox", { name: `Select ${name}` }).isVisible());
}

async function delete_selected(page) {
  await selection(page).getByRole("button", { name: "Delete…" }).click();
  const dialog = page.getByRole("dialog");
  const text = await dialog.innerText();
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await message(page).waitFor();
  return text;
}

test("a deletion takes what is ticked and in sight, and leaves what a search hides", async () => {
  for (const name of ["apple", "berry", "cherry"]) await make(name);
  await on_page({}, async (page) => {
    await visit(page, "/");
    await tick(page, "apple");
    await tick(page, "berry");
    await search(page, "berr", "berry");
    const bar = selection(page);
    await bar.getByText("1 more not in this list").waitFor();
    assert.match(await bar.innerText(), /1 selected/);
    const asked = await delete_selected(page);
    assert.match(asked, /berry/);
    assert.doesNotMatch(asked, /apple/);
    const said = await message(page).innerText();
    assert.match(said, /Deleted berry.*in the bin until \d{4}-\d\d-\d\d/s);
    assert.deepEqual(await in_bin(), ["berry"]);
    assert.ok(await is_there("apple") && await is_there("cherry"));
  });
});

test("a tick that a search hid counts again when it is in sight", async () => {
  for (const name of ["plum", "prune"]) await make(name);
  await on_page({}, async (page) => {
    await visit(page, "/");
    await tick(page, "plum");
    await search(page, "prune", "prune");
    await selection(page).getByText("1 more not in this list").waitFor();
    assert.equal(await selection(page).getByRole("button", { name: "Delete…" }).count(), 0);
    await page.getByRole("searchbox").fill("");
    await selection(page).getByText("1 selected").waitFor();
    assert.equal(await page.getByRole("checkbox", { name: "Select plum" }).isChecked(), true);
  });
});

test("what waits in the compare tray is not deleted", async () => {
  const grape = await make("grape");
  await make("lemon");
  await on_page({}, async (page) => {
    await visit(page, `/runs/${grape.id}`);
    await page.getByRole("button", { name: "Add to compare" }).click();
    await visit(page, "/");
    const tray = page.getByRole("region", { name: "Compare tray" });
    await tray.getByText("1 in the compare tray").waitFor();
    assert.equal(await tray.getByRole("button", { name: "Delete…" }).count(), 0);
    await tick(page, "lemon");
    await delete_selected(page);
    assert.equal(await is_there("grape"), true);
    assert.equal(await is_there("lemon"), false);
    await tray.getByText("1 in the compare tray").waitFor();
  });
});

test("runs are collected in the tray across searches and compared", async () => {
  const ids = [];
  for (const name of ["oak", "elm"]) ids.push((await make(name)).id);
  await on_page({}, async (page) => {
    await visit(page, "/");
    for (const name of ["oak", "elm"]) {
      await search(page, name, name);
      await tick(page, name);
      await selection(page).getByRole("button", { name: "Add to tray" }).click();
    }
    const tray = page.getByRole("region", { name: "Compare tray" });
    await tray.getByText("2 in the compare tray").waitFor();
    await tray.getByRole("button", { name: "Compare", exact: true }).click();
    await page.waitForURL(new RegExp(`base=${ids[0]}&cand=${ids[1]}`));
  });
});

test("a deletion is undone from its message, also by keyboard", async () => {
  for (const name of ["fir", "yew"]) await make(name);
  await on_page({}, async (page) => {
    await visit(page, "/");
    await tick(page, "fir");
    await tick(page, "yew");
    await delete_selected(page);
    await message(page).getByText("Deleted 2 runs").waitFor();
    assert.equal(await is_there("fir") || await is_there("yew"), false);
    const undo = message(page).getByRole("button", { name: "Undo" });
    await until("the keyboard is on the way back", () =>
      undo.evaluate((node) => node === document.activeElement));
    await page.keyboard.press("Enter");
    await message(page).getByText("Restored 2 runs").waitFor();
    await page.getByRole("checkbox", { name: "Select fir" }).waitFor();
    assert.equal(await page.getByRole("checkbox", { name: "Select fir" }).isChecked(), false);
    assert.ok(await is_there("fir") && await is_there("yew"));
  });
});

const has_keyboard = (page) => message(page).evaluate((node) =>
  node.contains(document.activeElement));

test("two clicks undo once, and the message takes the keyboard once", async () => {
  await make("larch");
  await on_page({}, async (page) => {
    await visit(page, "/");
    await tick(page, "larch");
    await delete_selected(page);
    await message(page).getByRole("button", { name: "Undo" }).dblclick();
    await message(page).getByText("Restored larch").waitFor();
    await until("the keyboard is in the message", () => has_keyboard(page));
    await page.getByRole("link", { name: "Bin", exact: true }).click();
    await page.waitForURL("**/settings/bin");
    await message(page).waitFor();
    await settle(page);
    assert.equal(await has_keyboard(page), false);
    assert.equal(await message(page).getByText("could not be restored").count(), 0);
  });
});

test("an undo that cannot be says what to do, and can be tried again", async () => {
  await make("twin");
  await on_refused_page(async (page) => {
    await visit(page, "/");
    await tick(page, "twin");
    await delete_selected(page);
    const other = await make("twin");
    await message(page).getByRole("button", { name: "Undo" }).click();
    await message(page).getByText(/another run 'twin'.*rename/).waitFor();
    await server.send("PATCH", `/runs/${other.id}`, { name: "twin2" }, { "If-Match": "*" });
    await message(page).getByRole("button", { name: "Try again" }).click();
    await message(page).getByText("Restored twin").waitFor();
    assert.equal(await is_there("twin"), true);
  });
});

test("a baseline is not deleted, and the page says why", async () => {
  for (const name of ["loose", "pinned"]) await make(name);
  await server.send("PUT", "/baselines/main", { run: "pinned" });
  await on_refused_page(async (page) => {
    await visit(page, "/");
    await tick(page, "loose");
    await tick(page, "pinned");
    await selection(page).getByRole("button", { name: "Delete…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await dialog.getByText(/baseline 'main'/).waitFor();
    assert.equal(await is_there("pinned"), true);
    assert.equal(await is_there("loose"), false);
    await dialog.getByText("Close", { exact: true }).click();
    await selection(page).getByText("1 selected").waitFor();
    assert.doesNotMatch(await selection(page).innerText(), /loose|more not in this list/);
  });
});

test("the bin restores runs, and deletes them for good after asking", async () => {
  await empty_bin();
  for (const name of ["ash", "box", "cedar"]) {
    await make(name);
    await server.request(`/api/v1/runs/${name}`,
      { method: "DELETE", headers: { "If-Match": "*" } });
  }
  await on_page({}, async (page) => {
    await visit(page, "/");
    await page.getByRole("link", { name: "Bin", exact: true }).click();
    await page.waitForURL("**/settings/bin");
    await page.getByText(/3 runs, [\d.]+ k?B on disk/).waitFor();
    await page.getByRole("button", { name: "Restore ash" }).click();
    await message(page).getByText("Restored ash").waitFor();
    assert.deepEqual(await in_bin(), ["box", "cedar"]);
    await page.getByRole("button", { name: "Delete box for good" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete for good" }).click();
    await until("box is gone", async () => (await in_bin()).join() === "cedar");
    await page.getByRole("button", { name: "Empty the bin…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete for good" }).click();
    await page.getByText("The bin is empty").first().waitFor();
    assert.deepEqual(await in_bin(), []);
    assert.equal(await is_there("ash"), true);
  });
});

test("a question asked right after another stays open", async () => {
  await empty_bin();
  await make("dill");
  await server.request("/api/v1/runs/dill", { method: "DELETE", headers: { "If-Match": "*" } });
  await on_page({}, async (page) => {
    await visit(page, "/settings/bin");
    await page.getByRole("button", { name: "Delete dill for good" }).click();
    await page.getByRole("dialog").waitFor();
    await page.evaluate(async () => {
      const button = (text) => [...document.querySelectorAll("button")]
        .find((one) => one.textContent.startsWith(text));
      const is_gone = new Promise((resolve) => new MutationObserver(() => {
        if (!document.querySelector("dialog")) resolve();
      }).observe(document.body, { childList: true, subtree: true }));
      button("Keep").click();
      await is_gone;
      button("Empty the bin").click(); // before the frame in which the first dialog reports its end
    });
    await settle(page);
    await page.getByRole("dialog").getByText("Empty the bin?").waitFor();
    await settle(page);
    assert.equal(await page.getByRole("dialog").count(), 1);
  });
});

test("selection, message and bin fit in every size and theme and have no barrier", async () => {
  await make("one");
  await make("two");
  await on_page({}, async (page) => {
    await visit(page, "/");
    await tick(page, "one");
    await delete_selected(page);
    await tick(page, "two");
    await selection(page).waitFor();
    assert.deepEqual(await look_faults(page), []);
    await visit(page, "/settings/bin");
    assert.deepEqual(await look_faults(page), []);
  });
});
