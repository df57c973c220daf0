# SPDX-License-Identifier: MIT OR GPL-2.0
"""The module decodes the lists that the workload asked for: ids, order, timeslices, state and places."""

import pytest
import workloads
from boards import BOARDS, IDS_PER_RUNLIST, WIDE_ENTRIES, runlists_by_engine
from text import boxes, engines_by_runlist, entries

pytestmark = pytest.mark.sample


def decoded(text):
    tsgs = []
    for box in entries(text)[1:]:
        if box.kind == "TSG Entry":
            tsgs.append((box, []))
        else:
            assert box.kind == "Channel Info" and box.indent
            tsgs[-1][1].append(box)
    return tsgs


@pytest.mark.parametrize("workload", ("idle", "three-tasks", "mixed", "sysmem", "many",
                                      "low"))
@pytest.mark.parametrize("board", BOARDS)
def test_lists_are_decoded_as_the_workload_asked(bench, start, board, workload):
    start(board, workload)
    engines = engines_by_runlist(bench.read(board, "device_info"))
    wanted = workloads.load(workload)
    lists = workloads.runlists(wanted, runlists_by_engine(board, engines),
                               board in IDS_PER_RUNLIST, fault_bits=board in WIDE_ENTRIES)
    texts = bench.check(f"cd {bench.proc(board)}; for list in {' '.join(map(str, sorted(engines)))}; do "
                        "cat runlist${list}_brief; echo; done").split("\n\n")
    instances = {}
    for runlist, text in zip(sorted(engines), texts):
        expected = lists.get(runlist, [])
        found = decoded(text)
        head = boxes(text)[0].fields
        assert int(head["TSGs"]) == len(expected)
        assert int(head["Channels"]) == sum(len(tsg.channels) for tsg in expected)
        if expected:
            assert head["Aperture"] == wanted.get("runlist_aperture", "vid")
        assert [box.number for box, _ in found] == [tsg.number for tsg in expected]
        for (box, members), tsg in zip(found, expected):
            assert (int(box.fields["Timeout"]), int(box.fields["Scale"])) == \
                (tsg.timeout, tsg.scale)
            assert int(box.fields["Length"]) == len(tsg.channels)
            assert [member.number for member in members] == \
                [channel.number for channel in tsg.channels]
            for member, channel in zip(members, tsg.channels):
                fields = member.fields
                assert fields["Enabled"] == str(int(channel.enabled))
                if board in WIDE_ENTRIES:
                    assert fields["Runqueue"] == str(channel.runqueue)
                assert fields["Instance Aperture"] == wanted.get("instance_aperture", "vid")
                instances[runlist, channel.number] = fields["Instance Block"]
    assert len(set(instances.values())) == len(instances), "each channel has a block of its own"


@pytest.mark.parametrize("board", BOARDS)
def test_malformed_lists_are_shown_as_they_are(bench, board):
    bench.restart(board, "malformed")
    found = entries(bench.read(board, "runlist0"))
    shape = [(box.kind, box.number, box.indent) for box in found[1:]]
    # The same numbers have another meaning in each of the two forms of entries.
    odd = [("TSG Entry", 13, 0), ("Channel Info", 0xfff, 2)] if board in WIDE_ENTRIES else \
        [("Unknown Entry", 4, 0), ("Channel Info", 0xfff, 0)]
    assert shape == [
        ("TSG Entry", 1, 0), ("Channel Info", 1, 2), ("Channel Info", 2, 2),
        ("Channel Info", 3, 0),  # bare
        *odd,
        ("Unknown Entry", 6, 0),
        ("TSG Entry", 4, 0), ("Channel Info", 4, 2), ("Channel Info", 5, 2),
    ]
    assert found[8].fields["Truncated"] == "2 of 5"
    last = found[6].fields
    if board in IDS_PER_RUNLIST:
        assert last["Error"] == "channel id out of range" and "Enabled" not in last
    else:
        assert "Error" not in last, "4,095 is the last channel"
