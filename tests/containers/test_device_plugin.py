# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvdebug-device-plugin between a kubelet (tests/support/kubelet.py) and nvqos over the stand-in for the driver. It
takes root, as nvqos does."""

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import threading
import time

import jsonschema
import pytest
from building import ROOT, built
from node import ADDRESSES, ENDPOINT, UUIDS, allocated, refusal, unit, units
from users import as_user, copy_for_all
from waiting import PATIENCE_S, comes_true
from watching import watched

pytest_plugins = ["node"]
pytestmark = pytest.mark.ci

SCHEMA = json.loads((ROOT / "tests/data/cdi-0.5.0.json").read_text(encoding="utf-8"))


# --- registration, and the list of units ---

def test_the_plugin_registers_itself_with_its_options(node):
    request = node.kubelet.plugin.request
    assert (request.version, request.endpoint, request.resource_name) == ("v1beta1", ENDPOINT, "nvdebug.io/gpu-percent")
    options = node.kubelet.plugin.call("GetDevicePluginOptions")
    assert request.options == options and options.pre_start_required and options.get_preferred_allocation_available
    assert [each.ID for each in node.kubelet.units()] == units(0, 95)
    assert all(len(each.ID) <= 63 and not each.HasField("topology") for each in node.kubelet.units())
    assert stat.S_IMODE((node.folder / ENDPOINT).stat().st_mode) == 0o600
    assert node.stop() == 0 and not (node.folder / ENDPOINT).exists()
    assert node.kubelet.plugin.ended.wait(PATIENCE_S)


def test_units_have_the_numa_node_of_their_gpu(bare, monkeypatch):
    monkeypatch.setenv("NVQOS_STAND_IN_GPUS", "2")
    for address, numa_node in zip(ADDRESSES, (1, -1)):
        place = bare.machine.folder / "sys/bus/pci/devices" / address
        place.mkdir(parents=True)
        (place / "numa_node").write_text(f"{numa_node}\n", encoding="ascii")
    bare.kubelet.start()
    bare.machine.start("--quiet")
    bare.start(f"--sysfs={bare.machine.folder}/sys", "--units=2")
    assert bare.is_healthy(*units(0, 2), *units(1, 2))
    assert [[numa.ID for numa in each.topology.nodes] for each in bare.kubelet.units()] == [[1], [1], [], []]


@pytest.mark.parametrize("way, variables, devices", (
    ("envvar", {"NVIDIA_VISIBLE_DEVICES": UUIDS[0]}, []), ("cdi", {}, [f"nvidia.com/gpu={UUIDS[0]}"]), ("none", {}, [])))
def test_a_container_gets_its_gpu_and_a_device_with_the_hook(bare, way, variables, devices):
    bare.kubelet.start()
    bare.machine.start("--quiet")
    bare.cdi.mkdir()
    bare.start(f"--visible-devices={way}")
    assert bare.is_healthy(*units(0, 95))
    with watched(bare.cdi) as folder:
        answer = allocated(bare, *units(0, 30))
        name = f"share-30-{UUIDS[0]}"
        assert folder.renamed() == [f"nvdebug.io-gpu-percent-{name}.json"]
    devices = [*devices, f"nvdebug.io/gpu-percent={name}"]
    assert dict(answer.envs) == variables and [each.name for each in answer.cdi_devices] == devices
    assert dict(answer.annotations) == {"cdi.k8s.io/nvdebug.io_gpu-percent": ",".join(devices)}
    assert not answer.mounts and not answer.devices
    document = json.loads((bare.cdi / f"nvdebug.io-gpu-percent-{name}.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, SCHEMA)
    assert document["kind"] == "nvdebug.io/gpu-percent"
    assert document["devices"] == [{"name": name, "containerEdits": {"hooks": [{
        "hookName": "createRuntime", "path": str(built("bin/nvqos")),
        "args": ["nvqos", "--hold-container=share:30%", f"--socket={bare.machine.path}", f"--gpu={UUIDS[0]}",
                 "--tenant=gpu-percent:"]}]}}]


def test_nvqos_is_copied_to_the_node_for_the_hook(bare):
    source, place = bare.machine.folder / "image-nvqos", bare.machine.folder / "opt"
    place.mkdir()
    source.write_bytes(b"one")
    bare.kubelet.start()
    inodes = []
    for times, content in enumerate((b"one", b"one", b"two"), 1):
        source.write_bytes(content)
        bare.start(f"--copy-nvqos={source}", f"--nvqos={place}/nvqos")
        assert comes_true(lambda times=times: bare.errors().count("kubelet has registered") == times)
        assert (place / "nvqos").read_bytes() == content and stat.S_IMODE((place / "nvqos").stat().st_mode) == 0o755
        inodes.append((place / "nvqos").stat().st_ino)
        assert bare.stop() == 0
    assert inodes[0] == inodes[1], "an equal file stays, as a hook may run it now"


@pytest.mark.parametrize("source, mode, status, sentence", (
    ("/nonexistent", 0o755, 1, "/nonexistent cannot be read: No such file"), ("x", 0o755, 1, "a path from the root on"),
    ("/etc", 0o755, 1, "/etc is no file: it is a folder"),
    ("/bin/true", 0o777, 2, "others than you and root can change"),
    ("/bin/true", None, 1, "opt/nvqos: No such file or directory; --nvqos names another path")))
def test_a_copy_that_is_impossible_ends_with_a_sentence(bare, source, mode, status, sentence):
    place = bare.machine.folder / "opt"
    if mode:
        place.mkdir()
        place.chmod(mode)
    found, err = bare.run(f"--copy-nvqos={source}", f"--nvqos={place}/nvqos")
    assert found == status and sentence in err


def test_a_device_that_was_removed_is_there_again_before_each_start(node):
    """kubelet does not call Allocate again after the node has started anew and lost its files in /run."""
    container = node.kubelet.admit(30)
    (file,) = node.cdi.iterdir()
    before = file.read_bytes()
    file.unlink()
    node.cdi.rmdir()
    assert node.stop(signal.SIGKILL) == -signal.SIGKILL
    node.start()
    assert comes_true(lambda: len(node.kubelet.plugins) == 2)
    node.kubelet.start_container(container)
    assert file.read_bytes() == before


def test_old_devices_are_removed_at_the_start(bare):
    bare.cdi.mkdir()
    names = ["nvdebug.io-gpu-percent-share-30-GPU-1.json", "nvdebug.io-gpu-percent-share-40-GPU-1.json",
             "nvdebug.io-qos-share-30.json", "other.json"]
    for name in names:
        (bare.cdi / name).write_text("{}", encoding="ascii")
        if "40" not in name:
            os.utime(bare.cdi / name, (time.time() - 90000,) * 2)
    bare.kubelet.start()
    bare.start()
    assert comes_true(lambda: {path.name for path in bare.cdi.iterdir()} == set(names[1:]))


# --- the choice of units ---

@pytest.mark.parametrize("ids, sentence", (
    (units(0, 20) + units(1, 10), f"the units of a container are of one GPU, and not 20 % of {UUIDS[0]}, 10 % of {UUIDS[1]}"),
    (units(0, 96), "a container asks for 96 % of a GPU, and has at most 95 %"),
    ([], "a container without units"),
    ([unit(0, 1), "GPU-1"], "'GPU-1' is no unit of nvdebug.io/gpu-percent"), (["GPU--01"], "is no unit"),
    (["01"], "is no unit"),
    ([f"{UUIDS[0]}-x1"], "is no unit"), ([f"{UUIDS[0]}-001"], "is no unit"), (["GPU-a\n-01"], "nvqos does not list"),
    (["GPU-1234-01"], "1 % of GPU-1234 cannot be kept now: nvqos does not list this GPU")), ids=range(10))
def test_impossible_units_are_refused(two, ids, sentence):
    code, details = refusal(allocated, two, *ids)
    assert code == "FAILED_PRECONDITION" and sentence in details
    assert not two.cdi.exists() or not list(two.cdi.iterdir())


def preferred(node, available, count, must=()):
    answer = node.kubelet.plugin.call("GetPreferredAllocation", container_requests=[
        {"available_deviceIDs": available, "must_include_deviceIDs": must, "allocation_size": count}])
    return sorted(answer.container_responses[0].deviceIDs)


@pytest.mark.parametrize("available, count, must, chosen", (
    (units(0, 95) + units(1, 40, 95), 30, (), units(1, 40, 70)),
    (units(0, 95) + units(1, 40, 95), 55, (), units(1, 40, 95)),
    (units(0, 95) + units(1, 40, 95), 56, (), units(0, 56)),
    (units(0, 95) + units(1, 95), 5, (), units(0, 5)),
    (units(0, 95) + units(1, 40, 95), 30, units(0, 90, 92), units(0, 28) + units(0, 90, 92)),
    (units(0, 20) + units(1, 95), 20, units(0, 20), units(0, 20)),
    (["GPU-1", "", *units(0, 7, 9)], 2, (), units(0, 7, 9))))
def test_the_fullest_gpu_that_holds_a_container_is_preferred(two, available, count, must, chosen):
    assert preferred(two, available, count, must) == chosen


@pytest.mark.parametrize("available, count, must, sentence", (
    (units(0, 40) + units(1, 55, 95), 60, (), f"no GPU has them left (40 % of {UUIDS[0]}, 40 % of {UUIDS[1]})"),
    (units(0, 95), 96, (), "has at most 95 %"), ([], 1, (), "no GPU has them left (no GPU)"),
    (units(0, 95), 0, (), "make no sense"), (units(0, 95), -1, (),
                                             "make no sense"), (units(0, 95), 1, units(0, 2), "make no sense"),
    (units(0, 95), 9, [unit(0, 1), unit(1, 1)], "has units of several GPUs"), (units(0, 95), 9, ["x"], "'x' is no unit")))
def test_a_container_that_no_gpu_holds_is_refused(two, available, count, must, sentence):
    code, details = refusal(preferred, two, available, count, must)
    assert code == "FAILED_PRECONDITION" and sentence in details


# --- health ---

def test_units_are_unhealthy_while_there_is_no_nvqos(node):
    node.machine.nvqos.kill()
    node.machine.nvqos.wait(PATIENCE_S)
    assert node.is_healthy() and [each.ID for each in node.kubelet.units()] == units(0, 95)
    code, details = refusal(allocated, node, *units(0, 30))
    assert code == "FAILED_PRECONDITION" and f"30 % of {UUIDS[0]} cannot be kept now: no nvqos answers at " in details
    node.machine.start("--quiet")
    assert node.is_healthy(*units(0, 95))
    assert node.errors().count("none of its 95 units is healthy: no nvqos answers") == 1


def test_units_are_unhealthy_while_nvqos_hangs(node):
    node.machine.nvqos.send_signal(signal.SIGSTOP)
    assert node.is_healthy()
    node.machine.nvqos.send_signal(signal.SIGCONT)
    assert node.is_healthy(*units(0, 95))


@pytest.mark.parametrize("answer, sentence", (
    (b"hello\n", "is no nvqos"), (b"ok {}\n", "is no list"), (b"ok \xff\n", "is no list"), (b"ok [7]\n", "is not understood"),
    (b'ok [{"name": 7}]\n', "is not understood"), (b'ok [{"name": "a"}]\n',
                                                   "is not understood"), (b"error no such request\n", "no such request"),
    (b"", "no nvqos answers")))
def test_units_are_unhealthy_while_another_program_has_the_socket(bare, answer, sentence):
    bare.kubelet.start()
    bare.machine.path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(bare.machine.path))
        other.listen()
        other.settimeout(PATIENCE_S)
        bare.start()
        while sentence not in bare.errors():
            client, _ = other.accept()
            with client, contextlib.suppress(OSError):
                client.sendall(answer)
        assert bare.kubelet.units() == [] and bare.plugin.poll() is None


def test_promises_to_others_leave_fewer_healthy_units(node):
    """The lowest units stay, because kubelet has given these to containers."""
    process = node.machine.process(gpu=False)
    assert node.machine.ask(f"hold job:1 share:50% pid={process.pid} gpu=0") == "ok"
    assert node.is_healthy(*units(0, 49)) and "49 of its 95 units are healthy" in node.errors()
    assert node.machine.ask("release job:1").startswith("ok")
    assert node.is_healthy(*units(0, 95))
    assert node.machine.ask(f"hold job:2 share:99.6% pid={process.pid}") == "ok"
    assert node.is_healthy() and "nvqos has no promises left for it" in node.errors()
    process.kill()
    assert node.is_healthy(*units(0, 95))


def test_promises_to_containers_with_units_leave_all_units_healthy(node):
    lists = len(node.kubelet.plugin.lists)
    process = node.machine.process(gpu=False)
    assert node.machine.ask(f"join gpu-percent:a share:60% pid={process.pid} holder={process.pid} gpu=0") == "ok"
    assert node.machine.ask(f"join gpu-percent:b share:30% pid={process.pid} holder={process.pid} gpu=0").startswith("ok")
    other = node.machine.process(gpu=False)
    assert node.machine.ask(f"hold x share:7% pid={other.pid} gpu=0").startswith("ok")
    # The third list is the first one with fewer units: the two others have changed nothing.
    assert comes_true(lambda: len(node.kubelet.plugin.lists) > lists)
    assert [each.ID for each in node.kubelet.plugin.lists[lists] if each.health == "Healthy"] == units(0, 91)


def answers(possible, *shares):
    """Returns the answers to list and gpus of an nvqos that has promised these shares to containers with units."""
    tenants = [{"name": f"gpu-percent:{number}", "goal": f"share {share} %", "gpus": [0], "holders": [], "got": []}
               for number, share in enumerate(shares)]
    gpu = {"gpu": 0, "uuid": UUIDS[0], "address": None, "device": None, "up": True, "why": None,
           "promised_percent": sum(shares), "possible_percent": possible}
    return {"list": tenants, "gpus": [gpu]}


def serve_states(listening, states):
    """Answers like an nvqos that is in the next state after each reading of list, gpus and list, and stays in the last one.
    Ends when the socket does not listen any more."""
    left, is_read = list(states), False
    while True:
        try:
            client, _ = listening.accept()
        except OSError:
            return
        with client, contextlib.suppress(OSError):
            request = client.makefile().readline().strip()
            client.sendall(f"ok {json.dumps(left[0][request])}\n".encode())
        if request == "list" and is_read and len(left) > 1:
            left.pop(0)
        is_read = request == "gpus"


def test_one_answer_that_lags_behind_makes_no_unit_unhealthy(bare):
    """nvqos answers with the promises of its last epoch, so that its answer is too small just after a container's end."""
    states = (answers(69.3, 30), answers(69.3), answers(99.6), answers(40.2))
    bare.kubelet.start()
    bare.machine.path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(bare.machine.path))
        listening.listen()
        served = threading.Thread(target=serve_states, args=(listening, states), daemon=True)
        served.start()
        bare.start()
        assert bare.is_healthy(*units(0, 40))
        listening.shutdown(socket.SHUT_RDWR)
        served.join(PATIENCE_S)
    counts = {sum(each.health == "Healthy" for each in one) for one in bare.kubelet.plugin.lists}
    assert counts - {0} == {95, 40}


