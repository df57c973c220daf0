# SPDX-License-Identifier: MIT OR GPL-2.0
"""packaging/kubernetes, as far as files can be checked without a cluster: shapes, names that refer to others, and rights
that are those of the systemd units. `make check-kubernetes` holds it against Kubernetes' published types."""

import json
import pathlib
import re
import tomllib

import jsonschema
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "packaging/kubernetes"
SCHEMA = json.loads((ROOT / "tests/data/kubernetes.json").read_text(encoding="utf-8"))
FILES = sorted(path for path in FOLDER.glob("*/*.yaml") if path.name != "kustomization.yaml")


def manifests(path):
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def agent():
    (found,) = manifests(FOLDER / "base/agent.yaml")
    return found


def container(name):
    (found,) = (each for each in agent()["spec"]["template"]["spec"]["containers"] if each["name"] == name)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_shapes(path):
    for manifest in manifests(path):
        jsonschema.validate(manifest, SCHEMA)


@pytest.mark.parametrize("wrong", (
    lambda spec: spec.update(hostPid=True), lambda spec: spec["containers"][0].pop("image"),
    lambda spec: spec["containers"][0]["resources"]["limits"].update(cpu=1),
    lambda spec: spec["containers"][0]["securityContext"].update(privileged=True)))
def test_the_schema_refuses(wrong):
    changed = agent()
    wrong(changed["spec"]["template"]["spec"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed, SCHEMA)


@pytest.mark.parametrize("part", ("base", "example"))
def test_a_kustomization_has_all_files(part):
    folder = FOLDER / part
    listed = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))
    files = {*listed["resources"], *(name for each in listed["configMapGenerator"] for name in each["files"])}
    assert {name for name in files if not name.startswith("../")} == {path.name for path in folder.iterdir()} - {"kustomization.yaml"}
    assert [each["name"] for each in listed["configMapGenerator"]] == ["nvdebug-goals"]
    images = {each["image"] for each in agent()["spec"]["template"]["spec"]["containers"]}
    assert images == {"nvdebug-agent"} >= {each["name"] for each in listed.get("images", ())}


def test_names_that_refer_to_others():
    spec = agent()["spec"]
    labels = spec["template"]["metadata"]["labels"]
    (policy,) = manifests(FOLDER / "base/policy.yaml")
    assert spec["selector"]["matchLabels"] == labels == policy["spec"]["podSelector"]["matchLabels"]
    volumes = {each["name"] for each in spec["template"]["spec"]["volumes"]}
    mounted = {each["name"] for one in spec["template"]["spec"]["containers"] for each in one.get("volumeMounts", ())}
    assert volumes == mounted
    (port,) = container("exporter")["ports"]
    assert spec["template"]["metadata"]["annotations"]["prometheus.io/port"] == str(port["containerPort"])
    assert container("exporter")["command"][-1] == f":{port['containerPort']}"
    assert container("exporter")["livenessProbe"]["httpGet"]["port"] == port["name"]
    assert policy["spec"]["ingress"][0]["ports"] == [{"port": port["name"]}]
    file = pathlib.PurePath(container("nvqos")["command"][-1])
    (place,) = (each for each in container("nvqos")["volumeMounts"] if each["name"] == "goals")
    assert str(file.parent) == place["mountPath"] and (FOLDER / "base" / file.name).exists()


def test_what_is_to_be_undone_outlives_the_pod():
    """And claims are those of all programs on the node, which see each other in this folder."""
    (place,) = (each for each in container("nvqos")["volumeMounts"] if each["name"] == "nvdebug")
    (volume,) = (each for each in agent()["spec"]["template"]["spec"]["volumes"] if each["name"] == "nvdebug")
    folder = re.search(r'runtime_folder = "(.*)"', (ROOT / "lib/base/runtime_folder.hpp").read_text(encoding="utf-8"))[1]
    assert place == {"name": "nvdebug", "mountPath": folder}
    assert volume == {"name": "nvdebug", "hostPath": {"path": folder, "type": "DirectoryOrCreate"}}


@pytest.mark.parametrize("name, unit", (("nvqos", "tools/nvqos/nvqos.service.in"),
                                        ("exporter", "tools/exporter/nvdebug-exporter.service.in")))
def test_rights_are_those_of_the_unit(name, unit):
    (line,) = re.findall(r"^CapabilityBoundingSet=(.*)$", (ROOT / unit).read_text(encoding="utf-8"), re.M)
    allowed = [word.removeprefix("CAP_") for word in line.split()]
    context = container(name)["securityContext"]
    assert context["capabilities"] == {"drop": ["ALL"], "add": allowed}
    assert context["readOnlyRootFilesystem"] and not context["allowPrivilegeEscalation"]
    page = (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
    assert all(f"`{word}`" in page for word in allowed)
    assert "untested on a cluster" in page


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/nvqos.toml")), ids=lambda path: path.parent.name)
def test_goals_are_nvqos(path):
    tenants = tomllib.loads(path.read_text(encoding="utf-8"))["tenant"]
    goal = re.compile(r"latency|best-effort(:\d+)?|(share|cap|speed):\d+%")
    for tenant in tenants:
        goals = tenant["goal"] if isinstance(tenant["goal"], list) else [tenant["goal"]]
        assert set(tenant) == {"name", "command", "goal"} and len(tenant["command"]) <= 15
        assert all(goal.fullmatch(each) for each in goals)
