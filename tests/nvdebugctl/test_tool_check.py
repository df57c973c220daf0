# SPDX-License-Identifier: MIT OR GPL-2.0
"""`check` gives eight answers with evidence, and an exit status that follows from them."""

import golden_text
import pytest
from boards import BOARDS, IDS_PER_RUNLIST, since
from ctl import GOLDEN, ctl, write_capture, write_tree

CASES = [(board, path.name) for board in BOARDS for path in sorted((GOLDEN / board).iterdir())
         if path.name not in ("topology", "modes")]
WIRED = [board for board in BOARDS
         if "==> copy_topology" in golden_text.load(f"{board}/topology")]


@pytest.fixture(params=CASES, ids="-".join)
def case(request, tmp_path):
    return (*request.param, write_tree(tmp_path / "proc", request.param))


@pytest.fixture
def idle(tmp_path):
    return write_tree(tmp_path / "proc", ("rtx2080ti", "idle"))


def findings(source, *words):
    return {each["rule"]: each for each in ctl(["-j", "check", *words], source).data["findings"]}


def test_every_rule_is_answered_with_evidence(case):
    board, workload, source = case
    result = ctl("-j check", source)
    answers = {each["rule"]: each for each in result.data["findings"]}
    assert list(answers) == [f"R{n}" for n in range(1, 9)]
    for each in answers.values():
        assert each["question"].endswith("?") and each["answer"].endswith(".")
        for item in each["evidence"]:
            assert item["file"].startswith(str(source / "gpu0")) and item["values"]
    verdicts = [each["verdict"] for each in answers.values()]
    assert result.data["verdicts"] == {
        word: verdicts.count(word) for word in ("ok", "note", "unknown", "attention", "trouble")}
    assert result.status == (2 if "trouble" in verdicts else 0)
    # Trouble is found on the model's boards with work that faults, if the chip's channels show faults.
    assert ("trouble" in verdicts) == (workload == "mixed" and board in since("volta"))
    if board not in WIRED:
        copies = "COPY" in golden_text.load(f"{board}/topology")
        assert answers["R8"]["verdict"] == ("ok" if copies else "unknown")


def test_where_the_rules_were_measured(case):
    """lab/evidence.csv has measurements of Hopper only."""
    board, _, source = case
    hopper = board in ("h100", "h200", "gh200")
    for rule, each in findings(source).items():
        assert each["measured"]["where"] == ("this_generation" if hopper else "other_generation")
        assert {one["generation"] for one in each["measured"]["on"]} == {"Hopper"}
        assert {one["found"] for one in each["measured"]["on"]} == {"in part" if rule == "R8" else "holds"}
    text = " ".join(ctl("check", source).out.split())
    assert f"Measured on {'this' if hopper else 'another'} generation" in text and "R1-7: holds on h100-" in text
    assert "; R8: in part on h100-" in text or ": R8: in part on h100-" in text


def test_text_says_the_same(case):
    _, _, source = case
    text, data = ctl("check", source), ctl("-j check", source)
    assert text.status == data.status
    squeezed = " ".join(text.out.split())
    for each in data.data["findings"]:
        for part in (f"{each['rule']} {each['verdict']} {each['question']}", each["answer"],
                     *(f"{item['file']}: {item['values']}" for item in each["evidence"])):
            assert part in squeezed


def test_facts_that_an_engineer_needs(tmp_path):
    answers = findings(write_tree(tmp_path / "a", ("rtx2080ti", "mixed")))
    assert "71-73 on runlist 9" in answers["R1"]["answer"]
    assert "50 on runlist 0; 72 on runlist 9" in answers["R1"]["answer"]
    assert "3 channels: TSG 10" in answers["R2"]["answer"]
    assert "runlist 8: TSG 15 on LCE2" in answers["R4"]["answer"]
    assert "5, though there are 7 runlists" in answers["R5"]["answer"]
    assert "4 on runlist 0" in answers["R6"]["answer"]
    assert "LCE0, LCE4 contend for PCE 1." in answers["R8"]["answer"]
    answers = findings(write_tree(tmp_path / "b", ("gtx980", "mixed")))
    assert "Runlists 4, 5 are fed by one PBDMA" in answers["R5"]["answer"]
    answers = findings(write_tree(tmp_path / "c", ("titan-v", "fig7")))
    assert "TSG 1 on runlist 0 has 3 address spaces (MPS)" in answers["R4"]["answer"]


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("workload", ("idle", "fig6"))
def test_attention_is_for_what_is_unusual(tmp_path, board, workload):
    """Nothing is unusual while tasks just run. That they wait for each other is normal for GPUs."""
    source = write_tree(tmp_path / "proc", (board, workload))
    verdicts = {each["verdict"] for each in findings(source).values()}
    assert verdicts <= {"ok", "note", "unknown"}, verdicts
    if board in WIRED:
        assert "note" in verdicts or board in ("titan-v", "a100", "h200", "b200")


def test_runlists_of_engines_that_cannot_copy_are_not_independent(tmp_path):
    """Some runlists of an A100 serve only a copy engine that has no physical one."""
    source = write_tree(tmp_path / "proc", ("a100", "idle"))
    copies = ctl("-j copy show", source).data["lces"]
    engines = ctl("-j engine list", source).data
    unable = {lce["runlist"] for lce in copies if not lce["pces"]}
    unable -= {engine["runlist"] for engine in engines
               if engine["engine"] not in [lce["lce"] for lce in copies if not lce["pces"]]}
    runlists = {engine["runlist"] for engine in engines if engine["runlist"] is not None}
    answer = findings(source)["R5"]["answer"]
    assert unable and f", though there are {len(runlists)} runlists. Nothing can run on runlists " in answer
    assert int(answer.split(",")[0]) <= len(runlists - unable)


def test_an_engine_on_two_runlists_is_trouble(idle):
    path = idle / "gpu0/device_info"
    path.write_text(path.read_text() + "NVDEC       0       2            -         1       10"
                                       "       15      17 0x830000 3\n")
    answers = findings(idle)
    assert answers["R7"]["verdict"] == "trouble" and "NVDEC0 on 1 and 2" in answers["R7"]["answer"]
    assert ctl("check", idle).status == 2


def test_unreadable_files_give_unknown_and_partial_answers(idle):
    (idle / "gpu0/contexts").unlink()
    result = ctl("-j check", idle)
    assert result.status == 4 and "contexts" in result.err
    answers = {each["rule"]: each for each in result.data["findings"]}
    assert answers["R4"]["verdict"] == "unknown" and "contexts" in answers["R4"]["answer"]


def test_trouble_weighs_more_than_a_missing_part(tmp_path):
    source = write_tree(tmp_path / "proc", ("a100", "mixed"))
    (source / "gpu0/scheduling").unlink()
    result = ctl("check", source)
    assert result.status == 2 and "scheduling" in result.err


def test_a_capture_can_be_checked(idle, tmp_path):
    capture = tmp_path / "capture"
    write_capture(capture, idle)
    assert ctl("check", capture).status == 0


def test_no_gpu(tmp_path):
    (tmp_path / "empty").mkdir()
    assert ctl("check", tmp_path / "empty").status == 1


def test_ids_per_runlist_are_told_apart(tmp_path):
    source = write_tree(tmp_path / "proc", (IDS_PER_RUNLIST[0], "mixed"))
    assert "71-73 on runlist 2" in findings(source)["R1"]["answer"]
