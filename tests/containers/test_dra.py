# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvdebug-device-plugin dra: claims of a share of a GPU. kubelet and the API server are stubs (tests/support/cluster.py), and
nvqos runs over the stand-in for the driver, whose tasks are real processes. Takes root, as nvqos does."""

import concurrent.futures
import json
import os
import signal
import stat

import jsonschema
import pytest
from building import ROOT, built
from cluster import DRIVER, NODE, SLICE, SLICES, config
from node import ADDRESSES, UUIDS
from qos_machine import FIRST_US
from waiting import PATIENCE_S, comes_true
from watching import watched

pytest_plugins = ["cluster"]
pytestmark = pytest.mark.ci

CDI = json.loads((ROOT / "tests/data/cdi-0.5.0.json").read_text(encoding="utf-8"))


# --- registration and the slice ---

def test_kubelet_registers_the_driver(bare):
    bare.machine.start("--quiet")
    info = bare.start()
    assert (info.type, info.name) == ("DRAPlugin", DRIVER)
    assert list(info.supported_versions) == ["v1.DRAPlugin", "v1beta1.DRAPlugin"]
    endpoint = bare.kubelet_folder / f"plugins/{DRIVER}/dra.sock"
    assert info.endpoint == str(endpoint) and stat.S_IMODE(endpoint.stat().st_mode) == 0o600
    assert bare.stop() == 0
    assert not endpoint.exists() and not list((bare.kubelet_folder / "plugins_registry").iterdir())


def test_sockets_that_are_removed_come_back(node):
    registry = node.kubelet_folder / f"plugins_registry/{DRIVER}-reg.sock"
    registry.unlink()
    assert comes_true(registry.exists)
    assert node.kubelet.register().name == DRIVER


def test_the_slice_has_each_gpu_and_its_share(two, tmp_path):
    devices = two.api.devices()
    assert sorted(devices) == ["gpu-0", "gpu-1"]
    for number, device in enumerate(devices.values()):
        assert device["allowMultipleAllocations"] is True and "taints" not in device
        assert device["capacity"] == {"share": {"value": "95", "requestPolicy": {
            "default": "95", "validRange": {"min": "1", "step": "1", "max": "95"}}}}
        attributes = device["attributes"]
        assert attributes["index"] == {"int": number} and attributes["uuid"] == {"string": UUIDS[number]}
        assert attributes["resource.kubernetes.io/pciBusID"] == attributes["pciBusID"] == {"string": ADDRESSES[number]}
    (slice_,) = two.api.slices.values()
    assert slice_["metadata"]["ownerReferences"] == [
        {"apiVersion": "v1", "kind": "Node", "name": NODE, "uid": "uid-of-the-node"}]
    assert slice_["spec"]["nodeName"] == slice_["spec"]["pool"]["name"] == NODE


def test_the_server_takes_the_smallest_share(bare):
    bare.machine.start("--quiet")
    bare.start("--units=1")
    assert comes_true(bare.api.devices), bare.errors()
    policy = bare.api.devices()["gpu-0"]["capacity"]["share"]["requestPolicy"]
    assert policy == {"default": "1", "validRange": {"min": "1", "max": "1"}}


def test_attributes_are_read_where_the_machine_has_them(bare):
    folder = bare.machine.folder
    bus, proc = folder / "sys/bus/pci/devices", folder / "proc/driver/nvidia/gpus" / ADDRESSES[0]
    for path in (bus, proc, folder / "sys/module/nvidia"):
        path.mkdir(parents=True)
    (bus / ADDRESSES[0]).symlink_to(f"../../../devices/pci0000:00/0000:00:01.0/{ADDRESSES[0]}")
    (proc / "information").write_text("Model: \t\t NVIDIA H100 PCIe\nIRQ: 4\n", encoding="utf-8")
    (folder / "sys/module/nvidia/version").write_text("535.104.05\n", encoding="utf-8")
    bare.machine.start("--quiet")
    bare.start(f"--sysfs={folder}/sys", f"--procfs={folder}/proc", "--units=80")
    assert comes_true(bare.api.devices)
    attributes = bare.api.devices()["gpu-0"]["attributes"]
    assert attributes["resource.kubernetes.io/pcieRoot"] == {"string": "pci0000:00"}
    assert attributes["productName"] == {
        "string": "NVIDIA H100 PCIe"} and attributes["driverVersion"] == {"version": "535.104.5"}
    assert bare.api.devices()["gpu-0"]["capacity"]["share"]["value"] == "80"


def test_slices_of_earlier_drivers_are_removed_and_others_stay(bare):
    def old(name, driver=DRIVER, node=NODE):
        bare.api.slices[name] = {"metadata": {"name": name, "uid": name, "resourceVersion": "1"}, "spec": {
            "driver": driver, "nodeName": node, "pool": {"name": node, "generation": 7, "resourceSliceCount": 1}, "devices": []}}

    old("stale")
    old("other-driver", driver="gpu.nvidia.com")
    old("other-node", node="node-2")
    bare.machine.start("--quiet")
    bare.start()
    assert comes_true(lambda: set(bare.api.slices) == {"other-driver", "other-node", SLICE})
    assert bare.api.slices[SLICE]["spec"]["pool"]["generation"] > 7, "the pool continues"


def test_a_slice_that_is_removed_or_changed_is_written_again(node):
    """kubelet removes the slices of its node when it starts."""
    first = node.api.slices[SLICE]["spec"]["pool"]["generation"]
    del node.api.slices[SLICE]
    node.kubelet.register()
    assert comes_true(lambda: SLICE in node.api.slices)
    second = node.api.slices[SLICE]["spec"]["pool"]["generation"]
    assert second > first
    with node.api.lock:
        node.api.slices[SLICE]["spec"]["devices"] = []
        node.api.slices[SLICE]["metadata"]["resourceVersion"] = "999999"
    assert comes_true(lambda: "gpu-0" in node.api.devices())
    assert node.api.slices[SLICE]["spec"]["pool"]["generation"] > second


def writes(node):
    return [one for one in node.api.log if one[0] in ("POST", "PUT") and "resourceslices" in one[1]]


def test_the_slice_belongs_to_a_node_that_was_registered_again(node):
    """The API server removes slices of the former Node, whose name is the same."""
    node.api.node_uid = "uid-of-the-next-node"
    assert comes_true(lambda: [owner["uid"] for one in node.api.slices.values() for owner in one["metadata"]["ownerReferences"]] == [
        "uid-of-the-next-node"]), node.errors()
    created = [one for one in node.api.log if one[:2] == ("POST", SLICES)]
    looks = node.looks()
    assert comes_true(lambda: node.looks() > looks + 1)
    assert created == [one for one in node.api.log if one[:2] == ("POST", SLICES)], "it stays"


@pytest.mark.parametrize("dropped, sentence", (
    (("taints",), "DRADeviceTaints"), (("allowMultipleAllocations", "capacity"), "DRAConsumableCapacity")))
def test_a_server_that_drops_fields_is_not_written_to_again_and_again(bare, dropped, sentence):
    bare.api.drops = set(dropped)
    bare.start()
    bare.machine.start("--quiet")
    assert comes_true(bare.api.devices)
    bare.machine.nvqos.kill()
    assert comes_true(lambda: bare.machine.nvqos.poll() is not None)
    before = bare.looks()
    assert comes_true(lambda: bare.looks() >= before + 2)
    count, before = len(writes(bare)), bare.looks()
    assert comes_true(lambda: bare.looks() >= before + 3)
    assert len(writes(bare)) == count and bare.errors().count(sentence) == 1


def test_the_slice_stays_at_the_end_unless_it_is_to_go(node):
    assert node.stop() == 0 and SLICE in node.api.slices
    node.start("--remove-slice")
    assert comes_true(lambda: node.looks() > 0)
    assert node.stop() == 0 and SLICE not in node.api.slices


# --- taints ---

def test_a_gpu_is_tainted_while_nvqos_is_away(node):
    node.machine.nvqos.kill()
    assert comes_true(lambda: node.api.taints() == ["nvqos-away"])
    (taint,) = node.api.devices()["gpu-0"]["taints"]
    assert (taint["key"], taint["effect"]) == (f"{DRIVER}/not-kept", "NoSchedule")
    node.machine.nvqos.wait(PATIENCE_S)
    node.machine.start("--quiet")
    assert comes_true(lambda: "gpu-0" in node.api.devices() and not node.api.taints())


def test_an_nvqos_that_has_too_many_watchers_is_named(bare):
    bare.machine.start("--quiet")
    watchers = [bare.machine.connect() for _ in range(16)]
    for watcher in watchers:
        watcher.sendall(b"watch\n")
        assert watcher.recv(100) == b"ok\n"
    uid = bare.api.claim()
    bare.start()
    bare.kubelet.prepare(uid)
    assert comes_true(lambda: "nvqos does not let itself be watched: " in bare.api.condition().get("message", "")), bare.api.condition()
    for watcher in watchers:
        watcher.close()
    assert comes_true(lambda: bare.api.devices() and not bare.api.taints())


def test_the_slice_of_an_earlier_driver_is_tainted_if_nvqos_is_away(node):
    node.stop()
    node.machine.nvqos.kill()
    node.machine.nvqos.wait(PATIENCE_S)
    assert not node.api.taints()
    node.api.effects.clear()
    node.start("--evict", "--not-kept-for=1s")
    assert comes_true(lambda: node.api.taints() == ["nvqos-away"])
    assert comes_true(lambda: node.api.effects == ["NoSchedule", "NoExecute"]), "a taint that lasts ends pods"
    assert node.api.devices()["gpu-0"]["attributes"]["uuid"] == {"string": UUIDS[0]}


def test_a_gpu_is_tainted_while_a_goal_is_not_kept(bare):
    """A share of 98 % beside latency is not kept: turns for latency end those of the share."""
    one, two = bare.machine.process(), bare.machine.process()
    bare.machine.start("--quiet", f"{one.pid}=latency", f"{two.pid}=share:98%")
    bare.start()
    assert comes_true(lambda: bare.api.taints() == ["not-kept"]), bare.errors()
    one.kill()
    assert comes_true(lambda: not bare.api.taints()), "it goes when the goal has been kept for a while"


# --- prepare and unprepare ---

def test_a_claim_is_held_from_prepare_to_unprepare(node):
    uid = node.api.claim()
    (device,) = node.kubelet.prepare(uid)
    assert (list(device.request_names), device.pool_name, device.device_name) == (["gpu"], NODE, "gpu-0")
    assert list(device.cdi_device_ids) == [f"nvdebug.io/qos=claim-{uid}"]
    (result,) = node.api.claims["default", "train"]["status"]["allocation"]["devices"]["results"]
    assert device.share_id == result["shareID"], "kubelet shows it to programs that monitor devices"
    assert node.held() == {f"claim:{uid}": ("share 30 %", [0])}
    document = json.loads((node.cdi / f"nvdebug.io-qos-claim-{uid}.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, CDI)
    hook = node.hook_of(uid)
    assert (hook["hookName"], hook["path"]) == ("createRuntime", str(built("bin/nvqos")))
    assert hook["args"] == ["nvqos", "--hold-container=share:30%",
                            f"--socket={node.machine.path}", f"--gpu={UUIDS[0]}", f"--tenant=claim:{uid}"]
    assert document["devices"][0]["containerEdits"]["env"] == [f"NVIDIA_VISIBLE_DEVICES={UUIDS[0]}"]
    assert node.kubelet.unprepare(uid) == ""
    assert node.held() == {} and node.files() == []
    assert node.kubelet.unprepare(uid) == "", "a claim that is not known is fine"


@pytest.mark.parametrize("how, ids", (("cdi", [f"nvidia.com/gpu={UUIDS[0]}"]), ("none", [])))
def test_the_container_gets_its_gpu_in_the_chosen_way(bare, how, ids):
    bare.machine.start("--quiet")
    bare.start(f"--visible-devices={how}")
    uid = bare.api.claim()
    (device,) = bare.kubelet.prepare(uid)
    assert list(device.cdi_device_ids) == [f"nvdebug.io/qos=claim-{uid}", *ids]
    assert "NVIDIA_VISIBLE_DEVICES" not in (bare.cdi / bare.files()[0]).read_text(encoding="utf-8")


def test_a_daemon_that_watches_the_folder_sees_the_file(node):
    node.cdi.mkdir(exist_ok=True)
    with watched(node.cdi) as folder:
        uid = node.api.claim()
        node.kubelet.prepare(uid)
        assert folder.comes(f"nvdebug.io-qos-claim-{uid}.json")


@pytest.mark.parametrize("version", ("v1", "v1beta1"))
def test_the_same_claim_gets_the_same_answer(node, version):
    uid = node.api.claim()
    first = node.kubelet.prepare(uid, version=version)
    file = node.cdi / node.files()[0]
    written = file.stat().st_mtime_ns, file.read_bytes()
    assert node.kubelet.prepare(uid, version=version) == first and (file.stat().st_mtime_ns, file.read_bytes()) == written
    assert len(node.held()) == 1
    assert node.kubelet.unprepare(uid, version=version) == "" and node.held() == {}


def test_claims_are_prepared_at_the_same_time(node):
    names = {node.api.claim(f"claim-{number}", [("gpu", "gpu-0", 5)]): f"claim-{number}" for number in range(8)}
    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda one: node.kubelet.prepare(one[0], one[1]), [*names.items()] * 2))
    assert len(answers) == 16 and len(node.held()) == len(node.files()) == 8
    answers = node.kubelet.call("NodeUnprepareResources", list(names), names=names)
    assert not any(one.error for one in answers.values()) and node.held() == {} and node.files() == []


def test_a_claim_that_fails_keeps_no_other_back(node):
    good, bad = node.api.claim("good"), "7f3a0000-0000-4000-8000-00000000dead"
    answers = node.kubelet.call("NodePrepareResources", [bad, good], names={good: "good", bad: "absent"})
    assert "cannot read the claim default/absent" in answers[bad].error and "404" in answers[bad].error
    assert not answers[good].error and len(answers[good].devices) == 1


def test_the_fourth_claim_of_30_is_refused(node):
    """The scheduler counts 95 in all, and nvqos is the second line."""
    uids = [node.api.claim(f"c{number}") for number in range(4)]
    for number in range(3):
        node.kubelet.prepare(uids[number], f"c{number}")
    sentence = node.kubelet.refusal(uids[3], "c3")
    assert "nvqos does not keep share:30% for the claim default/c3" in sentence and "add up to 120 %" in sentence
    assert len(node.held()) == len(node.files()) == 3
    assert node.kubelet.unprepare(uids[0], "c0") == ""
    assert len(node.kubelet.prepare(uids[3], "c3")) == 1, "kubelet tries again"


def test_a_claim_on_several_gpus_is_one_tenant_and_a_gang(two):
    uid = two.api.claim(results=[("gpus", "gpu-0", 30), ("gpus", "gpu-1", 30)])
    devices = two.kubelet.prepare(uid)
    assert [(one.device_name, list(one.cdi_device_ids)) for one in devices] == [
        (name, [f"nvdebug.io/qos=claim-{uid}"]) for name in ("gpu-0", "gpu-1")]
    assert two.held() == {f"claim:{uid}": ("share 30 %", [0, 1])}
    assert [word for word in two.hook_of(uid)["args"] if "gpu=" in word] == [f"--gpu={each}" for each in UUIDS]


def test_a_gang_on_several_nodes_has_its_name_on_each_of_them(two):
    results = [("gpus", "gpu-0", 30), ("gpus", "gpu-1", 30)]
    uid = two.api.claim(results=results, config=[config({"gang": False}, source="FromClass"), config({"gang": "train-7"})])
    (first, second) = two.kubelet.prepare(uid)
    assert first.cdi_device_ids == second.cdi_device_ids == [f"nvdebug.io/qos=claim-{uid}"]
    name = "claim:gang/default/train-7"
    assert two.held() == {name: ("share 30 %", [0, 1])}
    assert {"--hold-container=share:30%,gang=nodes", f"--tenant={name}"} < set(two.hook_of(uid)["args"])

    # nvqos has it with gang=nodes, and no other claim of this node joins it.
    pid = two.driver.pid
    words = f"join {name} share:30% gpu=0 gpu=1 pid={pid} holder={pid}"
    assert two.machine.ask(f"{words} gang=on") == f"error {name} is held with gang=nodes: release it first, or take another name"
    other = two.api.claim("other", results=results, config=[config({"gang": "train-7"})])
    sentence = two.kubelet.refusal(other, "other")
    assert "the claim default/other is of a gang that has the claim default/train on this node: the pods of a gang take one claim" in sentence
    assert two.held().keys() == {name} and two.kubelet.prepare(uid) == [first, second]

    # The next driver reads all of it.
    two.driver.kill()
    two.driver.wait(PATIENCE_S)
    two.start()
    assert two.kubelet.prepare(uid) == [first, second] and two.kubelet.refusal(other, "other") == sentence
    assert two.kubelet.unprepare(uid) == "" and two.held() == {}
    assert len(two.kubelet.prepare(other, "other")) == 2 and two.held().keys() == {name}


def test_a_gang_that_leaves_its_other_nodes_is_the_claims_own(node):
    uid = node.api.claim(config=[config({"gang": "train-7"}, source="FromClass"), config({"gang": True})])
    node.kubelet.prepare(uid)
    assert node.held().keys() == {f"claim:{uid}"} and "gang=" not in str(node.hook_of(uid)["args"])


def test_requests_with_different_shares_are_different_tenants(two):
    uid = two.api.claim(results=[("large", "gpu-0", 50), ("small/cheap", "gpu-1", 20), ("more", "gpu-0", 20)])
    devices = two.kubelet.prepare(uid)
    first, second = f"nvdebug.io/qos=claim-{uid}", f"nvdebug.io/qos=claim-{uid}-2"
    assert [(*one.request_names, *one.cdi_device_ids)
            for one in devices] == [("large", first), ("small", second), ("more", second)]
    assert two.held() == {f"claim:{uid}": ("share 50 %", [0]), f"claim:{uid}/2": ("share 20 %", [0, 1])}
    assert two.kubelet.prepare(uid) == devices
    document = json.loads((two.cdi / two.files()[0]).read_text(encoding="utf-8"))
    jsonschema.validate(document, CDI)
    assert [each["containerEdits"]["env"] for each in document["devices"]] == [
        [f"NVIDIA_VISIBLE_DEVICES={','.join(UUIDS)}"]] * 2
    assert two.kubelet.unprepare(uid) == "" and two.held() == {}


def test_two_parts_of_one_gpu_are_two_tenants(node):
    uid = node.api.claim(results=[("one", "gpu-0", 30), ("other", "gpu-0", 30)])
    assert len(node.kubelet.prepare(uid)) == 2
    assert node.held() == {f"claim:{uid}": ("share 30 %", [0]), f"claim:{uid}/2": ("share 30 %", [0])}


@pytest.mark.parametrize("configs, goal", (
    ([config({"cap": "50%"})], "share 30 %, cap 50 %"),
    ([config({"apiVersion": "gpu.nvdebug.io/v1", "kind": "GoalParameters", "cap": "50%"})], "share 30 %, cap 50 %"),
    ([config({"cap": "50%"}), config({"cap": "40%"}, source="FromClass")], "share 30 %, cap 50 %"),
    ([config({"cap": "40%"}, source="FromClass"), config({"gang": False})], "share 30 %, cap 40 %"),
    ([config({"latency": True})], "latency, cap 30 %"),
    ([config({"timeslice": "2ms", "cap": "20%"})], "timeslice 2000 us, cap 20 %"),
    ([config({"latency": True}, source="FromClass"), config({"timeslice": "2ms"})], "timeslice 2000 us, cap 30 %"),
    ([config({"cap": "50%"}, requests=["other"]), config({"cap": "60%"}, requests=["gpu"])], "share 30 %, cap 60 %"),
    ([config({"anything": 1}, driver="gpu.nvidia.com")], "share 30 %")))
def test_parameters_add_to_the_share(node, configs, goal):
    uid = node.api.claim(config=configs)
    node.kubelet.prepare(uid)
    assert node.held()[f"claim:{uid}"][0] == goal
    assert ("gang=off" in str(node.hook_of(uid)["args"])) == ("gang" in str(configs))


@pytest.mark.parametrize("parameters, sentence", (
    ({"cpa": "50%"}, "there is no parameter 'cpa' (did you mean 'cap'?); the parameters are cap, latency, timeslice and gang"),
    ({"cap": 50}, "'cap' takes a part as \"50%\", not 50"), ({"cap": "0.5"},
                                                             "'cap' takes a part"), ({"cap": "120%"}, "'cap' takes a part"),
    ({"latency": "5"}, "'latency' takes a time with its unit"), ({"latency": False}, "'latency' takes a time"),
    ({"timeslice": True}, "'timeslice' takes a time"), ({"timeslice": "2ms", "latency": True}, "exclude each other"),
    ({"gang": 7}, "'gang' takes true, false, or a name of 1 to 50 of a-z 0-9 -"), ({"gang": ""}, "not \"\""),
    ({"gang": "Train"}, "'gang' takes true"), ({"gang": "x" * 51}, "'gang' takes true"), ({"gang": "a b"}, "'gang' takes true"),
    ({"gang": "x", "latency": True}, "beside 'latency' there is no gang on several nodes"),
    ({"gang": "x", "timeslice": "2ms"}, "beside 'timeslice:2ms' there is no gang on several nodes"),
    ({"kind": "Goal"}, "'kind' has to be GoalParameters"),
    ({"apiVersion": "v1"}, "'apiVersion' has to be gpu.nvdebug.io/v1"), ("cap", "they have to be an object"),
    ({"latency": True, "cap": "40%"}, "a cap of 40% has to be within its share of 30 %"),
    ({"timeslice": "1ns"}, "timeslice takes a time from 30us to 1s")))
def test_parameters_that_make_no_sense_are_refused_with_a_sentence(node, parameters, sentence):
    uid = node.api.claim(config=[config(parameters)])
    assert sentence in node.kubelet.refusal(uid)
    assert node.held() == {} and node.files() == []


def test_another_claim_of_the_same_name_is_not_taken(node):
    uid = node.api.claim()
    assert "it was deleted and made anew" in node.kubelet.refusal("7f3a0000-0000-4000-8000-00000000beef")
    node.kubelet.prepare(uid)
    assert node.held().keys() == {f"claim:{uid}"}


@pytest.mark.parametrize("change, sentence", (
    (lambda one: one.pop("consumedCapacity"), "DRAConsumableCapacity"),
    (lambda one: one["consumedCapacity"].update(share="1500m"), "no whole percentage"),
    (lambda one: one.update(pool="node-2"), "it is in the pool node-2"),
    (lambda one: one.update(device="gpu-7"), "nvqos keeps goals on no such GPU"),
    (lambda one: one.update(adminAccess=True), "adminAccess"),
    (lambda one: one.update(driver="gpu.nvidia.com"), "has no device of gpu.nvdebug.io")))
def test_allocations_that_make_no_sense_are_refused_with_a_sentence(node, change, sentence):
    uid = node.api.claim()
    change(node.api.claims["default", "train"]["status"]["allocation"]["devices"]["results"][0])
    assert sentence in node.kubelet.refusal(uid)
    assert node.held() == {} and node.files() == []


@pytest.mark.parametrize("uid", ("", "../../etc/x", "a b", "x" * 49, "claim\nrelease"))
def test_a_malformed_uid_touches_nothing(node, uid):
    assert "a claim needs a namespace, a name and a uid" in node.kubelet.refusal(uid)
    assert node.kubelet.unprepare(uid) == ""


# --- an API server or an nvqos that is away or refuses ---

@pytest.mark.parametrize("status", (401, 403, 500))
def test_refusals_of_the_api_server_are_in_the_answer(node, status):
    uid = node.api.claim()
    node.api.refuse["resourceclaims"] = (status, "for a reason")
    sentence = node.kubelet.refusal(uid)
    assert f"cannot read the claim default/train: GET {node.api.url}/apis/resource.k8s.io" in sentence and f"{status}: for a reason" in sentence
    node.api.refuse.clear()
    first = node.kubelet.prepare(uid)
    node.api.refuse["resourceclaims"] = (status, "for a reason")
    assert node.kubelet.prepare(uid) == first, "what was prepared stays"


def test_an_api_server_that_is_away_or_slow_fails_within_its_time(node):
    uid, known = node.api.claim(), node.api.claim("known")
    first = node.kubelet.prepare(known, "known")
    node.api.refuse["GET .*resourceclaims"] = 1000
    assert "cannot read the claim default/train" in node.kubelet.refusal(uid)
    assert node.kubelet.prepare(known, "known") == first
    node.api.stop()
    assert "the API server is away" in node.kubelet.refusal(uid)
    assert node.kubelet.unprepare(known, "known") == "" and node.held() == {}
    node.api.refuse.clear()
    node.api.start()
    assert len(node.kubelet.prepare(uid)) == 1


def test_a_token_that_was_replaced_is_read_again(node):
    node.api.token = "the.next.token"
    uid = node.api.claim()
    assert "401: Unauthorized; the token is not, or no longer, valid" in node.kubelet.refusal(uid)
    node.api.token_file.write_text("the.next.token", encoding="utf-8")
    node.kubelet.prepare(uid)
    node.api.token_file.write_text("a\r\nHost: elsewhere", encoding="utf-8")
    assert "cannot use the token" in node.kubelet.refusal(node.api.claim("next"), "next")


def test_a_conflict_is_tried_again(node):
    node.api.refuse["PUT .*resourceslices"] = (409, "the object has been modified")
    node.machine.nvqos.kill()
    assert comes_true(lambda: ("PUT", f"/apis/resource.k8s.io/v1/resourceslices/{SLICE}", 409) in node.api.log)
    node.api.refuse.clear()
    assert comes_true(lambda: node.api.taints() == ["nvqos-away"])


def test_without_nvqos_nothing_is_prepared(node):
    known, uid = node.api.claim("known"), node.api.claim()
    first = node.kubelet.prepare(known, "known")
    node.machine.nvqos.kill()
    node.machine.nvqos.wait(PATIENCE_S)
    assert f"no nvqos answers at {node.machine.path}" in node.kubelet.refusal(uid)
    assert node.kubelet.prepare(known, "known") == first
    assert len(node.files()) == 1


# --- ends and restarts ---

def test_claims_outlive_a_driver_that_is_killed(node):
    uid = node.api.claim()
    first = node.kubelet.prepare(uid)
    container = node.join(uid)
    node.machine.use_gpu(container.pid)
    node.stop(signal.SIGKILL)
    assert comes_true(lambda: node.machine.list()[0]["holders"] == [container.pid]), "the container keeps its share"
    assert node.machine.timeslice(container.pid) != FIRST_US or comes_true(
        lambda: node.machine.timeslice(container.pid) != FIRST_US)
    node.start()
    assert comes_true(lambda: node.driver.pid in node.machine.list()[0]["holders"])
    assert node.kubelet.prepare(uid) == first
    container.kill()
    assert comes_true(lambda: node.machine.list()[0]["holders"] == [
                      node.driver.pid]), "the claim is held until it is unprepared"
    assert node.kubelet.unprepare(uid) == "" and node.held() == {}


def test_a_claim_without_containers_is_held_again(node):
    uid = node.api.claim()
    node.kubelet.prepare(uid)
    node.stop(signal.SIGKILL)
    assert comes_true(lambda: node.held() == {})
    node.start()
    assert comes_true(lambda: node.held() == {f"claim:{uid}": ("share 30 %", [0])})


def test_claims_outlive_an_nvqos_that_is_killed(node):
    uid = node.api.claim()
    node.kubelet.prepare(uid)
    container = node.join(uid)
    node.machine.use_gpu(container.pid)
    node.machine.kill_with_keepers()
    node.machine.start("--quiet")
    assert comes_true(lambda: node.held() == {f"claim:{uid}": ("share 30 %", [0])})
    assert {container.pid, node.driver.pid} == set(node.machine.list()[0]["holders"])


def test_an_nvqos_that_has_lost_its_file_is_asked_again(node):
    uid = node.api.claim()
    node.kubelet.prepare(uid)
    node.machine.nvqos.kill()
    node.machine.nvqos.wait(PATIENCE_S)
    (node.machine.folder / "run/nvqos.sock.tenants").unlink()
    node.machine.start("--quiet")
    assert comes_true(lambda: node.held() == {f"claim:{uid}": ("share 30 %", [0])})


def test_driver_and_nvqos_are_restarted_together(node):
    uid = node.api.claim()
    first = node.kubelet.prepare(uid)
    container = node.join(uid)
    node.machine.use_gpu(container.pid)
    node.stop(signal.SIGKILL)
    node.machine.kill_with_keepers()
    node.start()
    node.machine.start("--quiet")
    assert comes_true(lambda: set(node.machine.list()[0]["holders"]
                      if node.machine.list() else ()) == {container.pid, node.driver.pid})
    assert node.kubelet.prepare(uid) == first


def test_a_claim_that_is_unprepared_while_nvqos_is_away_is_released(node):
    uid = node.api.claim()
    node.kubelet.prepare(uid)
    node.machine.nvqos.kill()
    node.machine.nvqos.wait(PATIENCE_S)
    assert node.kubelet.unprepare(uid) == "" and node.files() == []
    node.machine.start("--quiet")
    assert comes_true(lambda: node.held() == {})


def test_claims_that_are_gone_are_removed_at_the_start(node):
    gone, other, stays = (node.api.claim(name, [("gpu", "gpu-0", 10)]) for name in ("gone", "other", "stays"))
    for uid, name in ((gone, "gone"), (other, "other"), (stays, "stays")):
        node.kubelet.prepare(uid, name)
    node.stop()
    node.api.stop()
    del node.api.claims["default", "gone"]
    node.api.claim("other")  # made anew
    node.start()
    assert len(node.files()) == 3, "without an API server nothing is known of them"
    node.api.start()
    assert comes_true(lambda: node.files() == [f"nvdebug.io-qos-claim-{stays}.json"])
    assert comes_true(lambda: node.held().keys() == {f"claim:{stays}"})


def test_a_damaged_file_is_written_again(node):
    uid = node.api.claim()
    first = node.kubelet.prepare(uid)
    file = node.cdi / node.files()[0]
    whole = file.read_bytes()
    node.stop()
    for damaged in (b"", whole[:100], whole.replace(b'NVDEBUG_CLAIM={', b'NVDEBUG_CLAIM=['), b'{"devices": []}'):
        file.write_bytes(damaged)
        node.start()
        assert node.kubelet.prepare(uid) == first and file.read_bytes() == whole
        node.stop()


# --- the command line ---

@pytest.mark.parametrize("words, status, sentence", (
    (("--node=",), 1, "--node takes a value"),
    (("--socket=x",), 1, "--socket takes a path from the root on"),
    (("--api-server=http://127.0.0.1:1",), 1, "--api-server takes an address with https://, because the token is sent there"),
    (("--units=100",), 1, "--units"),
    (("--report-every=1ms",), 1, "--report-every"),
    (("--kubelet=/nonexistent",), 1, "/nonexistent is no folder here: kubelet makes it"),
    (("--visible-devices=all",), 1, "--visible-devices")))
def test_impossible_options_are_refused(bare, words, status, sentence):
    found, text = bare.run(*words)
    assert found == status and sentence in text


def test_a_second_driver_is_refused(node):
    status, sentence = node.run()
    assert status == 2 and "another program answers at" in sentence


def test_the_nodes_name_may_be_a_variable(bare, monkeypatch):
    monkeypatch.setenv("NODE_NAME", NODE)
    words = [word for word in bare.words("--kubelet=/nonexistent") if not word.startswith("--node")]
    assert os.spawnv(os.P_WAIT, words[0], words) == 1
