# SPDX-License-Identifier: MIT OR GPL-2.0
"""Instance blocks, subcontexts, contexts and address spaces: what the module prints is what the
workload asked for, and where the modelled driver put it."""

import pytest
import workloads
from boards import BOARDS, before, since
from layouts import address, by_channel, flag, number, place, structure
from text import instances, table

pytestmark = pytest.mark.sample

EVERYWHERE = ("fig6", "mixed", "sysmem", "page-tables", "bars")
VOLTA_ON = ("fig7", "mps-many", "preemption")
CASES = [(board, workload) for workload in EVERYWHERE for board in BOARDS] + \
    [(board, workload) for workload in VOLTA_ON for board in since("volta")] + \
    [(board, "preemption") for board in since("pascal") if board in before("volta")]
# The engine context's header says nothing of how it is preempted, or is not public.
WITHOUT_MODES = before("pascal")


def compare_directory(fields, expected):
    assert (address(fields, "Page Directory"), fields["Page Directory Aperture"]) == \
        place(expected)
    assert fields["Page Directory Volatile"] == flag(expected["volatile"])


def compare_subcontexts(shown, expected, tables):
    """A table is printed once; after that the box names the channel where it is."""
    fields = shown.fields["Subcontexts"]
    if expected["subcontexts"] is None:
        assert fields == "-" and not shown.subcontexts
        return
    contents = tuple((entry["veid"], *place(entry)) for entry in expected["subcontexts"])
    if contents in tables:
        assert fields == f"as Channel {tables[contents]}" and not shown.subcontexts
        return
    tables[contents] = shown.channel
    assert fields == str(len(expected["subcontexts"]))
    assert sorted(shown.subcontexts) == [entry["veid"] for entry in expected["subcontexts"]]
    for entry in expected["subcontexts"]:
        box = shown.subcontexts[entry["veid"]]
        compare_directory(box, entry)
        assert (box["PASID"], box["ATS"]) == (flag(entry["pasid"]), flag(entry["ats"]))


COUNTERS = ("saves", "restores", "wfi_saves", "cta_saves", "gfxp_saves", "cilp_saves")


def compare_counters(fields, before, after):
    """Time goes on while a file is read, so a counter may too."""
    for name in COUNTERS:
        kind, _, rest = name.rpartition("_")
        shown = fields[f"{kind.upper()} Saves" if rest == "saves" and kind else name.capitalize()]
        if before[name] is None:
            assert shown == "-"
        else:
            assert before[name] <= int(shown) <= after[name], name


def compare_context(board, shown, expected, after, images):
    said = shown.fields["Context"]
    if expected["context"] is None:
        assert said in ("none", "-") and shown.context is None
        return
    context = expected["context"]
    image = place(context["image"])
    if image in images:
        assert said == f"as Channel {images[image]}" and shown.context is None
        return
    images[image] = shown.channel
    assert said == "below"
    fields = shown.context
    assert (address(fields, "Image Address"), fields["Image Aperture"]) == image
    assert address(fields, "Image") == number(context["image_va"])
    assert int(fields["Context ID"]) == context["id"]
    compare_counters(fields, context, after["context"])
    if board in WITHOUT_MODES:
        assert fields["Graphics Preemption"] == fields["Compute Preemption"] == "-"
    else:
        assert fields["Graphics Preemption"] == context["graphics_preemption"]
        assert fields["Compute Preemption"] == context["compute_preemption"]


def compare_instance(shown, expected):
    fields = shown.fields
    assert int(fields["Page Tables"]) == expected["page_tables"]
    if expected["page_tables"] == 1:
        assert fields["Big Page Size (KiB)"] in (str(expected["big_page_kib"]), "-")
    compare_directory(fields, expected["page_directory"])
    assert fields["VEID"] == flag(expected["veid"])
    assert fields["PASID"] == flag(expected["pasid"])
    assert fields["ATS"] == flag(expected["ats"])
    if fields["Target Engine"] != "-":
        assert int(fields["Target Engine"]) == expected["target_engine"]
    if fields["Privileged"] != "-":
        assert fields["Privileged"] == flag(expected["privileged"])
    pointer = expected["engine_context"]
    if pointer is None:
        assert fields["Engine WFI Pointer"] == "-"
    else:
        assert address(fields, "Engine WFI Pointer") == number(pointer["address"])
        assert fields["Engine WFI Mode"] == pointer["mode"]
        assert fields["Engine WFI Aperture"] == pointer["aperture"]


