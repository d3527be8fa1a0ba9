// SPDX-License-Identifier: Apache-2.0
// The API description as a test fixture: which replies it promises, and whether one keeps it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv/dist/2020.js";
import { root } from "./tools.mjs";

export const openapi = JSON.parse(readFileSync(join(root, "schema/openapi.json"), "utf8"));

const METHODS = ["get", "put", "post", "patch", "delete"];

/** Every operation. @returns {{method: string, path: string, operation: any}[]} */
export function operations() {
  return Object.entries(openapi.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method])
      .map((method) => ({ method: method.toUpperCase(), path, operation: item[method] })));
}

/** Follows one $ref inside the description. */
function resolved(value) {
  if (!value?.$ref) return value;
  return value.$ref.slice(2).split("/").reduce((at, key) =>
    at?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], openapi);
}

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(openapi, "openapi");

/** Replaces the places of $refs, so that a schema can stand alone. */
function rooted(schema) {
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "$ref" && value.startsWith("#") ? `openapi${value}` : value);
}

const compiled = new Map();

function validator(schema) {
  if (!compiled.has(schema)) compiled.set(schema, ajv.compile(rooted(schema)));
  return compiled.get(schema);
}

/**
 * What is wrong with a reply, as sentences; none when the description promises just that.
 * @param {string} method @param {string} path as in the description
 * @param {import("./http.mjs").Reply} reply @returns {string[]}
 */
export function reply_faults(method, path, reply) {
  const operation = openapi.paths[path]?.[method.toLowerCase()];
  if (!operation) return [`${method} ${path} is not described`];
  const { responses } = operation;
  const response = resolved(responses[reply.status] ??
    responses[`${String(reply.status)[0]}XX`] ?? responses.default);
  if (!response) return [`${method} ${path}: status ${reply.status} is not described`];
  const type = (reply.headers["content-type"] ?? "").split(";")[0];
  if (reply.body.length === 0 || [204, 304].includes(reply.status)) return [];
  const content = response.content?.[type] ?? response.content?.["*/*"];
  if (!content) return [`${method} ${path} ${reply.status}: ${type} is not described`];
  if (!content.schema || !/^application\/(.+\+)?json$/.test(type)) return [];
  const validate = validator(content.schema);
  if (validate(reply.json)) return [];
  return validate.errors.slice(0, 5).map(({ instancePath, message, params }) =>
    `${method} ${path} ${reply.status}: ${instancePath} ${message} ${JSON.stringify(params)}`);
}
