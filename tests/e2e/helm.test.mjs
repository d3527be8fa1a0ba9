// SPDX-License-Identifier: Apache-2.0
// The Helm chart, rendered here as far as its templates go: by default it is the plain manifests of
// deploy/kubernetes, and each option adds or changes what it says.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import yaml from "js-yaml";
import { root } from "./helpers/tools.mjs";

const CHART = join(root, "deploy/helm");

/** A value by its path, such as .Values.web.replicas; it must be there. */
function value_at(context, path) {
  return path.split(".").slice(1).reduce((value, name) => {
    assert.ok(value && name in value, `${path} is in no values`);
    return value[name];
  }, context);
}

const indented = (text, count) => `\n${text.trimEnd()}`.replaceAll("\n", `\n${" ".repeat(count)}`);

/** What Go's templates make of one action; only these are used. */
function rendered(action, context) {
  const [, is_yaml, path, quote, , indent] =
    /^(toYaml )?(\.[\w.]+)( \| quote)?( \| nindent (\d+))?$/.exec(action) ?? [];
  assert.ok(path, `the action ${action} is not one that this test knows`);
  const value = value_at(context, path);
  if (is_yaml) return indented(yaml.dump(value), Number(indent));
  assert.ok(typeof value !== "object", `${path} is no scalar`);
  return quote ? JSON.stringify(String(value)) : String(value);
}

function render(text, context) {
  const kept = [true];
  let out = "";
  const trimmed = text.replace(/\s*\{\{-/g, "{{").split(/(\{\{.*?\}\})/);
  for (const part of trimmed) {
    const action = /^\{\{\s*(.*?)\s*\}\}$/.exec(part)?.[1];
    const condition = /^if (not )?(\S+)$/.exec(action ?? "");
    if (condition) kept.push(Boolean(value_at(context, condition[2])) !== Boolean(condition[1]));
    else if (action === "end") kept.pop();
    else if (kept.every(Boolean)) out += action === undefined ? part : rendered(action, context);
  }
  assert.equal(kept.length, 1, "an if without its end");
  return out;
}

/** Objects by kind and name. */
const by_name = (texts) => new Map(texts.flatMap((text) => yaml.loadAll(text))
  .filter((object) => object).map((object) => [`${object.kind} ${object.metadata.name}`, object]));

function chart(change = () => {}, name = "stepscope") {
  const values = yaml.load(readFileSync(join(CHART, "values.yaml"), "utf8"));
  change(values);
  const folder = join(CHART, "templates");
  return by_name(readdirSync(folder).map((file) =>
    render(readFileSync(join(folder, file), "utf8"), { Values: values, Release: { Name: name } })));
}

const manifests = (...files) => by_name(files.map((file) =>
  readFileSync(join(root, "deploy/kubernetes", `${file}.yaml`), "utf8")));

test("by default the chart is the plain manifests", () => {
  assert.deepEqual(chart(), manifests("stepscope"));
});

const deployments = () => [...manifests("stepscope").values()]
  .filter(({ kind }) => kind === "Deployment");

test("a service is stopped before the next version starts, and captures have one to go to", () => {
  for (const { spec } of deployments()) assert.deepEqual(spec.strategy, { type: "Recreate" });
  assert.equal(manifests("stepscope").get("Deployment stepscope-web").spec.replicas, 1);
  // One that no budget lets go would keep a node from being emptied.
  for (const { kind, spec } of manifests("stepscope").values())
    if (kind === "PodDisruptionBudget") assert.equal(spec.maxUnavailable, 1);
});

test("what a service writes goes to a separate disk, whose room it knows", () => {
  const settings = manifests("stepscope").get("ConfigMap stepscope").data;
  for (const { spec: { template: { spec } } } of deployments()) {
    const [{ volumeMounts, securityContext }] = spec.containers;
    assert.equal(securityContext.readOnlyRootFilesystem, true);
    assert.deepEqual(volumeMounts, [{ name: "data", mountPath: settings.TMPDIR }]);
    assert.deepEqual(Object.keys(spec.volumes[0]), ["name", "ephemeral"]);
  }
});

test("migration, autoscaling and an ingress come when they are asked for", () => {
  const found = chart((values) => {
    for (const what of ["migrate", "autoscale", "ingress"]) values[what].enabled = true;
  });
  const plain = manifests("stepscope", "migrate", "autoscale");
  const hooks = found.get("Job stepscope-migrate").metadata;
  assert.match(hooks.annotations["helm.sh/hook"], /pre-upgrade/);
  delete hooks.annotations;
  assert.equal(found.get("Deployment stepscope-worker").spec.replicas, undefined);
  delete plain.get("Deployment stepscope-worker").spec.replicas;
  assert.ok(found.delete("Ingress stepscope"));
  assert.deepEqual(found, plain);
});

test("what is chosen arrives, and two releases share no name", () => {
  const found = chart((values) => {
    values.worker.jobs = 8;
    values.web.resources = { limits: { memory: "9Gi" } };
    values.image = { repository: "mirror/stepscope", tag: "1.2" };
    values.trustedProxy = "10.0.0.0/8";
  }, "other");
  const [container] = found.get("Deployment other-worker").spec.template.spec.containers;
  assert.deepEqual(container.args.slice(-2), ["--jobs", "8"]);
  assert.equal(container.image, "mirror/stepscope:1.2");
  const [web] = found.get("Deployment other-web").spec.template.spec.containers;
  assert.deepEqual(web.resources, { limits: { memory: "9Gi" } });
  assert.equal(found.get("ConfigMap other").data.STEPSCOPE_TRUSTED_PROXY, "10.0.0.0/8");
  const ours = [...chart().keys()];
  assert.ok(![...found.keys()].some((name) => ours.includes(name)));
  assert.deepEqual(found.get("Service other").spec.selector,
    found.get("Deployment other-web").spec.selector.matchLabels);
});