def test_a_lost_gpu_has_no_healthy_unit(two):
    (two.machine.folder / "lost.1").touch()
    # nvqos notices that a GPU is lost when it asks the driver for a change there.
    assert two.machine.ask(f"hold a share:1% pid={two.machine.process(gpu=False).pid}").startswith("ok")
    assert comes_true(lambda: all(name.startswith(UUIDS[0]) for name in two.kubelet.healthy())) and two.kubelet.healthy()
    assert len(two.kubelet.units()) == 2 * 95 and f"{UUIDS[1]}: none of its 95 units is healthy: " in two.errors()
    (two.machine.folder / "lost.1").unlink()
    assert comes_true(lambda: any(name.startswith(UUIDS[1]) for name in two.kubelet.healthy()))


# --- ends and starts ---

def test_a_plugin_that_was_killed_comes_back_with_the_same_units(node):
    before = node.kubelet.healthy()
    first = node.kubelet.plugin
    assert node.stop(signal.SIGKILL) == -signal.SIGKILL and (node.folder / ENDPOINT).exists()
    assert first.ended.wait(PATIENCE_S)
    node.start()
    assert comes_true(lambda: node.kubelet.plugin is not first)
    assert node.is_healthy(*before)


@pytest.mark.parametrize("sees_the_end", (True, False))
@pytest.mark.parametrize("times", (1, 3))
def test_the_plugin_registers_again_after_each_start_of_kubelet(node, times, sees_the_end):
    """kubelet may end and start again between two looks of the plugin, as it does here while the plugin is stopped."""
    for number in range(times):
        if not sees_the_end:
            node.plugin.send_signal(signal.SIGSTOP)
        node.kubelet.stop()
        node.kubelet.start()
        node.plugin.send_signal(signal.SIGCONT)
        assert node.is_healthy(*units(0, 95))
        # kubelet asks for the list before the plugin has the answer to its registration.
        assert comes_true(lambda wanted=number + 2: node.errors().count("kubelet has registered nvdebug.io/gpu-percent") == wanted)


