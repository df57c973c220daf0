# SPDX-License-Identifier: MIT OR GPL-2.0
"""The order of folders, in the module and in user space: no file includes or calls anything above it. The folders and
libraries that each folder of tests may use, and the length of files."""

import ast
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The order is from bottom to top. Names in one string have one rank, and a name with a dot is a file at the root.
MODULE = ("include", "module/compat", "module/decode", "module/core", "module/chips", "mmu.c", "module/access",
          "module/state", "module/views runlist.c device_info.c copy_topology.c", "module/probe", "module/host",
          "module/control", "module/gpus", "module/proc", "nvdebug_entry.c")
PROGRAMS = ("include/nvdebug", "lib/base", "lib/cli lib/drawing lib/live", "lib/driver", "lib/nvdebug",
            "lib/partition lib/recording lib/stgm lib/qos", "lib/simulation",
            "tools/nvtaskset tools/nvdebugctl tools/nvstgm tools/nvqos tools/exporter tools/bridge tools/slurm tools/kubernetes")
# The order within nvqos: folders, and the files at its top by their names without a suffix.
NVQOS = ("failure family goals file gpus refusal", "keep", "report metrics metrics_file display printer", "serve",
         "trace demo_machine", "simulate", "advise", "command_line demo session run main")
# The order within nvdebugctl: its folders, and "." for the files beside them.
NVDEBUGCTL = ("cli", "state", "control", "check", "task", "objects", "recording", "live", ".")
# The seam is declared at the bottom, and each machine implements it: the kernel, the driver's reader, and tests.
SEAM = "module/core/machine.h"
# Public headers stand apart from what they declare.
HOMES = {"include/nvdebug": "lib/nvdebug"}

# The folders of tests, and the areas that each may use beside itself. A use is an include, an import or a link, or
# the name of a file or program of tests/ in Python. "shared" is SHARED, and "module" all of MODULE.
TESTS = {
    "tests": "tests/support tests/bench vm",
    "tests/support": "vm tests/data tests/hardware tests/module/core tests/module/kselftest tests/qos tests/taskset",
    "tests/hardware": "lab/nvdlab",
    "tests/module": "shared tests/bench",
    "tests/module/decode": "tests/data module/decode include",
    "tests/module/core": "tests/support tests/golden module model",
    "tests/module/cross": "module/decode include model model/tests",
    "tests/module/kselftest": "",
    "tests/module/test_modules": "module/compat",
    "tests/bridge": "shared tests/driver tools/bridge lib/nvdebug model",
    "tests/cli": "shared lib/base lib/cli",
    "tests/driver": "shared tools/nvdebugctl lib/nvdebug lib/driver lib/base include/nvdebug model",
    "tests/lib": "shared lib/nvdebug lib/base include/nvdebug",
    "tests/nvdebugctl": "shared tools/nvdebugctl lib/nvdebug lib/recording lib/drawing lib/base",
    "tests/taskset": "shared tools/nvtaskset lib/nvdebug lib/partition lib/driver",
    "tests/qos": "shared tests/driver tools/nvqos tools/nvdebugctl tools/exporter include/nvdebug lib/nvdebug lib/simulation lib/qos lib/base "
                 "lib/cli model lab/quotas lab/nvdlab",
    "tests/simulation": "shared lib/simulation",
    "tests/stgm": "shared lib/stgm",
    "tests/stgm/model": "tests/data tests/stgm lib/stgm model lab/model docs",
    "tests/exporter": "shared tests/driver tools/exporter lib/nvdebug model",
    "tests/slurm": "shared tests/qos tools/slurm",
    "tests/containers": "shared",
    "tests/lab": "shared lab/nvdlab",
    "tests/packaging": "shared",
    "tests/vm": "shared",
    "tests/project": "shared tests/module",
    "tests/bench": "vm tests/support tests/driver tests/golden tests/hardware tests/module/core tools/nvdebugctl lib/nvdebug lib/driver "
                   "include/nvdebug model",
    "tests/fuzz": "shared tests/driver tests/module/core tests/module/decode lib/nvdebug lib/driver include/nvdebug "
                  "module/decode include module/core model",
}
SHARED = ("tests", "tests/support", "tests/golden", "tests/data", "tests/hardware", "vm")
# Libraries of CMake that are built from the module's sources by a CMakeLists.txt elsewhere.
OF_MODULE = {"nvdebug_decode": "module/decode", "nvdebug_core": "module/core"}
# Where compilers find headers of tests, and Python what they import, beside a file's own folder.
HEADERS = (".", "module", "include", "model/src", "model/tests", "tools/nvdebugctl", "tests/driver", "tests/module/core",
           "tests/fuzz")
