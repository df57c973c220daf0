# SPDX-License-Identifier: MIT OR GPL-2.0
"""The pictures of `copy show` and `runlist tree` are well-formed, self-contained, whole and legible."""

import collections
import re
import xml.etree.ElementTree

import golden_text
import pytest
from boards import BOARDS
from ctl import GOLDEN, ctl, write_capture, write_tree

SVG = "{http://www.w3.org/2000/svg}"
WIRED = [board for board in BOARDS
         if "==> copy_topology" in golden_text.load(f"{board}/topology")]
WORKLOADS = ("mixed", "fig7", "idle")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Makes the folder of a board and workload once."""
    root = tmp_path_factory.mktemp("pictures")

    def get(board, workload):
        path = root / f"{board}-{workload}"
        return path if path.exists() else write_tree(path, (board, workload))
    return get


def picture(line, source):
    result = ctl(line, source)
    assert (result.status, result.err) == (0, "")
    return xml.etree.ElementTree.fromstring(result.out)


def texts(root, kind):
    return [node.text for node in root.iter(f"{SVG}text") if node.get("class") == kind]


def bracketed(character):
    """Returns a width in em that no common sans-serif font exceeds by much. The values do not come from the tool."""
    if character in "mwMW%@—…→":
        return 0.9
    if character in "iljIftr.,:;'|()[] -/":
        return 0.34
    return 0.72 if character.isupper() else 0.6


def width_of(node):
    size = float(node.get("font-size"))
    return sum(map(bracketed, node.text)) * size * (
        1.08 if node.get("font-weight") == "bold" else 1)


def span_of(node):
    x, width = float(node.get("x")), width_of(node)
    start = x - width * {"start": 0, "middle": 0.5, "end": 1}[node.get("text-anchor", "start")]
    return start, start + width


def assert_self_contained(root, text):
    assert not re.search(r"<(script|image|use|foreignObject|style|link)\b", text)
    assert not re.search(r"(href|@import|url\((?!#))", text)
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    _, _, width, height = map(float, root.get("viewBox").split())
    assert (float(root.get("width")), float(root.get("height"))) == (width, height)


def assert_legible(root):
    """Asserts that nothing leaves the page, and that no text leaves the box around it."""
    _, _, width, height = map(float, root.get("viewBox").split())
    for node in root.iter(f"{SVG}text"):
        start, end = span_of(node)
        assert 0 <= start and end <= width, node.text
        assert 0 < float(node.get("y")) < height, node.text
    for node in root.iter(f"{SVG}rect"):
        if node.get("x"):
            assert float(node.get("x")) + float(node.get("width")) <= width
            assert float(node.get("y")) + float(node.get("height")) <= height
    for group in root.iter(f"{SVG}g"):
        box = group.find(f"{SVG}rect")
        if group.get("class") not in ("lce", "pce", "runlist"):
            continue
        left = float(box.get("x"))
        for node in group.findall(f"{SVG}text"):
            start, end = span_of(node)
            assert left <= start and end <= left + float(box.get("width")), node.text
            assert float(box.get("y")) < float(node.get("y")) < (
                float(box.get("y")) + float(box.get("height")))


def assert_captioned(root, board):
    words = " ".join(node.text for node in root.iter(f"{SVG}text"))
    info = dict(re.findall(r"^(\w+): (.*)$", golden_text.load(f"{board}/topology"), re.M))
    for wanted in (info["chip"], info["pci_address"], "nvdebugctl", "Source:"):
        assert wanted in words
    assert re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", words)


@pytest.mark.parametrize("board", WIRED)
def test_copy_picture(folder, board):
    source = folder(board, "idle")
    root = picture("copy show --svg", source)
    assert_self_contained(root, ctl("copy show --svg", source).out)
    assert_legible(root)
    assert_captioned(root, board)
    data = ctl("-j copy show", source).data
    assert [name.partition(" ")[0] for name in texts(root, "lce")] == [
        lce["lce"] for lce in data["lces"]]
    assert sorted(texts(root, "pce")) == sorted(f"PCE {pce}" for pce in data["existing_pces"])
    assert sorted(texts(root, "runlist")) == sorted(
        {f"Runlist {lce['runlist']}" for lce in data["lces"]})
    contended = ctl("-j copy shared", source).data
    assert len(texts(root, "contention")) == sum(len(row["pces"]) for row in contended)
    for row in contended:
        assert f"{', '.join(row['lces'])} contend" in texts(root, "contention")
    lines = collections.Counter(node.get("stroke-dasharray") for node in root.iter(f"{SVG}path"))
    assert lines["7 4"] == sum(len(lce["pces"]) for lce in data["lces"] if lce["borrows_from"])


@pytest.mark.parametrize("board", [board for board in BOARDS if board not in WIRED])
def test_registers_that_are_not_public_have_no_picture(folder, board):
    result = ctl("copy show --svg", folder(board, "idle"))
    assert (result.status, result.out) == (3, "")
    assert result.err


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("board", BOARDS)
def test_tree_picture(folder, board, workload):
    if not (GOLDEN / board / workload).exists():
        workload = "fig6"
    source = folder(board, workload)
    root = picture("runlist tree --svg", source)
    assert_self_contained(root, ctl("runlist tree --svg", source).out)
    assert_legible(root)
    assert_captioned(root, board)
    runlists = ctl("-j runlist tree", source).data["runlists"]
    assert sorted(texts(root, "runlist")) == sorted(
        f"Runlist {runlist['runlist']}" for runlist in runlists)
    assert sorted(texts(root, "engine")) == sorted(
        engine for runlist in runlists for engine in runlist["engines"])
    assert sorted(texts(root, "tsg")) == sorted(
        f"TSG {tsg['tsg']}" for runlist in runlists for tsg in runlist["tsgs"])
    filled = [runlist for runlist in runlists if runlist["tsgs"]]
    groups = [group for group in root.iter(f"{SVG}g") if group.get("class") == "tsg"]
    tsgs = [tsg for runlist in filled for tsg in runlist["tsgs"]]
    for group, tsg in zip(groups, tsgs, strict=True):
        width = sum(float(bar.get("width")) for bar in group.findall(f"{SVG}rect"))
        assert width == pytest.approx(370 * tsg["share_percent"] / 100, abs=0.2)


def with_many_tsgs(source, timeslice):
    """Returns a folder in which runlist 8 has TSGs 100 to 399, with timeslices in us by id."""
    path = source / "gpu0/runlist8_brief"
    text = path.read_text()
    box = text[text.index("+---- TSG Entry 14"):text.index("+---- TSG Entry 15")]
    many = ""
    for number in range(100, 400):
        one = box.replace("TSG Entry 14 -", f"TSG Entry {number} ".ljust(14, "-"))
        many += re.sub(r"(Timeslice \(us\): +)[\d.]+", rf"\g<1>{timeslice(number)}", one)
    head = text[:text.index("+---- TSG Entry 14")]
    for key, count in (("Entries", 600), ("TSGs", 300), ("Channels", 300)):
        head = re.sub(rf"^\| {key}: .*$", f"| {key}:{count:{44 - len(key)}} |", head, flags=re.M)
    path.write_text(head + many)
    return source


def test_tsgs_that_differ_make_a_long_picture(tmp_path):
    source = with_many_tsgs(write_tree(tmp_path / "proc", ("rtx2080ti", "mixed")),
                            lambda number: 1000 + number)
    root = picture("runlist tree 8 --svg", source)
    assert len(texts(root, "tsg")) == 300
    assert_legible(root)
    assert float(root.get("height")) > 300 * 20


def test_tsgs_that_are_alike_share_a_line(tmp_path):
    source = with_many_tsgs(write_tree(tmp_path / "proc", ("rtx2080ti", "mixed")),
                            lambda number: 2000 if number == 250 else 1000)
    root = picture("runlist tree 8 --svg", source)
    assert texts(root, "tsg") == ["TSGs 100-249", "TSG 250", "TSGs 251-399"]
    assert_legible(root)
    assert float(root.get("height")) < 500
    bars = [[float(bar.get("width")) for bar in group.findall(f"{SVG}rect")]
            for group in root.iter(f"{SVG}g") if group.get("class") == "tsg"]
    assert [len(each) for each in bars] == [1, 1, 1]
    assert sum(each[0] for each in bars) == pytest.approx(370, abs=0.2)
    assert bars[0][0] == pytest.approx(370 * 150 / 301, abs=0.2)


def test_source_of_a_capture(folder, tmp_path):
    capture = tmp_path / "capture"
    write_capture(capture, folder("a100", "mixed"))
    root = picture("copy show --svg", capture)
    assert any("capture" in node.text for node in root.iter(f"{SVG}text"))


@pytest.mark.parametrize("line", ("copy show --svg -j", "runlist tree --svg --csv"))
def test_one_form_at_a_time(folder, line):
    result = ctl(line, folder("a100", "mixed"))
    assert result.status == 1 and "nvdebugctl:" in result.err
