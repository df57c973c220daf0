# SPDX-License-Identifier: MIT OR GPL-2.0
"""Standard output of nvdebugctl: pipes, terminals, and the forms of tables."""

import errno
import json
import os
import pathlib
import re
import subprocess

import pytest
import terminals
from ctl import ctl, tool, write_capture, write_tree
from surroundings import HIDDEN, hidden
from throwaway_root import needs_root


# --- stdout ---

def test_pipe_that_nobody_reads(one):
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run([tool(), "--from", one, "-j", "runlist", "show", "0"], stdout=write,
                              stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (5, "")


def test_full_disk(one):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([tool(), "--from", one, "gpu", "show"], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 5
    assert os.strerror(errno.ENOSPC) in done.stderr and done.stderr.count("\n") == 1


def on_terminal(words, columns=0, **env):
    """Returns what the tool prints if stdout is a terminal. columns=0: the terminal has no size."""
    return terminals.printed([tool(), *words], columns, **env)


@pytest.mark.parametrize("line", ("gpu list", "gpu show", "runlist show 2 --brief",
                                  "topology show"))
def test_colour(tree, line):
    words = ["--from", str(tree), "-g", "0", *line.split()]
    if line == "gpu list":
        words = ["--from", str(tree), *line.split()]
    plain = ctl(words, env={"NO_COLOR": ""}).out
    coloured = on_terminal(words)
    assert "\033[" in coloured and "\033" not in plain
    # The text is the same without colours, so that colour alone has no meaning.
    assert re.sub(r"\033\[\d+m", "", coloured) == plain
    assert on_terminal(words, NO_COLOR="") == coloured
    assert on_terminal(words, NO_COLOR="1") == plain
    assert on_terminal([*words, "--color", "never"]) == plain
    assert on_terminal([*words, "--color", "always"], NO_COLOR="1") == coloured
    assert ctl([*words, "--color", "always"]).out == coloured


@pytest.mark.parametrize("line", ("-h", "runlist tree -h", "channel list --columns help", "check -h"))
def test_help_is_no_wider_than_the_terminal(line):
    for columns in (60, 80, 100):
        output = on_terminal(line.split(), columns)
        assert max(map(len, output.splitlines())) <= columns
        assert "".join(output.split()) == "".join(ctl(line).out.split())


def test_own_options_come_first():
    out = ctl("runlist show -h").out
    assert out.index("--brief") < out.index("--gpu") < out.index("--help")


def test_json_and_csv_have_no_colour(tree):
    for form in ("-j", "--csv"):
        assert "\033" not in ctl(f"gpu list {form} --color always", tree).out


def test_pretty_is_the_same_document(one):
    assert json.loads(ctl("runlist show 0 --pretty", one).out) == ctl("-j runlist show 0", one).json
    assert ctl("runlist show 0 --pretty", one).out.count("\n") > 100


# --- forms of tables ---

def columns_of(text):
    """Returns {heading: [cell]} of a table, with broken headings and cells joined, and the headings that the line below
    the table names as left out."""
    text, _, below = text.partition("This terminal is too narrow for")
    left_out = re.fullmatch(r"(.*)\. A wider one shows all; so does a pipe\.", " ".join(below.split()))
    assert bool(left_out) == bool(below)
    lines = text.splitlines()
    starts = [match.start() for match in re.finditer(r"\S+", lines[0])]
    parts = [[line[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
             for line in lines]
    broken = len(parts) > 1 and not parts[1][0]
    heads = ["_".join(filter(None, each)) for each in zip(*parts[:1 + broken], strict=True)]
    rows = []
    for row in parts[1 + broken:]:
        if row[0]:
            rows.append(row)
        else:
            rows[-1] = [before + more for before, more in zip(rows[-1], row, strict=True)]
    return (dict(zip(heads, zip(*rows, strict=True), strict=True)),
            left_out[1].split(", ") if left_out else [])


TABLES = ("gpu list", "engine list", "engine shared", "runlist list", "channel list", "tsg list",
          "copy show", "copy shared", "engine list -g all", "check -g all")


@pytest.mark.parametrize("columns", (40, 80, 200))
@pytest.mark.parametrize("line", TABLES)
@pytest.mark.parametrize("board, workload", (("gtx1060-3gb", "mixed"), ("a100", "fig7"), ("b200", "idle")))
def test_tables_fit_the_terminal(tmp_path, board, workload, line, columns):
    """Tables lose only whole columns, and these are named. At 80 columns this happens only for channels, and for GPUs
    with tasks."""
    source = write_tree(tmp_path / "proc", (board, workload))
    words = ["--from", str(source), *line.split(), "--color", "never"]
    piped = ctl(words).out
    shown = on_terminal(words, columns)
    assert all(len(line) <= columns for line in shown.splitlines())
    if max(map(len, piped.splitlines())) <= columns:
        assert shown == piped
        return
    all_of_them, _ = columns_of(piped)
    fitting, left_out = columns_of(shown)
    assert [*fitting, *left_out] == list(all_of_them)
    for heading, cells in fitting.items():
        assert cells == all_of_them[heading]
    assert columns < 200 and (columns < 80 or line in ("channel list", "gpu list"))
    assert not {"RUNLIST", "CHANNEL", "TSG", "STATUS", "BUSY"} & set(left_out) or columns < 80


HARDWARE = pathlib.Path(__file__).resolve().parents[1] / "hardware/h100-580.159.04"


@pytest.mark.parametrize("columns", (40, 60, 80))
@pytest.mark.parametrize("line", ("gpu show", "engine shared GR0 LCE2", "tsg show 0:7", "channel show 0:10", "runlist show 1",
                                  "capture", "recording show"))
def test_sentences_are_broken_at_words(tmp_path, line, columns):
    """The terminal cuts no line, and each word of the piped output is there."""
    words = ["--from", str(HARDWARE / "capture-owners"), *line.split()]
    if line == "recording show":
        words = [*line.split(), str(HARDWARE / "recording.ndjson")]
    elif line == "capture":
        words = ["--from", str(HARDWARE / "capture-owners"), "check"]
    shown = on_terminal([*words, "--color", "never"], columns)
    for each in shown.splitlines():
        assert len(each) <= columns or " " not in each.strip(), each
    if line not in ("capture", "recording show", "tsg show 0:7"):  # the tables of these leave columns out
        assert shown.split() == ctl(words).out.split()
    assert on_terminal([*words, "--color", "always"], columns).count("\n") == shown.count("\n"), "colour has no width"


def test_lists_are_broken_within_their_column(tmp_path):
    source = write_tree(tmp_path / "proc", ("a100", "idle"))
    words = ["--from", str(source), "engine", "shared"]
    rows, left_out = columns_of(on_terminal([*words, "--color", "never"], 24))
    plain, _ = columns_of(ctl(words).out)
    assert (rows, left_out) == (plain, [])


def test_columns_asked_for_are_all_shown(tmp_path):
    source = write_tree(tmp_path / "proc", ("a100", "fig7"))
    words = ["--from", str(source), "channel", "list", "--color", "never"]
    for more in (["--columns", "channel,status,instance_address,instance_aperture"], ["--no-header"]):
        assert on_terminal([*words, *more], 40) == ctl([*words, *more]).out
    shown = on_terminal(["--from", str(source), "tsg", "show", "0:1", "--color", "never"], 80)
    assert "too narrow for INSTANCE_" in " ".join(shown.split())


def test_columns_and_header(tree):
    assert ctl("gpu list --csv --columns chip,index", tree).out == "chip,index\nGA100,0\nGP106,1\n"
    assert ctl("gpu list --csv --columns chip --no-header", tree).out == "GA100\nGP106\n"
    assert ctl("gpu list --columns chip,index", tree).out == (
        "CHIP   INDEX\nGA100  0\nGP106  1\n")
    assert ctl("gpu list --columns index --no-header", tree).out == "0\n1\n"


def test_tables_say_things_once_and_plainly(tmp_path):
    folder = write_tree(tmp_path / "proc", ("gtx1060-3gb", "mixed"))
    header, *lines = ctl("engine list", folder).out.splitlines()
    assert "NEXT" not in header, "no engine has one"
    assert re.search(r"^GR0 +0 +valid +TSG 10 ", lines[0]) and " idle " in lines[1]
    assert {row["status"] for row in ctl("-j engine list", folder).data} == {"valid", "invalid"}
    assert re.search(r"^0 +10 .* 20-22$", ctl("tsg list 0", folder).out, re.MULTILINE)
    assert "PBDMA" not in ctl("channel list", folder).out.splitlines()[0], "Pascal has no such bits"
    assert "pbdma_faulted" in ctl("channel list --csv", folder).out.splitlines()[0]
    assert "PBDMA_FAULTED" in ctl("channel list --columns pbdma_faulted", folder).out
    assert re.search(r"^0 +GR0,LCE0,LCE1 +on ", ctl("runlist list", folder).out, re.MULTILINE)
    shown = ctl("runlist show 0 --brief", folder).out
    assert shown.startswith("runlist 0  GR0,LCE0,LCE1  4 TSGs, 8 channels  scheduling on\n")
    assert "TSG 10  timeslice 2.00ms  share 66.1%\n" in shown
    assert re.search(r"TSG 10 +share 66.1% ", ctl("runlist tree", folder).out)


def test_leading_zeros_are_kept(tmp_path):
    folder = write_tree(tmp_path / "proc", ("gtx1060-3gb", "idle"))
    assert ctl("-j gpu show", folder).data["pci_class"] == "0x030000"
    folder = write_tree(tmp_path / "other", ("a100", "idle"))
    words = ctl("-j topology show", folder).data["work_distributor"]["gpc_tpc_id"]
    assert words[:3] == ["0x17273747", "0x46566607", "0x06162636"]


def test_runlist_show_as_a_table_if_columns_are_asked_for(one):
    assert ctl("runlist show 0 --columns tsg,channel --no-header", one).out.split() == (
        "0 0 0 1 1 2 1 3 1 4 1 5 1 6".split())


@pytest.mark.parametrize("words", ("gpu list", "process list", "task list", "--from driver gpu list",
                                   "--from module gpu list", "--from /proc gpu list", "--from /proc/. gpu list",
                                   "capture -"))
@pytest.mark.parametrize("where", HIDDEN)
def test_obstacles_that_hide_gpus_come_first(tmp_path, where, words):
    needs_root()
    done = subprocess.run(hidden(where, tmp_path, tool(), *words.split()), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"nvdebugctl: {HIDDEN[where][1]}") and done.stderr.count("\n") == 1
    assert done.stderr.count(HIDDEN[where][1]) == 1 and "give a capture" not in done.stderr


@pytest.mark.parametrize("where", HIDDEN)
def test_captures_and_folders_are_read_where_gpus_are_hidden(tmp_path, where):
    needs_root()
    folder = write_tree(tmp_path / "proc", ("a100", "fig7"))
    for source in (folder, write_capture(tmp_path / "capture", folder)):
        done = subprocess.run(hidden(where, tmp_path, tool(), "--from", source, "gpu", "list"),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stderr) == (0, "") and "GA100" in done.stdout
    (tmp_path / "empty").mkdir()
    done = subprocess.run(hidden(where, tmp_path, tool(), "--from", tmp_path / "empty", "gpu", "list"),
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1 and "empty holds no GPU" in done.stderr
