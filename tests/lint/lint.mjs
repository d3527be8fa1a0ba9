// SPDX-License-Identifier: Apache-2.0
// Applies every rule to every file, prints `file:line: what [rule]`; --self-test tries the rules.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { folder_cycles } from "./cycles.mjs";
import { broken_imports } from "./imports.mjs";
import { repeated_names, rules } from "./rules.mjs";
import { source, sources } from "./source.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** Whether this line or the one above says why a rule does not hold here. */
function excused(file, line, rule) {
  const mark = new RegExp(`lint-allow\\(${rule.name}\\): \\S`);
  return [file.lines[line - 1], file.lines[line - 2]].some((text) => mark.test(text ?? ""));
}

function complaints_of(rule, file) {
  if (!rule.files.test(file.path)) return [];
  return rule
    .check(file)
    .filter(({ line }) => !excused(file, line, rule))
    .map(({ line, what }) => `${file.path}:${line}: ${what} [${rule.name}]`);
}

function lint() {
  const files = sources(ROOT);
  const complaints = rules.flatMap((rule) => files.flatMap((file) => complaints_of(rule, file)));
  for (const { path, line, what } of repeated_names(files))
    complaints.push(`${path}:${line}: ${what} [names]`);
  for (const { path, line, what } of broken_imports(files))
    complaints.push(`${path}:${line}: ${what} [imports]`);
  for (const { path, line, what } of folder_cycles(files))
    complaints.push(`${path}:${line}: ${what} [cycles]`);
  for (const complaint of complaints) console.log(complaint);
  console.log(`${files.length} files, ${rules.length + 3} rules, ${complaints.length} complaints`);
  return complaints.length === 0 && files.length > 0;
}

/** Samples that a rule gets wrong. */
function misjudged(rule) {
  const fires = ([path, text]) => complaints_of(rule, source(path, text)).length > 0;
  return [
    ...(rule.bad.length === 0 ? [`${rule.name}: has no bad sample`] : []),
    ...rule.bad.filter((s) => !fires(s)).map(([p, t]) => `${rule.name}: silent on ${p}: ${t}`),
    ...rule.good.filter(fires).map(([p, t]) => `${rule.name}: fires on ${p}: ${t}`),
  ];
}

/** Differences between the complaints of `imports` and the expected ones. */
function misjudged_imports() {
  const files = [
    ["web/a.mjs", 'import b, { c as d, e } from "./x/b.mjs";\nimport * as f from "./none.mjs";\n'
      + 'import "./vendor/g.mjs";\n/** @type {import("./gone.mjs").T} */\n'],
    ["web/x/b.mjs", "export default 1;\nexport async function c() {}\n"],
    ["web/x/c.mjs", 'export { e } from "./d.mjs";\nimport { g } from "./d.mjs";\n'],
    ["web/x/d.mjs", "const e = 1;\nexport { e, e as g };\n"],
    ["web/i.html", '<script src="/static/{{tree}}/a.mjs">\n<link href="/static/{{tree}}/i.css">'],
  ].map(([path, text]) => source(path, text));
  const found = broken_imports(files).map(({ path, line, what }) => `${path}:${line} ${what}`);
  const expected = ["web/a.mjs:2 there is no web/none.mjs", "web/a.mjs:4 there is no web/gone.mjs",
    "web/a.mjs:1 web/x/b.mjs does not export e", "web/i.html:2 there is no web/i.css"];
  return JSON.stringify(found) === JSON.stringify(expected) ? []
    : [`imports: found ${found.join(", ")}`];
}

/** Whether `cycles` finds a circle of three folders, and nothing else. */
function misjudged_cycles() {
  const files = [["ingest/a/a.c", "ingest/b/b.h"], ["ingest/b/b.h", "ingest/c/c.h"],
    ["ingest/c/c.c", "ingest/a/a.h"], ["server/a.c", "ingest/a/a.h"]]
    .map(([path, other]) => source(path, `#include "${other}"\n`));
  const found = folder_cycles(files).map(({ path }) => path).join();
  return found === "ingest/a/a.c,ingest/b/b.h,ingest/c/c.c" ? [] : [`cycles: found ${found}`];
}

function self_test() {
  const wrong = rules.flatMap(misjudged);
  const names = ["base/a.c", "trace/a.c"].map((path) => source(path, ""));
  if (repeated_names(names).length !== 1) wrong.push("names: silent on two files a.c");
  wrong.push(...misjudged_imports(), ...misjudged_cycles());
  const allow = source("a.c", "// lint-allow(tabs): a reason\n\tint a;\n");
  const tabs = rules.find(({ name }) => name === "tabs");
  if (complaints_of(tabs, allow).length !== 0) wrong.push("lint-allow: is not heeded");
  for (const message of wrong) console.log(message);
  console.log(`${rules.length + 3} rules tried, ${wrong.length} wrong`);
  return wrong.length === 0;
}

const ok = process.argv[2] === "--self-test" ? self_test() : lint();
process.exitCode = ok ? 0 : 1;
