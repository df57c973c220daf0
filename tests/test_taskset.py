# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvtaskset on programs of a stand-in for CUDA, with launches that print which SMs they got: no GPU, no VM."""

import contextlib
import ctypes
import fcntl
import itertools
import json
import os
import pathlib
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import jsonschema
import pytest
import shells
from desk import (ALL, FAILED, FIRST_SMS, GPC_TPCS, LIBRARY, NOT_KEPT, PARTIAL, PATIENCE_S, PROGRAM, ROOT, STAND_INS,
                  TOOL, TOO_LARGE, UNSUPPORTED, USAGE, Running, build, desk_of, numbers, sms_in, sms_of)
from throwaway_root import needs_root


@pytest.fixture
def desk(tmp_path):
    with desk_of(tmp_path) as made:
        yield made


# --- sizes ---

@pytest.mark.parametrize("options, tpcs", (
    ("-t 0", [0]), ("-t 0-3", range(4)), ("-t 65,5,0", [0, 5, 65]), ("-t 0-65", range(66)),
    ("-g 0", GPC_TPCS[0]), ("-g 7", GPC_TPCS[7]), ("-g 2,1", [*GPC_TPCS[1], *GPC_TPCS[2]])))
def test_tpcs_by_name(desk, options, tpcs):
    result = desk.run(options, "launch", "attribute 16", "attribute 39", "launch")
    assert result.status == 0 and not result.err
    first, attribute, other, second = result.answers
    assert sms_in(first) == sms_in(second) == sms_of(*tpcs)
    assert int(attribute) == 2 * len(tpcs) and int(other) == 2048


@pytest.mark.parametrize("size, count", (("2", 2), ("1", 2), ("3", 4), ("16", 16), ("132", 132), ("25%", 34), ("100%", 132)))
def test_so_many_sms(desk, size, count):
    """Never fewer than asked for."""
    assert len(sms_in(desk.run(f"-s {size}", "launch").answers[0])) == count


@pytest.mark.parametrize("size, gpcs", ((16, 1), (18, 1), (36, 2), (34, 2)))
def test_whole_gpcs_first(desk, size, gpcs):
    sms = sms_in(desk.run(f"-s {size}", "launch").answers[0])
    used = {FIRST_SMS.index(sm) for sm in sms if not sm % 2}
    rows = re.findall(r"GPC \d+ +TPCs (\S+)", desk.done("--list"))
    touched = [row for row in rows if used & set(numbers(row))]
    assert len(touched) == gpcs and used == {tpc for row in touched for tpc in numbers(row)}


@pytest.mark.parametrize("options, sentence, exit_status", (
    ("-t 66", "there is no TPC 66: this GPU has 0 to 65", FAILED),
    ("-t 3-1", "'3-1' is no list of TPCs", USAGE),
    ("-t x", "'x' is no list of TPCs", USAGE),
    ("-t ,", "',' is no list of TPCs", USAGE),
    ("-t 99999999999999999999", "is no list of TPCs", USAGE),
    ("-g 8", "there is no GPC 8", FAILED),
    ("-s 0", "--sms 0: this GPU has 132 SMs", FAILED),
    ("-s 134", "this GPU has 132 SMs", FAILED),
    ("-s 101%", "this GPU has 132 SMs", FAILED),
    ("-s -4", "not '-4'", USAGE),
    ("-s x", "--sms takes a number of SMs", USAGE),
    ("-i 1 -t 0", "there is no GPU '1'", FAILED),
    ("-i MIG-57a2 -t 0", "part of a GPU (MIG)", UNSUPPORTED),
    *((f"-i {words} -t 0", "is no list of GPUs", USAGE) for words in (",", "0,", ",0", "0,,0")),
    *((f"{option} {words}", "is no list of", USAGE) for option in ("-t", "-g") for words in (",", "0,", ",0", "0,,1", "0-", "-0-", "0--1")),
    ("-t 0 -g 0", "one of -t, -g, -s, --whole and --prepare", USAGE),
    ("-t 0 --prepare", "one of -t, -g, -s, --whole and --prepare", USAGE),
    ("-t 0 --spread", "--spread is for so many SMs", USAGE),
    ("--prepare --spread", "--spread is for so many SMs", USAGE),
    ("--whole", "--whole changes a running task", USAGE),
    ("", "no TPCs are chosen", USAGE)))
def test_wishes_that_cannot_be(desk, options, sentence, exit_status):
    desk.refused(f"--no-mps {options}", sentence, PROGRAM, "launch", exit_status=exit_status)


def test_an_empty_list(desk):
    desk.refused("--no-mps", "no TPCs are chosen", "-t", "", PROGRAM, "launch", exit_status=USAGE)
    desk.refused("--no-mps -t 0", "is no list of GPUs", "-i", "", PROGRAM, "launch", exit_status=USAGE)


def test_the_commands_own_status(desk):
    assert desk.tool("--no-mps", "-t", "0", "sh", "-c", "exit 7").status == 7
    result = desk.tool("--no-mps", "-t", "0", "/nonexistent")
    assert result.status == 127 and "No such file" in result.err
    result = desk.tool("--no-mps", "-t", "0", "/etc/passwd")
    assert result.status == 126 and "Permission denied" in result.err
    desk.refused("--no-mps -t 0", "no COMMAND to run is given", exit_status=USAGE)


# --- while it runs ---

def test_a_running_one_follows(desk):
    program = desk.start("-t 0-3")
    assert program.launch() == sms_of(*range(4))
    for options, tpcs in (("-t 8-10", range(8, 11)), ("-g 7", GPC_TPCS[7]), ("-t 65", [65]), ("-s 132", range(66))):
        desk.change(program.pid, options)
        assert program.launch() == sms_of(*tpcs)
        assert int(program.ask("attribute 16")) == 2 * len(tpcs)
    desk.change(program.pid, "-t 1")
    desk.change(program.pid, "--whole")
    assert program.launch() == list(ALL) and program.ask("attribute 16") == "132"
    assert program.end() == 0


def test_one_that_was_prepared(desk):
    program = desk.start("--prepare")
    assert program.launch() == list(ALL)
    desk.change(program.pid, "-t 2,3")
    assert program.launch() == sms_of(2, 3)


def test_a_change_before_cuda_is_used(desk):
    program = desk.start("-t 0")
    result = desk.tool("-t", "7", "-p", program.pid)
    assert result.status == 0 and "has not used CUDA yet" in result.err
    assert program.launch() == sms_of(7)


def answers_while_it_changes(desk, program, line, partitions, wanted):
    """The first words of the program's answers as its partition changes, until all possible ones were seen."""
    seen, changes, end = set(), itertools.cycle(partitions), time.monotonic() + PATIENCE_S
    while not wanted <= seen and time.monotonic() < end:
        program.say(line)
        while not program.answers():
            desk.change(program.pid, next(changes))
        seen |= {answer.split()[0] for answer in program.hear().split(";")}
    return seen


def test_each_launch_sees_one_partition_or_the_other(desk):
    """Masks are several words: TPCs 0 and 65 are in different ones."""
    program = desk.start("-t 0-2,60-65")
    wanted = {"18", "76"}
    assert answers_while_it_changes(desk, program, "storm 4 2000", ("-t 3-40", "-t 0-2,60-65"), wanted) == wanted


def test_what_is_said_of_a_task(desk):
    program = desk.start("-t 0-3,10")
    for _ in range(3):
        program.launch()
    told = desk.told(program.pid)
    assert "TPCs 0-3,10 of 0-65, 10 SMs; 3 launches" in told
    assert f"process {program.pid} (program): kept" in told
    told = desk.done("--list")
    assert re.search(r"^  GPC 0 .* A A A A \. \. \. \. \.$", told, re.MULTILINE)
    assert re.search(r"^  GPC 1 .* \. A \. \. ", told, re.MULTILINE)
    assert f"{program.pid} (program)" in told
    other = desk.start("-t 3")
    assert other.launch() == sms_of(3)
    assert re.search(r"^  GPC 0 .* A A A \* \. ", desk.done("--list"), re.MULTILINE)


def document(text):
    """Held against its schema."""
    found = json.loads(text)
    jsonschema.validate(found, json.loads((ROOT / "tools/nvtaskset/nvtaskset.json").read_text()))
    return found


