# SPDX-License-Identifier: MIT OR GPL-2.0
"""Results may be errors, so the compiler warns if a result is discarded, whichever header declares the function."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = "include/nvdebug/expected.hpp"
# The names by which the repository declares such functions.
KINDS = {"nvdebug/error.hpp": "nvdebug::Result", "lib/base/container_device.hpp": "nvdebug::base::OrSentence",
         "lib/base/task_name.hpp": "nvdebug::base::Named", "lib/stgm/taskset.hpp": "stgm::Outcome",
         "lib/partition/outcome.hpp": "nvtaskset::Outcome",
         "tools/nvstgm/command.hpp": "nvstgm::Answer",
         "tools/kubernetes/device_plugin_units.hpp": "nvdebug::kubernetes::OrSentence",
         "tools/kubernetes/dra_api.hpp": "nvdebug::kubernetes::ApiOutcome",
         "tools/kubernetes/failure.hpp": "nvdebug::kubernetes::Outcome",
         "tools/nvdebugctl/cli/failure.hpp": "nvdebugctl::Outcome", "tools/nvqos/failure.hpp": "nvqos::Outcome"}


def test_expected_is_included_by_one_header():
    """If a file included it first by another way, its values could be discarded without a warning."""
    found = subprocess.run(["git", "grep", "--untracked", "-lF", "#include <tl/expected.hpp>", "--", "*.hpp", "*.cpp", "*.h"], cwd=ROOT,
                           check=True, capture_output=True, text=True).stdout.split()
    assert found == [HEADER]


def test_all_kinds_are_known():
    found = subprocess.run(["git", "grep", "--untracked", "-lE", r"^using \w+ = tl::expected<", "--", "*.hpp"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split()
    assert sorted(path.removeprefix("include/") for path in found) == sorted(KINDS)


@pytest.mark.parametrize("header", KINDS)
def test_a_discarded_result_is_a_warning(header, tmp_path):
    source = tmp_path / "discard.cpp"
    source.write_text(f'#include "{header}"\n{KINDS[header]}<int> f();\nvoid g() {{\nstatic_cast<void>(f());\nf();\n}}\n',
                      encoding="utf-8")
    done = subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-Wall", "-I", ROOT, "-I",
                           ROOT / "include", source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"discard\.cpp:(\d+):.*warning: .*\[-Wunused-result\]", done.stderr) == ["5"]
