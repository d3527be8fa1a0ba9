// SPDX-License-Identifier: Apache-2.0
// Reads an OpenAPI 3.1 description: references, operations by tag, fields of a schema; pure.

const METHODS = ["get", "post", "put", "patch", "delete", "head"];
const DEEPEST = 8; // references in a row; a description is data and may be circular

/**
 * Follows `$ref` inside the document.
 * @param {any} api @param {any} node @returns {any}
 */
export function resolve(api, node, depth = 0) {
  const ref = node?.$ref;
  if (typeof ref !== "string" || !ref.startsWith("#/") || depth > DEEPEST) return node ?? {};
  const target = ref
    .slice(2)
    .split("/")
    .reduce((at, key) => at?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], api);
  return resolve(api, target, depth + 1);
}

function operation_of(api, path, method, item, operation) {
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
  return {
    path,
    method,
    summary: operation.summary ?? item.summary ?? "",
    description: operation.description ?? "",
    tag: operation.tags?.[0] ?? "Other",
    parameters: parameters.map((one) => resolve(api, one)),
    body: operation.requestBody ? resolve(api, operation.requestBody) : null,
    responses: operation.responses ?? {},
  };
}

/**
 * Operations by their first tag, in the document's order.
 * @param {any} api
 * @returns {{tag: string, about: string, operations: any[]}[]}
 */
export function operations_of(api) {
  const base = api.servers?.[0]?.url?.replace(/\/$/, "") ?? "";
  const groups = new Map(
    (api.tags ?? []).map(({ name, description = "" }) => [
      name,
      { about: description, operations: [] },
    ]),
  );
  for (const [path, item] of Object.entries(api.paths ?? {})) {
    for (const method of METHODS.filter((name) => item[name])) {
      const own = (item.servers ?? item[method].servers)?.[0]?.url?.replace(/\/$/, "") ?? base;
      const operation = operation_of(api, own + path, method, item, item[method]);
      if (!groups.has(operation.tag)) groups.set(operation.tag, { about: "", operations: [] });
      groups.get(operation.tag).operations.push(operation);
    }
  }
  return [...groups].map(([tag, group]) => ({ tag, ...group }))
    .filter(({ operations }) => operations.length > 0);
}

const PROBLEM = "application/problem+json";

/** Whether a response is only a problem. */
function is_problem({ content = {} }) {
  return Object.keys(content).join() === PROBLEM;
}

/**
 * The responses of an operation: its own, and the statuses of problems, which are described once.
 * @param {any} api @param {any} responses
 * @returns {{own: [string, any][], refusals: string[]}}
 */
export function answers_of(api, responses) {
  const all = Object.entries(responses ?? {}).map(([status, one]) => [status, resolve(api, one)]);
  return {
    own: all.filter(([, one]) => !is_problem(one)),
    refusals: all.filter(([status, one]) => is_problem(one) && status !== "default")
      .map(([status]) => status),
  };
}

/**
 * Why requests are refused, by status.
 * @param {any} api @returns {{status: string, description: string}[]}
 */
export function refusals_of(api) {
  return Object.values(api.components?.responses ?? {}).filter(is_problem)
    .map(({ description, content }) => (
      { status: String(content[PROBLEM].example?.status ?? ""), description }))
    .sort((a, b) => a.status.localeCompare(b.status));
}

/** A schema's type in a word or two. @param {any} schema */
export function type_text(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.enum) return schema.enum.map(String).join(" | ");
  const type = [schema.type].flat().filter(Boolean).join(" or ");
  if (schema.items) return `${type || "array"} of ${type_text(schema.items)}`;
  return type || (schema.oneOf ?? schema.anyOf ?? []).map(type_text).join(" or ");
}

/** Fields of an object schema, or of the rows of a table reply. @param {any} api */
export function properties_of(api, given) {
  const schema = resolve(api, given);
  const merged = [schema, ...(schema.allOf ?? []).map((part) => resolve(api, part))];
  return merged.flatMap(({ properties, items }) =>
    Object.entries(properties ?? resolve(api, items)?.properties ?? {}).map(([name, one]) => {
      const field = resolve(api, one);
      return {
        name,
        type: type_text(one.$ref ? one : field),
        description: field.description ?? "",
        unit: field["x-unit"] ?? "",
      };
    }),
  );
}