def test_the_same_as_json(desk):
    program = desk.start("-t 0-3,10", "graph", "graph-launch 0", "cooperative 100")
    assert [program.hear() for _ in range(3)][::2] == ["ok", TOO_LARGE]
    (listed,), (one,) = (document(desk.done(*options))["gpus"] for options in (("--list", "-j"), ("-j", "-p", program.pid)))
    assert listed == one
    assert [tpc["sms"] for tpc in one["tpcs"]] == [[sm, sm + 1] for sm in FIRST_SMS]
    assert [tpc["gpc"] for tpc in one["tpcs"]][::9][:2] == [0, 1]
    assert (one["uuid"], one["name"]) == (desk.uuids[0], "NVIDIA H100 80GB HBM3")
    (task,) = one["tasks"]
    assert [(process["pid"], process["kept"]) for process in task["processes"]] == [(program.pid, True)]
    partition = task["partition"]
    assert (partition["tpcs"], partition["sms"]) == ([0, 1, 2, 3, 10], 10)
    assert (partition["launches_kept"], partition["launches_refused"], partition["graphs"]) == (1, 1, 1)


# --- what would hang ---

@pytest.mark.parametrize("tpcs, fit", (("0", 4), ("0-3", 16), ("0,20,40", 12)))
def test_cooperative_launches(desk, tpcs, fit):
    """Two blocks of 1,024 threads fit on an SM."""
    sms = sms_of(*numbers(tpcs))
    fine, too_large, small, huge = desk.run(
        f"-t {tpcs}", f"cooperative {fit}", f"cooperative {fit + 1}", f"cooperative {fit * 4} 256",
        "cooperative 1000").answers
    assert sms_in(fine) == sms and sms_in(small) == sms
    assert too_large == TOO_LARGE and huge == TOO_LARGE


def test_cooperative_launches_follow(desk):
    program = desk.start("-t 0-3")
    assert program.ask("cooperative 17") == TOO_LARGE
    desk.change(program.pid, "-t 0-4")
    assert sms_in(program.ask("cooperative 17")) == sms_of(*range(5))
    desk.change(program.pid, "-t 0")
    assert program.ask("cooperative 17") == TOO_LARGE
    assert "2 refused" in desk.told(program.pid)
    assert program.ask("cooperative 265") == TOO_LARGE, "which CUDA itself says"


def test_clusters_that_fit(desk):
    """The descriptor does not have the number of blocks that an SM takes: one is assumed, to be safe."""
    assert [sms_in(answer) for answer in desk.run("-t 0,1", "cluster 4", "cluster 2").answers] == 2 * [sms_of(0, 1)]
    assert sms_in(desk.run("-t 9-12", "cluster 8").answers[0]) == sms_of(*range(9, 13))


def test_clusters_that_do_not_fit(desk):
    """They run all the same, somewhere, and a message reports it."""
    program = desk.start("-t 0,9,18")
    assert sms_in(program.ask("cluster 2")) == sms_of(0, 9, 18)
    assert sms_in(program.ask("cluster 8")) == list(ALL)
    assert program.launch() == sms_of(0, 9, 18)
    assert "1 NOT (clusters larger" in desk.told(program.pid)
    assert "launches with clusters larger than the partition's GPCs are not kept" in program.err.read_text()


@pytest.mark.parametrize("call", ("cuLaunchCooperativeKernel_ptsz", "cuLaunchKernelEx", "cuLaunchKernelEx_ptsz"))
def test_cooperative_launches_by_other_calls(desk, call):
    fine, too_large = desk.run("-t 0-3", f"cooperative 16 1024 {call}", f"cooperative 17 1024 {call}").answers
    assert sms_in(fine) == sms_of(*range(4)) and too_large == TOO_LARGE


def test_cooperative_launches_in_clusters(desk):
    """A GPC with 6 SMs takes 12 blocks, which are two clusters of five: of more GPCs nothing is supposed."""
    fine, too_large, more = desk.run("-t 0-2,9-11,18-20", "cluster 5 10 cooperative", "cluster 5 35 cooperative",
                                     "cluster 5 40").answers
    assert set(sms_in(fine)) <= set(sms_of(0, 1, 2, 9, 10, 11, 18, 19, 20)) and too_large == TOO_LARGE
    assert sms_in(more) == sms_of(0, 1, 2, 9, 10, 11, 18, 19, 20)


@pytest.mark.parametrize("line, count, pause_us", (
    ("repeat 100 cooperative 17", "17", 2_000), ("repeat 5000 graph-launch 0", "42", 20_000)))
def test_what_fits_is_decided_once_for_a_launch(desk, line, count, pause_us):
    """Also if the partition changes between that and the descriptor."""
    program = desk.start("-t 0-20", STAND_IN_PAUSE_US=str(pause_us))
    assert program.ask("graph 48 cooperative") == "ok"
    wanted = {count, "error"}
    assert answers_while_it_changes(desk, program, line, ("-t 30", "-t 0-20"), wanted) == wanted


def test_clusters_of_tpcs_that_are_alone(desk):
    """TPCs 62 to 65 are one GPC to the driver, each its own to clusters."""
    assert sms_in(desk.run("-t 62-65", "cluster 8").answers[0]) == list(ALL)
    assert sms_in(desk.run("-t 58-61", "cluster 8").answers[0]) == sms_of(*range(58, 62))


# --- graphs ---

def test_graphs_follow(desk):
    program = desk.start("-t 0-3")
    assert program.ask("graph") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(4))
    for tpcs in ("8-10", "65", "8-10", "0-65"):
        desk.change(program.pid, f"-t {tpcs}")
        for _ in range(2):
            assert sms_in(program.ask("graph-launch 0")) == sms_of(*numbers(tpcs))
    desk.change(program.pid, "--whole")
    assert sms_in(program.ask("graph-launch 0")) == list(ALL)


def test_graphs_made_before_their_first_launch(desk):
    program = desk.start("-t 0-3")
    assert program.ask("graph") == "ok"
    desk.change(program.pid, "-t 9")
    assert sms_in(program.ask("graph-launch 0")) == sms_of(9)


def test_graphs_that_are_updated(desk):
    """They stay what the program made of them."""
    program = desk.start("-t 0-3")
    assert [program.ask(line) for line in ("graph", "graph", "graph-update 0 5")] == 3 * ["ok"]
    desk.change(program.pid, "-t 9-20")
    assert len(sms_in(program.ask("graph-launch 0"))) == 5
    assert sms_in(program.ask("graph-launch 1")) == sms_of(*range(9, 21))
    desk.change(program.pid, "-t 1,2")
    assert program.ask("graph-update 0 1024") == "ok"
    assert [sms_in(program.ask(f"graph-launch {n}")) for n in (0, 1)] == 2 * [sms_of(1, 2)]
    assert program.ask("graph-destroy 0") == "ok"
    desk.change(program.pid, "-t 5")
    assert sms_in(program.ask("graph-launch 1")) == sms_of(5)
    assert "1 CUDA graphs" in desk.told(program.pid)
    assert not [line for line in desk.launches() if not re.search(" blocks=(5|1024) ", line)]


def test_cooperative_graphs(desk):
    """48 blocks of 256 threads take six SMs."""
    program = desk.start("-t 0-3")
    assert program.ask("graph 48 cooperative") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(4))
    desk.change(program.pid, "-t 0,1")
    assert program.ask("graph-launch 0") == TOO_LARGE
    desk.change(program.pid, "-t 0-2")
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(3))


def test_graphs_in_graphs(desk):
    program = desk.start("-t 0-3")
    assert [program.ask(line) for line in ("graph 1024 child", "graph 48 cooperative child")] == ["ok", "ok"]
    assert [sms_in(program.ask(f"graph-launch {n}")) for n in (0, 1)] == 2 * [sms_of(*range(4))]
    desk.change(program.pid, "-t 9,10")
    assert sms_in(program.ask("graph-launch 0")) == sms_of(9, 10)
    assert program.ask("graph-launch 1") == TOO_LARGE
    desk.change(program.pid, "-t 1-9")
    assert [sms_in(program.ask(f"graph-launch {n}")) for n in (0, 1)] == 2 * [sms_of(*range(1, 10))]


