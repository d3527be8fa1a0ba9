// SPDX-License-Identifier: Apache-2.0
// Scores `stepscope inspect --kernel-names` against names with known meaning: our own list, of
// which every field has to be right, and the labeled names next to the source tree, of which 95 %
// have to be and none may be wrong that is marked sure. Our names, cut anywhere, may say nothing
// for sure that the whole names do not. Prints percent per field.
// Usage: node score.mjs PATH_OF_STEPSCOPE. Exit status 77: the labeled names are absent.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const OWN = fileURLToPath(new URL("real_names.json", import.meta.url));
const LABELED = fileURLToPath(new URL("../../../shared/kernels/names.json", import.meta.url));
const SKIPPED = 77;

/** What the program says about each name. */
function decode(program, names) {
  const input = names.map((name) => `${name}\n`).join("");
  const options = { input, encoding: "utf8", maxBuffer: 1 << 28 };
  const out = execFileSync(program, ["inspect", "--kernel-names"], options);
  return out.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Flags are a set; null is a field that must be absent. */
function is_right(field, expected, found) {
  if (field !== "flags") return JSON.stringify(found ?? null) === JSON.stringify(expected);
  return JSON.stringify([...found].sort()) === JSON.stringify([...expected].sort());
}

function score(program, path) {
  const labels = JSON.parse(readFileSync(path, "utf8"));
  const found = decode(program, labels.map(({ name }) => name));
  const fields = new Map();
  const wrong = [];
  labels.forEach(({ name, decoded }, i) => {
    for (const [field, expected] of Object.entries(decoded)) {
      if (field === "short") continue; // free text
      const count = fields.get(field) ?? { right: 0, all: 0 };
      fields.set(field, count);
      count.all++;
      const value = found[i][field];
      if (is_right(field, expected, value)) count.right++;
      else wrong.push({ name, field, expected, value, sure: is_sure(found[i], field) });
    }
  });
  return { path, names: labels.length, answers: found.length, fields, wrong };
}

/** A field that is left unsaid is no claim. */
function is_sure(found, field) {
  return found[field] !== undefined && !(found.unsure ?? []).includes(field);
}

function print({ path, names, fields, wrong }) {
  const counts = [...fields.values()];
  const all = counts.reduce((sum, { all }) => sum + all, 0);
  const right = counts.reduce((sum, { right }) => sum + right, 0);
  const percent = (a, b) => `${((100 * a) / b).toFixed(2)} %`;
  console.log(`${path}: ${names} names, ${right} of ${all} fields right, ${percent(right, all)}`);
  for (const [field, count] of fields)
    console.log(`  ${field.padEnd(10)} ${percent(count.right, count.all)} of ${count.all}`);
  for (const { name, field, expected, value, sure } of wrong)
    console.log(`  ${sure ? "WRONG" : "unsaid"} ${field}: expected ${JSON.stringify(expected)}, ` +
      `found ${JSON.stringify(value)}: ${name.slice(0, 160)}`);
  return right / all;
}

/** The beginnings of a name, marked as the tables of tools mark what they cut. */
function cuts_of(name) {
  const cuts = [];
  for (let end = 10; end < Math.min(name.length - 3, 300); end += 3)
    cuts.push(`${name.slice(0, end).trimEnd()}...`);
  return cuts;
}

/** What is said for sure of a name that is cut, and is not said of the whole name. */
function contradictions(program, names) {
  const pairs = names.flatMap((name) => cuts_of(name).map((cut) => ({ name, cut })));
  const cut_answers = decode(program, pairs.map(({ cut }) => cut));
  const whole = new Map(decode(program, names).map((answer) => [answer.name, answer]));
  const wrong = [];
  pairs.forEach(({ name, cut }, i) => {
    for (const [field, value] of Object.entries(cut_answers[i])) {
      if (["name", "short", "sure", "unsure"].includes(field)) continue;
      const expected = whole.get(name)[field];
      const holds = field === "flags" ? value.every((flag) => expected.includes(flag))
        : is_right(field, expected ?? null, value);
      if (!holds && is_sure(cut_answers[i], field)) wrong.push({ cut, field, value, expected });
    }
  });
  return { count: pairs.length, wrong };
}

function fail(what) {
  console.error(`FAILED: ${what}`);
  process.exit(1);
}

const [program] = process.argv.slice(2);
const own = score(program, OWN);
if (own.answers !== own.names) fail(`${own.answers} answers for ${own.names} names`);
if (print(own) < 1) fail("a field of our own list is wrong");
const own_names = JSON.parse(readFileSync(OWN, "utf8")).map(({ name }) => name);
const cut = contradictions(program, own_names);
console.log(`${cut.count} names that are cut, ${cut.wrong.length} sure fields that do not hold`);
for (const { cut: name, field, value, expected } of cut.wrong)
  console.log(`  WRONG ${field}: expected ${JSON.stringify(expected)}, ` +
    `found ${JSON.stringify(value)}: ${name}`);
if (cut.wrong.length) fail("a name that is cut says for sure what the whole name does not");
if (!existsSync(LABELED)) {
  console.log(`SKIPPED: ${LABELED} is absent`);
  process.exit(SKIPPED);
}
const labeled = score(program, LABELED);
if (print(labeled) < 0.95) fail("less than 95 % of the labeled fields are right");
if (labeled.wrong.some(({ sure }) => sure)) fail("a field that is marked sure is wrong");
