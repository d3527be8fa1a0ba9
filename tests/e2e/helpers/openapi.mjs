// SPDX-License-Identifier: Apache-2.0
// The API description as a test fixture: which replies it promises, and whether a reply matches.
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

const key_of = (text) => encodeURIComponent(text.replaceAll("~", "~0").replaceAll("/", "~1"));

/**
 * Calls visit with every object schema and every one with examples, with its place, and whether
 * others are combined with it.
 * @param {any} node @param {(schema: any, place: string, combined: boolean) => void} visit
 */
export function each_schema(node, visit, place = "", combined = false) {
  if (!node || typeof node !== "object") return;
  if (node.type === "object" || Array.isArray(node.examples)) visit(node, place, combined);
  for (const [key, value] of Object.entries(node)) {
    if (/^examples?$/.test(key)) continue;
    const inside = key === "allOf" || (combined && Array.isArray(node));
    each_schema(value, visit, `${place}/${key_of(key)}`, inside);
  }
}

/** A copy in which objects have only the members that are described. */
function closed() {
  const copy = structuredClone(openapi);
  const parts = new Set(JSON.stringify(copy).match(/"allOf":\[\{"\$ref":"[^"]+/g)
    .map((ref) => ref.split("/").at(-1)));
  each_schema(copy, (schema, place, combined) => {
    const name = /^\/components\/schemas\/(\w+)$/.exec(place)?.[1];
    if (schema.properties && !combined && !parts.has(name)) schema.additionalProperties ??= false;
  });
  return copy;
}

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(closed(), "openapi");

const compiled = new Map();

/** @param {string} place of a schema, such as "/components/schemas/Run" */
function validator(place) {
  if (!compiled.has(place)) compiled.set(place, ajv.compile({ $ref: `openapi#${place}` }));
  return compiled.get(place);
}

/** What is wrong with a value. @param {string} place of its schema @returns {string[]} */
export function value_faults(place, value) {
  const validate = validator(place);
  if (validate(value)) return [];
  return validate.errors.slice(0, 5).map(({ instancePath, message, params }) =>
    `${instancePath} ${message} ${JSON.stringify(params)}`);
}

/** The place of a response's schema. */
function schema_place(at, response, type) {
  const parts = at.$ref ? at.$ref.slice(2).split("/") : response;
  return `/${[...parts, "content", type, "schema"].map(key_of).join("/")}`;
}

// Any request may be refused with these before routing; see info.description.
const BEFORE_ROUTING = [405, 408, 414, 417, 421, 431];

/** The response of an operation for a status. */
function response_for(responses, status) {
  const by_default = status >= 500 || BEFORE_ROUTING.includes(status);
  return responses[status] ?? (by_default ? responses.default : undefined);
}

function header_faults(response, reply) {
  return Object.entries(response.headers ?? {})
    .filter(([name, header]) => resolved(header).required && !(name.toLowerCase() in reply.headers))
    .map(([name]) => `header ${name} is missing`);
}

/**
 * What is wrong with a reply, in sentences; none if it is exactly what the description promises.
 * @param {string} method @param {string} path as in the description
 * @param {import("./http.mjs").Reply} reply @returns {string[]}
 */
export function reply_faults(method, path, reply) {
  const what = `${method} ${path} ${reply.status}:`;
  const operation = openapi.paths[path]?.[method.toLowerCase()];
  if (!operation) return [`${method} ${path} is not described`];
  const at = response_for(operation.responses, reply.status);
  const response = resolved(at);
  if (!response) return [`${what} the status is not described`];
  const faults = header_faults(response, reply).map((fault) => `${what} ${fault}`);
  const type = (reply.headers["content-type"] ?? "").split(";")[0];
  if (reply.body.length === 0 || [204, 304].includes(reply.status)) return faults;
  const content = response.content?.[type] ?? response.content?.["*/*"];
  if (!content) return [...faults, `${what} ${type} is not described`];
  if (!content.schema || !/^application\/(.+\+)?json$/.test(type)) return faults;
  const name = operation.responses[reply.status] ? String(reply.status) : "default";
  const place = schema_place(at, ["paths", path, method.toLowerCase(), "responses", name], type);
  return [...faults, ...value_faults(place, reply.json).map((fault) => `${what} ${fault}`)];
}