@pytest.mark.parametrize("before", (("graph-launch 0",), ()))
def test_cooperative_graphs_that_grow(desk, before):
    """200 blocks of 256 threads take 25 SMs."""
    program = desk.start("-t 0-3")
    assert program.ask("graph 48 cooperative") == "ok"
    for line in before:
        assert sms_in(program.ask(line)) == sms_of(*range(4))
    assert program.ask("graph-update 0 200") == "ok"
    assert program.ask("graph-launch 0") == TOO_LARGE
    desk.change(program.pid, "-t 0-20")
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(21))
    assert program.ask("graph-update 0 48") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(21))


@pytest.mark.parametrize("before", (("graph-launch 0",), ()))
def test_cooperative_graphs_that_the_program_changed(desk, before):
    """What such a graph is, cannot be asked: it runs, where it may."""
    program = desk.start("-t 0-3")
    assert program.ask("graph 48 cooperative") == "ok"
    for line in before:
        assert sms_in(program.ask(line)) == sms_of(*range(4))
    for blocks in (200, 300):
        assert program.ask(f"graph-set 0 {blocks}") == "ok"
        assert sms_in(program.ask("graph-launch 0")) == list(ALL)
    assert "1 of them with an older partition" in desk.told(program.pid)


def test_graphs_that_the_program_changed(desk):
    """A change after that does not reach them, which a message reports."""
    program = desk.start("-t 0-3")
    assert program.ask("graph") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(4))
    assert program.ask("graph-set 0 900") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(4))
    assert "older" not in desk.told(program.pid)
    desk.change(program.pid, "-t 9")
    assert sms_in(program.ask("graph-launch 0")) == sms_of(*range(4))
    assert "1 of them with an older partition" in desk.told(program.pid)
    assert program.ask("graph-update 0 1024") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == sms_of(9)


# --- owners of tasks ---

def test_no_such_process(desk):
    desk.refused("-t 0 -p 4000000", "there is no process 4000000")
    program = desk.start("-t 0")
    program.launch()
    os.kill(program.pid, signal.SIGKILL)
    program.process.wait()
    desk.refused(f"-t 0 -p {program.pid}", f"there is no process {program.pid}")
    assert "(program)" not in desk.done("--list")


@pytest.fixture
def open_desk():
    """In a folder that all users may look into."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        with desk_of(pathlib.Path(folder)) as made:
            yield made


def as_nobody(desk):
    """How another user, without processes in other tests, runs what is built, which may lie below a folder that is
    root's alone: words before the
    tool's options, the program, and the environment."""
    built = desk.folder / "built"
    built.mkdir()
    for file in (TOOL, LIBRARY, PROGRAM, STAND_INS / "librm_stand_in.so"):
        shutil.copy2(file, built)
    shutil.copytree(STAND_INS / "libcuda", built / "libcuda", symlinks=True)
    return (("setpriv", "--reuid=65531", "--regid=65531", "--clear-groups", built / TOOL.name), built / PROGRAM.name,
            {"LD_LIBRARY_PATH": str(built / "libcuda"), "LD_PRELOAD": str(built / "librm_stand_in.so")})


def test_one_that_is_not_ours(open_desk):
    needs_root()
    desk = open_desk
    nobody, copy, env = as_nobody(desk)
    program = desk.start("-t 0-3")
    assert program.launch() == sms_of(*range(4))
    for options in (("-t", "0", "-p", program.pid), ("-p", program.pid)):
        result = desk.command(*nobody, *options, XDG_CACHE_HOME="/nonexistent", **env)
        assert result.status == FAILED and f"process {program.pid} is not yours" in result.err
    result = desk.command(*nobody, "--no-mps", "-t", "5", copy, "launch", XDG_CACHE_HOME="/nonexistent",
                          STAND_IN_LOG="/dev/null", **env)
    assert sms_in(result.answers[0]) == sms_of(5)
    assert program.launch() == sms_of(*range(4))


def test_one_that_was_started_by_others(desk):
    desk.refused(f"-t 0 -p {os.getpid()}", f"process {os.getpid()} was not started by nvtaskset")


def test_children_belong_to_it(desk):
    program = desk.start("-t 0-3", "fork")
    assert program.launch() == sms_of(*range(4))
    desk.change(program.pid, "-t 9")
    assert program.launch() == sms_of(9)
    told = desk.told(program.pid)
    children = [int(pid) for pid in re.findall(r"process (\d+)", told)]
    assert len(children) == 2 and program.pid in children
    desk.change(max(children, key=lambda pid: pid != program.pid), "-t 8")
    assert program.launch() == sms_of(8)


def test_a_child_without_its_descriptors(desk):
    """As Python starts children; it is changed with the others all the same."""
    start = "import subprocess, sys; sys.exit(subprocess.run([sys.argv[1], '-'], close_fds=True).returncode)"
    program = desk.start_command("--no-mps -t 0-3", sys.executable, "-c", start, PROGRAM)
    assert program.launch() == sms_of(*range(4))
    desk.change(program.pid, "-t 9")
    assert program.launch() == sms_of(9)
    assert "2 launches" in desk.told(program.pid)


def test_a_child_that_is_left_alone(desk):
    """No process has the page: the program keeps to the partition of its start."""
    script = f"exec {TOOL} --no-mps -t 4 bash -c 'for fd in /proc/$$/fd/*; do fd=${{fd##*/}}; " \
             "[ $fd -le 2 ] || eval \"exec $fd>&-\"; done; exec \"$0\" launch' " + str(PROGRAM)
    result = desk.command("sh", "-c", script)
    assert sms_in(result.answers[-1]) == sms_of(4), result.err


# --- tasks in tasks, and what is taken for one ---

def test_a_task_in_a_task(desk):
    """The inner one's partition holds, and is what is shown, changed and kept from others."""
    outer = desk.start_command("--no-mps -t 0-31", TOOL, "--no-mps", "-t", "10-12", PROGRAM, "device 0", "-")
    assert outer.hear() == "ok"
    assert outer.launch() == sms_of(10, 11, 12)
    assert "TPCs 10-12 of 0-65, 6 SMs; 1 launches kept" in desk.told(outer.pid)
    assert f"{outer.pid} (program): TPCs 10-12" in desk.done("--list")
    desk.refused("--no-mps -x -t 11", "TPCs 11 are of task", PROGRAM, "launch")
    desk.change(outer.pid, "-t 20-22")
    assert outer.launch() == sms_of(20, 21, 22)
    (gpu,) = document(desk.done("--list", "-j"))["gpus"]
    assert [(task["partition"]["tpcs"], task["partition"]["launches_kept"]) for task in gpu["tasks"]] == [([20, 21, 22], 2)]


@pytest.mark.parametrize("keeps", (True, False))
def test_a_task_beside_the_one_in_which_it_was_started(desk, keeps):
    """Also where the inner one has the outer one's page open, as a descriptor that it was given anew."""
    dup = "exec 950<&$fd;" if keeps else ""
    script = f"fd=${{NVTASKSET_PAGE#*:}}; fd=${{fd%:*}}; {dup} {TOOL} --no-mps -t 10-11 {PROGRAM} launch - <&4 4<&- & " \
             f"exec {PROGRAM} launch -"
    outer = desk.start_command("--no-mps -t 0-31", "bash", "-c", f"exec 4<&0; {script}")
    answers = sorted((sms_in(outer.hear()), sms_in(outer.hear())), key=len)
    assert answers == [sms_of(10, 11), sms_of(*range(32))]
    (gpu,) = document(desk.done("--list", "-j"))["gpus"]
    found = {len(task["partition"]["tpcs"]): task for task in gpu["tasks"]}
    assert sorted(found) == [2, 32] and [found[2]["partition"]["launches_kept"], found[32]["partition"]["launches_kept"]] == [1, 1]


@pytest.mark.parametrize("closed", ("0 1 2", "0 1", "1 2", "0 2", "1"))
def test_standard_streams_are_closed(desk, closed):
    """No stream of the command is the page: what the command prints would change it."""
    needed = desk.folder / "streams"
    script = f"for n in 0 1 2; do readlink /proc/$$/fd/$n >> {needed}; done; {PROGRAM} launch >/dev/null 2>&1 </dev/null; " \
             f"for n in 1 2 3 4 5 6 7 8 9; do echo '[server] request done in 12 ms, 200 OK: all is well'; done; " \
             f"{PROGRAM} launch >/dev/null 2>&1 </dev/null; exit 0"
    closing = " ".join(f"{n}>&-" for n in closed.split())
    desk.command("bash", "-c", f"exec {closing}; {TOOL} --no-mps -t 0-3 bash -c {shlex.quote(script)}; exit 0")
    assert [re.search("count=[0-9]*", line).group() for line in desk.launches()] == 2 * ["count=8"]
    assert "nvtaskset" not in needed.read_text() and len(needed.read_text().splitlines()) == 3 - len(closed.split())


