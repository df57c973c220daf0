# SPDX-License-Identifier: MIT OR GPL-2.0
"""The order of the module's folders: no file includes or calls what stands above it."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Bottom to top. A name with a dot is a file at the root.
LAYERS = ("include", "compat", "decode", "core", "chips", "mmu.c", "access", "state",
          "views runlist.c device_info.c copy_topology.c", "probe", "host", "control", "gpus", "proc",
          "selftest.c nvdebug_entry.c")
# Declared at the bottom, and implemented by whoever has the machine.
SEAM = "core/machine.h"

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def sources():
    listed = subprocess.run([ROOT / "scripts" / "module-sources"], check=True, capture_output=True,
                            text=True).stdout.split()
    return [pathlib.PurePath(name) for name in listed if name.endswith((".c", ".h"))]


def text(path):
    return (ROOT / path).read_text()


def layer(path):
    parts = path.parts
    name = parts[0] if len(parts) > 1 else f"{path.stem}.c"
    found = [rank for rank, names in enumerate(LAYERS) if name in names.split()]
    assert found, f"{path}: which layer is it of?"
    return found[0]


def resolve(name):
    """The file that an include names, or None if it is generated."""
    for folder in (".", "include"):
        if (ROOT / folder / name).exists():
            return pathlib.PurePath(folder, name)
    return None


def includes():
    return [(path, target) for path in sources() for name in INCLUDE.findall(text(path))
            if (target := resolve(name))]


def without_comments(source):
    return re.sub(r"/\*.*?\*/", "", source, flags=re.S)


def test_no_file_includes_one_above_it():
    against = [f"{path} includes {target}" for path, target in includes()
               if layer(target) > layer(path)]
    assert not against


def test_headers_declare_what_is_defined_in_their_own_folder():
    """So that a file that may include a header may call what is in it."""
    defined = {}
    for path in sources():
        if path.suffix != ".c":
            continue
        source = without_comments(text(path))
        for match in re.finditer(r"^(?!static\b|\t|#)[\w \*\n]*?\b(nvdebug_\w+)\([^;{]*\)\n\{", source, re.M):
            defined[match[1]] = path
        for match in re.finditer(r"^(?:const )?struct \w+ (nvdebug_\w+)(?:\[\])? =", source, re.M):
            defined[match[1]] = path
    assert len(defined) > 200, "definitions are not recognised any more"
    elsewhere = []
    for path in sources():
        if path.suffix != ".h" or str(path) == SEAM:
            continue
        for name in re.findall(r"^(?!static\b|struct \w+;)\w[^;{}#]*?\b(nvdebug_\w+)(?:\([^;{}]*\))?(?:\[\])?;",
                               without_comments(text(path)), re.M):
            if name in defined and layer(defined[name]) != layer(path):
                elsewhere.append(f"{path} declares {name} of {defined[name]}")
    assert not elsewhere


def test_files_are_in_no_circle():
    """x.c and x.h being one."""
    graph = {}
    for path, target in includes():
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
