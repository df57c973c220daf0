# SPDX-License-Identifier: MIT OR GPL-2.0
"""golden_text keeps texts of boards as short differences from texts of other boards, or whole."""

import subprocess

import golden_text
import pytest

BASE, OTHER = "rtx6000-ada/list", "h200/list"
TEXT = "".join(f"({line})\n" for line in range(60))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(golden_text, "FOLDER", tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", (
    TEXT, TEXT.replace("(7)", "seven"), TEXT[8:], "first\n" + TEXT, TEXT + "last\n", TEXT[:-5],
    TEXT.replace("(8)\n(9)\n", ""), TEXT.replace("(9)\n", "(9)\n+\n-\n@@ -1 +1 @@\n")))
def test_a_difference_is_shorter_and_has_the_whole_text(folder, text):
    golden_text.write(BASE, TEXT)
    golden_text.write(OTHER, text)
    assert golden_text.load(OTHER) == text
    kept = (folder / OTHER).read_text()
    assert kept.startswith("--- ") and kept.count("\n") <= 20
    if text != TEXT:
        (folder / "copy").write_text(TEXT)
        subprocess.run(["patch", "-s", "copy"], cwd=folder, input=kept, text=True, check=True)
        assert (folder / "copy").read_text() == text


@pytest.mark.parametrize("changed, whole", ((8, False), (9, True), (60, True)))
def test_a_difference_above_a_third_of_the_text_is_not_kept(folder, changed, whole):
    """The difference has two names, a head, and each changed line twice: 19 or 21 lines for a text of 60."""
    text = "".join(f"<{line}>\n" if line < changed else f"({line})\n" for line in range(60))
    golden_text.write(BASE, TEXT)
    golden_text.write(OTHER, text)
    assert ((folder / OTHER).read_text() == text) == whole
    assert golden_text.load(OTHER) == text


def test_a_difference_outlives_another_text_of_its_base(folder):
    golden_text.write(BASE, TEXT)
    golden_text.write(OTHER, TEXT + "last\n")
    golden_text.write(BASE, TEXT.replace("(3)", "three"))
    assert golden_text.load(OTHER) == TEXT + "last\n"


def test_a_difference_from_another_text_is_noticed(folder):
    golden_text.write(BASE, TEXT)
    golden_text.write(OTHER, TEXT.replace("(7)", "seven"))
    (folder / BASE).write_text(TEXT.replace("(7)", "VII"))
    with pytest.raises(AssertionError, match="no such line"):
        golden_text.load(OTHER)