@pytest.mark.parametrize("closed", ("1", "0 1 2"))
def test_a_page_of_the_process_own(desk, closed):
    """A container's way: the program has closed its streams, and only CUDA_INJECTION64_PATH is set."""
    desk.done("--list")
    desk.log_file.unlink(missing_ok=True)  # the launches of others
    fifo = desk.folder / "fifo"
    os.mkfifo(fifo)
    closing = " ".join(f"{n}>&-" for n in closed.split() if n != "0")
    script = f"exec 8<>{fifo}; {PROGRAM} launch - <&8 {closing} & until grep -q count= {desk.log_file}; do sleep 0.1; done 2>/dev/null; " \
             "ls -l /proc/$!/fd; kill $!"
    result = desk.command("bash", "-c", script, CUDA_INJECTION64_PATH=str(LIBRARY))
    (number,) = re.findall(r"(\d+) -> /memfd:nvtaskset", result.out)
    assert int(number) > 99


DISGUISES = {
    "file": "echo secret > {real}; chmod 600 {real}",
    "fifo": "mkfifo {real}",
    "device": "mknod {real} c 1 5",
}


@pytest.mark.parametrize("kind", DISGUISES)
def test_what_only_has_the_name_of_a_page_is_not_opened(open_desk, kind):
    """In a mount namespace of its own a process gives any file that name; root looks at it with all tools."""
    needs_root()
    desk = open_desk
    real, name = desk.folder / "real", "/memfd:nvtaskset (deleted)"
    desk.command("sh", "-c", DISGUISES[kind].format(real=real))
    holder = "import os,sys,time; os.open(sys.argv[1], os.O_PATH); print('ready', flush=True); time.sleep(600)"
    script = f"mount -t tmpfs tmpfs /mnt && mkdir /mnt/up /mnt/work /mnt/root && " \
             f"mount -t overlay -o lowerdir=/,upperdir=/mnt/up,workdir=/mnt/work overlay /mnt/root && " \
             f": > '/mnt/root{name}' && mount --bind {real} '/mnt/root{name}' && " \
             f"cd /mnt/root && mount -t proc proc proc && pivot_root . . && umount -l . && exec /usr/bin/python3 -c \"{holder}\" '{name}'"
    program = Running(["unshare", "--mount", "--propagation", "private", "sh", "-c", script], desk.env, desk.folder / "held")
    desk.running.append(program)
    assert program.hear() == "ready"
    links = [os.readlink(f"/proc/{program.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{program.pid}/fd")]
    assert name in links
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    assert watch >= 0 and libc.inotify_add_watch(watch, str(real).encode(), 0x20) > 0  # IN_OPEN
    for words in (("--list",), ("-p", program.pid), ("-t", "0", "-p", program.pid), ("--no-mps", "-x", "-t", "0", "true")):
        desk.tool(*words)
    with pytest.raises(BlockingIOError):
        os.read(watch, 4096)
    os.close(os.open(real, os.O_RDONLY | os.O_NONBLOCK))
    assert os.read(watch, 4096), "what opens is seen"
    os.close(watch)


# --- other systems ---

def run_in_debian(suite, folder, *command):
    """A command in a bare system that has the folder as /mnt."""
    root = subprocess.run([ROOT / "vm/fetch", "debian", suite], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    script = 'mount --bind "$1" "$2/mnt"; shift; root=$1; shift; exec chroot "$root" "$@"'
    return subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-ec", script, "sh", folder, root,
                           *command], capture_output=True, text=True, check=False)


def load_in_debian(suite, library):
    """What its loader prints of the library, with each symbol looked up at once."""
    return run_in_debian(suite, library.parent, "env", "LD_BIND_NOW=1", f"LD_PRELOAD=/mnt/{library.name}",
                         "/bin/true").stderr


def test_an_older_c_library(tmp_path):
    """Debian 11 has 2.31, as Ubuntu 20.04."""
    needs_root()
    build()
    assert not load_in_debian("bullseye", LIBRARY)
    newer = tmp_path / "libnewer.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", newer], check=True, text=True,
                   input="unsigned arc4random(void); unsigned use(void) { return arc4random(); }")
    assert "GLIBC_2.36" in load_in_debian("bullseye", newer)


def test_the_static_tool_in_an_older_system(tmp_path):
    needs_root()
    if not os.environ.get("NVDEBUG_NO_BUILD"):
        subprocess.run(["make", "-s", "vm-tool"], cwd=ROOT, check=True, stdout=sys.stderr)
    shutil.copy(ROOT / "build/vm/nvdebugctl", tmp_path / "nvdebugctl")
    shutil.copy(ROOT / "tests/hardware/h200-580.159.04/capture-idle", tmp_path / "capture")
    done = run_in_debian("bullseye", tmp_path, "/mnt/nvdebugctl", "--from", "/mnt/capture", "gpu", "list")
    assert done.returncode == 0 and "GH100" in done.stdout and not done.stderr, done


@pytest.mark.parametrize("source, name", (
    ("unsigned arc4random(void); unsigned use(void) { return arc4random(); }", "arc4random"),
    ("int dlclose(void *); int use(void) { return dlclose(0); }", "dlclose")))
def test_a_build_that_needs_a_newer_c_library_fails(tmp_path, source, name):
    library = tmp_path / "libneeds.so"
    make = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library]
    check = [ROOT / "tools/nvtaskset/check-symbols", "2.28", library]
    subprocess.run(make, check=True, text=True, input="int use(void) { return 0; }")
    subprocess.run(check, check=True)
    subprocess.run(make, check=True, text=True, input=source)
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and name in done.stderr and not library.exists()


# --- what may go wrong ---

def test_callbacks_that_cuda_refuses(desk):
    """The library that fails has subscribed already: it stays where CUDA calls it."""
    desk.done("--list")
    result = desk.run("-t 0", "launch", STAND_IN_REFUSES="652")
    assert result.status == NOT_KEPT and "CUDA refuses the callback of a function" in result.err
    result = desk.run("--best-effort -t 0", "launch", "attribute 16", STAND_IN_REFUSES="652")
    assert result.status == 0 and sms_in(result.answers[0]) == list(ALL) and result.answers[1] == "132"


def test_a_graph_for_which_there_is_no_memory(desk):
    """It runs on the whole GPU, which is counted; nothing is thrown through CUDA."""
    program = desk.start("-t 0-3", STAND_IN_NODES=str(1 << 59))
    assert program.ask("graph") == "ok"
    assert sms_in(program.ask("graph-launch 0")) == list(ALL)
    assert program.launch() == sms_of(*range(4))
    assert "1 NOT (of an unknown kind)" in desk.told(program.pid)
    assert "CUDA graphs that cannot be checked" in program.err.read_text()


def test_graphs_end_with_their_context(desk):
    program = desk.start("-t 0-3", "launch", "context", "graph", "graph-launch 0")
    assert [program.hear() for _ in range(4)][1:3] == ["ok", "ok"]
    assert "1 CUDA graphs" in desk.told(program.pid)
    assert [program.ask(line) for line in ("end-context", "use 0")] == ["ok", "ok"]
    assert "CUDA graphs" not in desk.told(program.pid)


def test_the_gpus_own_count(desk):
    """--whole-count: the program sees all SMs, and its kernels run on the partition's."""
    sms, count, too_large = desk.run("--whole-count -t 0-3", "launch", "attribute 16", "cooperative 264").answers
    assert sms_in(sms) == sms_of(*range(4)) and count == "132" and too_large == TOO_LARGE
    desk.refused("--whole-count -t 0 -p 1", "--whole-count needs a COMMAND to start", exit_status=USAGE)


