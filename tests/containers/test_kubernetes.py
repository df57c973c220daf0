# SPDX-License-Identifier: MIT OR GPL-2.0
"""Checks packaging/kubernetes as far as files can be checked without a cluster: their shapes, the names that refer to
others, and the rights, which are the rights of the systemd units. `make check-kubernetes` compares the manifests with
Kubernetes' published types."""

import json
import pathlib
import re
import shutil
import subprocess
import tomllib

import jsonschema
import pytest
import yaml
from shells import needs
from waiting import PATIENCE_S

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
def test_manifests_have_known_shapes(path):
    for manifest in manifests(path):
        jsonschema.validate(manifest, SCHEMA)


@pytest.mark.parametrize("wrong", (
    lambda spec: spec.update(hostPid=True), lambda spec: spec["containers"][0].pop("image"),
    lambda spec: spec["containers"][0]["resources"]["limits"].update(cpu=1),
    lambda spec: spec["containers"][0]["securityContext"].update(privileged=True)))
def test_the_schema_refuses_wrong_manifests(wrong):
    changed = agent()
    wrong(changed["spec"]["template"]["spec"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed, SCHEMA)


@pytest.mark.parametrize("part", ("base", "example"))
def test_a_kustomization_has_all_files(part):
    folder = FOLDER / part
    listed = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))
    files = {*listed.get("resources", ()), *listed.get("bases", ()), *(name for each in listed["configMapGenerator"] for name in each["files"])}
    assert {name for name in files if not name.startswith("../")} == {path.name for path in folder.iterdir()} - {"kustomization.yaml"}
    assert [each["name"] for each in listed["configMapGenerator"]] == ["nvdebug-goals"]
    images = {each["image"] for each in agent()["spec"]["template"]["spec"]["containers"]}
    assert images == {"nvdebug-agent"} >= {each["name"] for each in listed.get("images", ())}


def test_names_refer_to_existing_ones():
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


def test_the_pod_monitor_finds_the_agent_once():
    folder = FOLDER / "podmonitor"
    component = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))
    assert component["kind"] == "Component" and "namespace" not in component, "that would move the overlay's own pods"
    assert set(component["resources"]) == {path.name for path in folder.iterdir()} - {"kustomization.yaml"}
    (monitor,) = manifests(folder / "podmonitor.yaml")
    template = agent()["spec"]["template"]["metadata"]
    assert monitor["spec"]["selector"]["matchLabels"] == template["labels"]
    base = yaml.safe_load((FOLDER / "base/kustomization.yaml").read_text(encoding="utf-8"))
    assert monitor["metadata"]["namespace"] == base["namespace"]
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    assert endpoint["honorLabels"] and endpoint["port"] == container("exporter")["ports"][0]["name"]
    (patch,) = (yaml.safe_load(each["patch"]) for each in component["patches"])
    assert patch["metadata"]["name"] == agent()["metadata"]["name"] and patch["metadata"]["namespace"] == base["namespace"]
    assert patch["spec"]["template"]["metadata"]["annotations"] == dict.fromkeys(template["annotations"]), "each is taken off"


def fits(labels):
    """Returns true if a node with these labels has the agent, by its selector and affinity."""
    spec = agent()["spec"]["template"]["spec"]
    (term,) = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert all(each["operator"] == "NotIn" for each in term["matchExpressions"])
    return spec["nodeSelector"].items() <= labels.items() and all(
        labels.get(each["key"]) not in each["values"] for each in term["matchExpressions"])


def test_the_agent_leaves_a_node_before_its_driver_is_upgraded():
    node = {"nvidia.com/gpu.present": "true"}
    operators = {**node, "nvidia.com/gpu.deploy.device-plugin": "true", "nvidia.com/gpu.deploy.client": "true"}
    for there in (node, operators, {**operators, "nvidia.com/gpu.deploy.device-plugin": "false"}, {**node, "nvdebug.io/agent": ""}):
        assert fits(there), there
    page = (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
    for label, value in (("nvdebug.io/agent", "paused"), ("nvidia.com/gpu.deploy.client", "paused-for-driver-upgrade"),
                         ("nvidia.com/gpu.deploy.client", "paused-for-mig-change"),
                         ("nvidia.com/gpu.deploy.device-plugin", "paused-for-driver-upgrade")):
        assert not fits({**operators, label: value}) and not fits({**node, label: value}), label
        assert f"`{label}`" in page and f"`{value}`" in page
    assert not fits({})


def references(folder):
    """Yields the files and folders that a kustomization names, and the ones that these name."""
    listed = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))
    for name in (*listed.get("resources", ()), *listed.get("bases", ()), *listed.get("components", ()),
                 *(name for each in listed.get("configMapGenerator", ()) for name in each["files"])):
        path = (folder / name).resolve()
        yield path
        if path.is_dir():
            yield from references(path)


