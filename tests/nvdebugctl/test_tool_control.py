# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvdebugctl's controls in the VM: what they change, show, refuse and undo."""

import json
import re
import time

import pytest
from boards import BOARDS, IDS_PER_RUNLIST, since
from ctl import validate
from tasks import SLICE_US, gained_by_channel
from text import channels

pytestmark = pytest.mark.sample

DONE, USAGE, REFUSED, UNSUPPORTED, PARTIAL, FAILED = range(6)


class Ctl:
    """Runs the tool in the guest, on one board."""

    def __init__(self, bench, board):
        self.bench = bench
        self.board = board
        self.name = f"nvdebugctl -g {bench.index(board)}"

    @property
    def brief(self):
        """Returns --for with a time that is long enough to look at the change, however slow the guest is at present."""
        begin = time.monotonic()
        self.run("channel disable 0:2 --dry-run")
        return f"--for {0.2 + 5 * (time.monotonic() - begin):.1f}"

    def run(self, text):
        return self.bench.run(f"{self.name} {text}")

    def changes(self, text):
        """Returns the changes that a successful control reports: {(object, runlist, id): (old, new)}."""
        document = json.loads(self.bench.check(f"{self.name} -j {text}"))
        validate(document)
        return {(row["object"], row["runlist"], row["id"]): (row["old"], row["new"])
                for row in document["data"]["changes"]}

    def refused(self, text, status, *words):
        """Asserts that the command ends with that status, nothing on stdout, and one sentence that has these words."""
        result = self.run(text)
        assert (result.status, result.text) == (status, ""), (text, result)
        said = result.err.decode()
        assert said.startswith("nvdebugctl: ") and said.count("\n") == 1, said
        for word in words:
            assert word in said, said

    def enabled(self, runlist=0):
        shown = channels(self.bench.read(self.board, f"runlist{runlist}_brief"))
        return {number for number, fields in shown.items() if fields["Enabled"] == "1"}


@pytest.fixture
def ctl(bench, request):
    return Ctl(bench, request.param)


on_every_board = pytest.mark.parametrize("ctl", BOARDS, indirect=True)
on_one_board = pytest.mark.parametrize("ctl", ["gtx1060-3gb"], indirect=True)
EVERYONE = set(range(6))


@on_every_board
def test_channels(ctl):
    assert ctl.changes("channel disable 0:2 3") == {
        ("channel", 0, 2): (True, False), ("channel", 0, 3): (True, False)}
    assert ctl.enabled() == EVERYONE - {2, 3}
    assert ctl.changes("channel enable 0x2") == {("channel", 0, 2): (False, True)}
    assert ctl.changes("channel enable 2 0:3") == {
        ("channel", 0, 2): (True, True), ("channel", 0, 3): (False, True)}
    assert ctl.enabled() == EVERYONE


@on_every_board
def test_tsgs(ctl):
    before = {("tsg", 0, 1): (SLICE_US, 499.712)}
    assert ctl.changes("tsg timeslice 0:1 500us") == before
    assert "499.712" in ctl.bench.read(ctl.board, "runlist0_brief")
    assert ctl.changes("tsg switch 1") == {("runlist", 0, None): ([0, 1, 2], [1])}
    assert ctl.changes("tsg switch 0:2") == {("runlist", 0, None): ([1], [2])}
    assert ctl.changes("runlist resubmit 0") == {("runlist", 0, None): ([2], [0, 1, 2])}
    ctl.bench.model(ctl.board).request("advance", 100)
    running, = ctl.changes("runlist preempt 0").values()
    assert len(running[0]) == 1 and running[0][0].startswith("tsg:")
    tsg = running[0][0].removeprefix("tsg:")
    assert set(ctl.changes(f"tsg preempt 0:{tsg}")) == {("tsg", 0, int(tsg))}


@on_one_board
def test_controls_print_their_changes(ctl):
    ctl.bench.model(ctl.board).request("advance", 100)
    said = ctl.run("runlist preempt 0").text
    assert re.fullmatch(r"runlist 0: preempted; running before: TSG \d, now: TSG \d\n", said), said
    said = ctl.run("tsg preempt 0:1").text
    assert re.fullmatch(r"TSG 0:1: preempted; on before: (GR0|no engine), now: (GR0|no engine)\n",
                        said), said
    assert ctl.run("channel disable 2").text == "channel 0:2: enabled -> disabled\n"
    assert ctl.run("tsg timeslice 1 500us").text == "TSG 0:1: timeslice 1998.848us -> 499.712us\n"
    assert ctl.run("runlist disable 0").text == "runlist 0: scheduling on -> off\n"
    assert ctl.run("tsg switch 1").text == "runlist 0: holds TSGs 0-2 -> TSG 1\n"
    assert ctl.run("runlist preempt 0 --dry-run").text.splitlines()[1].startswith(
        "runlist 0: running ")


