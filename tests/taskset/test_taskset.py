# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvtaskset with a program over a stand-in for CUDA, which prints the SMs of its launches. No GPU, no VM."""

import re

import pytest
from desk import (ALL, FIRST_SMS, GPC_TPCS, PROGRAM, TOO_LARGE, UNSUPPORTED, USAGE,
                  answers_while_it_changes, document, numbers, sms_in, sms_of)
from waiting import until


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
    """A program gets at least as many SMs as it asks for."""
    assert len(sms_in(desk.run(f"-s {size}", "launch").answers[0])) == count


@pytest.mark.parametrize("size, gpcs", ((16, 1), (18, 1), (36, 2), (34, 2)))
def test_whole_gpcs_first(desk, size, gpcs):
    sms = sms_in(desk.run(f"-s {size}", "launch").answers[0])
    used = {FIRST_SMS.index(sm) for sm in sms if not sm % 2}
    rows = re.findall(r"GPC \d+ +TPCs (\S+)", desk.done("--list"))
    touched = [row for row in rows if used & set(numbers(row))]
    assert len(touched) == gpcs and used == {tpc for row in touched for tpc in numbers(row)}


@pytest.mark.parametrize("options, sentence, exit_status", (
    ("-t 66", "there is no TPC 66: this GPU has 0 to 65", USAGE),
    ("-t 3-1", "'3-1' is no list of TPCs", USAGE),
    ("-t x", "'x' is no list of TPCs", USAGE),
    ("-t ,", "',' is no list of TPCs", USAGE),
    ("-t 99999999999999999999", "is no list of TPCs", USAGE),
    ("-g 8", "nvtaskset: there is no GPC 8", USAGE),
    ("-s 0", "--sms takes a number of SMs, or a part as 25%, not '0'", USAGE),
    ("-s 134", "this GPU has 132 SMs", USAGE),
    ("-s 101%", "or a part as 25%, not '101%'", USAGE),
    ("-s 0.25", "not '0.25' (did you mean 25%?)", USAGE),
    ("-s -4", "not '-4'", USAGE),
    ("-s x", "--sms takes a number of SMs", USAGE),
    ("-i 1 -t 0", "there is no GPU '1'", USAGE),
    ("-i MIG-57a2 -t 0", "part of a GPU (MIG)", UNSUPPORTED),
    *((f"-i {words} -t 0", "is no list of GPUs", USAGE) for words in (",", "0,", ",0", "0,,0")),
    *((f"{option} {words}", "is no list of", USAGE) for option in ("-t", "-g")
      for words in (",", "0,", ",0", "0,,1", "0-", "-0-", "0--1")),
    ("-t 0 -g 0", "-t, -g, -s, --whole, --in-flight and --prepare exclude each other", USAGE),
    ("-t 0 --prepare", "-t, -g, -s, --whole, --in-flight and --prepare exclude each other", USAGE),
    *((f"{option} 0-5000", f"no GPU has {what} 5000", USAGE) for option, what in (("-t", "TPC"), ("-g", "GPC"))),
    ("-x --prepare", "--exclusive has an effect with -t, -g or -s alone", USAGE),
    ("-t 0 --spread", "--spread has an effect with -s alone", USAGE),
    ("--prepare --spread", "--spread has an effect with -s alone", USAGE),
    ("--whole", "--whole changes a running task", USAGE),
    ("", "no TPCs are chosen", USAGE)))
def test_wishes_that_cannot_be(desk, options, sentence, exit_status):
    desk.refused(f"--no-mps {options}", sentence, PROGRAM, "launch", exit_status=exit_status)


@pytest.mark.parametrize("options, sentence", (
    *((f"{option} 2 {job}", "-t, -g and -s choose TPCs for a COMMAND, -p or --cdi")
      for option in ("-t", "-g", "-s") for job in ("--list", "--quit-mps", "--check-image")),
    *((f"-x {job}", "--exclusive has an effect with -t, -g or -s alone") for job in ("--list", "-p 1", "--whole -p 1")),
    *((f"--best-effort {job}", "--best-effort needs a COMMAND to start") for job in ("--list", "-p 1", "-t 0 -p 1"))))
def test_options_without_an_effect(desk, options, sentence):
    desk.refused(options, sentence, exit_status=USAGE)


def test_an_empty_list(desk):
    desk.refused("--no-mps", "--tpcs takes a value: LIST", "-t", "", PROGRAM, "launch", exit_status=USAGE)
    desk.refused("--no-mps -t 0", "--gpu takes a value: GPU", "-i", "", PROGRAM, "launch", exit_status=USAGE)


def test_the_commands_own_status(desk):
    assert desk.tool("--no-mps", "-t", "0", "sh", "-c", "exit 7").status == 7
    result = desk.tool("--no-mps", "-t", "0", "/nonexistent")
    assert result.status == 127 and "No such file" in result.err
    result = desk.tool("--no-mps", "-t", "0", "/etc/passwd")
    assert result.status == 126 and "Permission denied" in result.err
    desk.refused("--no-mps -t 0", "no COMMAND to run is given", exit_status=USAGE)