def test_another_has_cudas_callbacks(desk):
    result = desk.run("-t 0", "subscribe", "launch")
    assert result.status == NOT_KEPT and result.answers == ["ok"]
    assert "another library of the process has CUDA's callbacks" in result.err
    result = desk.run("--best-effort -t 0", "subscribe", "launch", "attribute 16")
    assert result.status == 0 and sms_in(result.answers[1]) == list(ALL) and result.answers[2] == "132"
    assert "is not kept to its partition" in result.err
    assert desk.run("-t 0", "launch", "subscribe").answers[1] == "error 210 CUDA_ERROR_ALREADY_ACQUIRED"


@pytest.mark.parametrize("value, status", ((None, NOT_KEPT), ("", NOT_KEPT), ("0", NOT_KEPT), ("no", NOT_KEPT),
                                           ("False", NOT_KEPT), ("1", 0), ("yes", 0)))
def test_best_effort_by_the_environment(desk, value, status):
    """A variable that is empty is unset, and 0 switches it off."""
    wanted = {} if value is None else {"NVTASKSET_BEST_EFFORT": value}
    assert desk.run("-t 0", "subscribe", "launch", **wanted).status == status


def test_another_library_is_to_be_loaded(desk):
    desk.refused("--no-mps -t 0", "CUDA loads one library alone", PROGRAM, "launch",
                 CUDA_INJECTION64_PATH="/profiler.so")


def test_the_library_is_missing(desk, tmp_path):
    desk.done("--list")
    alone = tmp_path / "alone/bin"
    alone.mkdir(parents=True)
    shutil.copy(TOOL, alone)
    result = desk.command(alone / "nvtaskset", "--no-mps", "-t", "0", PROGRAM, "launch")
    assert result.status == FAILED and not result.out
    assert "missing" in result.err and str(tmp_path / "alone/lib/nvtaskset/libnvtaskset.so") in result.err


@pytest.mark.parametrize("content", (b"", b"no library", b"\x7fELF" + bytes(60)))
def test_the_library_cannot_be_loaded(desk, tmp_path, content):
    """CUDA would go on without it; also where the map of TPCs is known already."""
    desk.done("--list")
    shutil.copy(TOOL, tmp_path)
    (tmp_path / "libnvtaskset.so").write_bytes(content)
    result = desk.command(tmp_path / "nvtaskset", "--no-mps", "-t", "0", PROGRAM, "launch")
    assert result.status == FAILED and not result.out and "cannot be loaded" in result.err


@pytest.mark.parametrize("partitions", (True, False))
@pytest.mark.parametrize("limit", (0, 1, 4096))
def test_a_limit_for_the_size_of_files(desk, limit, partitions):
    """The library, in a container that has only its variables: the program goes on, with its partition."""
    named = desk.command(TOOL, "--no-mps", "-t", "0-3", "sh", "-c", "echo $NVTASKSET_PARTITIONS").out.strip()
    env = {"CUDA_INJECTION64_PATH": str(LIBRARY)} | ({"NVTASKSET_PARTITIONS": named} if partitions else {})
    result = desk.command("prlimit", f"--fsize={limit}", PROGRAM, "launch", STAND_IN_LOG="/dev/null", **env)
    assert result.status == 0, result
    assert len(sms_in(result.answers[0])) == (8 if partitions else 132)
    result = desk.command("prlimit", f"--fsize={limit}", TOOL, "--no-mps", "-t", "0-3", PROGRAM, "launch",
                          STAND_IN_LOG="/dev/null")
    assert result.status == FAILED and "File too large" in result.err


@pytest.mark.parametrize("option, variable", (("--best-effort", "NVTASKSET_BEST_EFFORT"),
                                              ("--whole-count", "NVTASKSET_WHOLE_COUNT")))
def test_options_are_of_one_task(desk, option, variable):
    """A task inside has only its own."""
    inside = (TOOL, "--no-mps", "-t", "10", "printenv", variable)
    assert desk.command(TOOL, "--no-mps", option, "-t", "0-3", *inside[-2:]).out == "1\n"
    assert not desk.command(TOOL, "--no-mps", option, "-t", "0-3", *inside).out


@pytest.mark.parametrize("first", (False, True))
def test_cuda_does_not_load_it(desk, tmp_path, first):
    """The program takes the variable away, and uses the GPU; it may be the first process of a container."""
    needs_root()
    uses, starts = tmp_path / "inside", "unshare -pf --kill-child --mount-proc" if first else ""
    uses.write_text(f"""
        set -e
        mount -t tmpfs tmpfs /dev
        mknod -m 666 /dev/null c 1 3
        : > /dev/nvidia-uvm
        export STAND_IN_DEVICE=/dev/nvidia-uvm
        mkfifo {tmp_path}/fifo
        exec 3<> {tmp_path}/fifo
        {starts} {TOOL} --no-mps -t 0 env -u CUDA_INJECTION64_PATH {PROGRAM} launch - <&3 2> {tmp_path}/told &
        n=0
        until [ -s {tmp_path}/told ] || [ $n = 200 ]; do sleep 0.1; n=$((n + 1)); done
        {TOOL} -p {"$(cat /proc/$!/task/$!/children)" if first else "$!"}
        kill -9 $!
        """)
    result = desk.command("unshare", "--mount", "sh", uses)
    assert result.status == 0, result.err
    told = (tmp_path / "told").read_text()
    assert "uses the GPU and is NOT kept to the partition: CUDA in it did not load" in told
    assert not first or "process 1 " in told
    assert "uses the GPU and is NOT kept" in result.out


def test_there_may_be_no_more_processes(open_desk):
    """Then none watches; the command runs."""
    needs_root()
    open_desk.done("--list")
    (kept,) = (open_desk.folder / "cache/nvtaskset").iterdir()
    kept.parent.chmod(0o755)
    kept.chmod(0o644)  # root's is trusted
    nobody, copy, env = as_nobody(open_desk)
    result = open_desk.command("prlimit", "--nproc=1", *nobody, "--no-mps", "-t", "5", copy, "launch",
                               STAND_IN_LOG="/dev/null", **env)
    assert result.status == 0 and sms_in(result.answers[0]) == sms_of(5)


def test_the_watcher_is_no_part_of_the_task(desk):
    """Not for a moment."""
    for _ in range(10):
        program = desk.start("--prepare")
        assert re.findall(r"process (\d+)", desk.told(program.pid)) == [str(program.pid)]


def test_no_driver(desk):
    desk.refused("--list", "NVIDIA's driver", NVTASKSET_DRIVER_FOLDER="/nonexistent")
    shutil.rmtree(desk.folder / "driver/gpus")
    desk.refused("--no-mps -t 0", "has no GPU", PROGRAM, "launch")


def test_no_cuda(desk):
    desk.refused("--no-mps -t 0", "CUDA (libcuda.so.1", PROGRAM, "launch", LD_LIBRARY_PATH="")


# --- others ---

def test_exclusive(desk):
    program = desk.start("-t 0-9")
    assert program.launch() == sms_of(*range(10))
    sentence = f"TPCs 5-9 are of task {program.pid} (program)"
    desk.refused("--no-mps -x -t 5-12", sentence, PROGRAM, "launch")
    desk.refused("--no-mps -x -g 0", "TPCs 0-8 are of task", PROGRAM, "launch")
    desk.refused("--no-mps -x -s 114", "57 TPCs are asked for and 56 of 66 are free", PROGRAM, "launch")
    assert sms_in(desk.run("-x -t 10-12", "launch").answers[0]) == sms_of(10, 11, 12)
    assert sms_in(desk.run("-t 5-12", "launch").answers[0]) == sms_of(*range(5, 13))
    other = desk.start("-x -s 112")
    assert other.launch() == sms_of(*range(10, 66))
    desk.refused(f"-x -t 9 -p {other.pid}", f"TPCs 9 are of task {program.pid}")
    desk.change(other.pid, "-x -t 10-20")
    assert other.launch() == sms_of(*range(10, 21))


def test_free_ones_before_others(desk):
    first, second = desk.start("-s 66"), desk.start("-s 66")
    mine, others = first.launch(), second.launch()
    assert len(mine) == len(others) == 66 and not set(mine) & set(others)
    assert len(desk.start("-s 18").launch()) == 18, "and these if there is nothing else"