def test_a_socket_that_was_removed_is_made_again(node):
    first = node.kubelet.plugin
    (node.folder / ENDPOINT).unlink()
    assert comes_true(lambda: node.kubelet.plugin is not first) and node.is_healthy(*units(0, 95))


def test_the_plugin_registers_again_when_kubelet_reads_no_list(node):
    """kubelet forgets a plugin whose stream has ended, although kubelet itself goes on."""
    first = node.kubelet.plugin
    first.end()
    assert comes_true(lambda: node.kubelet.plugin is not first) and node.is_healthy(*units(0, 95))
    assert "kubelet does not read the list of units" in node.errors()


def test_a_container_of_a_plugin_that_had_more_units_starts_again(node):
    container = node.kubelet.admit(60)
    assert node.stop() == 0
    node.start("--units=50")
    assert comes_true(lambda: len(node.kubelet.plugins) == 2)
    node.kubelet.start_container(container)
    assert "has at most 50 %" in refusal(allocated, node, *container.ids)[1]


def test_a_folder_that_was_made_anew_is_watched(node):
    node.kubelet.stop()
    for path in node.folder.iterdir():
        path.unlink()
    node.folder.rmdir()
    assert comes_true(lambda: "cannot listen at" in node.errors()) and node.plugin.poll() is None
    node.folder.mkdir()
    node.kubelet.start()
    assert node.is_healthy(*units(0, 95))


