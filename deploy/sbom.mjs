// SPDX-License-Identifier: Apache-2.0
// sbom.mjs FILE VERSION COMMIT SOURCE < COMPONENTS > FILE.spdx.json
// Writes what a package or an archive is made of as SPDX 2.3. COMPONENTS are lines of package,
// version, source package, its version and relation (CONTAINS, DEPENDS_ON), separated by tabs.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";

const [file, version, commit, source] = process.argv.slice(2);
const sha256 = createHash("sha256").update(readFileSync(file)).digest("hex");
const release = Object.fromEntries(
  readFileSync("/etc/os-release", "utf8")
    .split("\n")
    .map((line) => line.replaceAll('"', "").split("=")),
);
const architecture = process.arch === "x64" ? "amd64" : process.arch;
const id_of = (name) => `SPDXRef-${name.replace(/[^A-Za-z0-9.-]/g, "-")}`;

function purl(locator) {
  const category = "PACKAGE-MANAGER";
  return [{ referenceCategory: category, referenceType: "purl", referenceLocator: locator }];
}

function component(name, component_version, more) {
  return {
    SPDXID: id_of(name),
    name,
    versionInfo: component_version,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    licenseConcluded: "NOASSERTION",
    licenseDeclared: "NOASSERTION",
    copyrightText: "NOASSERTION",
    ...more,
  };
}

function debian_component(line) {
  const [name, package_version, source_name, source_version, relation] = line.split("\t");
  const at = `${name}@${encodeURIComponent(package_version)}`;
  const distro = `${release.ID}-${release.VERSION_ID}`;
  const more = {
    sourceInfo: `built from the source package ${source_name} ${source_version} of ${distro}`,
    externalRefs: purl(`pkg:deb/${release.ID}/${at}?arch=${architecture}&distro=${distro}`),
  };
  if (relation === "CONTAINS") more.licenseComments = `licenses/${source_name}.txt`;
  return { relation, about: component(name, package_version, more) };
}

// What the dashboard is packed with is part of the program.
function web_component(name) {
  const lock = JSON.parse(readFileSync(`${source}/web/package-lock.json`, "utf8"));
  const { version: locked, license } = lock.packages[`node_modules/${name}`];
  const more = { licenseDeclared: license, externalRefs: purl(`pkg:npm/${name}@${locked}`) };
  return { relation: "CONTAINS", about: component(name, locked, more) };
}

function relationship(from, type, to) {
  return { spdxElementId: from, relationshipType: type, relatedSpdxElement: to.SPDXID };
}

const lines = readFileSync(0, "utf8").split("\n").filter(Boolean);
const components = [...lines.map(debian_component), ...["htm", "preact"].map(web_component)];
const own = component("stepscope", version, {
  licenseDeclared: "Apache-2.0",
  packageFileName: basename(file),
  checksums: [{ algorithm: "SHA256", checksumValue: sha256 }],
  sourceInfo: `built from commit ${commit}`,
  primaryPackagePurpose: "APPLICATION",
});
const created = new Date(Number(process.env.SOURCE_DATE_EPOCH) * 1000).toISOString();
const document = {
  spdxVersion: "SPDX-2.3",
  dataLicense: "CC0-1.0",
  SPDXID: "SPDXRef-DOCUMENT",
  name: basename(file),
  documentNamespace: `https://stepscope.invalid/spdx/${basename(file)}/${sha256}`,
  creationInfo: { created: created.replace(/\.\d+Z$/, "Z"), creators: ["Tool: stepscope-sbom"] },
  packages: [own, ...components.map(({ about }) => about)],
  relationships: [
    relationship("SPDXRef-DOCUMENT", "DESCRIBES", own),
    ...components.map(({ relation, about }) => relationship(own.SPDXID, relation, about)),
  ],
};
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