def test_spread(desk):
    """Four of each GPC, then the next four; first those that no task has."""
    alone = desk.run("-s 32 --spread", "launch").answers[0]
    assert sms_in(alone) == sms_of(0, 1, 2, 3, 9, 10, 11, 12, 18, 19, 20, 21, 26, 27, 28, 29)
    most = desk.run("-s 70 --spread", "launch").answers[0]
    assert set(sms_in(most)) >= set(sms_of(*range(7), *range(58, 62))) and len(sms_in(most)) == 70
    desk.start("-t 0-6")
    assert sms_in(desk.run("-s 14 --spread", "launch").answers[0]) == sms_of(7, 8, 9, 10, 11, 12, 18)


def test_many_at_once(desk):
    """Each has a TPC of its own, also if all choose at the same time."""
    programs = [desk.start_command("--no-mps -x -s 2", PROGRAM, "launch", "-") for _ in range(64)]
    used = [sm for program in programs for sm in sms_in(program.hear())]
    assert len(used) == 128 == len(set(used))
    desk.change(programs[0].pid, "-x -s 6")
    desk.refused("--no-mps -x -s 2", "are free", PROGRAM, "launch")
    # What one had is free when it is gone.
    lost = programs[5].launch()
    programs[5].kill()
    assert sms_in(desk.run("-x -s 2", "launch").answers[0]) == lost
    assert desk.done("--list").count("(program)") == 63


def test_a_probe_is_no_task(desk):
    """It uses each TPC in turn, in a process of its own, while others may choose theirs."""
    slow = desk.start_command("--probe", STAND_IN_PAUSE_US="20000")
    end = time.monotonic() + PATIENCE_S
    while not desk.launches("nvtaskset"):
        assert time.monotonic() < end and slow.process.poll() is None
        time.sleep(0.01)
    assert desk.run(f"--no-mps -x -s {len(ALL)}", "launch").status == 0
    assert "(nvtaskset)" not in desk.done("--list")
    assert slow.process.poll() is None, "the probe was over before the others"


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
        desk.refused(f"--no-mps -i {gpu} -t 0", "of a kind that is not known", PROGRAM, "launch", exit_status=UNSUPPORTED)


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
        # CUDA may count them in another way.
        seen = {"CUDA_VISIBLE_DEVICES": "1,0"}
        assert sms_in(desk.run("-i 0 -t 0-3", *one[1], **seen).answers[1]) == sms_of(*range(4))
        desk.refused("--no-mps -i 2 -t 0", "there is no GPU '2'", PROGRAM, "launch")
        desk.refused("--no-mps -i GPU- -t 0", "more than one GPU", PROGRAM, "launch")


WRONG_GPU = "launches on a GPU for which no partition was asked are not kept to one"


@pytest.mark.parametrize("options, actions, env", (
    ("-i 0 -t 0-3", ("device 1",), {}), ("-i 1 -t 0-3", (), {}), ("-i 1 -t 0-3", (), {"CUDA_VISIBLE_DEVICES": "0"}),
    ("-i 0 -t 0-3", (), {"CUDA_VISIBLE_DEVICES": "1"}), ("-i 0 -t 0-3", (), {"CUDA_VISIBLE_DEVICES": "1,0"})))
@pytest.mark.parametrize("launch", ("launch", "cooperative 1", "cluster 2", "graph-launch 0"))
def test_another_gpu_than_asked_for(tmp_path, options, actions, env, launch):
    """The process is ended before its first launch there, unless best effort is asked for."""
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
    """A task that was prepared goes on, with a message; one that got the whole GPU on purpose is left alone."""
    with desk_of(tmp_path, "h100,h200") as desk:
        program = desk.start(options)
        if change:
            desk.tool(*change.split(), "-p", program.pid)
        assert program.launch() == list(ALL)
        assert (WRONG_GPU in program.err.read_text()) == outside
        assert ("NOT kept" in desk.told(program.pid)) == outside
        assert program.end() == 0


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
        # The program looks into its current context's memory, and finds nothing.
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


# --- GPUs that do not what their descriptors promise ---

@pytest.mark.parametrize("lies", ("deaf:63", "deaf:0", "deaf:83", "weak:64", "weak:40"))
def test_masks_that_do_nothing(desk, lies):
    desk.refused("--no-mps -t 0", "so none is used", PROGRAM, "launch", exit_status=UNSUPPORTED, STAND_IN_LIES=lies)


def test_bits_are_measured_and_not_supposed(desk):
    """A GPU with other bits is used by these; one that has changed, after --probe."""
    swapped = {"STAND_IN_LIES": "swap:63:0,swap:70:83"}
    for gpc in (0, 7):
        assert sms_in(desk.run(f"-g {gpc}", "launch", **swapped).answers[0]) == sms_of(*GPC_TPCS[gpc])
    desk.done("--list", "--probe")
    for gpc in (0, 7):
        assert sms_in(desk.run(f"-g {gpc}", "launch").answers[0]) == sms_of(*GPC_TPCS[gpc])


def test_a_probe_is_kept_for_this_driver(desk):
    """It is a launch for each bit."""
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
    (kept,) = (desk.folder / "cache/nvtaskset").iterdir()
    text = kept.read_text()
    kept.write_text(damage(text))
    assert sms_in(desk.run("-t 0", "launch").answers[0]) == sms_of(0)
    assert kept.read_text() == text


# --- which GPUs ---

@pytest.mark.parametrize("gpus, devices, order, kept", (
    ("h100,h100", None, None, {0, 1}), ("h100,h100", "1", None, {1}), ("h100,h100", "0", "PCI_BUS_ID", {0}),
    ("h100,h100", "1,0", None, {0, 1}), ("h100,h100,h100", "2,0", None, {0, 2}), ("h100,h100", "1,x,0", None, {1}),
    ("h100,h100", "1,-1,0", None, {1}), ("h100,h100", "1,7,0", None, {1}), ("h100,h100", "UUID1", None, {1}),
    ("h100,h100,h100", "UUID2,UUID0,junk,UUID1", None, {0, 2}), ("h100", "0", None, {0}), ("h100", "UUID0", None, {0}),
    ("h200,h100", "1", "FASTEST_FIRST", {1})))
def test_the_gpus_that_the_command_will_see(tmp_path, gpus, devices, order, kept):
    """Its page has a partition on each of them, and on no other."""
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
        desk.refused(f"--no-mps -i {bad} -t 0", f"no UUID of GPU {bad}", "true")


def test_looking_wakes_none(tmp_path):
    """Reading a GPU's information wakes it: here it never ends."""
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


# --- surroundings ---

def test_names_do_not_reach_the_terminal(desk):
    """Colours, a title, a bell and a mark that turns the text round."""
    program = desk.folder / os.fsdecode(b"a\x1b[31m\x1b]0;x\x07\xe2\x80\xae")
    shutil.copy(PROGRAM, program)
    running = desk.start_command("--no-mps -t 0-3", program, "device 0", "-")
    assert running.hear() == "ok" and running.launch()
    for words in (("-p", running.pid), ("--list",), ("--no-mps", "-x", "-t", "0", "true"),
                  ("--no-mps", "-t", "0", f"/nonexistent/{program.name}")):
        done = subprocess.run([str(word) for word in (TOOL, *words)], env=desk.env, check=False, capture_output=True)
        text = done.stdout + done.stderr
        assert b"a\xef\xbf\xbd[31m" in text and not re.search(rb"[\x00-\x09\x0b-\x1f\xff]|\xe2\x80\xae", text)


WAIT_ALL = """
import os, time
for _ in range(2):
    if os.fork() == 0:
        time.sleep(0.2)
        os._exit(0)
ended = 0
while True:
    try:
        os.wait()
        ended += 1
    except ChildProcessError:
        break
print(ended, os.getpid(), flush=True)
"""
SUBREAPER = "import ctypes, os, sys; ctypes.CDLL(None).prctl(36, 1, 0, 0, 0); os.execvp(sys.argv[1], sys.argv[1:])"


FAMILIES = (("unshare", "-pf", "--kill-child", "--mount-proc"), (sys.executable, "-c", SUBREAPER), ())


@pytest.mark.parametrize("before", FAMILIES)
def test_the_command_has_its_own_children_alone(desk, before):
    if before and before[0] == "unshare":
        needs_root()
    result = desk.command(*before, TOOL, "--no-mps", "-t", "0-3", sys.executable, "-c", WAIT_ALL)
    assert result.status == 0 and result.out.split()[0] == "2", result.err


