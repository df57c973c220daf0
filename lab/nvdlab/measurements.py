# SPDX-License-Identifier: MIT OR GPL-2.0
"""Lists and runs the measurements of tests/hardware, which are programs of their own, as lab/run does with experiments.

A measurement is a script with the paths of programs and of a folder as its first words. Programs of NAME.cpp are compiled
into a temporary folder, unless the user names them. A measurement that fails does not stop the next one.
"""

import ast
import dataclasses
import pathlib
import shutil
import subprocess
import tempfile

from nvdlab.bounded import Failed
from nvdlab.machine import ROOT

HARDWARE = ROOT / "tests/hardware"
PROGRAMS = ("nvdebugctl", "nvtaskset", "nvqos", "nvstgm", "exporter")
COMPILED = ("workload", "load", "kernels")


@dataclasses.dataclass(frozen=True)
class Measurement:
    """`words` are names of PROGRAMS, of COMPILED, and "folder"; `limit_s` is when a measurement is killed."""

    name: str
    words: str
    limit_s: int
    is_default: bool = True

    def path(self, hardware=HARDWARE):
        return hardware / f"{self.name}.py"

    def summary(self, hardware=HARDWARE):
        """Returns the first line of the script's docstring."""
        return ast.get_docstring(ast.parse(self.path(hardware).read_text(encoding="utf-8"))).splitlines()[0]


ALL = tuple(Measurement(*each) for each in (
    ("through_driver", "nvdebugctl workload folder", 240),
    ("cross_check", "nvdebugctl workload folder", 240),
    ("partition_check", "nvtaskset load folder", 240),
    ("kept_check", "nvtaskset load folder", 200),
    ("partitions", "nvtaskset load folder", 400),
    ("timeslices", "nvdebugctl load folder", 240),
    ("pauses", "nvdebugctl load folder", 110),
    ("recording", "nvdebugctl load folder", 240),
    ("exporting", "exporter nvdebugctl load folder", 120),
    ("in_flight_check", "nvtaskset load folder", 200, False),
    ("kernel_names", "nvtaskset load folder nvdebugctl", 100, False),  # with PyTorch if it is there
    ("qos", "nvqos nvdebugctl load folder", 320, False),
    ("qos_socket", "nvqos nvdebugctl load folder", 140, False),
    ("qos_ends", "nvqos nvtaskset kernels folder", 320, False),
    ("qos_hami", "nvqos kernels folder", 600, False),
    ("qos_reach", "nvqos nvtaskset kernels folder", 7200, False),
    ("qos_cap", "nvqos folder", 900, False),           # with PyTorch
    ("qos_thinking", "nvqos folder", 1800, False),     # with PyTorch
    ("qos_gangs", "nvqos nvdebugctl folder", 7200, False),  # with PyTorch, on two, four or eight GPUs
    ("qos_latency", "nvqos folder", 600, False),       # with PyTorch
    ("qos_llm", "nvqos folder", 1800, False),          # with PyTorch, and transformers if it is there
    ("inference", "nvtaskset folder nvdebugctl", 900, False),  # with PyTorch
    ("same_results", "nvtaskset folder", 3600, False),  # with NumPy, and libraries that are installed
    ("stgm", "nvstgm nvtaskset folder", 7200, False)))


def table(measurements=ALL, hardware=HARDWARE):
    """Returns a line for each measurement. A star marks the measurements that run if none is named."""
    wide = max(len(each.name) for each in measurements)
    return "".join(f"{'*' if each.is_default else ' '} {each.name:{wide}}  {each.summary(hardware)}\n" for each in measurements)


def found(name):
    """Returns the path of a program: built in this checkout, or installed. Raises Failed."""
    file = "nvdebug-exporter" if name == "exporter" else name
    built = ROOT / "build/cmake/bin" / file
    if path := built if built.exists() else shutil.which(file):
        return path
    raise Failed(f"there is no {file}; 'make tool' builds it, or name one with --{name}")


def compiled(name, folder):
    path = pathlib.Path(folder, name)
    done = subprocess.run(["g++", "-std=c++20", "-O2", "-o", path, HARDWARE / f"{name}.cpp", "-ldl"], capture_output=True,
                          text=True, check=False, timeout=300)
    if done.returncode:
        raise Failed(f"{name}.cpp does not compile: {done.stderr.strip()}")
    return path


def run(measurements, folder, given, more=(), hardware=HARDWARE):
    """Runs measurements, which write into FOLDER. GIVEN has paths of programs by name; MORE are words for the scripts.

    Returns the names of the measurements that failed. Raises Failed if a program is missing.
    """
    with tempfile.TemporaryDirectory() as work:
        paths = {"folder": folder} | given
        for name in dict.fromkeys(" ".join(each.words for each in measurements).split()):
            if name not in paths:
                paths[name] = compiled(name, work) if name in COMPILED else found(name)
        folder.mkdir(parents=True, exist_ok=True)
        failed = []
        for each in measurements:
            print(f"\n--- {each.name}", flush=True)
            words = [each.path(hardware), *(paths[name] for name in each.words.split()), *more]
            try:
                status = subprocess.run([str(word) for word in words], check=False, timeout=each.limit_s).returncode
            except subprocess.TimeoutExpired:
                print(f"{each.name} did not end in {each.limit_s} s", flush=True)
                status = 1
            if status:
                failed.append(each.name)
        return failed
