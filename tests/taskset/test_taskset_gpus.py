# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvtaskset on machines with several GPUs, and with GPUs of other kinds."""

import os
import pathlib
import re

import pytest
from desk import ALL, FAILED, GPC_TPCS, NOT_KEPT, PARTIAL, PROGRAM, UNSUPPORTED, USAGE, desk_of, document, sms_in, sms_of


# --- GPUs ---

@pytest.mark.parametrize("gpu", ("volta", "turing", "ampere", "blackwell"))
def test_generations(tmp_path, gpu):
    with desk_of(tmp_path, gpu) as desk:
        program = desk.start("-t 1-3")
        first = program.launch()
        assert len(first) == 6 and program.ask("attribute 16") == "6"
        desk.change(program.pid, "-t 0,4-7")
        second = program.launch()
        assert len(second) == 10 and not set(first) & set(second)


@pytest.mark.parametrize("gpus, gpu", (("unknown", 0), ("h100,unknown", 1)))
def test_a_generation_that_is_not_known(tmp_path, gpus, gpu):
    with desk_of(tmp_path, gpus) as desk:
        desk.refused(f"--no-mps -i {gpu} -t 0", "of a kind that is not known",
                     PROGRAM, "launch", exit_status=UNSUPPORTED)


def test_several_gpus(tmp_path):
    with desk_of(tmp_path, "h100,h200") as desk:
        one = ("launch", "attribute 16"), ("device 1", "launch", "attribute 16")
        assert sms_in(desk.run("-t 0-3", *one[0]).answers[0]) == sms_of(*range(4))
        assert len(sms_in(desk.run("-t 0-3", *one[1]).answers[1])) == 8, "all that the program sees"
        for name in ("1", desk.uuids[1], "02:00.0"):
            ok, sms, attribute = desk.run(f"-i {name} -t 4-7", *one[1]).answers
            assert ok == "ok" and len(sms_in(sms)) == 8 and attribute == "8"
            assert sms_in(sms) != sms_of(*range(4, 8)), "it has them elsewhere"
        for name in ("all", "0,1"):
            assert [len(sms_in(desk.run(f"-i {name} -s 10", *which).answers[-2])) for which in one] == [10, 10]
        # CUDA may number the GPUs in another order.
        seen = {"CUDA_VISIBLE_DEVICES": "1,0"}
        assert sms_in(desk.run("-i 0 -t 0-3", *one[1], **seen).answers[1]) == sms_of(*range(4))
        desk.refused("--no-mps -i 2 -t 0", "there is no GPU '2'", PROGRAM, "launch", exit_status=USAGE)
        desk.refused("--no-mps -i GPU- -t 0", "more than one GPU", PROGRAM, "launch", exit_status=USAGE)


def test_the_list_of_one_gpu_asks_no_other(tmp_path):
    with desk_of(tmp_path, "h100,h200") as desk:
        (one,) = document(desk.done("--list", "-j", "-i", desk.uuids[1]))["gpus"]
        assert one["gpu"] == 1 and len(one["tpcs"]) == 66
        assert desk.kept(desk.uuids[1]).exists() and not desk.kept(desk.uuids[0]).exists()
        desk.refused("--list -i 2", "there is no GPU '2'", exit_status=USAGE)


WRONG_GPU = "launches on a GPU for which no partition was asked are not kept to one"


@pytest.mark.parametrize("options, actions, env", (
    ("-i 0 -t 0-3", ("device 1",), {}), ("-i 1 -t 0-3", (), {}), ("-i 1 -t 0-3", (), {"CUDA_VISIBLE_DEVICES": "0"}),
    ("-i 0 -t 0-3", (), {"CUDA_VISIBLE_DEVICES": "1"}), ("-i 0 -t 0-3", (), {"CUDA_VISIBLE_DEVICES": "1,0"})))
@pytest.mark.parametrize("launch", ("launch", "cooperative 1", "cluster 2", "graph-launch 0"))
def test_another_gpu_than_asked_for(tmp_path, options, actions, env, launch):
    """A process ends before its first launch on a GPU without a partition, unless best effort is asked for."""
    with desk_of(tmp_path, "h100,h200") as desk:
        desk.done("--list")
        actions = (*actions, "graph", launch)
        result = desk.run(options, *actions, **env)
        assert result.status == NOT_KEPT and not desk.launches()
        assert WRONG_GPU in result.err and "--best-effort" in result.err
        result = desk.run(f"--best-effort {options}", *actions, launch, **env)
        assert result.status == 0 and len(desk.launches()) == 2 and result.err.count(WRONG_GPU) == 1