@pytest.mark.parametrize("before", FAMILIES)
def test_the_mps_daemon_is_no_child_of_the_command(control, before, tmp_path):
    """The daemon lives on in the background, in a session of its own."""
    control.does(f'case "$*" in *-d*) setsid sleep 600 > /dev/null 2>&1 & echo $! > {tmp_path}/daemon;; esac')
    (tmp_path / "wait.py").write_text(WAIT_ALL)
    command = shlex.join(str(word) for word in (*before, TOOL, "-t", "0-3", sys.executable, tmp_path / "wait.py"))
    result = control.shell(f"timeout -k 1 {PATIENCE_S} {command}")
    assert result.status == 0 and result.out.split()[0] == "2", result.err
    assert (tmp_path / "daemon").exists()
    if not before or before[0] != "unshare":
        os.kill(int((tmp_path / "daemon").read_text()), signal.SIGKILL)


def test_the_watcher_keeps_nothing_of_the_command(desk):
    """A lock, a pipe and a folder that the command lets go of."""
    lock = desk.folder / "lock"
    place = desk.folder / "place"
    place.mkdir()
    read, write = os.pipe()
    script = f"exec 9> {lock}; flock 9; exec {TOOL} --no-mps -t 0 bash -c 'exec 9>&- {write}>&-; cd /; echo begun; read line'"
    process = subprocess.Popen(["bash", "-c", script], env=desk.env, cwd=place, pass_fds=(write,), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    os.close(write)
    try:
        assert process.stdout.readline() == b"begun\n"
        assert select.select([read], [], [], PATIENCE_S)[0] and os.read(read, 1) == b""
        assert subprocess.run(["flock", "-n", lock, "true"], check=False).returncode == 0
        for folder in pathlib.Path("/proc").glob("[0-9]*/cwd"):
            with contextlib.suppress(OSError):
                assert folder.readlink() != place
    finally:
        process.communicate(b"\n")
        os.close(read)


@pytest.mark.parametrize("signal_name", ("SIGCHLD", "SIGPIPE"))
def test_signals_are_the_commands(desk, signal_name):
    """Ignored ones stay so for the command, and disturb nothing before."""
    number = getattr(signal, signal_name)
    start = f"import os, signal, sys; signal.signal({int(number)}, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])"
    for ignored, before in ((True, (sys.executable, "-c", start)), (False, ())):
        result = desk.command(*before, TOOL, "--no-mps", "-t", "0", "grep", "SigIgn", "/proc/self/status")
        assert bool(int(result.out.split()[1], 16) >> (number - 1) & 1) == ignored
    (desk.folder / "bin").mkdir()
    result = desk.command(sys.executable, "-c", start, TOOL, "--list", "--probe", LD_LIBRARY_PATH="/nonexistent")
    assert result.status == FAILED and "CUDA (libcuda.so.1" in result.err


@pytest.mark.parametrize("words", (("--list",), ("--list", "-j"), ("-p",), ("-p", "-j"), ("--help",), ("--version",)))
def test_output_that_cannot_be_written(desk, words):
    program = desk.start("-t 0")
    if words[0] == "-p":
        words = (*words, str(program.pid))
    for to in ("> /dev/full", ">&-"):
        result = desk.command("sh", "-c", f"exec {TOOL} {' '.join(words)} {to}")
        assert result.status == FAILED and "cannot write" in result.err


def test_a_lock_that_another_holds(desk):
    """It delays a choice for some seconds, then its holder is named; what chooses nothing does not wait."""
    needs_root()
    desk.done("--list")
    script = f"""
        mount -t tmpfs none /run
        mkdir -m 700 /run/nvtaskset
        flock /run/nvtaskset/lock sh -c 'echo $$; sleep 1000' &
        until [ -e /run/nvtaskset/lock ] && ! flock -n /run/nvtaskset/lock true; do sleep 0.01; done
        {TOOL} --no-mps -t 0 true && {TOOL} --prepare true && echo free
        {TOOL} --no-mps -s 2 true
        echo $?
        {TOOL} --no-mps -x -t 0 true
        echo $?
        """
    result = desk.command("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script)
    assert result.answers[1:] == ["free", "2", "2"], result.err
    for line in result.err.splitlines():
        assert re.search(r"process \d+ \((flock|sh|sleep)\) holds the lock /run/nvtaskset/lock", line) or "Terminated" in line


def test_a_lock_of_others_means_nothing(desk):
    with open(LIBRARY, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert desk.run("-x -s 2", "launch").status == 0


def test_the_probe_is_kept_in_the_users_own_folder(open_desk):
    """Root with another user's HOME or cache writes nothing there and trusts nothing there."""
    needs_root()
    desk = open_desk
    home = desk.folder / "home"
    (home / ".cache/nvtaskset").mkdir(parents=True)
    for folder in (home, home / ".cache", home / ".cache/nvtaskset"):
        os.chown(folder, 65534, 65534)
    del desk.env["XDG_CACHE_HOME"]
    for env in ({"HOME": str(home)}, {"XDG_CACHE_HOME": str(home / ".cache")}):
        desk.done("--list", **env)
        assert not list((home / ".cache/nvtaskset").iterdir())


def test_a_probe_that_another_put_there(desk):
    needs_root()
    desk.done("--list")
    (kept,) = (desk.folder / "cache/nvtaskset").iterdir()
    text = kept.read_text()
    target = desk.folder / "target"
    target.write_text("mine")
    for spoil in (lambda: os.chown(kept, 65534, 65534), lambda: (kept.rename(desk.folder / "map"), kept.symlink_to(desk.folder / "map")),
                  lambda: (kept.unlink(), os.mkfifo(kept))):
        before = len(desk.launches("nvtaskset"))
        spoil()
        assert sms_in(desk.run("-t 0", "launch").answers[0]) == sms_of(0)
        assert len(desk.launches("nvtaskset")) > before and kept.read_text() == text and not kept.is_symlink()
        assert target.read_text() == "mine"


# --- MPS ---

# What stands for NVIDIA's control program: it records how it was called, and does what a file beside it demands.
CONTROL = r"""#!/bin/bash
here=$(dirname "$0")
{ echo "called $* in $PWD"; env; ls -l /proc/$$/fd; grep SigIgn /proc/$$/status; } >> "$here/calls"
. "$here/does"
case "$*" in
-d) : > "$CUDA_MPS_PIPE_DIRECTORY/control" ;;
*) read line; [ "$line" != quit ] || rm "$CUDA_MPS_PIPE_DIRECTORY/control" ;;
esac
exit 0
"""


class Control:
    """In a mount namespace of its own, where /run is empty."""

    def __init__(self, desk, folder):
        needs_root()
        self.desk, self.bin = desk, folder / "bin"
        self.bin.mkdir()
        self.program = self.bin / "nvidia-cuda-mps-control"
        self.program.write_text(CONTROL)
        self.program.chmod(0o755)
        self.does("")
        self.path = f"{self.bin}:{os.environ['PATH']}"

    def does(self, script):
        (self.bin / "does").write_text(script)

    def calls(self):
        file = self.bin / "calls"
        return file.read_text() if file.exists() else ""

    def shell(self, script, **env):
        return self.desk.command("unshare", "--mount", "sh", "-c",
                                 f"mount -t tmpfs none /run && mount -t tmpfs -o mode=1777 none /tmp2 2>/dev/null; {script}",
                                 PATH=self.path, **env)


@pytest.fixture
def control(desk, tmp_path):
    return Control(desk, tmp_path)


def test_the_mps_server_has_its_own_surroundings(control):
    result = control.shell(f"exec 7< /etc/passwd; cd /usr; trap '' INT; {TOOL} -t 0 sh -c 'echo $CUDA_MPS_PIPE_DIRECTORY'",
                           CUDA_VISIBLE_DEVICES="0", CUDA_MPS_ACTIVE_THREAD_PERCENTAGE="50", SECRET="x")
    assert result.status == 0 and result.out == "/run/nvtaskset/mps-1\n"
    calls = control.calls()
    begin = calls[calls.index("called -d"):]
    assert "in /\n" in begin.splitlines(True)[0]
    names = set(re.findall("^([A-Za-z_]+)=", calls, re.MULTILINE))
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {"PATH", "HOME", "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY"}
    assert "/etc/passwd" not in calls, calls
    (ignored,) = re.findall(r"SigIgn:\s+(\w+)", begin)
    assert not int(ignored, 16) >> (signal.SIGINT - 1) & 1
    assert "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE is 50" in result.err


def test_the_mps_server_is_in_a_scope_of_its_own(control):
    """Where systemd runs and lets it."""
    scope = control.bin / "systemd-run"
    scope.write_text('#!/bin/sh\necho "scope $*" >> "$(dirname "$0")/calls"\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    scope.chmod(0o755)
    assert control.shell(f"mkdir -p /run/systemd/system; {TOOL} -t 0 true").status == 0
    assert "scope --scope" in control.calls() and "called -d" in control.calls()
    scope.write_text("#!/bin/sh\nexit 1\n")
    (control.bin / "calls").unlink()
    assert control.shell(f"mkdir -p /run/systemd/system; {TOOL} -t 0 true").status == 0
    assert "called -d" in control.calls()


@pytest.mark.parametrize("owner, trusted", (("0", True), ("65534", False)))
def test_a_server_that_is_already_there(control, owner, trusted):
    """Any user can make /tmp/nvidia-mps: it is asked only if it is root's or ours."""
    result = control.shell(f"mount -t tmpfs none /tmp/nvidia-mps 2>/dev/null || {{ mkdir /tmp/nvidia-mps && mount -t tmpfs none "
                           f"/tmp/nvidia-mps; }}; : > /tmp/nvidia-mps/control; chown {owner} /tmp/nvidia-mps; {TOOL} -t 0 "
                           f"sh -c 'echo $CUDA_MPS_PIPE_DIRECTORY'")
    assert result.status == 0 and (result.out == "\n") == trusted, result
    assert ("CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps" in control.calls()) == trusted


@pytest.mark.parametrize("does, sentence", (("exit 1", "-d failed; its log is in /run/nvtaskset/mps-1"),
                                            ("kill -9 $$", "-d failed; its log is in")))
@pytest.mark.parametrize("ignores_children", (False, True))
def test_an_mps_server_that_cannot_start(control, does, sentence, ignores_children):
    control.does(does)
    start = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])"
    before = f"{sys.executable} -c '{start}' " if ignores_children else ""
    result = control.shell(f"{before}{TOOL} -t 0 true")
    assert result.status == FAILED and sentence in result.err and "is not there" not in result.err
    control.program.chmod(0o644)
    result = control.shell(f"{TOOL} -t 0 true")
    assert result.status == FAILED and "cannot be run: Permission denied" in result.err


def test_a_control_program_that_does_not_answer(control):
    """It is not waited for, and others are not kept waiting."""
    control.does("sleep 1000")
    result = control.shell(f"mkdir -p /run/nvtaskset/mps-1; chmod -R 700 /run/nvtaskset; : > /run/nvtaskset/mps-1/control; {TOOL} -t 0 true & "
                           f"{TOOL} --no-mps -x -s 2 true; echo $?; kill $!", timeout=str(PATIENCE_S))
    assert result.out == "0\n", result.err


@pytest.mark.parametrize("spoil", ("chown 65534 {}", "chmod 777 {}", "chmod 750 {}", "rmdir {}; mkdir -m 700 /run/other; ln -s /run/other {}"))
@pytest.mark.parametrize("folder", ("/run/nvtaskset", "/run/nvtaskset/mps-1"))
def test_folders_that_are_not_ours(control, folder, spoil):
    """Nothing is started with them, asked there or written there."""
    prepare = "mkdir -m 700 /run/nvtaskset; "
    if folder.endswith("mps-1"):
        prepare += f"mkdir -m 700 {folder}; "
    prepare += spoil.format(*[folder] * spoil.count("{}")) + "; "
    plant = "mkdir -p -m 700 /run/nvtaskset/mps-1; : > /run/nvtaskset/mps-1/control; "
    for words in ("-t 0 true", "--quit-mps"):
        result = control.shell(f"{prepare}{plant}{TOOL} {words}")
        assert result.status == FAILED and "is not this user's alone" in result.err
    assert "called" not in control.calls()


def test_the_mps_server_ends(control):
    result = control.shell(f"{TOOL} -t 0 true; {TOOL} --quit-mps; echo $?; {TOOL} --quit-mps; echo $?")
    assert result.out == "0\n2\n" and "has started no MPS server" in result.err


def test_no_mps_server_can_be_started(desk, tmp_path):
    (tmp_path / "bin").mkdir()
    for env in ({}, {"CUDA_MPS_PIPE_DIRECTORY": ""}):
        result = desk.tool("-t", "0", PROGRAM, "launch", PATH=str(tmp_path / "bin"), **env)
        assert result.status == FAILED and "--no-mps" in result.err and not result.out


def test_mps_is_the_users(desk):
    result = desk.tool("-t", "0", "sh", "-c", "echo $CUDA_MPS_PIPE_DIRECTORY", CUDA_MPS_PIPE_DIRECTORY="/mine")
    assert result.status == 0 and result.out == "/mine\n"
    assert "CUDA_MPS_PIPE_DIRECTORY is /mine, where no MPS server answers" in result.err


# --- completion ---

SCRIPT = ROOT / "tools/nvtaskset/completion/nvtaskset.bash"


def offered(words, **env):
    """What bash would put in for the last of its words."""
    script = f"source {SCRIPT}; COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)); _nvtaskset; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", "nvtaskset", *words], check=True, capture_output=True, text=True,
                          env={**os.environ, "COMP_WORDBREAKS": " \t\n\"'><=;|&(:", **env})
    assert not done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("gpus", (0, 1, 3, 11))