# --- running tasks ---

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
    told = desk.told(program.pid)
    assert "without a partition it may use all of it" in told and "kept to the partition" not in told
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


def test_each_launch_sees_one_partition_or_the_other(desk):
    """TPCs 0 and 65 are in different words of the mask, which must change together."""
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


def test_the_same_as_json(desk):
    program = desk.start("-t 0-3,10", "graph", "graph-launch 0", "cooperative 100")
    assert [program.hear() for _ in range(3)][::2] == ["ok", TOO_LARGE]
    (listed,), (one,) = (document(desk.done(*options))["gpus"]
                         for options in (("--list", "-j"), ("-j", "-p", program.pid)))
    assert listed == one
    assert [tpc["sms"] for tpc in one["tpcs"]] == [[sm, sm + 1] for sm in FIRST_SMS]
    assert [tpc["gpc"] for tpc in one["tpcs"]][::9][:2] == [0, 1]
    assert (one["uuid"], one["name"]) == (desk.uuids[0], "NVIDIA H100 80GB HBM3")
    (task,) = one["tasks"]
    assert [(process["pid"], process["kept"]) for process in task["processes"]] == [(program.pid, True)]
    partition = task["partition"]
    assert (partition["tpcs"], partition["sms"]) == ([0, 1, 2, 3, 10], 10)
    assert (partition["launches_kept"], partition["launches_refused"], partition["graphs"]) == (1, 1, 1)


# --- other tasks ---

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
    desk.refused(f"-x -t 9 -p {other.pid}", f"TPC 9 is of task {program.pid}")
    desk.change(other.pid, "-x -t 10-20")
    assert other.launch() == sms_of(*range(10, 21))


@pytest.mark.parametrize("words", ["-t 8-12", "-s 132"])
def test_exclusive_task_is_named_to_a_later_one(desk, words):
    alone, usual = desk.start("-x -t 0-9"), desk.start("-t 10-19")
    later = desk.run(words, "launch")
    both = "8,9" if words == "-t 8-12" else "0-9"
    assert sms_in(later.answers[0]) == sms_of(*(range(8, 13) if words == "-t 8-12" else range(66)))
    assert f"TPCs {both} are of task {alone.pid} (program), which asked for TPCs of its own" in later.err
    assert f"of task {usual.pid}" not in later.err
    desk.change(alone.pid, "-t 0-9")
    assert "asked for TPCs of its own" not in desk.run(words, "launch").err, "which it did not do again"
    desk.change(usual.pid, "-x -t 10-19")
    assert f"TPCs 10-{12 if words == '-t 8-12' else 19} are of task {usual.pid}" in desk.run(words, "launch").err


def test_free_ones_before_others(desk):
    first, second = desk.start("-s 66"), desk.start("-s 66")
    mine, others = first.launch(), second.launch()
    assert len(mine) == len(others) == 66 and not set(mine) & set(others)
    assert len(desk.start("-s 18").launch()) == 18, "and these if there is nothing else"


def test_spread(desk):
    """--spread takes four TPCs of each GPC, and then the next four, of TPCs that no task has."""
    alone = desk.run("-s 32 --spread", "launch").answers[0]
    assert sms_in(alone) == sms_of(0, 1, 2, 3, 9, 10, 11, 12, 18, 19, 20, 21, 26, 27, 28, 29)
    most = desk.run("-s 70 --spread", "launch").answers[0]
    assert set(sms_in(most)) >= set(sms_of(*range(7), *range(58, 62))) and len(sms_in(most)) == 70
    desk.start("-t 0-6")
    assert sms_in(desk.run("-s 14 --spread", "launch").answers[0]) == sms_of(7, 8, 9, 10, 11, 12, 18)


def test_many_at_once(desk):
    """Each task gets a TPC of its own, even if all choose at the same time."""
    programs = [desk.start_command("--no-mps -x -s 2", PROGRAM, "launch", "-") for _ in range(64)]
    used = [sm for program in programs for sm in sms_in(program.hear())]
    assert len(used) == 128 == len(set(used))
    desk.change(programs[0].pid, "-x -s 6")
    desk.refused("--no-mps -x -s 2", "are free", PROGRAM, "launch")
    # The TPCs of a task are free when it has ended.
    lost = programs[5].launch()
    programs[5].kill()
    assert sms_in(desk.run("-x -s 2", "launch").answers[0]) == lost
    assert desk.done("--list").count("(program)") == 63


def test_a_probe_is_no_task(desk):
    """A probe uses each TPC in turn, but does not take TPCs from tasks that start meanwhile."""
    slow = desk.start_command("--probe", STAND_IN_PAUSE_US="500000")
    until(lambda: desk.launches("nvtaskset"))
    assert desk.run(f"--no-mps -x -s {len(ALL)}", "launch").status == 0
    assert "(nvtaskset)" not in desk.done("--list")
    assert slow.process.poll() is None, "the probe was over before the others"