def test_another_gpu_is_shown(tmp_path):
    with desk_of(tmp_path, "h100,h200") as desk:
        program = desk.start("--best-effort -i 1 -t 0-3", "launch")
        assert len(sms_in(program.hear())) == 132
        assert len(program.launch()) == 132
        assert "GPU 0: no partition on this GPU, 2 launches NOT kept" in desk.told(program.pid)
        assert f"  -  {program.pid} (program): no partition on this GPU, 2 launches NOT kept" in desk.done("--list")
        other, one = document(desk.done("--list", "-j"))["gpus"]
        assert [task["partition"] for task in other["tasks"]] == [None]
        assert other["tasks"][0]["launches_not_kept"] == 2 and one["tasks"][0]["launches_not_kept"] == 0


@pytest.mark.parametrize("options, change, outside", (
    ("--prepare", None, False), ("--prepare", "-i 1 -t 0", True), ("-i 0 -t 0", "-i 0 --whole", False)))
def test_a_gpu_for_which_nothing_was_asked(tmp_path, options, change, outside):
    """A prepared task goes on with a message. A task that was given the whole GPU gets no message."""
    with desk_of(tmp_path, "h100,h200") as desk:
        program = desk.start(options)
        if change:
            desk.tool(*change.split(), "-p", program.pid)
        assert program.launch() == list(ALL)
        assert (WRONG_GPU in program.err.read_text()) == outside
        assert ("NOT kept" in desk.told(program.pid)) == outside
        assert program.end() == 0


@pytest.mark.parametrize("device, nameless", (("1", None), ("0", "0")))
def test_a_task_with_the_whole_gpu_again_may_use_each_gpu(tmp_path, device, nameless):
    """The task had a partition on the first GPU. After --whole it may use the other GPU, and a GPU without a name."""
    with desk_of(tmp_path, "h100,h200") as desk:
        desk.done("--list")
        program = desk.start("-i 0 -t 0-3", f"device {device}", **({"STAND_IN_NAMELESS": nameless} if nameless else {}))
        assert program.hear() == "ok"
        desk.change(program.pid, "--whole")
        assert "it may use all of each GPU" in desk.told(program.pid)
        assert program.launch() == list(ALL) and program.end() == 0
        assert not program.err.read_text()


def test_a_gpu_that_cannot_be_identified(tmp_path):
    with desk_of(tmp_path) as desk:
        desk.done("--list")
        result = desk.run("-t 0-3", "launch", STAND_IN_NAMELESS="0")
        assert result.status == NOT_KEPT and "cannot be identified" in result.err and not desk.launches()
        program = desk.start("--best-effort -t 0-3", STAND_IN_NAMELESS="0")
        assert program.launch() == list(ALL)
        assert "1 NOT (on a GPU that could not be identified)" in desk.told(program.pid)


def test_several_gpus_of_a_running_one(tmp_path):
    with desk_of(tmp_path, "h100,h200") as desk:
        program = desk.start("-i all -s 10")
        assert len(program.launch()) == 10
        desk.change(program.pid, "-i 1 -t 0")
        assert program.ask("device 1") == "ok" and program.ask("context") == "ok"
        assert len(program.launch()) == 2 and program.ask("attribute 16") == "2"
        assert program.ask("use 0") == "ok" and len(program.launch()) == 10
        desk.change(program.pid, "-i 0 --whole")
        assert len(program.launch()) == 132
        assert program.ask("use 1") == "ok" and len(program.launch()) == 2


def test_a_graph_of_another_gpu_than_the_current_one(tmp_path):
    with desk_of(tmp_path, "h100,h200") as desk:
        program = desk.start("-i all -s 10")
        assert program.ask("graph") == "ok"
        desk.change(program.pid, "-i 1 -t 0")
        assert program.ask("device 1") == "ok" and program.ask("context") == "ok"
        # The program reads the memory of its current context, where the graph's kernel has recorded no SM.
        program.ask("graph-launch 0")
        assert " gpu=0 " in desk.launches()[-1] and " count=10 " in desk.launches()[-1]
        assert len(program.launch()) == 2