PACKAGES = ("tests/support", "tests", "tests/bench", "tests/hardware", "vm", "lab")

# A file is about one thing. Tables may be longer, because each row has a line; they are named here.
MOST_LINES = 600
TABLES = ()

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def without_comments(source):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", source, flags=re.S)


class Module:
    """The kernel module: C, with names that have a prefix."""

    layers, folders, header = MODULE, (".", "module", "include"), ".h"
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
        depth = 2 if path.parts[0] == "module" else 1
        return "/".join(path.parts[:depth]) if len(path.parts) > depth else f"{path.stem}.c"


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


class Nvdebugctl(Programs):
    """The folders of one program."""

    layers, definitions_at_least = NVDEBUGCTL, 200

    @staticmethod
    def sources():
        return [path for path in Programs.sources() if path.is_relative_to("tools/nvdebugctl")]

    @staticmethod
    def folder(path):
        return path.parts[2] if len(path.parts) > 3 else "."


every_part = pytest.mark.parametrize("part", (Module, Programs, Nvdebugctl))


def layer(part, folder):
    folder = HOMES.get(folder, folder)
    found = [rank for rank, names in enumerate(part.layers) if folder in names.split()]
    assert found, f"{folder}: which layer is it?"
    return found[0]


def resolve(part, path, name):
    """Returns the file that an include names, or None if it is generated."""
    for folder in (path.parent, *part.folders):
        if (ROOT / folder / name).exists():
            return pathlib.PurePath(folder, name)
    return None


def includes(part):
    sources = part.sources()
    return [(path, target) for path in sources for name in INCLUDE.findall(text(path))
            if (target := resolve(part, path, name)) in sources]


def rank(part, path):
    """Returns the rank of a file. All files may include public headers, so these have the lowest rank. Their
    definitions have the rank of their home."""
    folder = part.folder(path)
    return 0 if folder in HOMES else layer(part, folder)


@every_part
def test_no_file_includes_a_file_above_it(part):
    assert len(includes(part)) > len(part.sources()) / 2, "includes are not recognised any more"
    against = [f"{path} includes {target}" for path, target in includes(part) if rank(part, target) > rank(part, path)]
    assert not against


def test_programs_include_nothing_of_each_other():
    """Code that two programs need is in lib/."""
    assert not [f"{path} includes {target}" for path, target in includes(Programs)
                if path.parts[0] == target.parts[0] == "tools" and path.parts[1] != target.parts[1]]


def test_no_part_of_nvqos_includes_one_above_it():
    """The part that keeps goals does not depend on the part that serves requests, and neither depends on how the
    program begins and ends."""
    def rank_of(path):
        part = path.parts[2] if len(path.parts) > 3 else path.stem
        found = [rank for rank, names in enumerate(NVQOS) if part in names.split()]
        assert found, f"{path}: which part of nvqos is it?"
        return found[0]

    own = [(path, target) for path, target in includes(Programs)
           if path.parts[:2] == target.parts[:2] == ("tools", "nvqos")]
    assert len(own) > 50, "includes are not recognised any more"
    assert not [f"{path} includes {target}" for path, target in own if rank_of(target) > rank_of(path)]


@every_part
def test_headers_declare_what_is_defined_in_their_own_folder(part):
    """This way, a file that may include a header may also call the functions in it."""
    defined = {}
    for path in part.sources():
        if path.suffix not in (".c", ".cpp"):
            continue
        # Names in an unnamed namespace are the file's own.
        source = re.sub(r"^namespace \{$.*?^\} // namespace$", "", without_comments(text(path)) if path.suffix == ".c"
                        else re.sub(r"/\*.*?\*/", "", text(path), flags=re.S), flags=re.S | re.M)
        for match in part.definition.finditer(source):
            name = next(each for each in match.groups() if each).rsplit("::", 1)
            if len(name) == 1 or not name[0][0].isupper():  # a function and not a member of a class
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


@every_part
def test_files_are_in_no_circle(part):
    """x.cpp and x.hpp count as one file."""
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


