# SPDX-License-Identifier: MIT OR GPL-2.0
"""Each link on a page leads to a file, and with a # to a heading of it."""

import re
import subprocess

import pytest
from nvdvm import paths

PAGES = sorted(subprocess.run(["git", "ls-files", "*.md"], cwd=paths.ROOT, check=True, capture_output=True,
                              text=True).stdout.split())


def prose(path):
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)


def anchors(path):
    """The names that GitHub gives to headings, and those of <a name=…>."""
    text = prose(path)
    headings = (re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading) for heading in re.findall(r"^#+ (.*)$", text, re.M))
    return ({re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}
            | set(re.findall(r'<a name="([^"]+)"', text)))


def broken(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if re.match(r"\w+:", link):
            continue
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES)
def test_links_of_pages_lead_somewhere(page):
    assert not list(broken(paths.ROOT / page))


def test_a_link_to_nothing_is_noticed(tmp_path):
    (tmp_path / "other.md").write_text("# One `heading`, here\n<a name=\"place\"></a>\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text("# Mine\n[a](other.md#one-heading-here) [b](#mine) [c](other.md#place) [d](https://e.org/#x)\n"
                    "[e](other.md#gone) [f](#gone) [g](gone.md)\n```\n[h](gone.md)\n```\n", encoding="utf-8")
    assert list(broken(page)) == ["other.md#gone", "#gone", "gone.md"]