def test_contexts_of_a_process(desk):
    program = desk.start("-t 0-3")
    assert program.launch() == sms_of(*range(4)) and program.ask("context") == "ok"
    assert program.launch() == sms_of(*range(4))
    desk.change(program.pid, "-t 9")
    assert program.launch() == sms_of(9) and program.ask("use 0") == "ok"
    assert program.launch() == sms_of(9)


# --- GPUs that ignore parts of their descriptors ---

@pytest.mark.parametrize("lies", ("deaf:63", "deaf:0", "deaf:83", "weak:64", "weak:40"))
def test_masks_that_do_nothing(desk, lies):
    desk.refused("--no-mps -t 0", "so none is used", PROGRAM, "launch", exit_status=UNSUPPORTED, STAND_IN_LIES=lies)


def test_bits_are_measured_and_not_supposed(desk):
    """Masks use the bits that the probe finds. After a change of the GPU, --probe finds the new bits."""
    swapped = {"STAND_IN_LIES": "swap:63:0,swap:70:83"}
    for gpc in (0, 7):
        assert sms_in(desk.run(f"-g {gpc}", "launch", **swapped).answers[0]) == sms_of(*GPC_TPCS[gpc])
    desk.done("--list", "--probe")
    for gpc in (0, 7):
        assert sms_in(desk.run(f"-g {gpc}", "launch").answers[0]) == sms_of(*GPC_TPCS[gpc])


def test_a_probe_is_kept_for_this_driver(desk):
    """A probe takes a launch for each bit, so the launches in the log count the probes."""
    desk.done("--list")
    probes = len(desk.launches("nvtaskset"))
    assert probes > 128
    desk.run("-t 0", "launch")
    assert len(desk.launches("nvtaskset")) == probes
    desk.done("--list", "--probe")
    assert len(desk.launches("nvtaskset")) == 2 * probes
    version = desk.folder / "driver/version"
    version.write_text(version.read_text().replace("580.159.04", "580.160.01"))
    assert sms_in(desk.run("-t 0", "launch").answers[0]) == sms_of(0)
    assert len(desk.launches("nvtaskset")) == 3 * probes


