# SPDX-License-Identifier: MIT OR GPL-2.0
"""Each file of each board costs as many accesses as before, or a commit changes the golden file and gives the
reason."""

import copy
import json

from building import build
from nvdbench import core

MEANING = "if that is meant, renew tests/bench/core.json with pytest --update-golden, and read the difference"


def test_each_file_costs_as_much_as_before(request):
    build("core_costs")
    rows = core.measure()
    if request.config.getoption("--update-golden"):
        core.GOLDEN.write_text(core.kept(rows), encoding="utf-8")
    before = json.loads(core.GOLDEN.read_text(encoding="utf-8"))
    assert len(before) == 15 and all(len(files) > 20 for files in before.values())
    differences = core.changes(before, rows)
    assert not differences, "\n".join([*differences, MEANING])
    assert core.kept(rows) == core.GOLDEN.read_text(encoding="utf-8"), MEANING


def test_a_change_is_named_with_file_and_board():
    rows = [{"board": "a100", "file": name, "registers_read": 14, "words_of_memory": words}
            for name, words in (("runlist0", 198), ("contexts", 72))]
    before = json.loads(core.kept(rows))
    assert not core.changes(before, rows)
    more = copy.deepcopy(rows)
    more[0]["words_of_memory"] += 1
    assert core.changes(before, more) == [
        "a100: runlist0 costs 14 registers read, 199 words of memory, and before 14 registers read, 198 words of memory"]
    assert core.changes(before, rows[1:]) == ["a100: runlist0 costs nothing, and before 14 registers read, 198 words of memory"]
    assert core.changes({}, rows[1:]) == ["a100: contexts costs 14 registers read, 72 words of memory, and before nothing"]
