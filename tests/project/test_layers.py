# SPDX-License-Identifier: MIT OR GPL-2.0
"""The order of folders, of the module's and of user space's: no file includes or calls what stands above it; and how
long a file is."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Bottom to top; what stands in one string has one rank. A name with a dot is a file at the root.
MODULE = ("include", "compat", "decode", "core", "chips", "mmu.c", "access", "state",
          "views runlist.c device_info.c copy_topology.c", "probe", "host", "control", "gpus", "proc",
          "nvdebug_entry.c")
PROGRAMS = ("include/nvdebug", "lib/base", "lib/drawing", "lib/driver", "lib/nvdebug",
            "lib/partition lib/stgm lib/qos",
            "tools/nvtaskset tools/nvdebugctl tools/nvstgm tools/nvqos tools/exporter tools/bridge tools/slurm")
# Declared at the bottom, and implemented by whoever has the machine.
SEAM = "core/machine.h"
# Public headers stand apart from what they declare.
HOMES = {"include/nvdebug": "lib/nvdebug"}

# A file is about one thing. Tables may be longer: a line for each row, to be named here.
MOST_LINES = 600
TABLES = ()

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def without_comments(source):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", source, flags=re.S)


class Module:
    """The kernel module: C, with names that have a prefix."""

    layers, folders, header = MODULE, (".", "include"), ".h"
    definitions_at_least = 200
    definition = re.compile(r"^(?!static\b|\t|#)[\w \*\n]*?\b(nvdebug_\w+)\([^;{]*\)\n\{"
                            r"|^(?:const )?struct \w+ (nvdebug_\w+)(?:\[\])? =", re.M)
    declaration = re.compile(r"^(?!static\b|struct \w+;)\w[^;{}#]*?\b(nvdebug_\w+)(?:\([^;{}]*\))?(?:\[\])?;", re.M)

    @staticmethod
    def sources():
        listed = subprocess.run([ROOT / "scripts" / "module-sources"], check=True, capture_output=True, text=True)
        return [pathlib.PurePath(name) for name in listed.stdout.split() if name.endswith((".c", ".h"))]

    @staticmethod
    def folder(path):
        return path.parts[0] if len(path.parts) > 1 else f"{path.stem}.c"


class Programs:
    """User space: C++, with functions in namespaces."""

    layers, folders, header = PROGRAMS, (".", "include", "tools/nvdebugctl"), ".hpp"
    definitions_at_least = 400
    definition = re.compile(r"^(?!static\b|return\b|namespace\b|using\b|[ #}])[\w:<>,&\* ]*?[\s\*&]((?:\w+::)*\w+)"
                            r"\([^;{}]*\)(?: const)?(?: noexcept)?(?:\s*:[^;{}]*(?:\{[^{};]*\}[^;{}]*)*)? \{", re.M)
    declaration = re.compile(r"^(?!static\b|inline\b|return\b|namespace\b|using\b|class\b|struct\b|enum\b|template\b|[ #}])"
                             r"[\w:<>,&\*\[\] ]*?[\s\*&](\w+)\([^;{}]*\)(?: noexcept)?;", re.M)

    @staticmethod
    def sources():
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "include/nvdebug",
                                 "lib", "tools"], cwd=ROOT, check=True, capture_output=True, text=True)
        return [pathlib.PurePath(name) for name in listed.stdout.split()
                if name.endswith((".cpp", ".hpp", ".h")) and (ROOT / name).exists()]

    @staticmethod
    def folder(path):
        return "/".join(path.parts[:2])


both = pytest.mark.parametrize("part", (Module, Programs))


def layer(part, folder):
    folder = HOMES.get(folder, folder)
    found = [rank for rank, names in enumerate(part.layers) if folder in names.split()]
    assert found, f"{folder}: which layer is it?"
    return found[0]


def resolve(part, path, name):
    """The file that an include names, or None if it is generated."""
    for folder in (path.parent, *part.folders):
        if (ROOT / folder / name).exists():
            return pathlib.PurePath(folder, name)
    return None


def includes(part):
    sources = part.sources()
    return [(path, target) for path in sources for name in INCLUDE.findall(text(path))
            if (target := resolve(part, path, name)) in sources]


def rank(part, path):
    """Public headers may be included by all: they have the lowest rank, and their definitions that of their home."""
    folder = part.folder(path)
    return 0 if folder in HOMES else layer(part, folder)


@both
def test_no_file_includes_one_above_it(part):
    assert len(includes(part)) > len(part.sources()) / 2, "includes are not recognised any more"
    against = [f"{path} includes {target}" for path, target in includes(part) if rank(part, target) > rank(part, path)]
    assert not against


def test_programs_include_nothing_of_each_other():
    """What two of them need is in lib/."""
    assert not [f"{path} includes {target}" for path, target in includes(Programs)
                if path.parts[0] == target.parts[0] == "tools" and path.parts[1] != target.parts[1]]


@both
def test_headers_declare_what_is_defined_in_their_own_folder(part):
    """So that a file that may include a header may call what is in it."""
    defined = {}
    for path in part.sources():
        if path.suffix not in (".c", ".cpp"):
            continue
        # What is in a namespace without a name is the file's own.
        source = re.sub(r"^namespace \{$.*?^\} // namespace$", "", without_comments(text(path)) if path.suffix == ".c"
                        else re.sub(r"/\*.*?\*/", "", text(path), flags=re.S), flags=re.S | re.M)
        for match in part.definition.finditer(source):
            name = next(each for each in match.groups() if each).rsplit("::", 1)
            if len(name) == 1 or not name[0][0].isupper():  # a function, and no member of a class
                defined.setdefault(name[-1], set()).add(HOMES.get(part.folder(path), part.folder(path)))
    assert len(defined) > part.definitions_at_least, "definitions are not recognised any more"
    elsewhere = []
    for path in part.sources():
        if path.suffix != part.header or str(path) == SEAM:
            continue
        folder = HOMES.get(part.folder(path), part.folder(path))
        for name in part.declaration.findall(without_comments(text(path))):
            if name in defined and not any(layer(part, each) == layer(part, folder) for each in defined[name]):
                elsewhere.append(f"{path} declares {name} of {', '.join(sorted(defined[name]))}")
    assert not elsewhere


@both
def test_files_are_in_no_circle(part):
    """x.cpp and x.hpp being one."""
    graph = {}
    for path, target in includes(part):
        one, other = str(path.with_suffix("")), str(target.with_suffix(""))
        if one != other:
            graph.setdefault(one, set()).add(other)
    done, path = set(), []

    def visit(node):
        assert node not in path, " includes ".join(path[path.index(node):] + [node])
        if node in done:
            return
        path.append(node)
        for other in sorted(graph.get(node, ())):
            visit(other)
        path.pop()
        done.add(node)

    for node in sorted(graph):
        visit(node)


def test_no_source_is_too_long():
    kernel = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.c", "*.h"]
    commands = [kernel, *([ROOT / "scripts/sources", kind] for kind in ("c++", "python", "shell"))]
    names = {name for command in commands
             for name in subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
             if (ROOT / name).exists()}
    assert len(names) > 700, "sources are not found any more"
    lines = {name: text(name).count("\n") for name in names - set(TABLES)}
    assert not [f"{name} has {count} lines, more than {MOST_LINES}: split it by what it does, or name it in TABLES"
                for name, count in sorted(lines.items()) if count > MOST_LINES]
