# SPDX-License-Identifier: MIT OR GPL-2.0
"""The status of claims' devices and the events that nvdebug-device-plugin dra writes. kubelet and the API server are stubs
(tests/support/cluster.py), and nvqos runs over the stand-in for the driver. Takes root, as nvqos does."""

import socket

import pytest
from cluster import SLICE
from waiting import PATIENCE_S, comes_true

pytest_plugins = ["cluster"]
pytestmark = pytest.mark.ci


def test_a_claim_shows_what_it_got(node):
    uid = node.api.claim()
    node.kubelet.prepare(uid)
    assert comes_true(lambda: node.api.condition().get("message") == "asked share 30 %, no work seen on the GPU yet")
    container = node.join(uid)
    node.machine.use_gpu(container.pid)
    node.machine.process()
    assert comes_true(lambda: node.api.condition().get("status") == "True"), node.api.condition()
    condition = node.api.condition()
    assert condition["type"] == condition["reason"] == "Kept" and condition["message"].startswith("asked share 30 %, got ")
    (device,) = node.api.claims["default", "train"]["status"]["devices"]
    assert device["data"]["asked"] == "share:30%" and device["data"]["tenant"] == f"claim:{uid}"
    assert comes_true(lambda: node.api.claims["default", "train"]["status"]["devices"][0]["data"].get("gotPercent", 0) > 25)
    assert comes_true(lambda: [one["reason"] for one in node.api.events] == ["ShareKept"])
    (event,) = node.api.events
    assert (event["involvedObject"]["kind"], event["involvedObject"]["name"], event["type"]) == ("Pod", "pod-1", "Normal")
    node.machine.nvqos.kill()
    assert comes_true(lambda: node.api.condition().get("reason") ==
                      "NvqosAway" and node.api.condition()["status"] == "Unknown")


def test_a_claim_whose_goal_is_not_kept_shows_it(bare):
    """A share of 98 % beside latency is not kept: turns for latency end those of the share."""
    bare.machine.start("--quiet", f"{bare.machine.process().pid}=latency")
    bare.start("--units=98")
    uid = bare.api.claim(results=[("gpu", "gpu-0", 98)], pods=())
    bare.kubelet.prepare(uid)
    bare.machine.use_gpu(bare.join(uid, goal="share:98%").pid)
    assert comes_true(lambda: bare.api.condition().get("reason") == "NotKept"), bare.api.condition()
    assert bare.api.condition()["status"] == "False"
    assert comes_true(lambda: "ShareNotKept" in [one["reason"] for one in bare.api.events])
    event = bare.api.events[-1]
    assert event["involvedObject"]["kind"] == "ResourceClaim" and event["message"].startswith(
        "claim train: asked share 98 %, got ")


def test_a_status_that_stays_the_same_is_not_written_again(node):
    node.kubelet.prepare(node.api.claim())
    assert comes_true(lambda: node.api.condition().get("reason") == "NotJudged")
    before = node.looks()
    assert comes_true(lambda: node.looks() >= before + 3)
    assert len([one for one in node.api.log if one[0] == "PATCH"]) == 1


def test_a_claim_that_nvqos_refuses_after_a_restart_shows_it(node):
    uid = node.api.claim()
    node.kubelet.prepare(uid)
    node.machine.nvqos.kill()
    node.machine.nvqos.wait(PATIENCE_S)
    (node.machine.folder / "run/nvqos.sock.tenants").unlink()
    node.machine.start("--quiet", f"{node.machine.process().pid}=share:90%")
    assert comes_true(lambda: node.api.condition().get("reason") == "Refused"), node.errors()
    assert node.api.condition()["status"] == "False" and "add up to 120 %" in node.api.condition()["message"]
    assert comes_true(lambda: [one["reason"] for one in node.api.events] == ["ShareRefused"])
    assert node.api.events[0]["type"] == "Warning"


def test_without_rights_the_claims_are_kept_all_the_same(bare):
    bare.api.refuse["resourceclaims/.*/status|events|nodes"] = (403, "forbidden")
    bare.machine.start("--quiet")
    bare.start()
    uid = bare.api.claim()
    assert len(bare.kubelet.prepare(uid)) == 1
    assert comes_true(lambda: "because the service account may not" in bare.errors())
    before = bare.looks()
    assert comes_true(lambda: bare.looks() >= before + 2)
    assert len([one for one in bare.api.log if one[0] == "PATCH"]) == 1
    assert "ownerReferences" not in bare.api.slices[SLICE]["metadata"]


def test_signals_end_the_driver_while_nvqos_hangs(bare):
    """It takes no more connections."""
    bare.machine.path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as hangs, socket.socket(socket.AF_UNIX) as waits:
        hangs.bind(str(bare.machine.path))
        hangs.listen(0)
        waits.connect(str(bare.machine.path))
        bare.start()
        assert bare.stop() == 0