def test_completion_knows_the_gpus(tmp_path, gpus):
    for n in range(gpus):
        (tmp_path / f"gpus/0000:{n:02x}:00.0").mkdir(parents=True)
    numbers = [str(n) for n in range(gpus)]
    for words in (("-i", ""), ("--gpu", ""), ("--gpu", "="), ("--gpu", "=", ""), ("--tpcs", "=", "0", "--gpu", "=", "")):
        assert offered(words, NVTASKSET_DRIVER_FOLDER=str(tmp_path)) == ["all", *numbers]
    assert offered(("--gpu", "=", "a"), NVTASKSET_DRIVER_FOLDER=str(tmp_path)) == ["all"]
    for shell in ("zsh", "fish"):
        assert "NVTASKSET_DRIVER_FOLDER" in SCRIPT.with_suffix(f".{shell}").read_text()


@pytest.mark.parametrize("before", (("--tpcs", "=", "0-3"), ("--tpcs", "0-3"), ("-t", "0", "--gpu", "=", "1"), ("-p", "1"), ("--spread",)))
def test_completion_goes_on_after_a_value(before):
    assert offered((*before, "--exc")) == ["--exclusive"]
    assert offered((*before, "--qui")) == ["--quit-mps", "--quiet"]
    assert not offered((*before, "--tpcs", "=", ""))
    assert offered((*before, "--turn", "=", "")) == [*"123456789"]
    assert "nproc" in offered((*before, "npro"))


BEHIND = ("-t 0 --gpu=0", "-xt 0", "-xt0", "-jqi 1 -t 0", "--turn 3 -x", "-x --")


@pytest.mark.parametrize("shell", ("bash", "zsh", "fish"))
@pytest.mark.parametrize("typed, whole", [(f"{before} quok", f"{before} quokka") for before in BEHIND] +
                         [("-xt 0 --spr", "-xt 0 --spread"), ("--spr", "--spread"), ("-xi ", "-xi all")])
def test_completion_in_a_shell(tmp_path, monkeypatch, shell, typed, whole):
    shells.needs(shell)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/quokka").touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("NVTASKSET_DRIVER_FOLDER", str(tmp_path))
    script = SCRIPT.with_suffix(f".{shell}")
    if shell == "fish":
        assert shells.in_fish([script], f"nvtaskset {typed}", tmp_path) == [whole.split()[-1]]
    elif shell == "bash":
        assert shells.in_bash([script], f"nvtaskset {typed}", tmp_path).rstrip() == f"nvtaskset {whole}"
    else:
        assert shells.in_zsh([script], f"nvtaskset {typed}", tmp_path)[1].rstrip() == f"nvtaskset {whole}"