@on_every_board
def test_scheduling(ctl):
    assert ctl.changes("runlist disable 0 1") == {
        ("runlist", 0, None): (True, False), ("runlist", 1, None): (True, False)}
    assert "0 off" in ctl.bench.read(ctl.board, "scheduling")
    assert ctl.changes("runlist enable 1 0") == {
        ("runlist", 0, None): (False, True), ("runlist", 1, None): (False, True)}


@pytest.mark.parametrize("ctl", since("pascal"), indirect=True)
def test_preemption_mode(ctl):
    (old, new), = ctl.changes("channel preemption 0:2 wfi").values()
    assert new == "WFI" and old != new
    assert ctl.changes("channel preemption 0:2 cta") == {("channel", 0, 2): ("WFI", "CTA")}
    assert ctl.changes(f"channel preemption 0:2 wfi {ctl.brief}") == {
        ("channel", 0, 2): ("CTA", "WFI")}
    (old, _), = ctl.changes("channel preemption 0:3 cta --dry-run").values()
    assert old == "CTA"


DRY = ("channel disable 0:2", "tsg timeslice 0:1 500us", "tsg switch 0:1", "tsg preempt 0:1",
       "runlist disable 0", "runlist preempt 0", "runlist resubmit 0", "channel disable 0:2 --for 9")


@on_every_board
def test_dry_run_changes_nothing(ctl):
    model = ctl.bench.model(ctl.board)
    for text in DRY:
        model.request("stats", "reset")
        document = json.loads(ctl.bench.check(f"{ctl.name} -j {text} --dry-run"))
        validate(document)
        assert all(row["new"] is None for row in document["data"]["changes"])
        # Reading moves PRAMIN's window and puts it back.
        blocks = model.request("stats")["bars"]["0"]["blocks"]
        assert {name for name, block in blocks.items() if block["writes"]} <= {"PBUS_WINDOW"}
    assert ctl.enabled() == EVERYONE
    said = ctl.run("channel disable 0:2 --dry-run").text
    assert said.splitlines()[0] == (
        f'would write "0:2" to {ctl.bench.proc(ctl.board, "disable_channel")}')


LEASES = {"channel disable 0:2 0:3": ("channel", 0, 2),
          "tsg timeslice 0:1 500us": ("tsg", 0, 1),
          "tsg switch 0:1": ("runlist", 0, None),
          "runlist disable 0": ("runlist", 0, None)}


@on_every_board
@pytest.mark.parametrize("text", LEASES)
def test_a_lease_ends_with_its_time(ctl, text):
    result = ctl.run(f"-j {text} {ctl.brief}")
    assert result.status == DONE, result
    assert "undone after" in result.err.decode()
    (old, new), *_ = [(row["old"], row["new"])
                      for row in json.loads(result.text)["data"]["changes"]]
    assert old != new
    # The present state is the state before the lease.
    (now, _), *_ = ctl.changes(f"{text} --dry-run").values()
    assert now == old


@on_every_board
def test_a_lease_without_anybody_to_tell(ctl):
    """The lease is held and undone even with a closed or full stderr, or without any standard stream."""
    disable, brief = f"nvdebugctl -g {ctl.bench.index(ctl.board)} channel disable 0:2", ctl.brief
    assert ctl.bench.run(f"{disable} {brief} 2>/dev/full").status == DONE
    assert ctl.bench.run(f"{disable} {brief} 2>&-").status == DONE
    ctl.bench.run(f"{disable} {brief} <&- >&- 2>&-")
    assert ctl.enabled() == EVERYONE
    assert ctl.bench.run(f"{disable} 2>/dev/full").status == DONE
    assert ctl.enabled() == EVERYONE - {2}


@on_every_board
def test_a_lease_while_nobody_reads(ctl):
    """stdout is a full pipe, and the lease still ends when its time is up."""
    result = ctl.bench.run(
        "mkfifo /root/full 2>/dev/null; exec 4<>/root/full; "
        "dd if=/dev/zero of=/root/full bs=65536 count=1 2>/dev/null; "
        f"{ctl.name} channel disable 0:2 --for 0.3 > /root/full; echo $?")
    assert result.text.strip() == "5" and "the time of the lease is up" in result.err.decode()
    assert ctl.enabled() == EVERYONE


# The lease's output, which is written once it is held.
HELD = "/root/held"
WAIT_FOR_LEASE = f"tries=0; until [ -s {HELD} ] || [ $tries = 3000 ]; do usleep 20000; tries=$((tries + 1)); done"