@pytest.mark.parametrize("damage", (lambda text: text[:len(text) // 2], lambda text: text.replace("tpc 64 ", "tpc 65 "),
                                    lambda text: text.replace("14,15", "14,999999"), lambda text: ""))
def test_a_damaged_probe_is_made_anew(desk, damage):
    desk.done("--list")
    kept = desk.kept()
    text = kept.read_text()
    kept.write_text(damage(text))
    assert sms_in(desk.run("-t 0", "launch").answers[0]) == sms_of(0)
    assert kept.read_text() == text


# --- choosing GPUs ---

@pytest.mark.parametrize("gpus, devices, order, kept", (
    ("h100,h100", None, None, {0, 1}), ("h100,h100", "1", None, {1}), ("h100,h100", "0", "PCI_BUS_ID", {0}),
    ("h100,h100", "1,0", None, {0, 1}), ("h100,h100,h100", "2,0", None, {0, 2}), ("h100,h100", "1,x,0", None, {1}),
    ("h100,h100", "1,-1,0", None, {1}), ("h100,h100", "1,7,0", None, {1}), ("h100,h100", "UUID1", None, {1}),
    ("h100,h100,h100", "UUID2,UUID0,junk,UUID1", None, {0, 2}), ("h100", "0", None, {0}), ("h100", "UUID0", None, {0}),
    ("h200,h100", "1", "FASTEST_FIRST", {1})))
def test_the_gpus_that_the_command_will_see(tmp_path, gpus, devices, order, kept):
    """The task has a partition on each GPU that the command will see, and on no other."""
    with desk_of(tmp_path, gpus) as desk:
        env = {} if order is None else {"CUDA_DEVICE_ORDER": order}
        if devices is not None:
            for n, uuid in enumerate(desk.uuids):
                devices = devices.replace(f"UUID{n}", uuid)
            env["CUDA_VISIBLE_DEVICES"] = devices
        for extra in ({}, {"CUDA_INJECTION64_PATH": "", "NVTASKSET_PAGE": "", "NVTASKSET_PARTITIONS": ""}):
            result = desk.tool("--no-mps", "-t", "0-3", "sh", "-c", "echo $NVTASKSET_PARTITIONS", **env, **extra)
            assert result.status == 0 and not result.err
            assert {text.partition(":")[0] for text in result.out.strip().split(";")} == {desk.uuids[n] for n in kept}
        for number in range(len(kept)):
            count = len(sms_in(desk.run("-t 0-3", f"device {number}", "launch", **env).answers[1]))
            assert count == 8
        program = desk.start("--prepare", **env)
        assert program.launch()
        desk.change(program.pid, "-t 5", **{**env, "CUDA_VISIBLE_DEVICES": ""})
        assert len(program.launch()) == 2, "of what the program sees, not the tool"


@pytest.mark.parametrize("devices", ("", "-1", "NoDevFiles", "MIG-57a2d120-0000-0000-0000-000000000000", "9", "GPU-ffffffff"))
def test_a_command_that_will_see_no_gpu(tmp_path, devices):
    with desk_of(tmp_path, "h100,h100") as desk:
        for options in ((), ("-q",)):
            result = desk.tool("--no-mps", *options, "-t", "0", PROGRAM, "launch", CUDA_VISIBLE_DEVICES=devices)
            assert result.answers == ["error 100 CUDA_ERROR_NO_DEVICE"]
            assert f"CUDA_VISIBLE_DEVICES is '{devices}'" in result.err


def test_gpus_that_the_command_will_not_see(tmp_path):
    with desk_of(tmp_path, "h100,h100") as desk:
        for gpu, devices, said in (("0", "1", True), ("1", "1", False), ("0,1", "1", False), ("1", desk.uuids[0], True)):
            result = desk.tool("--no-mps", "-i", gpu, "-t", "0", "true", CUDA_VISIBLE_DEVICES=devices)
            assert ("CUDA shows the command no GPU of -i" in result.err) == said and result.status == 0


def test_names_of_device_files_and_of_devices_of_containers(tmp_path):
    """On some machines /dev/nvidia0 is not the first GPU by PCI address."""
    with desk_of(tmp_path, "h100,h100,h100") as desk:
        for place, minor in zip(sorted((tmp_path / "driver/gpus").iterdir()), (2, 0, 1)):
            information = place / "information"
            text = information.read_text(encoding="utf-8")
            information.write_text(re.sub(r"(Device Minor: \t) \d+", rf"\1 {minor}", text), encoding="utf-8")

        def kept(name):
            result = desk.tool("--no-mps", "-i", name, "-t", "0-3", "sh", "-c", "echo $NVTASKSET_PARTITIONS")
            assert result.status == 0, result.err
            return [desk.uuids.index(text.partition(":")[0]) for text in result.out.strip().split(";")]
        for name, numbers in (("/dev/nvidia0", [1]), ("/dev/nvidia2", [0]), ("/dev/nvidia0,/dev/nvidia1", [1, 2]),
                              ("nvidia.com/gpu=1", [1]), (f"nvidia.com/gpu={desk.uuids[2]}", [2]), ("nvidia.com/gpu=all", [0, 1, 2]),
                              (f"k8s.device-plugin.nvidia.com/gpu={desk.uuids[1]}", [1]), (f"{desk.uuids[2]}::0", [2])):
            assert sorted(kept(name)) == numbers, name
        desk.refused("--no-mps -i /dev/nvidia3 -t 0", "there is no GPU '/dev/nvidia3': here are 0 to 2", PROGRAM, "launch",
                     exit_status=USAGE)
        desk.refused("--no-mps -i /dev/nvidiactl -t 0", "cannot be a GPU's name: write its number (0)", PROGRAM, "launch",
                     exit_status=USAGE)
        desk.refused("--no-mps -i nvidia.com/gpu=0:1 -t 0", "is a part of a GPU (MIG)", PROGRAM, "launch", exit_status=UNSUPPORTED)


@pytest.mark.parametrize("error, name, cause", (
    (802, "CUDA_ERROR_SYSTEM_NOT_READY (802)", "systemctl status nvidia-fabricmanager"),
    (803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)", "of different versions, as after an update of the driver"),
    (999, "CUDA_ERROR_UNKNOWN (999)", "nvidia-modprobe -u -c 0"),
    (34, "CUDA_ERROR_STUB_LIBRARY (34)", "LD_LIBRARY_PATH"),
    (4242, "error (4242)", ""),
))
def test_an_error_of_cuda_has_its_name_and_cause(tmp_path, error, name, cause):
    with desk_of(tmp_path, "h100,h100") as desk:
        env = {"CUDA_VISIBLE_DEVICES": "0", "STAND_IN_CUINIT": str(error)}
        shown = desk.tool("--no-mps", "-t", "0", "true", **env)
        assert shown.status == FAILED and f"CUDA cannot be used: cuInit: {name}" in shown.err and cause in shown.err
        assert "with -i" not in shown.err, "that would fail in the same way"
        named = desk.tool("--no-mps", "-i", "0", "-t", "0", "true", **env)
        assert named.status == FAILED and f"cuInit: {name}" in named.err and cause in named.err


@pytest.mark.parametrize("form", (str.upper, lambda text: "0000" + text, lambda text: ("0000" + text).upper(),
                                  lambda text: text[5:].upper(), lambda text: text[5:], lambda text: text[:-2]))
def test_addresses_as_others_print_them(tmp_path, form):
    with desk_of(tmp_path, ",".join(["h100"] * 11)) as desk:
        assert len(sms_in(desk.run(f"-i {form('0000:0b:00.0')} -t 0", "device 10", "launch").answers[1])) == 2
        for name in (desk.uuids[10].upper().replace("GPU", "gpu"), "GPU10", "gpu10", "10"):
            assert len(sms_in(desk.run(f"-i {name} -t 0", "device 10", "launch").answers[1])) == 2


# --- a GPU that is asleep, or does not work ---

def information(desk, number):
    return desk.folder / f"driver/gpus/0000:{number + 1:02x}:00.0/information"


def without_uuid(file):
    text = file.read_text()
    file.write_text(re.sub("GPU-.*", "GPU-????????-????-????-????-????????????", text))


@pytest.mark.parametrize("spoil", (without_uuid, pathlib.Path.unlink, lambda file: file.write_text(""),
                                   lambda file: file.write_text("GPU UUID:\n"), lambda file: (file.unlink(), file.mkdir())))
@pytest.mark.parametrize("bad", (0, 1))
def test_one_gpu_without_a_uuid(tmp_path, spoil, bad):
    with desk_of(tmp_path, "h100,h100") as desk:
        good = 1 - bad
        spoil(information(desk, bad))
        program = desk.start(f"-i {good} -t 0-3", CUDA_VISIBLE_DEVICES=str(good))
        assert len(program.launch()) == 8
        for words in (("--list",), ("--list", "-j"), ("-p", program.pid), ("-p", program.pid, "-j")):
            result = desk.tool(*words)
            assert result.status == 0 and f"no UUID of GPU {bad}" in result.err
            assert desk.uuids[good] in result.out or "TPCs 0-3" in result.out
        result = desk.tool("--no-mps", "-t", "0", "true")
        assert result.status == 0 and f"no UUID of GPU {bad}" in result.err
        desk.change(program.pid, "-t 9")
        assert len(program.launch()) == 2
        desk.refused(f"--no-mps -i {bad} -t 0", f"no UUID of GPU {bad}", "true", exit_status=FAILED)


def test_looking_wakes_none(tmp_path):
    """Reading the information of a sleeping GPU would wake it. Here such a read would never end."""
    with desk_of(tmp_path, "h100,h100") as desk:
        file = information(desk, 1)
        file.unlink()
        os.mkfifo(file)
        for name in ("0", desk.uuids[0], desk.uuids[0].upper(), "0000:01:00.0"):
            assert len(sms_in(desk.run(f"-i {name} -t 0-3", "launch").answers[0])) == 8
        device = desk.folder / "sys/bus/pci/devices/0000:02:00.0/power"
        device.mkdir(parents=True)
        (device / "runtime_status").write_text("suspended\n")
        desk.env["NVTASKSET_SYS_FOLDER"] = str(desk.folder / "sys")
        program = desk.start(f"-i {desk.uuids[0]} -t 0-3")
        for words in (("--list",), ("-l", "-j"), ("-p", program.pid), ("-p", program.pid, "-j")):
            result = desk.tool(*words)
            assert result.status == 0 and "GPU 1 (0000:02:00.0) is asleep, and left so" in result.err
        desk.change(program.pid, "-t 0")
        desk.change(program.pid, "--whole")


def test_a_gpu_that_cannot_be_asked(tmp_path):
    with desk_of(tmp_path, "h100,unknown") as desk:
        for words in (("--list",), ("--list", "-j")):
            result = desk.tool(*words)
            assert result.status == PARTIAL and desk.uuids[0] in result.out and "GPU 1: launches on this GPU" in result.err
