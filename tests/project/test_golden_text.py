# SPDX-License-Identifier: MIT OR GPL-2.0
"""tests/golden holds the differences between boards."""

import subprocess

import golden_text
import pytest

BASE, OTHER = "rtx6000-ada/list", "h200/list"
TEXT = "".join(f"{line}\n" for line in range(20))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(golden_text, "FOLDER", tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", (
    TEXT, TEXT.replace("7\n", "seven\n"), TEXT[4:], "first\n" + TEXT, TEXT + "last\n", TEXT[:-3],
    TEXT.replace("8\n9\n", ""), TEXT.replace("9\n", "9\n+\n-\n@@ -1 +1 @@\n")))
def test_a_difference_is_shorter_and_has_the_whole_text(folder, text):
    golden_text.write(BASE, TEXT)
    golden_text.write(OTHER, text)
    assert golden_text.load(OTHER) == text
    kept = (folder / OTHER).read_text()
    assert kept.count("\n") < 15
    if text != TEXT:
        (folder / "copy").write_text(TEXT)
        subprocess.run(["patch", "-s", "copy"], cwd=folder, input=kept, text=True, check=True)
        assert (folder / "copy").read_text() == text


def test_a_text_that_is_another_is_kept_whole(folder):
    golden_text.write(BASE, TEXT)
    golden_text.write(OTHER, TEXT.replace("1", "one"))
    assert (folder / OTHER).read_text() == TEXT.replace("1", "one")


def test_a_difference_outlives_another_text_of_its_base(folder):
    golden_text.write(BASE, TEXT)
    golden_text.write(OTHER, TEXT + "last\n")
    golden_text.write(BASE, TEXT.replace("3\n", "three\n"))
    assert golden_text.load(OTHER) == TEXT + "last\n"


def test_a_difference_from_another_text_is_noticed(folder):
    golden_text.write(BASE, TEXT)
    golden_text.write(OTHER, TEXT.replace("7\n", "seven\n"))
    (folder / BASE).write_text(TEXT.replace("7\n", "VII\n"))
    with pytest.raises(AssertionError, match="no such line"):
        golden_text.load(OTHER)
