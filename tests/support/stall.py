# SPDX-License-Identifier: MIT OR GPL-2.0
"""A command in the guest that stands still at a given place (tests/module/test_modules/stall.c)."""

import contextlib

from nvdvm import kernel, paths

PARAMETERS = "/sys/module/stall/parameters"
CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"


def files():
    """Returns the files that a machine needs for it."""
    return {"/lib/stall.ko": paths.BUILD / "test-modules" / kernel.find().release / "stall.ko",
            "/root/slow_reader": paths.kselftests(kernel.find().arch) / "slow_reader"}


class Stalled:
    """The command that stands still. It goes on at finish() at the latest."""

    def __init__(self, vm):
        self._vm = vm
        self.status = None
        self.out = None

    def is_done(self):
        return self._vm.run("[ -s /tmp/stalled.status ]").status == 0

    def finish(self):
        """Lets the command go on, and waits until it has ended."""
        self._vm.check(f"echo 1 > {PARAMETERS}/release; "
                       "until [ -s /tmp/stalled.status ]; do usleep 10000; done", timeout_s=60)
        self.status = int(self._vm.check("cat /tmp/stalled.status"))
        self.out = self._vm.check("cat /tmp/stalled.out")


@contextlib.contextmanager
def stalled(vm, command, function, calls=1, after=False):
    """Runs `command` (a shell's own one, or "exec ...") up to that call of `function`, or up to its return.

    The with-block runs while the command stands still. After it the command has ended.
    """
    # A second after booting, x86 changes from the clock "tsc-early" to "tsc". This stops all processors, and the other
    # processor would stand still together with the command.
    vm.check(f"while grep -q early {CLOCK}; do usleep 10000; done")
    vm.check("rm -f /tmp/stalled.*; "
             f"insmod /lib/stall.ko function={function} calls={calls} after={int(after)}")
    this = Stalled(vm)
    try:
        vm.check(f"cat > /tmp/stalled.sh <<'END'\necho $$ > {PARAMETERS}/pid\n{command}\nEND\n"
                 "{ sh /tmp/stalled.sh > /tmp/stalled.out 2>&1; echo $? > /tmp/stalled.status; } "
                 "< /dev/null > /dev/null 2>&1 & "
                 f"until grep -q Y {PARAMETERS}/held || [ -s /tmp/stalled.status ]; "
                 "do usleep 10000; done", timeout_s=60)
        assert vm.run(f"grep -q Y {PARAMETERS}/held").status == 0, f"{function} was not called"
        yield this
        this.finish()
    finally:
        vm.check(f"echo 1 > {PARAMETERS}/release; rmmod stall")


@contextlib.contextmanager
def slow_reader(vm, path):
    """A task is inside of a read of the file during the with-block. It waits for its own memory."""
    vm.check(f"/root/slow_reader {path} < /dev/null > /tmp/slow_reader 2>&1 & echo $! > /tmp/slow_reader.pid; "
             "timeout 60 sh -c 'until grep -q userfault /proc/$(cat /tmp/slow_reader.pid)/stack; do usleep 10000; done'")
    try:
        yield
    finally:
        vm.check("kill -9 $(cat /tmp/slow_reader.pid)")
