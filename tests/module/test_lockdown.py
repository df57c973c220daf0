# SPDX-License-Identifier: MIT OR GPL-2.0
"""Kernel lockdown, which lasts until a reboot and so has VMs of its own, and the rights to read system memory."""

import driver
from conftest import Bench
from layouts import number
from nvdvm.machine import Gpu, Machine
from text import boxes

SECRET = ("0x72637365", "0x6b2d7465", "0x6d207965", "0x72657465")


def test_lockdown(module, kselftests):
    with Machine([Gpu("gtx1060-3gb"), Gpu("rtx6000-ada")], module=module,
                 extra_files=kselftests) as machine:
        result = machine.run("/root/proc_lockdown --destructive")
        assert result.status == 0, result.text
        assert "# SKIP" not in result.text
        machine.check_taint()


def lock_down(machine, level):
    machine.check(f"mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security; "
                  f"echo {level} > /sys/kernel/security/lockdown")


def lines_about_lockdown(machine):
    return int(machine.check("dmesg | grep -c 'Lockdown: ' || true"))


def by_user(machine, command):
    return machine.run(f"su user -c '{command}'")


def poke_list(model, at=0):
    """Writes other words into runlist 0, from word `at` on."""
    one = next(one for one in model.request("layout")["runlists"] if one["id"] == 0)
    for i, word in enumerate(SECRET):
        model.request("poke", one["aperture"], hex(number(one["address"]) + 4 * (at + i)), word)


def has_secret(result):
    return any(word.removeprefix("0x") in result.text for word in SECRET)


def is_refused(result):
    return result.status != 0 and "not supported" in result.err.decode() and not result.out


def test_system_memory_is_read_only_if_it_may_be(module):
    """System memory is read only while a driver is bound, and not under lockdown for confidentiality. Reading words
    that are no entry needs CAP_SYS_RAWIO. Users cause no line in the log."""
    boards = ("h200", "titan-v")
    with Machine([Gpu("h200", "sysmem"), Gpu("titan-v")], module=module, module_params="state_uid=1000",
                 extra_files=driver.files()) as machine:
        bench, listed = Bench(machine, boards), "cat /proc/gpu0/runlist0"
        machine.check("echo user:x:1000:1000::/:/bin/sh > /etc/passwd")
        # Without a driver only the module's own memory can be read. The list of titan-v is in video memory, and its
        # copy in the module's.
        for name in ("runlist0", "runlist0_brief"):
            assert is_refused(machine.run(f"cat /proc/gpu0/{name}"))
        bench.refused("h200", "set_timeslice", "0:1 4000", "not supported")
        bench.refused("h200", "switch_to_tsg", "0:1", "not supported")
        bench.write_ok("titan-v", "switch_to_tsg", "0:1")
        assert boxes(bench.read("titan-v", "runlist0"))[0].fields["Aperture"] == "coh"
        bench.write_ok("titan-v", "set_timeslice", "0:1 4000")
        bench.write_ok("titan-v", "resubmit_runlist", "0")

        machine.check("insmod /lib/pcigpu.ko")
        assert driver.bind(bench, "h200").status == 0
        assert "Channel Info" in by_user(machine, listed).text
        poke_list(machine.models[0], 4)
        assert "hidden" in by_user(machine, listed).text and not has_secret(by_user(machine, listed))
        assert has_secret(machine.run(listed))
        bench.check(driver.unbind(bench, "h200"))
        assert is_refused(machine.run(listed))
        assert driver.bind(bench, "h200").status == 0

        # titan-v has no driver, so `info` has to find out whether the window may be moved.
        lock_down(machine, "integrity")
        before = lines_about_lockdown(machine)
        by_user(machine, "for i in $(seq 50); do cat /proc/gpu1/info; done > /dev/null")
        assert lines_about_lockdown(machine) == before
        assert "feature pram_window: no (kernel lockdown)" in bench.read("titan-v", "info")
        before = lines_about_lockdown(machine)
        by_user(machine, "for i in $(seq 50); do cat /proc/gpu1/info /proc/gpu1/runlist0; done > /dev/null 2>&1")
        assert lines_about_lockdown(machine) == before
        assert has_secret(machine.run(listed))

        lock_down(machine, "confidentiality")
        for who in (machine.run, lambda command: by_user(machine, command)):
            for name in ("runlist0", "runlist0_brief"):
                assert is_refused(who(f"cat /proc/gpu0/{name}"))
        before = lines_about_lockdown(machine)
        by_user(machine, "for i in $(seq 50); do cat /proc/gpu0/runlist0; done 2> /dev/null")
        assert lines_about_lockdown(machine) == before
        machine.check_taint()