@on_one_board
def test_an_ignored_signal_ends_no_lease(ctl):
    """A signal may be ignored under nohup, or in the background of a script."""
    result = ctl.bench.run(
        f"rm -f {HELD}; sh -c 'trap \"\" INT HUP; exec {ctl.name} channel disable 0:2 --for 0' > {HELD} 2> {HELD}.err & "
        f"{WAIT_FOR_LEASE}; kill -INT $!; kill -HUP $!; usleep 100000; "
        f"{ctl.name} -j channel disable 0:2 --dry-run; kill -TERM $!; wait $!; echo $?")
    shown, status = result.text.splitlines()[-2:]
    assert json.loads(shown)["data"]["changes"][0]["old"] is False and status == "0", result


def hold(ctl, text, signal):
    """Takes a lease, looks, and ends the tool by a signal. Returns the state during the lease and after it.

    The tool runs in the foreground, because a shell makes background processes ignore SIGINT."""
    look = f"{ctl.name} -j {text} --dry-run"
    return ctl.bench.run(
        f"rm -f {HELD}; ({WAIT_FOR_LEASE}; {look} > {HELD}.during; kill -{signal} $(pidof nvdebugctl)) & "
        f"{ctl.name} -j {text} --for 0 > {HELD} 2> {HELD}.err; echo $?; wait; "
        f"cat {HELD}.during; {look}; cat {HELD}.err")


@on_every_board
@pytest.mark.parametrize("signal", ("INT", "TERM", "HUP", "KILL"))
@pytest.mark.parametrize("text", LEASES)
def test_a_lease_ends_with_the_tool(ctl, text, signal):
    result = hold(ctl, text, signal)
    status, during, after, *said = result.text.splitlines()
    assert int(status) == (128 + 9 if signal == "KILL" else DONE), result
    old, changed = (json.loads(document)["data"]["changes"][0]["old"]
                    for document in (after, during))
    assert old != changed
    assert ("undone after" in "".join(said)) == (signal != "KILL")


@on_every_board
def test_a_killed_lease_gives_the_task_its_time_back(ctl):
    hold(ctl, "channel disable 0:2 0:3", "KILL")
    ctl.bench.model(ctl.board).request("advance", 3 * SLICE_US)
    gain = gained_by_channel(ctl.bench, ctl.board, 60 * SLICE_US)
    assert gain[2] + gain[3] == pytest.approx(20 * SLICE_US, rel=0.05)


@on_every_board
def test_a_lease_says_if_somebody_changed_it_meanwhile(ctl):
    disable = ctl.bench.proc(ctl.board, "disable_channel")

    def meanwhile(command, lease):
        """Returns the result of the lease. The command runs while the lease is held."""
        return ctl.bench.run(f"rm -f {HELD}; ({WAIT_FOR_LEASE}; {command}; kill -TERM $(pidof nvdebugctl)) & "
                             f"{ctl.name} {lease} --for 0 > {HELD}; status=$?; wait; exit $status")
    ctl.bench.check(f"echo 0:2 > {disable}")
    result = meanwhile(f"echo 0:2 > {disable}", "channel enable 0:2")
    assert result.status == DONE, "disabled before, and so it is now"
    ctl.bench.check(f"{ctl.name} channel enable 0:2")
    result = meanwhile(f"{ctl.name} tsg timeslice 0:1 3ms", "tsg timeslice 0:1 500us")
    assert result.status == FAILED
    assert "TSG 0:1 has timeslice " in result.err.decode()


# These requests are refused, each with a reason.

@on_every_board
def test_targets_that_are_not_there(ctl):
    ctl.refused("tsg preempt 77", REFUSED, "no runlist holds TSG 77 now; runlist 0 holds TSGs 0-2")
    ctl.refused("channel disable 99:1", REFUSED, "has no runlist 99; it has 0")
    ctl.refused("runlist disable 0 99", REFUSED, "no runlist 99")
    ctl.refused("channel disable 0:2 0:1000000", REFUSED)
    ctl.refused("tsg timeslice 0:1 1us", USAGE, "1.024us to 8.556380160s")
    ctl.refused("channel disable 999", REFUSED, "no runlist holds channel 999 now; "
                "runlist 0 holds channels 0-5")
    ctl.refused("channel disable 0:2 0:500", REFUSED, "runlist 0 does not hold channel 500 now; "
                "it holds channels 0-5")
    ctl.refused("channel disable 010", USAGE, "'010' is no channel")
    assert ctl.enabled() == EVERYONE, "all or none"


@pytest.mark.parametrize("ctl", IDS_PER_RUNLIST, indirect=True)
def test_an_id_that_several_runlists_hold(ctl):
    ctl.bench.restart(ctl.board, "same-ids")
    rows = json.loads(ctl.bench.check(f"{ctl.name} -j channel list"))["data"]
    places = [f"{row['runlist']}:{row['channel']}" for row in rows]
    numbers = [row["channel"] for row in rows]
    twice = next(number for number in numbers if numbers.count(number) > 1)
    choices = [place for place in places if place.endswith(f":{twice}")]
    ctl.refused(f"channel disable {twice}", REFUSED, "several runlists", ", ".join(choices))
    ctl.refused("channel disable 77", REFUSED, "no runlist holds channel 77")


