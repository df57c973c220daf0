# SPDX-License-Identifier: MIT OR GPL-2.0
"""Every verb that reads, in each of its forms, on the files of every board with every workload."""

import csv
import io
import re

import golden_text
import pytest
import text
from boards import BOARDS, INTEGRATED, since
from ctl import GOLDEN, ctl, files_of, table, write_capture, write_tree

pytestmark = pytest.mark.sample

WORKLOADS = {board: sorted(path.name for path in (GOLDEN / board).iterdir()
                           if path.name not in ("topology", "modes")) for board in BOARDS}
HAS_COPY_TOPOLOGY = [board for board in BOARDS
                     if "==> copy_topology" in golden_text.load(f"{board}/topology")]

LISTS = ("gpu list", "engine list", "engine shared", "runlist list", "runlist show 0",
         "runlist show 0 --brief", "channel list", "channel list 0", "tsg list", "tsg list 0",
         "copy show", "copy shared")
OTHERS = ("gpu show", "engine shared GR0 LCE0", "topology show")


@pytest.fixture(scope="session", params=[(board, workload) for board in BOARDS
                                         for workload in WORKLOADS[board]], ids="-".join)
def tree(request, tmp_path_factory):
    """Makes a folder with one GPU, for every board and every workload."""
    folder = tmp_path_factory.mktemp("proc") / "-".join(request.param)
    write_tree(folder, request.param)
    folder.joinpath("board").write_text(request.param[0])
    return folder


@pytest.fixture(scope="session", params=BOARDS)
def mixed(request, tmp_path_factory):
    """Makes a folder with one GPU of every board, under the workload that has the most to show."""
    folder = write_tree(tmp_path_factory.mktemp("proc") / request.param, (request.param, "mixed"))
    folder.joinpath("board").write_text(request.param)
    return folder


@pytest.fixture(scope="session")
def commands():
    return {" ".join(filter(None, (command["object"], command["verb"]))): command
            for command in table()}


def status_of(line, board):
    if line.startswith("copy") and board not in HAS_COPY_TOPOLOGY:
        return 3
    return 2 if line == "engine shared GR0 LCE0" else 0


def board_of(tree):
    return tree.joinpath("board").read_text()


def words_of(line, board):
    """Returns the words of a line. Physical copy engines have other names."""
    return (line if board in since("pascal") else line.replace("LCE0", "COPY2")).split()


