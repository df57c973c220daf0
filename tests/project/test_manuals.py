# SPDX-License-Identifier: MIT OR GPL-2.0
"""Man pages that are not made when the programs are built are free of mandoc's warnings."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("path", sorted((ROOT / "docs/man").glob("*.[1-9]")), ids=lambda path: path.name)
def test_mandoc_has_nothing_to_say(path):
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    system, = re.findall(r"^\.Os(.*)$", path.read_text(encoding="utf-8"), re.M)
    assert system == " Linux", "without a name the foot of the page has that of mandoc's own system"
