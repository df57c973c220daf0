# SPDX-License-Identifier: MIT OR GPL-2.0
"""Fixtures. One VM is booted for the whole run, and is put back into a known state for every test."""

import contextlib
import os
import pathlib
import shutil
import signal
import sys

import pytest

for folder in ("vm", "tests/bench"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / folder))

# Failed assertions of helpers are explained like those of tests.
pytest.register_assert_rewrite(*(path.stem for path in (pathlib.Path(__file__).parent / "support").glob("*.py")))

import driver  # noqa: E402
import golden_text  # noqa: E402
import stall  # noqa: E402
from boards import BOARDS  # noqa: E402
from nvdvm import kernel, paths, qemu  # noqa: E402
from nvdvm.build import ensure_built, module_for  # noqa: E402
from nvdvm.machine import Gpu, Machine  # noqa: E402

# nohup and the background jobs of shells ignore these signals. Tests start programs and end them by these signals, so
# the programs must not inherit that.
for number, default in ((signal.SIGHUP, signal.SIG_DFL), (signal.SIGINT, signal.default_int_handler),
                        (signal.SIGQUIT, signal.SIG_DFL)):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, default)

# The VMs of a worker share one processor. Other workers have other processors.
if WORKER := os.environ.get("PYTEST_XDIST_WORKER"):
    PROCESSORS = sorted(os.sched_getaffinity(0))
    os.environ.setdefault("NVDEBUG_CPU", str(PROCESSORS[int(WORKER.removeprefix("gw")) % len(PROCESSORS)]))

DEFAULT_WORKLOAD = "three-tasks"
pytest_plugins = ["desk", "sample", "slowest", "slurm", "trees"]
# The QEMU of Debian 12 has no vfio-user: make check-vfio-user names another QEMU.
collect_ignore = [] if os.environ.get("NVDEBUG_QEMU") else ["vm/test_vfio_user.py"]
# These tests need a kernel that checks itself: make check-debug chooses it.
NEEDS_KERNEL = {"module/test_debug.py": "debug", "module/test_fail.py": "debug", "module/test_kcsan.py": "kcsan"}
collect_ignore += [file for file, name in NEEDS_KERNEL.items() if os.environ.get("NVDEBUG_KERNEL") != name]


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true",
                     help="rewrite tests/golden from what the module prints now")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    item.has_failed = getattr(item, "has_failed", False) or report.failed


@pytest.fixture
def tmp_path(request, tmp_path):
    """Removes the folder of a test that has passed. pytest keeps the folders of three runs, and one run has 50,000
    files."""
    yield tmp_path
    if not request.node.has_failed:
        shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture(scope="session")
def built():
    """Brings all that a VM needs up to date."""
    ensure_built("kselftest", "vm-test-modules")


@pytest.fixture(scope="session")
def module(built):
    return module_for(kernel.find().release)


@pytest.fixture(scope="session")
def kselftests():
    folder = paths.kselftests(kernel.find().arch)
    programs = {f"/root/{path.name}": path for path in folder.glob("proc_*")}
    assert programs, f"no test programs in {folder}; run 'make kselftest'"
    return programs


@pytest.fixture(scope="session")
def session_machine(module, kselftests, worker_id):
    test_modules = paths.BUILD / "test-modules" / kernel.find().release
    files = {**kselftests, **stall.files(),
             **{f"/lib/{name}.ko": test_modules / f"{name}.ko"
                for name in ("procowner", "pcigpu", "devicelock", "lostbar", "locksboth", "movebar", "relay",
                             "failreturn")}}
    with Machine([Gpu(board) for board in BOARDS], module=module, extra_files=files,
                 logs=paths.BUILD / "logs" / "pytest" / worker_id) as machine:
        yield machine


