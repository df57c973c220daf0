# SPDX-License-Identifier: MIT OR GPL-2.0
"""Rights: the files agree with each cell of the tables in docs/security.md, and show no address of the kernel's."""

import contextlib
import re

import pytest
from nvdvm import kernel, paths, qemu
from nvdvm.machine import Gpu, Machine
from waiting import until

DOCUMENT = paths.ROOT / "docs" / "security.md"
STATE_UID, STATE_GID = 1001, 2000
LOCKDOWN = "lockdown: "
# An address of the kernel's is in the upper half of 48 bits, sign-extended.
KERNEL_ADDRESS = re.compile(r"(?<![0-9a-f])(?:0x)?ffff[89a-f][0-9a-f]{11}(?![0-9a-f])")


def rows(heading):
    """Returns the cells of the first table below a heading, without the line that rules it off."""
    text = DOCUMENT.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1]
    table = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE).group()
    lines = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in table.splitlines()]
    return [lines[0], *lines[2:]]


def by_default():
    (_, *things), *people = rows("With default parameters")
    return {(who, thing): cell for who, *cells in people
            for thing, cell in zip(things, cells, strict=True)}


def differences():
    """Returns {cause: {(user, thing): cell}}."""
    found = {}
    for made_by, who, thing, cell in rows("What parameters and the kernel change")[1:]:
        found.setdefault(made_by.strip("`"), {})[who, thing] = cell
    return found


@pytest.fixture(scope="module")
def machine(module, kselftests):
    """Starts a VM in which BARs show the lists, so that no right depends on the window. It is locked down at the end.
    If root opens info of an H200, registers are read."""
    files = {**kselftests, "/root/who_may": paths.kselftests(kernel.find().arch) / "who_may"}
    gpus = [Gpu("gtx1060-3gb", "bars"), Gpu("h200", "bars")]
    with Machine(gpus, module=module, extra_files=files) as running:
        yield running
        running.check_taint()


def observed(machine, gpu):
    lines = machine.check(f"/root/who_may {gpu} {STATE_UID} {STATE_GID}").splitlines()
    cells = [tuple(line.split(" | ")) for line in lines]
    assert len(cells) == len(set(cells))
    return {(who, thing): cell for who, thing, cell in cells}


def expect(machine, made_by):
    want = by_default()
    changed = differences().get(made_by, {})
    assert changed.keys() <= want.keys(), "a row about nobody, or about nothing"
    assert all(want[key] != cell for key, cell in changed.items()), "a row that changes nothing"
    want |= changed
    for gpu in ("gpu0", "gpu1"):
        assert observed(machine, gpu) == want, f"{gpu} with {made_by or 'default parameters'}"


PARAMETERS = ["", *(name for name in differences() if not name.startswith(LOCKDOWN))]


@pytest.mark.parametrize("params", PARAMETERS)
def test_rights_are_those_of_the_parameters(machine, params):
    machine.check("rmmod nvdebug")
    assert machine.load_module(params).status == 0
    expect(machine, params)


def test_a_user_causes_no_access(machine):
    """A user with access to public files only causes no access to a GPU."""
    machine.check("rmmod nvdebug")
    assert machine.load_module().status == 0
    for model in machine.models:
        model.request("stats", "reset")
    machine.check("echo user:x:1000:1000::/:/bin/sh > /etc/passwd")
    shown = machine.run("su user -c 'cat /proc/gpu*/*'").text
    assert "chip: " in shown and "# engine inst" in shown and "Permission" not in shown
    for model in machine.models:
        assert not any(bar["reads"] or bar["writes"] for bar in model.request("stats")["bars"].values())


# States in which a GPU was when the module was loaded, so that it has only the file info.
CLOSED = ("mig", "cc", "asleep", "dead")
LEFT_ALONE = "dmesg | grep -c 'left alone' || true"


@contextlib.contextmanager
def closed(machine, why):
    """Loads the module while the H200 is in that state. "asleep" and "dead" wake up after that."""
    model, mode = machine.models[1], why in ("mig", "cc")
    power = f"/sys/bus/pci/devices/0000:00:{qemu.FIRST_GPU_SLOT + 1:02x}.0/power"
    machine.check("rmmod nvdebug")
    if mode:
        model.request("mode", why, "1")
    else:
        machine.check(f"echo auto > {power}/control; "
                      f"until grep -q suspended {power}/runtime_status; do usleep 10000; done")
    try:
        assert machine.load_module("").status == 0
        assert machine.check("ls /proc/gpu1") == "info\n"
        if not mode:
            machine.check(f"echo on > {power}/control")
        if why == "dead":
            model.request("fault", "all-ones")
        machine.check("dmesg -c > /dev/null")
        model.request("stats", "reset")
        yield model
    finally:
        model.request("fault", "none")
        if mode:
            model.request("mode", why, "0")
        machine.check(f"echo on > {power}/control; rmmod nvdebug")
        assert machine.load_module("").status == 0


def touched(model):
    return any(bar["reads"] or bar["writes"] for bar in model.request("stats")["bars"].values())


@pytest.mark.parametrize("why", CLOSED)
def test_a_user_causes_no_second_probe(machine, why):
    """A user may open info as often as they want. Only root's opening makes the module probe the GPU again."""
    machine.check("echo user:x:1000:1000::/:/bin/sh > /etc/passwd")
    with closed(machine, why) as model:
        machine.check("su user -c 'for i in $(seq 50); do cat /proc/gpu1/info > /dev/null; done'")
        assert not touched(model)
        assert machine.check(LEFT_ALONE) == "0\n" and machine.check("ls /proc/gpu1") == "info\n"
        machine.check("cat /proc/gpu1/info")
        until(lambda: touched(model))
        if why == "asleep":
            until(lambda: machine.run("[ -e /proc/gpu1/runlist0 ] && [ -e /proc/gpu1/info ]").status == 0)
        else:
            until(lambda: machine.run("ls /proc/gpu1").text == "info\n")


@pytest.mark.rows(1)
@pytest.mark.parametrize("why", ("mig", "cc", "dead"))
def test_root_causes_a_probe_a_second_at_most(machine, why):
    """The module probes at most five times in five seconds, and logs at most as many lines."""
    with closed(machine, why) as model:
        lines = machine.check("cut -d. -f1 /proc/uptime; "
                              "for i in $(seq 500); do cat /proc/gpu1/info > /dev/null; done; "
                              f"cut -d. -f1 /proc/uptime; {LEFT_ALONE}", timeout_s=120)
        start, end, said = (int(line) for line in lines.split())
        most = 5 * ((end - start + 1) // 5 + 2)
        assert said <= most < 500
        assert model.request("stats")["bars"]["0"]["blocks"]["PMC"]["reads"] <= 3 * most


def test_no_file_and_no_message_has_a_kernel_address(machine):
    """By now the other tests have made the module print all its messages."""
    kernel = machine.check("grep ' [tT] ' /proc/kallsyms | head -n 200")
    assert len(KERNEL_ADDRESS.findall(kernel)) > 100, "does not know one when it sees one"
    shown = machine.check("for file in /proc/gpu*/*; do cat $file; done 2>/dev/null; "
                          "dmesg | grep nvdebug")
    assert "runlist" in shown and "nvdebug: " in shown
    assert not KERNEL_ADDRESS.findall(shown)


@pytest.mark.parametrize("level", ["integrity", "confidentiality"])
def test_rights_under_lockdown(machine, level):
    """The tests of lockdown come last and in this order, because lockdown has no way back."""
    machine.check(f"echo {level} >/sys/kernel/security/lockdown")
    expect(machine, LOCKDOWN + level)