OVERLAYS = sorted(path.parent.name for path in FOLDER.glob("*/kustomization.yaml")
                  if yaml.safe_load(path.read_text(encoding="utf-8"))["kind"] == "Kustomization")
COMPONENTS = sorted({path.parent.name for path in FOLDER.glob("*/kustomization.yaml")} - set(OVERLAYS))


def rendered_by_kubectl(folder):
    """Skips the test where it takes components, and kubectl is Debian 12's, which has none (1.20)."""
    done = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    if 'unknown field "components"' in done.stderr:
        assert yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))["components"]
        pytest.skip("kubectl before 1.21 takes no components, and Debian 12 has 1.20")
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


def rendered_with(folder, *components):
    """Returns the manifests of the example with these components, built in a copy in FOLDER."""
    shutil.copytree(FOLDER, folder / "cluster")
    listed = folder / "cluster/example/kustomization.yaml"
    with listed.open("a", encoding="utf-8") as file:
        file.write("components: [" + ", ".join(f"../{each}" for each in components) + "]\n")
    return rendered_by_kubectl(listed.parent)


@pytest.mark.ci
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_each_overlay_can_be_built(overlay):
    needs("kubectl", "kubernetes")
    manifests_of = rendered_by_kubectl(FOLDER / overlay)
    assert {"DaemonSet", "Namespace", "NetworkPolicy", "ConfigMap"} <= {each["kind"] for each in manifests_of}
    for manifest in manifests_of:
        if manifest["kind"] != "ConfigMap":
            jsonschema.validate(manifest, SCHEMA)


@pytest.mark.ci
@pytest.mark.parametrize("components", [*([each] for each in COMPONENTS), sorted(COMPONENTS, key=lambda each: each == "exporter-only")])
def test_each_component_can_be_added_to_the_example(tmp_path, components):
    """The last case has all of them, with exporter-only at the end."""
    needs("kubectl", "kubernetes")
    (spec,) = (each["spec"]["template"] for each in rendered_with(tmp_path, *components)
               if (each["kind"], each["metadata"]["name"]) == ("DaemonSet", "nvdebug-agent"))
    names = {each["name"] for each in spec["spec"]["containers"]}
    assert ("nvqos" in names) == ("exporter-only" not in components) and "exporter" in names
    for each in spec["spec"]["containers"]:
        assert each["image"].startswith("registry.example.com/nvdebug-agent")
    for key in spec["metadata"].get("annotations", {}):
        assert "apparmor" not in key or key.split("/")[1] in names, "the API server refuses an annotation for no container"