def test_the_plugin_waits_for_kubelet(bare):
    bare.machine.start("--quiet")
    bare.start()
    assert comes_true(lambda: "kubelet.sock yet: the plugin waits for kubelet" in bare.errors())
    bare.kubelet.start()
    assert bare.is_healthy(*units(0, 95))


def test_a_socket_of_a_kubelet_that_was_killed_is_tried_again(bare):
    """The socket's file stays, but no program answers there."""
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(bare.folder / "kubelet.sock"))
    bare.machine.start("--quiet")
    bare.start()
    assert comes_true(lambda: "does not register the plugin" in bare.errors())
    bare.kubelet.start()
    assert bare.is_healthy(*units(0, 95)) and bare.errors().count("does not register the plugin") == 1


def test_signals_end_the_plugin_while_nvqos_hangs(node):
    node.machine.nvqos.send_signal(signal.SIGSTOP)
    assert node.stop(signal.SIGINT) == 0
    node.machine.nvqos.send_signal(signal.SIGCONT)


# --- faults that a person has to mend ---

def test_the_program_takes_a_mode():
    program = built("bin/nvdebug-device-plugin")

    def said(*words):
        done = subprocess.run([program, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=PATIENCE_S)
        return done.returncode, done.stdout + done.stderr
    assert said() == (1, "nvdebug-device-plugin: a command is missing; 'nvdebug-device-plugin --help' lists them\n")
    status, text = said("device-plugin", "--help")
    assert status == 0 and "--visible-devices HOW" in text and "--sysfs" not in text
    status, text = said("__complete", "device-plugin", "--visible-devices", "")
    assert (status, [line.split()[0] for line in text.splitlines()]) == (0, ["envvar", "cdi", "none"])


def test_a_second_plugin_is_refused(node):
    status, sentence = node.run()
    assert status == 2 and f"another program answers at {node.folder}/{ENDPOINT}" in sentence
    assert node.is_healthy(*units(0, 95))


@pytest.mark.parametrize("words, status, sentence", (
    (("--kubelet=/nonexistent",), 1, "/nonexistent: No such file or directory"),
    (("--kubelet=/etc/passwd",), 1, "/etc/passwd: Not a directory"),
    (("--kubelet=x",), 1, "a path from the root on"),
    ((f"--kubelet=/tmp/{'x' * 100}",), 1, "No such file or directory"), ((f"--socket=/{'x' * 108}",), 1, "1 to 107 bytes"),
    (("--socket=",), 1, "--socket takes a value"), (("--units=0",), 1, "--units"), (("--units=100",), 1, "--units"),
    (("--visible-devices=all",), 1, "--visible-devices"), (("--nvqos=nvqos",), 1, "a path from the root on"),
    (("word",), 1, "word")))
def test_wrong_words_end_with_a_sentence(bare, words, status, sentence):
    done = subprocess.run(bare.words(*words), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout) == (status, "") and sentence in done.stderr and len(done.stderr.splitlines()) <= 2


def test_the_path_of_the_own_socket_may_be_too_long(bare):
    folder = bare.machine.folder / ("x" * 90)
    folder.mkdir()
    status, sentence = bare.run(f"--kubelet={folder}")
    assert status == 1 and "the path of a socket has 1 to 107 bytes" in sentence


def test_a_folder_without_rights_is_refused(bare):
    for folder in (bare.folder, bare.machine.folder):
        folder.chmod(0o755)
    theirs = copy_for_all(bare.machine.folder / "theirs", built("bin/nvdebug-device-plugin"))
    done = subprocess.run([*as_user(theirs), "./nvdebug-device-plugin", *bare.words()[1:]], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 2 and f"{bare.folder}: Permission denied" in done.stderr


def test_a_file_in_place_of_the_socket_is_left_alone(bare):
    (bare.folder / ENDPOINT).write_text("mine", encoding="ascii")
    status, sentence = bare.run()
    assert status == 2 and "is there and is no socket" in sentence
    assert (bare.folder / ENDPOINT).read_text(encoding="ascii") == "mine"


@pytest.mark.parametrize("other", (False, True))
def test_processes_of_other_users_get_no_answer(node, other):
    for path in (node.machine.folder, node.folder, node.folder / ENDPOINT):
        path.chmod(0o777)
    program = ("import socket, sys; s = socket.socket(socket.AF_UNIX); s.settimeout(60); s.connect(sys.argv[1])\n"
               "try:\n s.sendall(b'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n' + bytes(3) + b'\\x04' + bytes(5))\n"
               " print(len(s.recv(9)))\n"
               "except OSError:\n print(0)")
    user = as_user(node.machine.folder) if other else ()
    done = subprocess.run([*user, "/usr/bin/python3", "-c", program, node.folder / ENDPOINT], capture_output=True, text=True,
                          check=True, timeout=PATIENCE_S)
    assert (int(done.stdout) > 0) != other


def test_connections_without_a_call_take_nothing_from_kubelet(node):
    with contextlib.ExitStack() as open_ones:
        for _ in range(100):
            client = open_ones.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(str(node.folder / ENDPOINT))
        assert allocated(node, *units(0, 30)).cdi_devices