def csv_cell(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return " ".join(csv_cell(element) for element in value)
    if isinstance(value, dict):  # a task of `gpu list`, which is a TSG in a folder
        return f"{value['tsgs'][0]}={csv_cell(value['expected_share_percent'])}"
    return repr(value) if isinstance(value, float) else str(value)


def rows_of(line, data):
    """Returns the JSON data as the rows that CSV has."""
    if line.startswith("copy show"):
        return data["lces"]
    if not line.startswith("runlist show"):
        return data
    rows = {}
    for item in data["items"]:
        for channel in item.get("channels", [item] if item["kind"] == "channel" else []):
            row = rows.setdefault((item.get("tsg"), channel["channel"]),
                                  {"runlist": data["runlist"], "tsg": item.get("tsg"),
                                   **channel, "entries": 0})
            row["entries"] += 1
    return list(rows.values())


@pytest.mark.parametrize("line", LISTS + OTHERS)
def test_json(tree, line):
    result = ctl(["-j", *words_of(line, board_of(tree))], tree)
    assert result.status == status_of(line, board_of(tree)), result.err
    document = result.json
    assert ("data" in document) == (result.status != 3)
    assert document["missing"] == []
    assert document["source"]["kind"] == "folder"
    assert result.out.count("\n") == 1


@pytest.mark.parametrize("line", LISTS)
def test_csv_is_the_rows_of_json(mixed, commands, line):
    result = ctl(["--csv", *line.split()], mixed)
    assert result.status == status_of(line, board_of(mixed)), result.err
    if result.status:
        return
    columns = [column["name"] for column in commands[" ".join(line.split()[:2])]["columns"]]
    header, *cells = csv.reader(io.StringIO(result.out))
    assert header == columns
    rows = rows_of(line, ctl(["-j", *line.split()], mixed).data)
    assert cells == [[csv_cell(row[column]) for column in columns] for row in rows]


@pytest.mark.parametrize("line", [line for line in LISTS if not line.startswith("runlist show")])
def test_table(mixed, commands, line):
    result = ctl(line, mixed)
    assert result.status == status_of(line, board_of(mixed)), result.err
    if result.status:
        return
    shown = [column for column in commands[" ".join(line.split()[:2])]["columns"]
             if column["in_table"]]
    header, *lines = result.out.splitlines()
    rows = rows_of(line, ctl(["-j", *line.split()], mixed).data)
    if rows:  # columns that are empty in every row are left out
        shown = [column for column in shown
                 if any(row[column["name"]] not in (None, []) for row in rows)]
    assert len(header.split()) == len(shown)
    assert len(lines) == len(rows)
    assert all(len(re.split("  +", each)) == len(shown) for each in lines)
    assert not any(each != each.rstrip() for each in result.out.splitlines())


@pytest.mark.parametrize("line", ("gpu show", "runlist show 0", "runlist show 0 --brief",
                                  "topology show", "engine shared GR0 LCE0"))
def test_text(mixed, line):
    result = ctl(words_of(line, board_of(mixed)), mixed)
    assert result.status == status_of(line, board_of(mixed)), result.err
    assert result.err == ""
    assert result.out.endswith("\n") and "\033" not in result.out
    assert not re.search(r"null|true|false|\{|\}", result.out)


@pytest.mark.parametrize("board", INTEGRATED)
def test_gpu_show_of_an_integrated_gpu(tmp_path, board):
    info = files_of(golden_text.load(f"{board}/topology"))["info"]
    (tmp_path / "gpu0").mkdir()
    (tmp_path / "gpu0/info").write_text(info)
    shown = ctl("-j gpu show", tmp_path).data
    assert shown["pci_address"] is None
    of_file = dict(line.split(": ", 1) for line in info.splitlines())
    printed = dict(line.split(": ", 1) for line in ctl("gpu show", tmp_path).out.splitlines())
    for key in ("platform_device", "compatible"):
        assert shown[key] == of_file[key] == printed[key.replace("_", " ")]


def test_runlist_show_is_what_the_file_says(tree):
    printed = (tree / "gpu0/runlist0").read_text()
    data = ctl("-j runlist show 0", tree).data
    channels = {channel["channel"]: channel for item in data["items"]
                for channel in item.get("channels", [item])}
    for number, fields in text.channels(printed).items():
        channel = channels[number]
        assert channel["enabled"] == (fields["Enabled"] == "1")
        assert channel["status"] == fields["Status Name"]
        assert int(channel["instance_address"], 16) == int(fields["Instance Block"], 16)
    listed = [(item["tsg"], [channel["channel"] for channel in item["channels"]])
              for item in data["items"] if item["kind"] == "tsg"]
    assert listed == text.tsgs(printed)
    boxes = [box for box in text.boxes(printed) if box.kind == "TSG Entry"]
    assert [str(item["timeslice_us"]) for item in data["items"] if item["kind"] == "tsg"] == [
        str(float(box.fields["Timeslice (us)"])) for box in boxes]


def test_engine_list_is_what_the_file_says(tree):
    lines = [line.split() for line in (tree / "gpu0/device_info").read_text().splitlines()[1:]]
    rows = ctl("-j engine list", tree).data
    assert [(row["type"], str(row["instance"]), "-" if row["runlist"] is None else
             str(row["runlist"])) for row in rows] == [tuple(line[:3]) for line in lines]
    occupied = {line.split()[0]: line.split()[3]
                for line in (tree / "gpu0/engines").read_text().splitlines()[1:]}
    assert {row["engine"]: row["current"] or "-" for row in rows
            if row["engine"] in occupied} == occupied


def test_numbers_agree(tree):
    """A TSG that is listed twice counts once in every verb, and so do its channels."""
    channels, tsgs = ctl("-j channel list", tree).data, ctl("-j tsg list", tree).data
    counted = {}
    for row in ctl("-j runlist list", tree).data:
        mine = [each for each in channels if each["runlist"] == row["runlist"]]
        assert len({(each["tsg"], each["channel"]) for each in mine}) == len(mine)
        assert row["channels"] == len(mine)
        assert row["tsgs"] == len([each for each in tsgs if each["runlist"] == row["runlist"]])
        assert row["entries"] == sum(each["entries"] for each in mine) + sum(
            each["headers"] for each in tsgs if each["runlist"] == row["runlist"])
        counted[row["runlist"]] = (row["tsgs"], row["channels"])
    assert counted == {each["runlist"]: (each["tsg_count"], each["channel_count"])
                       for each in ctl("-j runlist tree", tree).data["runlists"]}
    watched = ctl("-j watch -n 1", tree).data["runlists"]
    assert counted == {each["runlist"]: (each["tsgs"], each["channels"]) for each in watched}
    for runlist in (each for each, (_, number) in counted.items() if number):
        shown = ctl(f"-j runlist show {runlist} --brief", tree).data
        assert (shown["tsgs"], shown["channels"]) == counted[runlist]
        again = [item["tsg"] for item in shown["items"] if item.get("again")]
        assert len(again) == sum(each["headers"] - 1 for each in tsgs
                                 if each["runlist"] == runlist)
        assert ctl(f"runlist show {runlist} --brief", tree).out.count("again: ") == len(again)


def test_every_listed_channel_and_tsg_can_be_shown(tree):
    for row in ctl("-j channel list 0", tree).data[:4]:
        result = ctl(f"-j channel show 0:{row['channel']}", tree)
        assert result.status == 0, result.err
        shown = result.data
        assert {key: shown[key] for key in row if key != "entries"} == {
            key: row[key] for key in row if key != "entries"}
        assert ctl(f"channel show 0:{row['channel']}", tree).status == 0
    for row in ctl("-j tsg list 0", tree).data[:4]:
        shown = ctl(f"-j tsg show 0:{row['tsg']}", tree).data
        assert [channel["channel"] for channel in shown["channels"]] == row["channels"]
        assert {key: shown[key] for key in row if key != "channels"} == {
            key: row[key] for key in row if key != "channels"}
        assert f"tsg: {row['tsg']}" in ctl(f"tsg show 0:{row['tsg']}", tree).out


def test_capture_says_the_same_as_the_folder(tree, tmp_path):
    capture = write_capture(tmp_path / "capture", tree)
    for line in ("gpu list", "runlist show 0", "channel list", "topology show"):
        folder, captured = ctl(["-j", *line.split()], tree), ctl(["-j", *line.split()], capture)
        assert captured.status == folder.status == 0
        assert captured.data == folder.data
        assert captured.json["source"] == {"kind": "capture", "path": str(capture),
                                           "captured_at": "2026-01-31T12:00:00Z"}


@pytest.mark.parametrize("board", since("volta"))
def test_mps_clients_have_their_own_address_spaces(tmp_path, board):
    """In Figure 7, TSG 1 has three clients of an MPS server."""
    tree = write_tree(tmp_path / "proc", (board, "fig7"))
    shared = {row["tsg"]: (row["shared"], row["spaces"])
              for row in ctl("-j tsg list 0", tree).data}
    assert shared == {0: (False, 1), 1: (True, 3)}
    spaces = ctl("-j tsg show 0:1", tree).data["address_spaces"]
    assert [space["channels"] for space in spaces] == [[2], [3, 4], [5, 6]]


def test_channel_show_resolves_what_the_file_prints_once(tmp_path):
    tree = write_tree(tmp_path / "proc", ("a100", "fig7"))
    printed = {channel["channel"]: channel["instance"]
               for item in ctl("-j runlist show 0", tree).data["items"]
               for channel in item["channels"]}
    assert printed[3]["context"] is None and printed[3]["context_as_channel"] == 2
    shown = ctl("-j channel show 0:3", tree).data["instance"]
    assert shown["context"] == printed[2]["context"] is not None
    assert shown["subcontexts"] == printed[2]["subcontexts"] != []


@pytest.mark.parametrize("pair, status", [("LCE2 GR0", 0), ("LCE0 GR0", 2), ("LCE0 LCE1", 2),
                                          ("lce2 gr", 0)])
def test_engine_shared(tmp_path, pair, status):
    tree = write_tree(tmp_path / "proc", ("gtx1060-3gb", "idle"))
    result = ctl(f"engine shared {pair}", tree)
    assert result.status == status
    assert ("independent" in result.out) == (status == 0)
    quiet = ctl(f"engine shared {pair} --quiet", tree)
    assert (quiet.status, quiet.out, quiet.err) == (status, "", "")


def test_engines_that_contend_for_pces(tmp_path):
    """LCE0 borrows LCE2's PCE. The two share no runlist, but wait for each other's copies."""
    tree = write_tree(tmp_path / "proc", ("gtx1060-3gb", "idle"))
    result = ctl("engine shared LCE0 LCE2", tree)
    assert result.status == 0 and "share no runlist, but contend for PCE 0 (R8)" in result.out
    assert "independent" not in result.out
    data = ctl("-j engine shared LCE0 LCE2", tree).data
    assert (data["contended_pces"], data["contended_pces_note"]) == ([0], None)
    assert ctl("engine shared LCE0 LCE2 --pces --quiet", tree).status == 2
    assert ctl("engine shared LCE2 LCE3 --pces --quiet", tree).status == 0
    assert ctl("copy shared --csv --no-header", tree).out == "0,LCE0 LCE2\n1,LCE1 LCE3\n"


def test_contention_for_pces_may_not_be_public(tmp_path):
    """On a B200, nothing is known about the copies of LCE10 and above. For other engines there is nothing to know."""
    tree = write_tree(tmp_path / "proc", ("b200", "idle"))
    result = ctl("engine shared LCE10 LCE11", tree)
    assert result.status == 0 and "independent" not in result.out
    assert "whether they share a PCE (R8) is not public on this chip" in result.out
    data = ctl("-j engine shared LCE10 LCE11", tree).data
    assert (data["contended_pces"], data["contended_pces_note"]) == (
        None, "not public on this chip")
    result = ctl("engine shared LCE10 LCE11 --pces", tree)
    assert result.status == 3 and "not public" in result.err
    assert ctl("-j engine shared LCE10 GR0 --pces", tree).data["contended_pces"] == []


@pytest.mark.parametrize("board", ("quadro-k5000", "gtx980"))
def test_copy_engines_that_are_physical(tmp_path, board):
    tree = write_tree(tmp_path / "proc", (board, "idle"))
    result = ctl("engine shared COPY1 COPY0 --pces", tree)
    assert result.status == 0 and "independent" in result.out
    assert ctl("-j engine shared COPY1 COPY0", tree).data["contended_pces"] == []


@pytest.mark.parametrize("packed", (False, True))
def test_a_file_names_no_product(mixed, tmp_path, packed):
    """On the machine where a capture is read, another GPU may have the same address."""
    source = write_capture(tmp_path / "gpu.capture", mixed) if packed else mixed
    row, = ctl("gpu list -j", source).data
    shown = ctl("gpu show -j", source).data
    assert row["uuid"] is row["product"] is shown["uuid"] is shown["product"] is None
    assert ctl("gpu list --no-header --columns index,product,uuid", source).out.split() == ["0", "-", "-"]
    for name, why in (("GPU-57a2ed01", "UUIDs and device files are known of this machine's GPUs alone"),
                      ("MIG-57a2ed01-1111-2222-3333-444455556666", "a MIG instance is a part of a GPU")):
        for word in (name, name.upper()):
            result = ctl(f"-g {word} runlist list", source)
            assert (result.status, result.out) == (1, "") and f"there is no GPU '{word}'" in result.err
            assert why in result.err
