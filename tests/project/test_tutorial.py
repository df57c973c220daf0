# SPDX-License-Identifier: MIT OR GPL-2.0
"""The commands of docs/tutorial.md print the text that stands there."""

import re

import pytest
from nvdvm import paths
from nvdvm.machine import Gpu, Machine

PAGE = paths.ROOT / "docs" / "tutorial.md"


@pytest.fixture(scope="module")
def machine(module):
    with Machine([Gpu("gtx1060-3gb")], module=module) as one:
        yield one
        one.check_taint()


def typed(machine, block):
    """Returns the block with the present output of its commands."""
    lines = []
    for command in re.findall(r"^# (.*)$", block, re.MULTILINE):
        result = machine.run(f"exec 2>&1; export LC_ALL=C.UTF-8; {command}")
        assert result.status == 0, (command, result.text)
        lines.append(f"# {command}\n{result.text}")
    return "".join(lines)


def test_tutorial(machine, request):
    page = PAGE.read_text(encoding="utf-8")
    now = re.sub(r"(?<=^```console\n)(.*?)(?=^```$)", lambda block: typed(machine, block[1]), page,
                 flags=re.MULTILINE | re.DOTALL)
    if request.config.getoption("--update-golden"):
        PAGE.write_text(now, encoding="utf-8")
    else:
        assert now == page