@pytest.mark.parametrize("board, workload", CASES)
def test_what_is_below_each_channel(bench, board, workload):
    bench.restart(board, workload)
    bench.model(board).request("advance", 20000)
    layout = bench.model(board).request("layout")
    expected = by_channel(layout)
    texts = {entry["id"]: bench.read(board, f"runlist{entry['id']}")
             for entry in layout["runlists"] if entry["entries"]}
    after = by_channel(bench.model(board).request("layout"))
    seen = set()
    for runlist, text in texts.items():
        tables, images, printed = {}, {}, set()
        for shown in instances(text):
            if shown.channel in printed:
                assert shown.fields == {"Same as Channel": str(shown.channel)}
                continue
            printed.add(shown.channel)
            channel = expected[runlist, shown.channel]
            compare_instance(shown, channel)
            compare_subcontexts(shown, channel, tables)
            compare_context(board, shown, channel, after[runlist, shown.channel], images)
            seen.add((runlist, shown.channel))
    assert seen == set(expected)


@pytest.mark.parametrize("board, workload", CASES)
def test_contexts_is_the_structure(bench, board, workload):
    bench.restart(board, workload)
    rows = []
    for runlist, tsgs in sorted(structure(bench.model(board).request("layout")).items()):
        for tsg, spaces in tsgs.items():
            for (directory, aperture), veids in spaces.items():
                for veid, channels in veids.items():
                    rows.append((str(runlist), "-" if tsg is None else str(tsg),
                                 "yes" if len(spaces) > 1 else "no", str(len(spaces)), directory,
                                 aperture, "-" if veid is None else str(veid),
                                 ",".join(map(str, channels)), "-"))
    shown = [(row["runlist"], row["tsg"], row["shared"], row["spaces"],
              int(row["page_directory"], 16), row["aperture"], row["veid"], row["channels"],
              row["error"]) for row in table(bench.read(board, "contexts"))]
    assert shown == rows


def graphics_rows(bench, board):
    """(tsg, shared, veid, channels) of each line of the graphics runlist."""
    return [(row["tsg"], row["shared"], row["veid"], row["channels"])
            for row in table(bench.read(board, "contexts")) if row["runlist"] == "0"]


@pytest.mark.parametrize("board", BOARDS)
def test_figure_6(bench, board):
    """Three tasks: three TSGs of two channels, each with an address space of its own."""
    bench.restart(board, "fig6")
    veid = "0" if board in since("volta") else "-"
    assert graphics_rows(bench, board) == [
        ("0", "no", veid, "0,1"), ("1", "no", veid, "2,3"), ("2", "no", veid, "4,5")]
    rows = table(bench.read(board, "contexts"))
    assert len({(row["page_directory"], row["aperture"]) for row in rows}) == 3


@pytest.mark.parametrize("board", since("volta"))
def test_figure_7(bench, board):
    """Task 1 alone; tasks 2 and 3 as clients of an MPS server, in its TSG."""
    bench.restart(board, "fig7")
    assert graphics_rows(bench, board) == [
        ("0", "no", "0", "0,1"),
        ("1", "yes", "0", "2"), ("1", "yes", "1", "3,4"), ("1", "yes", "2", "5,6")]
    below = {shown.channel: shown for shown in instances(bench.read(board, "runlist0"))}
    assert len(below[0].subcontexts) == 1
    assert below[2].fields["Subcontexts"] == "3"
    for channel in (3, 4, 5, 6):
        assert below[channel].fields["Subcontexts"] == "as Channel 2"
    for channel, veid in ((2, 0), (3, 1), (4, 1), (5, 2), (6, 2)):
        assert below[channel].fields["VEID"] == str(veid)
        assert below[channel].fields["Page Directory"] == \
            below[2].subcontexts[veid]["Page Directory"], "copies use the client's own tables"


@pytest.mark.parametrize("board", since("pascal"))
def test_modes_are_those_of_the_workload(bench, board):
    """From the workload's own file, past the model's loader and layout."""
    bench.restart(board, "preemption")
    wanted = {}
    for entry in workloads.load("preemption")["entries"]:
        if entry["engine"] != "GR0":
            continue
        for channel in entry["channels"]:
            for _ in range(channel.get("repeat", 1)):
                wanted[len(wanted)] = (entry.get("graphics_preemption", "WFI"),
                                       entry.get("compute_preemption", "CTA"))
    shown = {below.channel: below for below in instances(bench.read(board, "runlist0"))}
    assert set(shown) == set(wanted)
    for channel, modes in wanted.items():
        said = shown[channel].fields["Context"]
        context = shown[int(said.split()[-1]) if said.startswith("as") else channel].context
        assert (context["Graphics Preemption"], context["Compute Preemption"]) == modes
