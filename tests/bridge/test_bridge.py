# SPDX-License-Identifier: MIT OR GPL-2.0
"""The module on real GPUs, in the VM: it reads the words that an H100 and an H200 answered (tests/hardware)."""

import gzip
import json
import re
import subprocess

import pytest
from nvdvm import bridge, paths
from nvdvm.build import ensure_built
from nvdvm.machine import Gpu, Machine

HARDWARE = paths.ROOT / "tests" / "hardware"
CARDS = ("h100-580.159.04", "h200-580.159.04")
IN_GUEST = {card: f"/root/{card}.capture" for card in CARDS}
# Lines of `info` about how the GPU is attached, and about features that the driver lacks.
ATTACHED = ("pci_address:", "bar1_size:", "bar2_size:", "driver:", "feature channel_control:",
            "feature runlist_control:", "feature preemption_mode:", "feature pram_window:")


def capture(card):
    return HARDWARE / card / "capture"


def content(card):
    return json.loads(gzip.decompress(capture(card).read_bytes()))


def files_of(card, part):
    """Returns the texts or words of gpu0 in the capture, by their names without that folder."""
    return {name.removeprefix("gpu0/"): text for name, text in content(card)[part].items()
            if name.startswith("gpu0/")}


@pytest.fixture(scope="module")
def machine(module):
    ensure_built(bridge.TARGET)
    files = {there: capture(card) for card, there in IN_GUEST.items()}
    with Machine([Gpu(str(capture(card))) for card in CARDS], module=module,
                 extra_files=files) as booted:
        yield booted
        booted.check_taint()


class Card:
    """One of the GPUs in the VM."""

    def __init__(self, machine, card):
        self.machine = machine
        self.index = CARDS.index(card)
        self.bridge = machine.models[self.index]
        self.capture = IN_GUEST[card]

    def proc(self, name):
        return f"/proc/gpu{self.index}/{name}"

    def read(self, name):
        return self.machine.check(f"cat {self.proc(name)}")

    def refused(self, kind=None):
        """Returns the accesses that the bridge refused or could not answer."""
        return [(one["access"], int(one["offset"], 16))
                for one in self.bridge.request("violations")["violations"]
                if kind in (None, one["access"])]


@pytest.fixture(params=CARDS)
def card(request, machine):
    this = Card(machine, request.param)
    this.name = request.param
    this.bridge.request("file")
    this.bridge.request("violations", "reset")
    return this


def test_files_equal_the_captured_ones(card):
    words, texts = files_of(card.name, "words"), files_of(card.name, "files")
    assert len(words) > 80
    differ = {}
    for name in words:
        card.bridge.request("file", name)
        if (now := card.read(name)) != texts[name]:
            differ[name] = now
    assert not differ
    assert card.refused() == []


def test_files_of_the_probe_equal_the_captured_ones(card):
    """These files are read once, when the module is loaded."""
    words, texts = files_of(card.name, "words"), files_of(card.name, "files")
    names = [name for name in texts if name not in words and name != "info"]
    assert len(names) > 10
    differ = {name: now for name in names if (now := card.read(name)) != texts[name]}
    assert not differ


def test_info_names_the_gpu(card):
    def kept(text):
        return [line for line in text.splitlines() if not line.startswith(ATTACHED)]

    now, then = card.read("info"), files_of(card.name, "files")["info"]
    assert kept(now) == kept(then)
    assert "driver: -\n" in now and "feature pram_window: yes\n" in now
    assert not [line for line in now.splitlines() if line.startswith("feature") and ": no" in line]


@pytest.mark.parametrize("verb", ["engine list", "copy show", "topology show"])
def test_the_tool_shows_the_same_as_on_the_capture(card, verb):
    now = card.machine.check(f"nvdebugctl -g {card.index} {verb}")
    assert now == card.machine.check(f"nvdebugctl --from {card.capture} -g 0 {verb}")


def test_all_words_together_can_be_read(card):
    """The lists and the things to which their channels point were read at different moments."""
    for name in files_of(card.name, "words"):
        assert card.read(name)
    tree = card.machine.run(f"nvdebugctl -g {card.index} runlist tree")
    assert tree.text.count("channel") > 20
    # Only this is missing from a capture, because no file of the driver source has it.
    assert tree.status == 4 and "whether scheduling is on is not shown" in tree.err.decode()
    assert {offset % 0x400 for access, offset in card.refused()} == {0x94}


def test_controls_change_nothing_and_say_so(card):
    was = card.read("runlist0")
    for name, request in (("disable_channel", "0:11"), ("preempt_tsg", "0:7"), ("preempt_runlist", "0"),
                          ("set_timeslice", "0:7 1000"), ("switch_to_tsg", "0:7")):
        assert card.machine.run(f"echo {request} > {card.proc(name)}").status != 0, name
    assert card.read("runlist0") == was
    assert card.refused("write")


def vm_run(*words):
    return subprocess.run([str(paths.ROOT / "vm" / "run"), *words], capture_output=True, text=True,
                          timeout=300, check=False)


def test_vm_run_counts_what_it_read(machine):
    done = vm_run("--board", str(capture(CARDS[0])), "--", "cat /proc/gpu0/runlist0 /proc/gpu0/info")
    assert done.returncode == 0, done.stderr
    assert "chip: GH100" in done.stdout
    assert "registers and" in done.stderr and "0 writes refused" in done.stderr


@pytest.mark.parametrize("board, said", [
    # The driver is missing, or it has no such GPU, or the user is not root.
    ("live:x", "/dev/nvidiactl|live:x|use sudo"), ("text.capture", "is no capture"),
    ("texts.capture", "has no words of a GPU"),
])
def test_missing_sources_are_named(machine, tmp_path, board, said):
    (tmp_path / "text.capture").write_text("some text\n")
    without = {key: value for key, value in content(CARDS[0]).items() if key != "words"}
    (tmp_path / "texts.capture").write_text(json.dumps(without))
    done = vm_run("--board", board if board.startswith("live") else str(tmp_path / board), "--", "true")
    assert done.returncode == 253 and re.search(said, done.stderr), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [("--fault", "0:all-ones"), ("--workload", "idle")])
def test_requests_for_models_are_refused(words):
    done = vm_run("--board", str(capture(CARDS[0])), *words, "--", "true")
    assert done.returncode == 2 and "for models" in done.stderr


@pytest.mark.parametrize("where", (">&-", ">/dev/full"))
def test_output_that_cannot_be_written_is_a_failure(where):
    ensure_built(bridge.TARGET)
    done = subprocess.run(["sh", "-c", f'"$0" --help {where}', paths.BRIDGE], stderr=subprocess.PIPE, text=True,
                          check=False, timeout=60)
    assert done.returncode == 5 and "cannot write to stdout: " in done.stderr