class Bench:
    """The VM as a test sees it: GPUs by board name, workloads, costs.

    `slots` are the boards in the order of their PCI slots, `folders` in the order of their numbers.
    """

    def __init__(self, machine, slots=BOARDS, folders=None):
        self.machine = machine
        self.slots = slots
        self.folders = folders or slots

    @property
    def real_bars(self):
        """Returns true if BARs have the product's sizes and not small ones."""
        return self.machine.emulator.transport.real_bars

    def index(self, board):
        return self.folders.index(board)

    def proc(self, board, name=""):
        return f"/proc/gpu{self.index(board)}/{name}"

    def model(self, board):
        return self.machine.models[self.slots.index(board)]

    def run(self, command, **options):
        return self.machine.run(command, **options)

    def check(self, command, **options):
        return self.machine.check(command, **options)

    def module_log(self, last=0):
        return self.machine.module_log(last)

    def read(self, board, name):
        return self.check(f"cat {self.proc(board, name)}")

    def write(self, board, name, text):
        """Writes text with a single write(2). The result's err has dd's words for the errno."""
        escaped = text.replace("\\", "\\\\").replace("%", "%%").replace("\n", "\\n")
        return self.run(f"printf '{escaped}' | "
                        f"dd of={self.proc(board, name)} bs=8192 iflag=fullblock")

    def write_ok(self, board, name, text):
        result = self.write(board, name, text)
        assert result.status == 0, result.err.decode()

    def refused(self, board, name, text, error):
        result = self.write(board, name, text)
        assert result.status != 0 and error in result.err.decode()

    def restart(self, board, workload=DEFAULT_WORKLOAD):
        self.model(board).request("restart", workload)

    def peek(self, board, offset):
        """Returns a word of BAR0, read past the module, through the PCI resource."""
        return int(self.check(f"devmem {self._bar0(board) + offset:#x} 32"), 16)

    def poke(self, board, offset, value):
        self.check(f"devmem {self._bar0(board) + offset:#x} 32 {value:#x}")

    def _bar0(self, board):
        resource = f"/sys/bus/pci/devices/{self.address(board)}/resource"
        return int(self.check(f"head -n 1 {resource}").split()[0], 16)

    def address(self, board):
        return f"0000:00:{qemu.FIRST_GPU_SLOT + self.slots.index(board):02x}.0"

    def rescan(self, board):
        """Makes the kernel look for PCI devices, and waits until the board has its folder."""
        self.check("echo 1 > /sys/bus/pci/rescan; "
                   f"until [ -e {self.proc(board, 'info')} ]; do usleep 10000; done")

    def cost(self, board, command):
        """Returns the BAR accesses that a command causes on a board, by register block of BAR0."""
        model = self.model(board)
        model.request("stats", "reset")
        self.check(command)
        return model.request("stats")["bars"].get("0", {}).get("blocks", {})


def fresh(this):
    """Makes a fresh start: the module is loaded, each GPU has the default workload, and there are no faults.

    Checks afterwards that the kernel has no trouble and no taint, and that nothing was accessed that the hardware
    lacks.
    """
    machine = this.machine
    for model in machine.models:
        model.request("fault", "none")
        model.request("restart", DEFAULT_WORKLOAD)
        model.request("violations", "reset")
    if not this.run("[ -d /proc/gpu0 ]").status == 0:
        assert machine.load_module().status == 0
    yield this
    machine.check_kernel()
    machine.check_taint()
    for model in machine.models:
        model.fail_on_violations()


@pytest.fixture
def bench(session_machine):
    yield from fresh(Bench(session_machine))


@pytest.fixture
def start(bench):
    """start(BOARD, WORKLOAD) starts the workload. A driver is bound if the lists are in system memory, because it is
    read only then."""
    with contextlib.ExitStack() as drivers:
        def begin(board, workload):
            if workload == "sysmem" and bench.run("[ -e /sys/bus/pci/drivers/pcigpu ]").status:
                drivers.enter_context(driver.driver(bench))
            if workload == "sysmem":
                assert driver.bind(bench, board).status == 0
            bench.restart(board, workload)

        yield begin


@pytest.fixture
def reloaded(bench):
    """reloaded(PARAMS) loads the module again with other parameters, for one test."""
    def reload(params):
        bench.check("rmmod nvdebug")
        assert bench.machine.load_module(params).status == 0

    yield reload
    bench.check("! [ -d /proc/gpu0 ] || rmmod nvdebug")
    assert bench.machine.load_module().status == 0


@pytest.fixture
def golden(request):
    """golden(NAME, TEXT) checks that TEXT is the text of tests/golden/NAME."""
    update = request.config.getoption("--update-golden")

    def compare(name, text):
        if update:
            golden_text.write(name, text)
            return
        path = golden_text.FOLDER / name
        assert path.is_file(), f"no {path}; make it with pytest --update-golden and read it"
        assert text == golden_text.load(name), f"differs from {path}"

    return compare