def files_of(*folders):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders], cwd=ROOT,
                            check=True, capture_output=True, text=True)
    return [pathlib.PurePath(name) for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def area(path):
    """Returns the area of a file or a folder, as TESTS names it."""
    if path.parts[0] == "tests":
        known = next(str(each) for each in (path, *path.parents) if str(each) in TESTS)
        is_in_folder = len(path.parts) > 2 or not path.suffix
        return "/".join(path.parts[:2]) if known == "tests" and is_in_folder else known
    if path.parts[:2] in (("include", "nvdebug"), ("model", "tests")) or path.parts[0] in ("lib", "tools", "lab"):
        return "/".join(path.parts[:2])
    return Module.folder(path) if any(Module.folder(path) in names.split() for names in MODULE) else path.parts[0]


def included(path):
    """Yields (header, the areas that it may be of)."""
    for name in INCLUDE.findall(text(path)):
        yield name, {area(pathlib.PurePath(folder, name)) for folder in (path.parent, *HEADERS)
                     if (ROOT / folder / name).exists()}


def linked(path, libraries):
    """Yields (library, or path below the root, its area) of a CMakeLists.txt."""
    source = re.sub(r"#[^\n]*", "", text(path))
    for name in re.split(r"[\s()]+", source):
        if name in libraries:
            yield name, {libraries[name]}
    for name in re.findall(r"\$\{PROJECT_SOURCE_DIR\}/([\w./-]+)", source):
        if name != "include":
            yield name, {area(pathlib.PurePath(name))}


def imported(path, tree, helpers):
    """Yields (module, its area) of the repository's modules that a program imports."""
    for node in ast.walk(tree):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else \
            [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
        for name in names:
            first = name.partition(".")[0]
            found = [pathlib.PurePath(folder, file) for folder in (path.parent, *PACKAGES)
                     for file in (f"{first}.py", f"{first}/__init__.py") if (ROOT / folder / file).exists()]
            if found or first in helpers:
                yield name, {area((found or [helpers[first]])[0])}


def named(tree):
    """Yields (file or program of tests/, its area) in the strings of a program, and in the paths that are joined from
    them."""
    # Docstrings and the beginnings of longer paths are passed over.
    passed = {node.value if isinstance(node, ast.Expr) else node.left for node in ast.walk(tree)
              if isinstance(node, (ast.Expr, ast.BinOp))}
    for node in ast.walk(tree):
        if node in passed:
            continue
        words = [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.right, ast.Constant):
            words.insert(0, str(node.right.value))
            node = node.left
        for name in re.findall(r"(?:^|/)(tests/[\w/.-]+)", "/".join(words)):
            yield name, {area(pathlib.PurePath(name))}


@pytest.fixture(scope="module")
def uses():
    """Returns [(file of tests/, something that it uses, the areas that this may be of)]. Each file uses itself,
    too."""
    return [*all_uses()]


def all_uses():
    files = files_of("tests")
    helpers = {path.stem: path for path in files if path.suffix == ".py"}
    libraries = {name: area(path) for path in files_of("*CMakeLists.txt")
                 for name in re.findall(r"add_library\(([\w:]+)", text(path))} | OF_MODULE
    for path in files:
        if path.is_relative_to("tests/golden") or path.is_relative_to("tests/data"):
            continue
        found = [("itself", {area(path)})]
        if path.suffix in (".c", ".cpp", ".h", ".hpp"):
            found += included(path)
        elif path.name == "CMakeLists.txt":
            found += linked(path, libraries)
        elif path.suffix == ".py" or path.name in ("run", "make_seeds") and text(path).startswith("#!/usr/bin/python3"):
            tree = ast.parse(text(path))
            found += imported(path, tree, helpers)
            if path.name != "test_layers.py":  # its tables name all folders
                found += named(tree)
        yield from ((path, name, areas) for name, areas in found)


def allowed(folder):
    names = set(TESTS[folder].split())
    for word, meant in (("shared", SHARED), ("module", " ".join(MODULE).split())):
        if word in names:
            names = names - {word} | set(meant)
    return names | {folder}


def test_tests_use_what_their_folder_may_use(uses):
    assert len(uses) > 1500, "uses are not recognised any more"
    folders = {area(path) for path, _, _ in uses}
    assert not folders - set(TESTS), "a folder without a row in TESTS: what may it use?"
    assert not [f"{path} uses {name} of {' or '.join(sorted(areas)) or 'no folder that is known'}"
                for path, name, areas in uses if not areas & allowed(area(path))]


def test_tests_may_use_no_more_than_they_do(uses):
    """A row of TESTS with an area that is not used would allow uses that were never considered."""
    used = {}
    for path, _, areas in uses:
        used.setdefault(area(path), set()).update(areas)
    assert not [f"{folder}: {name}" for folder, names in TESTS.items() for name in names.split()
                if name not in ("shared", "module") and name not in used.get(folder, ())]


def test_one_header_includes_toml():
    """In other headers, the assertions of toml++ would end programs (lib/base/toml.hpp)."""
    names = subprocess.run([ROOT / "scripts/sources", "c++"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    assert [name for name in names if (ROOT / name).exists() and re.search(r"#\s*include\s*[<\"]toml", text(name))] == ["lib/base/toml.hpp"]


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
