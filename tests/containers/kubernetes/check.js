// SPDX-License-Identifier: MIT OR GPL-2.0
// check.js reads manifests on stdin and compares each with Kubernetes' published types.
// kubernetes-models checks values. kubernetes-types finds keys that a type does not have, because
// the models accept them and a cluster drops them. The types of the Prometheus operator are in
// a package that does both.
const child = require("child_process");
const fs = require("fs");
const path = require("path");
const yaml = require("yaml");

const failures = [];
const lines = [];
const manifests = yaml.parseAllDocuments(fs.readFileSync(0, "utf8")).map((one) => one.toJSON());
for (const [number, manifest] of manifests.entries()) {
    const [group, version] = manifest.apiVersion.includes("/") ? manifest.apiVersion.split("/") : ["", manifest.apiVersion];
    const operator = group === "monitoring.coreos.com" && "@kubernetes-models/prometheus-operator";
    const model = path.posix.join(operator || "kubernetes-models", group, version, manifest.kind);
    try {
        const Model = require(model)[manifest.kind];
        new Model(manifest).validate();
    } catch (error) {
        failures.push(`${manifest.kind} ${manifest.metadata.name}: ${error.message}`);
    }
    const types = operator ? model : `kubernetes-types/${group.split(".")[0] || "core"}/${version}`;
    lines.push(`import type {${operator ? "I" : ""}${manifest.kind} as Type${number}} from "${types}";`);
    lines.push(`export const manifest${number}: Type${number} = ${JSON.stringify(manifest, null, 1)};`);
}
const file = path.join(__dirname, "manifests.ts");
fs.writeFileSync(file, lines.join("\n"));
const tsc = child.spawnSync(process.execPath, [require.resolve("typescript/bin/tsc"), "--noEmit", "--strict", "--skipLibCheck",
    "--moduleResolution", "node10", file], {cwd: __dirname, encoding: "utf8"});
if (tsc.status !== 0)
    failures.push(tsc.stdout.trim() || `tsc: ${tsc.error}`);
for (const failure of failures)
    console.error(`check-kubernetes: ${failure}`);
console.log(`check-kubernetes: ${manifests.length} manifests, ${failures.length ? "refused" : "all right"}`);
process.exit(failures.length || !manifests.length ? 1 : 0);