@on_one_board
@pytest.mark.parametrize("text", (
    "channel disable", "channel disable x", "channel disable 1:2:3", "channel disable -1",
    "channel disable 2 --for", "channel disable 2 --for x", "channel disable 2 --for -1",
    "channel disable 2 --for 1e99", "channel disable 2 --csv", "channel preemption 2",
    "channel preemption 2 fast", "tsg timeslice 1", "tsg timeslice 1 fast", "tsg timeslice 1 1m",
    "tsg preempt 1 --for 2", "tsg switch 1 2", "runlist resubmit", "runlist enable 0:1",
    "runlist preempt 0 --dry", "tsg stop 1"))
def test_wrong_words_are_refused(ctl, text):
    ctl.refused(text, USAGE)
    assert ctl.enabled() == EVERYONE


@on_one_board
def test_captures_are_not_controlled(ctl):
    ctl.bench.check("nvdebugctl capture /root/c")
    result = ctl.bench.run("nvdebugctl -g 0 --from /root/c channel disable 0")
    assert result.status == UNSUPPORTED and "only a record of one; leave out --from" in result.err.decode()


@on_one_board
def test_without_rights(ctl):
    result = ctl.bench.run(f"su user -c '{ctl.name} channel disable 0:2'")
    said = result.err.decode()
    assert result.status == REFUSED and "controls are root's" in said and "state_gid" not in said
    dry = ctl.bench.run(f"su user -c '{ctl.name} channel disable 0:2 --dry-run'")
    assert dry.status == REFUSED and "state_gid" in dry.err.decode()
    assert ctl.bench.run(f"su user -c '{ctl.name} gpu show'").status == DONE
    listed = ctl.bench.run(f"su user -c '{ctl.name} -j engine list'")
    assert listed.status == PARTIAL, "who is on an engine is root's to know; what engines are is not"
    assert json.loads(listed.text)["data"] and "gpu" in listed.err.decode()
    result = ctl.bench.run(f"su user -c '{ctl.name} runlist show 0'")
    assert result.status == REFUSED and "state_gid" in result.err.decode()


def test_read_only_module(bench):
    machine = bench.machine
    bench.check("rmmod nvdebug")
    try:
        assert machine.load_module("read_only=1").status == 0
        result = bench.run("nvdebugctl -g 0 channel disable 0:2")
        assert result.status == REFUSED and "read_only=1" in result.err.decode()
        assert "lockdown" not in result.err.decode(), "the reason, not all that there might be"
        dry = bench.run("nvdebugctl -g 0 channel disable 0:2 --dry-run")
        assert dry.status == REFUSED and "would be refused: " in dry.text and "read_only=1" in dry.text
        findings = json.loads(bench.run("nvdebugctl -j doctor").text)["data"]["findings"]
        assert {finding["subject"] for finding in findings
                if finding["verdict"] == "attention"} == {"read_only"}
    finally:
        bench.check("rmmod nvdebug")
        assert machine.load_module().status == 0


def test_doctor(bench):
    result = bench.run("nvdebugctl -j doctor")
    document = json.loads(result.text)
    validate(document)
    assert result.status == DONE
    subjects = [finding["subject"] for finding in document["data"]["findings"]]
    assert subjects[:4] == ["rights", "module", "signature", "lockdown"]
    assert {bench.address(board) for board in BOARDS} <= set(subjects)
    bench.check("rmmod nvdebug")
    try:
        result = bench.run("nvdebugctl doctor")
        assert result.status == REFUSED and "trouble" in result.text and "fix: " in result.text
        result = bench.run("nvdebugctl gpu list")
        assert result.status == UNSUPPORTED and "doctor" in result.err.decode()
    finally:
        assert bench.machine.load_module().status == 0


def test_which_gpu(bench):
    """GPUs are named by index, PCI address or chip. Without -g the first GPU is used, with a note."""
    address = bench.address("h200")
    for name in (str(bench.index("h200")), f"gpu{bench.index('h200')}", address,
                 address.removeprefix("0000:"), "GH100", "gh100"):
        shown = json.loads(bench.check(f"nvdebugctl -g {name} -j gpu show"))
        assert shown["gpu"]["pci_address"] == address
    result = bench.run("nvdebugctl gpu show")
    assert result.status == DONE and "gpu0" in result.err.decode()
    for name in ("99", "GA999", "0000:ff:00.0", "gpu", ""):
        assert bench.run(f"nvdebugctl -g '{name}' gpu show").status in (USAGE, REFUSED)
