# SPDX-License-Identifier: MIT OR GPL-2.0
"""The measure of words flags what its rules name, and no good sentence of these."""

import importlib.machinery
import importlib.util

import pytest
from nvdvm import paths

LOADER = importlib.machinery.SourceFileLoader("measure_words", str(paths.ROOT / "scripts/measure-words"))
WORDS = importlib.util.module_from_spec(importlib.util.spec_from_loader("measure_words", LOADER))
LOADER.exec_module(WORDS)


@pytest.mark.parametrize("text, reason", (
    ("What was in flight in a process that has ended is so for good.", "pointer"),
    ("Of the runlist that holds a TSG.", "pointer"),
    ("Is it one of ours?", "pointer"),
    ("The text, and one that is null was not allocated.", "inside"),
    ("By the task.", "no subject"),
    ("Without the instance if the type's name has it.", "no subject"),
    ("Returns the TSGs of the channels.", None),
    ("On Hopper, the list is in video memory.", None),
    ("That is, the driver has closed the gate.", None)))
def test_comments_are_flagged_for_a_reason(text, reason):
    assert WORDS.riddle(text, beside_code=False) == reason


def test_a_note_behind_code_may_be_a_part_of_a_sentence():
    assert WORDS.riddle("By the task", beside_code=True) is None
    assert WORDS.riddle("what is below 0", beside_code=True) == "pointer"


def test_comments_are_found_in_code_and_not_in_strings(tmp_path):
    source = 'int a = 1\'000; // beside\n// One\n// comment\nconst char *b = "// none"; /* and this */\n'
    assert WORDS.comments(tmp_path / "a.cpp", source) == [(1, "beside", True), (2, "One comment", False), (4, "and this", True)]
    source = '"""Doc."""\nb = "# none"\n# One\n# comment\n'
    assert WORDS.comments(tmp_path / "a.py", source) == [(1, "Doc.", False), (3, "One comment", False)]


def test_sentences_of_a_page_are_without_code_and_headings():
    page = "# A heading\nOne sentence here. Another one, of `code and more`.\n```\nno sentence at all\n```\n* An item of a list\n"
    assert list(WORDS.sentences(page)) == ["One sentence here.", "Another one, of CODE.", "An item of a list"]


def test_names_of_tests_begin_with_a_subject():
    assert WORDS.FRAGMENT.match("OfEngines") and WORDS.FRAGMENT.match("ThatCannotBeReplacedIsKept")
    assert not WORDS.FRAGMENT.match("OfferIsRefused") and not WORDS.FRAGMENT.match("StaysWhenUndoFails")


def test_figures_above_their_limits_are_named(monkeypatch):
    long = "word " * 31 + "end."
    pages = {"docs/good.md": ["A short sentence."] * 9 + [long], "docs/bad.md": ["A short sentence."] * 7 + [long]}
    found = {"lib/qos": [("lib/qos/a.hpp", 1, "By the task.", False)] + [("lib/qos/a.hpp", 2, "Returns it.", False)] * 18}
    result = WORDS.measure(found, [("tests/a_test.cpp", "Suite", "OfIt")], pages)
    assert [each.partition(":")[0] for each in WORDS.above(result)] == ["lib/qos", "test names", "docs/bad.md"]
    for name, limit in (("lib/qos", 6), ("test names", 100), ("docs/bad.md", 13)):
        monkeypatch.setitem(WORDS.LIMITS, name, limit)
    assert not list(WORDS.above(result))


def test_pages_keep_their_limit():
    assert not [each for each in WORDS.above(WORDS.measure({}, [], WORDS.read_all()[2]))]
