# SPDX-License-Identifier: MIT OR GPL-2.0
"""Each page of docs/ that a program's messages or man pages name is in the package of that program."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OF_SLURM = ["tools/slurm", "docs/man/spank_nvdebug.8"]
PACKAGES = {
    "nvdebugctl": ["tools/nvdebugctl", "tools/nvqos", "tools/nvtaskset", "tools/nvstgm", "lib"],
    "nvdebug-exporter": ["tools/exporter", "lib/nvdebug"],
    "nvdebug-device-plugin": ["tools/kubernetes", "lib/base"],
    "nvdebug-slurm": OF_SLURM,
    "nvdebug-dkms": ["docs/man/nvdebug.4"]}


def files(places):
    for place in places:
        path = ROOT / place
        yield from sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]


def named(path):
    """Returns the pages that a file names outside of comments of C++."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return set()
    if path.suffix in (".cpp", ".hpp", ".c", ".h"):
        text = re.sub(r"/\\*.*?\\*/|//[^\n]*", "", text, flags=re.S)
    return set(re.findall(r"docs/([\w-]+\.md)", text))


def packaged(name):
    lines = (ROOT / f"packaging/debian/{name}.docs").read_text(encoding="utf-8").split()
    return {page.name for line in lines for page in ROOT.glob(line)}


@pytest.mark.parametrize("name", PACKAGES)
def test_named_pages_are_in_the_package(name):
    pages = {page: path for path in files(PACKAGES[name]) for page in named(path)}
    assert pages or name == "nvdebug-slurm"
    for page, path in pages.items():
        assert (ROOT / "docs" / page).exists(), f"{path} names docs/{page}"
        assert page in packaged(name), f"{path} names docs/{page}, which packaging/debian/{name}.docs lacks"
    assert packaged(name)


def test_all_pages_are_in_archive_and_rpm():
    """The archive and the rpm have all pages, whether a program names them or not. The rpm is made from the archive's
    folder."""
    archive = (ROOT / "packaging/archive").read_text(encoding="utf-8")
    assert re.search(r'^install .*"\$top/docs" "\$here"/docs/\*\.md$', archive, re.M)
    assert re.search(r"^%doc .*\bdocs\b", (ROOT / "packaging/rpm/nvdebug.spec.in").read_text(encoding="utf-8"), re.M)
