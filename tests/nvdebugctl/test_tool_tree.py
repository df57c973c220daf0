# SPDX-License-Identifier: MIT OR GPL-2.0
"""`runlist tree`, as text and JSON, on what every board prints with every workload."""

import re

import pytest
from boards import BOARDS
from ctl import GOLDEN, ctl, write_capture, write_tree

pytestmark = pytest.mark.sample

UTF8 = {"LC_ALL": "C.UTF-8"}
ASCII = {"LC_ALL": "C"}
CASES = [(board, path.name) for board in BOARDS for path in sorted((GOLDEN / board).iterdir())
         if path.name not in ("topology", "modes")]


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def tree(request, tmp_path_factory):
    return write_tree(tmp_path_factory.mktemp("tree") / "-".join(request.param), request.param)


@pytest.fixture
def mixed(tmp_path):
    return write_tree(tmp_path / "proc", ("rtx2080ti", "mixed"))


def ids_in(text):
    """Returns the ids in texts such as `20, 22` and `0-7`."""
    ids = []
    for part in text.split(", "):
        first, _, last = part.partition("-")
        ids += range(int(first), int(last or first) + 1)
    return ids


def test_json_has_every_channel_of_every_list(tree):
    data = ctl("-j runlist tree", tree).data
    listed = ctl("-j channel list", tree).data
    assert {(row["runlist"], row["tsg"], row["channel"]) for row in listed} == {
        (runlist["runlist"], tsg["tsg"], channel["channel"])
        for runlist in data["runlists"] for tsg in runlist["tsgs"]
        for space in tsg["address_spaces"] for channel in space["channels"]}
    for runlist in data["runlists"]:
        shares = [tsg["share_percent"] for tsg in runlist["tsgs"]]
        assert not shares or sum(shares) == pytest.approx(100, abs=0.01)


def test_json_agrees_with_the_other_verbs(tree):
    tsgs = {(row["runlist"], row["tsg"]): row for row in ctl("-j tsg list", tree).data}
    engines, agree = ctl("-j engine list", tree).data, False
    for runlist in ctl("-j runlist tree", tree).data["runlists"]:
        assert runlist["engines"] == [engine["engine"] for engine in engines
                                      if engine["runlist"] == runlist["runlist"]]
        for tsg in runlist["tsgs"]:
            row = tsgs[runlist["runlist"], tsg["tsg"]]
            assert (tsg["timeslice_us"], tsg["share_percent"]) == (row["timeslice_us"],
                                                                   row["share_percent"])
            shown = [engine["engine"] for engine in engines if engine["runlist"] == runlist["runlist"]
                     and engine["current"] == f"tsg:{tsg['tsg']}"]
            # The list is read at another moment, and may then have channels of another TSG on an engine.
            assert tsg["active_on"] in (shown, [])
            agree |= bool(shown) and tsg["active_on"] == shown
    assert agree or not any(engine["current"] for engine in engines)


def test_text_has_every_runlist_tsg_and_channel(tree):
    text = ctl("runlist tree", tree, env=ASCII)
    assert (text.status, text.err) == (0, "") and text.out.isascii()
    for runlist in ctl("-j runlist tree", tree).data["runlists"]:
        if not runlist["tsgs"]:
            assert re.search(rf"\b{runlist['runlist']} \({' '.join(runlist['engines'])}\)",
                             text.out)
            continue
        part = re.search(rf"^[|`]- runlist {runlist['runlist']}  .*\n(?:[| ] .*\n)*", text.out,
                         re.MULTILINE).group()
        shown = [number for ids in re.findall(r"\bchannels? ([\d, -]*\d)", part)
                 for number in ids_in(ids)]
        assert sorted(shown) == sorted(
            channel["channel"] for tsg in runlist["tsgs"] for space in tsg["address_spaces"]
            for channel in space["channels"])
        for tsg in runlist["tsgs"]:
            shown = re.search(rf"- TSG {tsg['tsg']} +share +\S+ +([\d.]+)(us|ms|s)\b", part)
            us = float(shown[1]) * {"us": 1, "ms": 1e3, "s": 1e6}[shown[2]]
            assert us == pytest.approx(tsg["timeslice_us"], rel=0.005), "three digits of it"
            assert len(shown[1].replace(".", "")) == 3, shown.group()


def test_text_marks_unusual_state(mixed):
    lines = ctl("runlist tree", mixed, env=ASCII).out.splitlines()

    def line(start):
        return next(each for each in lines if start in each)
    assert lines[0] == "gpu0  TU102 (Turing)  0000:00:09.0"
    assert "scheduling on  4 TSGs, 8 channels" in line("runlist 0")
    assert line("TSG 10").endswith("2.00ms x2  on GR0 now")
    assert "<0.1%" in line("TSG 13")
    assert line("TSG 17").endswith("disabled")
    assert line("channel 31").endswith("disabled, PENDING")
    assert line("channel 50").endswith("faulted on engine, PENDING")


def test_mps_is_named(tmp_path):
    folder = write_tree(tmp_path / "proc", ("titan-v", "fig7"))
    text = ctl("runlist tree 0", folder, env=ASCII).out
    assert "TSG 1  share 50.0%  2.00ms  shared by 3 address spaces (MPS)" in text
    assert re.search(r"VEID 1: channels 3, 4  ", text)


def test_lines_are_of_unicode_where_the_locale_is(mixed):
    assert "├─ runlist 0" in ctl("runlist tree", mixed, env=UTF8).out
    assert ctl("runlist tree", mixed, env=ASCII).out.isascii()


def test_one_runlist(mixed):
    assert ctl("runlist tree 8", mixed).out.count("runlist ") == 1
    assert "0 TSGs, 0 channels" in ctl("runlist tree 10", mixed).out
    assert [each["runlist"] for each in ctl("-j runlist tree 8", mixed).data["runlists"]] == [8]
    missing = ctl("runlist tree 99", mixed)
    assert missing.status == 2 and "has no runlist 99" in missing.err


def test_a_capture_gives_the_same_tree(mixed, tmp_path):
    capture = tmp_path / "capture"
    write_capture(capture, mixed)
    assert ctl("runlist tree", capture).out == ctl("runlist tree", mixed).out


def test_unreadable_lists_are_unknown_and_reported(mixed):
    for name in ("scheduling", "contexts", "engines"):
        (mixed / "gpu0" / name).unlink()
    result = ctl("-j runlist tree", mixed)
    assert result.status == 4
    first = result.data["runlists"][0]
    assert first["scheduling"] is None
    assert first["tsgs"][0]["shared"] is None and first["tsgs"][0]["active_on"] is None
    assert all(name in result.err for name in ("scheduling", "contexts", "engines"))


def test_a_torn_or_unreadable_list_is_partial(mixed):
    path = mixed / "gpu0/runlist8_brief"
    path.write_text(path.read_text().replace("consistent", "      torn"))
    (mixed / "gpu0/runlist9_brief").write_text("nonsense\n")
    result = ctl("-j runlist tree", mixed)
    assert result.status == 4
    lists = {each["runlist"]: each for each in result.data["runlists"]}
    assert lists[8]["torn"] is True and lists[9]["error"]
    assert len(result.json["missing"]) == 2
    text = ctl("runlist tree", mixed)
    assert text.status == 4 and "torn: it moved" in text.out and "cannot be read" in text.out
