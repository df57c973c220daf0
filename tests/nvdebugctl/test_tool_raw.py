# SPDX-License-Identifier: MIT OR GPL-2.0
"""`runlist show --raw`: the words of each entry, and the place of each field in them."""

import pytest
from building import ROOT
from ctl import ctl, write_capture, write_tree
from trees import fails

CAPTURES = [ROOT / f"tests/hardware/{card}-580.159.04/{name}" for card in ("h100", "h200") for name in ("capture", "capture-mps")]


def values(entry):
    """The fields by name, each taken from the words again by the place that is printed."""
    found = {}
    for field in entry["fields"]:
        word = int(entry["words"][field["word"]], 16)
        bits = word >> field["low_bit"] & (1 << field["high_bit"] - field["low_bit"] + 1) - 1
        in_place = field["field"] == "instance pointer, low"
        assert field["value"] == (bits << field["low_bit"] if in_place else bits), field
        found[field["field"]] = field["value"]
    return found


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: f"{path.parent.name[:4]}-{path.name}")
def test_fields_agree_with_the_list_and_with_the_words(capture):
    """Each entry of each list: TSG headers, and the channels that follow them."""
    count = 0
    for runlist in ctl(f"--from {capture} -g 0 runlist list -j").data:
        result = ctl(f"--from {capture} -g 0 runlist show {runlist['runlist']} --raw -j")
        assert (result.status, result.err) == (0, "")
        data = result.data
        entries = iter(data["raw"])
        assert len(data["raw"]) == runlist["entries"]
        for item in data["items"]:
            header = next(entries)
            found = values(header)
            assert found == {"type": 1, "id": item["tsg"], "length": item["length"], "scale": item["scale"], "timeout": item["timeout"]}
            for channel in item["channels"]:
                found = values(next(entries))
                assert (found["type"], found["id"], found["runqueue"]) == (0, channel["channel"], channel["runqueue"])
                pointer = (found["instance pointer, high"] << 32) + found["instance pointer, low"]
                assert hex(pointer) == channel["instance_address"]
                count += 1
        addresses = [int(entry["address"], 16) for entry in data["raw"]]
        assert not addresses or hex(addresses[0]) == runlist["address"]
        assert addresses == list(range(addresses[0], addresses[0] + 16 * len(addresses), 16)) if addresses else True
    assert count > 20


def test_the_text_has_the_place_beside_each_field():
    lines = ctl(f"--from {CAPTURES[0].parent / 'capture-owners'} runlist show 0 --raw").out.splitlines()
    assert lines[1:5] == [
        "entry 0 at 0x13db8a0000: 80030001 00000001 00000003 00000000  TSG",
        "    type 1 (word 0, 0), id 3 (word 2, 11:0), length 1 (word 1, 7:0), scale 3 (word 0, 19:16), timeout 128 (word 0, 31:24)",
        "entry 1 at 0x13db8a0010: d8630000 00000013 d885a003 00000013  channel",
        "    type 0 (word 0, 0), id 3 (word 2, 11:0), runqueue 0 (word 0, 1), instance aperture 0 (word 0, 5:4), "
        "instance pointer, low 0xd885a000 (word 2, 31:12), instance pointer, high 0x13 (word 3, 31:0)"]
    assert ctl(f"--from {CAPTURES[0]} runlist show 0 -j").data["raw"] is None


def test_sources_without_words_are_refused(tmp_path):
    tree = write_tree(tmp_path / "proc", ("a100", "fig7"))
    for source in (tree, write_capture(tmp_path / "capture", tree)):
        fails(ctl("runlist show 0 --raw", source), 3, "words", "--from driver")
        assert ctl("runlist show 0", source).status == 0
