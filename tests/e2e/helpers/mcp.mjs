// SPDX-License-Identifier: Apache-2.0
// Tools called over plain HTTP, and what holds for every answer.
import assert from "node:assert/strict";

const ANSWER_MAX = 4200;

/** One JSON-RPC message to /mcp. @returns {Promise<import("./http.mjs").Reply>} */
export const mcp_post = (server, message, headers = {}) =>
  server.request("/mcp", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof message === "string" ? message : JSON.stringify(message),
  });

/** The result of a tool, whether it answers or explains what was wrong. */
export async function call_tool(server, name, args = {}) {
  const params = { name, arguments: args };
  const reply = await mcp_post(server, { jsonrpc: "2.0", id: 1, method: "tools/call", params });
  assert.equal(reply.status, 200, reply.text);
  assert.ok(reply.json.result, reply.text);
  return reply.json.result;
}

/** Characters of an answer, where those that a tokenizer splits count twice. */
const weight = (text) => Buffer.byteLength(text) + (text.match(/[^\0-\x7f]/g) ?? [])
  .reduce((sum, c) => sum + Buffer.byteLength(c), 0);

/** The answer of a tool: short, and the same as text and as structure. */
export async function ask_tool(server, name, args) {
  const result = await call_tool(server, name, args);
  const [{ text }] = result.content;
  assert.equal(result.isError, false, `${name} ${JSON.stringify(args)}: ${text}`);
  assert.deepEqual(JSON.parse(text), result.structuredContent);
  assert.ok(weight(text) <= ANSWER_MAX, `${name}: ${weight(text)}`);
  return result.structuredContent;
}

/** The text that says what was wrong with a call. */
export async function tool_error(server, name, args) {
  const result = await call_tool(server, name, args);
  assert.equal(result.isError, true, result.content[0].text);
  return result.content[0].text;
}

/** Rows of an answer's table as objects. */
export const rows_of = ({ columns, rows }) =>
  rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