def test_the_page_names_each_component():
    page = (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
    for each in COMPONENTS:
        assert f"[../{each}]" in page, each


def test_the_rules_of_the_operator_are_those_of_the_exporter():
    """packaging/prometheus-rule >packaging/kubernetes/rules/rules.yaml makes them anew."""
    made = subprocess.run([ROOT / "packaging/prometheus-rule"], capture_output=True, text=True, check=True, timeout=PATIENCE_S).stdout
    assert (FOLDER / "rules/rules.yaml").read_text(encoding="utf-8") == made
    (rule,) = manifests(FOLDER / "rules/rules.yaml")
    assert rule["spec"] == yaml.safe_load((ROOT / "tools/exporter/rules.yml").read_text(encoding="utf-8"))
    (monitor,) = manifests(FOLDER / "podmonitor/podmonitor.yaml")
    assert rule["metadata"]["namespace"] == monitor["metadata"]["namespace"]


def test_names_of_pods_come_without_their_logs():
    """The links of this folder lead into a folder that no container has."""
    (volume,) = (each for each in agent()["spec"]["template"]["spec"]["volumes"] if each["name"] == "pod-names")
    assert volume["hostPath"]["path"] == "/var/log/containers"
    usual = re.search(r'usual_pod_folders = "(.*)"', (ROOT / "lib/base/pod_names.hpp").read_text(encoding="utf-8"))[1].split(":")
    for name in ("nvqos", "exporter"):
        (mount,) = (each for each in container(name)["volumeMounts"] if each["name"] == "pod-names")
        assert mount == {"name": "pod-names", "mountPath": usual[0], "readOnly": True}
        assert "--pod-names" not in container(name)["command"]


def test_the_exporter_serves_the_metrics_of_nvqos():
    words = container("nvqos")["command"]
    file = pathlib.PurePath(words[words.index("--metrics") + 1])
    words = container("exporter")["command"]
    assert words[words.index("--goals") + 1] == str(file)
    for name, read_only in (("nvqos", False), ("exporter", True)):
        (mount,) = (each for each in container(name)["volumeMounts"] if each["mountPath"] == str(file.parent))
        assert mount["name"] == "nvdebug" and mount.get("readOnly", False) == read_only


# --- the image ---

BUILDAH = """
echo "buildah $*" >>"$LOG"
while [ $# -gt 1 ]; do
    [ "$1" != --digestfile ] || echo sha256:$(printf %064d 7) >"$2"
    shift
done"""


def push(folder, image):
    """Runs packaging/push-image with a stand-in for buildah."""
    written_program(folder / "bin/buildah", BUILDAH)
    (folder / "image").mkdir(exist_ok=True)
    return subprocess.run([ROOT / "packaging/push-image", folder / "image", image, "1.2.3"], capture_output=True, text=True, check=False,
                          timeout=PATIENCE_S, env={"PATH": f"{folder}/bin:/usr/bin:/bin", "LOG": str(folder / "log")})


@pytest.mark.parametrize("image", ("registry.example.com/nvdebug-agent", "registry.example.com:5000/a/b/agent", "agent", "LOCALHOST:5000/a_b"))
def test_an_image_is_named_by_its_digest(tmp_path, image):
    done = push(tmp_path, image)
    assert done.returncode == 0, done.stderr
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert f"--build-arg VERSION=1.2.3 -t {image}:1.2.3" in log and log.splitlines()[-1].endswith(f" {image}:1.2.3")
    paste = re.search(r"^images:\n(?:[- ] .*\n)+", done.stdout, re.M)[0]
    wanted = {"name": "nvdebug-agent", "newName": image, "digest": "sha256:" + "7".zfill(64)}
    assert yaml.safe_load(paste)["images"] == [wanted]
    listed = yaml.safe_load((tmp_path / "image/cluster/example/kustomization.yaml").read_text(encoding="utf-8"))
    assert listed["images"] == [wanted], "and no tag"
    assert push(tmp_path, image).returncode == 0, "again"


@pytest.mark.parametrize("image", ("", "agent:1", "a/agent:1", "a@sha256:0", "a b", "a|b", "a/", "x&y"))
def test_a_name_that_is_no_image_is_refused(tmp_path, image):
    done = push(tmp_path, image)
    assert done.returncode == 1 and "is no name of an image without a tag" in done.stderr
    assert not (tmp_path / "log").exists()


def written_program(path, script):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def pasted(folder, dry_run=3, kubectl=""):
    """Runs the page's commands in a folder with stand-ins for the programs. Returns what they print.
    @param dry_run the exit status of nvqos --dry-run
    @param kubectl what the stand-in for kubectl does besides noting its words"""
    page = (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
    recipe = re.search(r"```\n(make image IMAGE=[^`]*?cp -r .*?)```", page, re.S)[1]
    shutil.copytree(FOLDER, folder / "packaging/kubernetes")
    for file in ("VERSION", "packaging/push-image", "packaging/Containerfile"):
        shutil.copy(ROOT / file, folder / file)
    written_program(folder / "bin/make", 'packaging/push-image build/image "${2#IMAGE=}" "$(cat VERSION)" >&2')
    written_program(folder / "bin/buildah", BUILDAH)
    written_program(folder / "bin/kubectl", f'echo "kubectl $*" >>"$LOG"; {kubectl}')
    written_program(folder / "build/image/rootfs/usr/bin/nvqos", f'echo "nvqos $*" >>"$LOG"; exit {dry_run}')
    return subprocess.run(["sh", "-eu", "-c", recipe], cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE_S,
                          env={"PATH": f"{folder}/bin:/usr/bin:/bin", "HOME": str(folder), "LOG": str(folder / "log")})


def test_the_recipe_works_as_pasted(tmp_path):
    """The manifests that the commands apply name existing files and the pushed image."""
    assert pasted(tmp_path).returncode == 0
    log = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    (pushed,) = (line.split()[-1] for line in log if line.startswith("buildah push"))
    (applied,) = (line.split()[-1] for line in log if line.startswith("kubectl apply -k"))
    found = list(references(tmp_path / applied))
    assert len(found) >= 5 and all(path.exists() for path in found), found
    (image,) = yaml.safe_load((tmp_path / applied / "kustomization.yaml").read_text(encoding="utf-8"))["images"]
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    assert pushed == f"{image['newName']}:{version}" and any(f"-t {pushed} " in line for line in log)
    assert image["digest"].startswith("sha256:") and "newTag" not in image
    (checked,) = (line.split()[-1] for line in log if line.startswith("nvqos --dry-run --file"))
    assert (tmp_path / checked).resolve() in found, "these are the goals that are applied"


def test_the_two_commands_are_in_the_recipe():
    """The page begins with an install in two commands, which are the recipe without its checks."""
    page = (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
    image, apply = (line.split("#")[0].strip() for line in re.search(r"```\n(.*?)```", page, re.S)[1].splitlines())
    recipe = re.search(r"```\n(make image IMAGE=[^`]*?cp -r .*?)```", page, re.S)[1]
    assert image in recipe and apply.replace("build/image/cluster", "my-cluster") in recipe


@pytest.mark.parametrize("status, goes_on", ((0, True), (3, True), (1, False), (2, False)))
def test_goals_that_make_no_sense_are_not_applied(tmp_path, status, goes_on):
    """Their status is 1, of goals that exclude each other it is 2; a machine without a GPU has 3."""
    assert (pasted(tmp_path, dry_run=status).returncode == 0) == goes_on
    assert ("kubectl apply" in (tmp_path / "log").read_text(encoding="utf-8")) == goes_on


@pytest.mark.ci
def test_kubectl_renders_the_device_plugin(tmp_path):
    """Besides the agent's containers, whose patches for older clusters fit, too."""
    needs("kubectl", "kubernetes")
    (rendered,) = (each for each in rendered_with(tmp_path, "device-plugin", "before-1.30") if each["kind"] == "DaemonSet")
    jsonschema.validate(rendered, SCHEMA)
    containers = rendered["spec"]["template"]["spec"]["containers"]
    assert sorted(each["name"] for each in containers) == ["device-plugin", "exporter", "nvqos"]
    assert len({each["image"] for each in containers}) == 1


@pytest.mark.ci
def test_kubectl_renders_what_the_recipe_applies(tmp_path):
    needs("kubectl", "kubernetes")
    done = pasted(tmp_path, kubectl=f'[ "$1" = apply ] || exec {shutil.which("kubectl")} "$@"')
    assert done.returncode == 0, done.stderr
    rendered = list(yaml.safe_load_all(done.stdout))
    for manifest in rendered:
        if manifest["kind"] != "ConfigMap":
            jsonschema.validate(manifest, SCHEMA)
    by_kind = {each["kind"]: each for each in rendered}
    assert sorted(each["kind"] for each in rendered) == ["ConfigMap", "DaemonSet", "Namespace", "NetworkPolicy"]
    spec = by_kind["DaemonSet"]["spec"]["template"]["spec"]
    (goals,) = (each for each in spec["volumes"] if each["name"] == "goals")
    assert goals["configMap"]["name"] == by_kind["ConfigMap"]["metadata"]["name"], "with the hash of its content"
    assert by_kind["ConfigMap"]["data"] == {"nvqos.toml": (FOLDER / "example/nvqos.toml").read_text(encoding="utf-8")}


def patch_of(component):
    """Returns the containers, annotations and volumes that a component changes in the DaemonSet."""
    listed = yaml.safe_load((FOLDER / component / "kustomization.yaml").read_text(encoding="utf-8"))
    assert listed["kind"] == "Component"
    (patch,) = (yaml.safe_load(each["patch"]) for each in listed["patches"])
    base = yaml.safe_load((FOLDER / "base/kustomization.yaml").read_text(encoding="utf-8"))
    assert (patch["kind"], patch["metadata"]) == ("DaemonSet", {"name": agent()["metadata"]["name"], "namespace": base["namespace"]})
    template = patch["spec"]["template"]
    names = [each["name"] for each in template["spec"]["containers"]]
    assert names == [each["name"] for each in agent()["spec"]["template"]["spec"]["containers"]]
    assert f"components: [../{component}]" in (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
    return template


def test_old_clusters_get_annotations_in_place_of_the_profiles():
    template = patch_of("before-1.30")
    for each in template["spec"]["containers"]:
        key = f"container.apparmor.security.beta.kubernetes.io/{each['name']}"
        assert template["metadata"]["annotations"].pop(key) == "unconfined"
        assert container(each["name"])["securityContext"]["appArmorProfile"] == {"type": "Unconfined"}
        assert each["securityContext"] == {"appArmorProfile": None}
    assert not template["metadata"]["annotations"]


def test_devices_by_mount_replace_the_variable():
    spec = patch_of("devices-by-mount")["spec"]
    (volume,) = spec["volumes"]
    assert volume["hostPath"] == {"path": "/dev/null", "type": "CharDevice"}
    for each in spec["containers"]:
        assert each["env"] == [{"name": "NVIDIA_VISIBLE_DEVICES", "$patch": "delete"}]
        assert "NVIDIA_VISIBLE_DEVICES" in {one["name"] for one in container(each["name"])["env"]}
        (mount,) = each["volumeMounts"]
        assert (mount["name"], mount["mountPath"]) == (volume["name"], "/var/run/nvidia-container-devices/all")


def test_the_device_plugin_reaches_what_it_needs_and_no_more():
    """Its default folders are mounted, with nvqos' socket at the path that nvqos listens at, and it has no capability."""
    listed = yaml.safe_load((FOLDER / "device-plugin/kustomization.yaml").read_text(encoding="utf-8"))
    (patch,) = (yaml.safe_load(each["patch"]) for each in listed["patches"])
    spec = patch["spec"]["template"]["spec"]
    (plugin,) = spec["containers"]
    base = agent()["spec"]["template"]["spec"]
    assert plugin["name"] not in {each["name"] for each in base["containers"]} and plugin["image"] == base["containers"][0]["image"]
    rights = plugin["securityContext"]
    assert rights["capabilities"] == {"drop": ["ALL"]} and rights["readOnlyRootFilesystem"] and not rights["allowPrivilegeEscalation"]
    assert "env" not in plugin, "it has no GPU"
    volumes = {each["name"]: each["hostPath"]["path"] for each in (*base["volumes"], *spec["volumes"]) if "hostPath" in each}
    mounts = {each["mountPath"]: volumes[each["name"]] for each in plugin["volumeMounts"]}
    # The runtime's folder of devices has two names on a node, and /var/run is a link to /run.
    assert {inside: outside.replace("/var/run/", "/run/") for inside, outside in mounts.items()} == {inside: inside for inside in mounts}
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tools/kubernetes").glob("*.cpp")))
    (folder,) = set(re.findall(r'"(/var/lib/kubelet/[^"]*)"', sources))
    cdi = re.search(r'device_folder = "(.*)"', (ROOT / "lib/base/container_device.hpp").read_text(encoding="utf-8"))[1]
    (program,) = (word.removeprefix("--nvqos=") for word in plugin["command"] if word.startswith("--nvqos="))
    assert set(mounts) == {folder, cdi, "/run/nvdebug", str(pathlib.PurePath(program).parent)}
    assert plugin["command"][0] == "nvdebug-device-plugin" and "--copy-nvqos=/usr/bin/nvqos" in plugin["command"]


def test_the_example_pod_asks_for_the_resource_of_the_plugin():
    (pod,) = manifests(FOLDER / "device-plugin/pod.yaml")
    header = (ROOT / "tools/kubernetes/device_plugin_folder.hpp").read_text(encoding="utf-8")
    resource = re.search(r'resource = "(.*)"', header)[1]
    assert pod["spec"]["containers"][0]["resources"] == {"limits": {resource: "30"}}
    page = (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
    assert f"`{resource}`" in page and "components: [../device-plugin]" in page


@pytest.mark.parametrize("component", ("device-plugin", "dra"))
def test_example_pods_are_admitted_in_restricted_namespaces(component):
    """Many users' namespaces have the level "restricted" of Pod Security, which demands these fields."""
    (pod,) = (each for each in manifests(FOLDER / component / "pod.yaml") if each["kind"] == "Pod")
    (one,) = pod["spec"]["containers"]
    of_pod = pod["spec"]["securityContext"]
    assert of_pod["runAsNonRoot"] and of_pod["runAsUser"] > 0 and of_pod["seccompProfile"] == {"type": "RuntimeDefault"}
    assert one["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert not {"hostPID", "hostNetwork", "hostIPC", "volumes"} & set(pod["spec"])


def test_the_agent_is_not_evicted_like_any_pod():
    assert agent()["spec"]["template"]["spec"]["priorityClassName"] == "system-node-critical"


def test_programs_of_the_node_can_ask():
    """The socket of nvqos is in the folder that the pod shares with the node."""
    words = container("nvqos")["command"]
    source = (ROOT / "lib/base/nvqos_client.hpp").read_text(encoding="utf-8")
    usual = pathlib.PurePath(re.search(r'usual_nvqos_socket = "(.*)"', source)[1])
    assert "--socket" in words and str(usual.parent) in {each["mountPath"] for each in container("nvqos")["volumeMounts"]}


def test_no_manifest_asks_by_an_annotation_that_many_runtimes_ignore():
    for path in FOLDER.glob("*/*.yaml"):
        assert "cdi-devices." not in path.read_text(encoding="utf-8"), path


def test_patches_of_the_page_fit_the_manifests():
    page = (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
    parts = [yaml.safe_load(text) for text in re.findall(r"```yaml\n((?:components|patches):.*?)```", page, re.S)]
    assert {patch["target"]["kind"] for part in parts for patch in part["patches"]} == {"DaemonSet", "PodMonitor", "PrometheusRule"}
    by_name = {(each["kind"], each["metadata"]["name"]): each for path in FILES for each in manifests(path)}
    assert len(parts) == 2
    for part in parts:
        for name in part.get("components", ()):
            assert (FOLDER / "example" / name / "kustomization.yaml").exists()
        for patch in part["patches"]:
            target = by_name[patch["target"]["kind"], patch["target"]["name"]]
            for change in yaml.safe_load(patch["patch"]):
                *parents, _ = change["path"].removeprefix("/").split("/")
                for key in parents:
                    target = target[key.replace("~1", "/")]
                assert change["op"] == "add" and isinstance(target, dict)


def test_state_for_an_undo_outlives_the_pod():
    """Claims are shared by all programs on the node, which see each other's in this folder."""
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
    assert "untested on a cluster with GPUs" in page


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/nvqos.toml")), ids=lambda path: path.parent.name)
def test_goals_are_nvqos(path):
    tenants = tomllib.loads(path.read_text(encoding="utf-8"))["tenant"]
    goal = re.compile(r"latency|best-effort(:\d+)?|(share|cap|speed):\d+%")
    for tenant in tenants:
        goals = tenant["goal"] if isinstance(tenant["goal"], list) else [tenant["goal"]]
        assert set(tenant) == {"name", "command", "goal"} and len(tenant["command"]) <= 15
        assert all(goal.fullmatch(each) for each in goals)


# --- the component dra ---

def dra_container():
    listed = yaml.safe_load((FOLDER / "dra/kustomization.yaml").read_text(encoding="utf-8"))
    assert listed["kind"] == "Component" and set(listed["resources"]) == {"class.yaml", "rights.yaml"}
    daemon, policy = (yaml.safe_load(each["patch"]) for each in listed["patches"])
    (driver,) = daemon["spec"]["template"]["spec"]["containers"]
    return driver, daemon["spec"]["template"]["spec"], policy


def test_the_driver_reaches_what_it_needs_and_no_more():
    driver, spec, policy = dra_container()
    rights = driver["securityContext"]
    assert rights["capabilities"] == {"drop": ["ALL"]} and rights["readOnlyRootFilesystem"] and not rights["allowPrivilegeEscalation"]
    assert [each["name"] for each in driver["env"]] == ["NODE_NAME"], "it has no GPU"
    base = agent()["spec"]["template"]["spec"]
    folders = {each["name"]: each["hostPath"]["path"] for each in (*base["volumes"], *spec["volumes"]) if "hostPath" in each}
    mounts = {each["mountPath"]: folders.get(each["name"]) for each in driver["volumeMounts"]}
    token = mounts.popitem()
    source = (ROOT / "tools/kubernetes/dra_api.cpp").read_text(encoding="utf-8")
    assert token == (re.search(r'account_folder = "(.*)"', source)[1], None)
    # The runtime's folder of devices has two names on a node, and /var/run is a link to /run.
    assert {inside: outside.replace("/var/run/", "/run/") for inside, outside in mounts.items()} == {inside: inside for inside in mounts}
    assert {"/run/nvdebug", "/run/cdi", "/opt/nvdebug", "/var/lib/kubelet/plugins_registry",
            "/var/lib/kubelet/plugins/gpu.nvdebug.io"} == set(mounts)
    assert base["hostPID"], "nvqos sees the driver by its number"
    assert policy["metadata"] == {"name": "nvdebug-agent", "namespace": "nvdebug"}
    assert [each["port"] for rule in policy["spec"]["egress"] for each in rule["ports"]] == [443, 6443]


def test_the_driver_alone_has_a_token_and_its_rights_are_those_of_its_requests():
    _, spec, _ = dra_container()
    assert agent()["spec"]["template"]["spec"]["automountServiceAccountToken"] is False
    account, role, binding, policy, policy_binding = manifests(FOLDER / "dra/rights.yaml")
    name = account["metadata"]["name"]
    assert spec["serviceAccountName"] == name == role["metadata"]["name"] == binding["roleRef"]["name"] == binding["subjects"][0]["name"]
    may = {(resource, verb) for rule in role["rules"] for resource in rule["resources"] for verb in rule["verbs"]}
    assert may == {("nodes", "get"), ("events", "create"), ("resourceclaims", "get"), ("resourceclaims/status", "patch"),
                   ("resourceclaims/driver", "associated-node:patch"),
                   *(("resourceslices", verb) for verb in ("get", "list", "create", "update", "delete"))}
    page = (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")
    assert all(f"`{resource}`" in page for resource, _ in may)
    assert f"system:serviceaccount:nvdebug:{name}" in policy["spec"]["matchConditions"][0]["expression"]
    assert policy_binding["spec"]["policyName"] == policy["metadata"]["name"]


def test_the_example_claims_what_the_driver_offers():
    (device_class,) = manifests(FOLDER / "dra/class.yaml")
    template, pod = manifests(FOLDER / "dra/pod.yaml")
    header = (ROOT / "tools/kubernetes/dra_claim.hpp").read_text(encoding="utf-8")
    driver, share = (re.search(rf'{name} = "(.*)"', header)[1] for name in ("driver_name", "share_capacity"))
    assert device_class["spec"]["selectors"] == [{"cel": {"expression": f'device.driver == "{driver}"'}}]
    devices = template["spec"]["spec"]["devices"]
    (request,) = devices["requests"]
    assert request["exactly"]["deviceClassName"] == device_class["metadata"]["name"]
    assert set(request["exactly"]["capacity"]["requests"]) == {share}
    assert [each["opaque"]["driver"] for each in devices["config"]] == [driver]
    assert pod["spec"]["resourceClaims"][0]["resourceClaimTemplateName"] == template["metadata"]["name"]
    assert "components: [../dra]" in (ROOT / "docs/kubernetes.md").read_text(encoding="utf-8")


@pytest.mark.ci
def test_kubectl_renders_the_driver(tmp_path):
    needs("kubectl", "kubernetes")
    rendered = {each["kind"]: each for each in rendered_with(tmp_path, "dra")}
    for kind in set(rendered) - {"ConfigMap", "NetworkPolicy"}:
        jsonschema.validate(rendered[kind], SCHEMA)
    spec = rendered["DaemonSet"]["spec"]["template"]["spec"]
    assert sorted(each["name"] for each in spec["containers"]) == ["dra", "exporter", "nvqos"]
    assert len({each["image"] for each in spec["containers"]}) == 1
    assert rendered["NetworkPolicy"]["spec"]["egress"] and rendered["NetworkPolicy"]["spec"]["ingress"]
