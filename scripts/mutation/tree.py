# SPDX-License-Identifier: MIT OR GPL-2.0
"""The copy of the tree that is built with all changes."""

import collections
import os
import pathlib
import re
import subprocess
import sys

# Each file has this many numbers of its own, so that a change in one file does not compile the others again.
NUMBERS = 1000
# tests/…/mutants.cpp has the same number.
MOST_NUMBERS = 1 << 18

HOOK = """\
# Called behind project(): adds to the programs, in whichever folder they are, what chooses a change.
function(add_mutants)
  foreach(program {programs})
    target_sources(${{program}} PRIVATE ${{CMAKE_SOURCE_DIR}}/{listener})
    set_target_properties(${{program}} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${{CMAKE_BINARY_DIR}}/mutants)
  endforeach()
endfunction()
cmake_language(DEFER CALL add_mutants)
"""


class Tree:
    def __init__(self, root, area, sources, chosen, jobs):
        self.root, self.area, self.jobs = root, area, jobs
        self.copy = root / "build" / f"mutate-{area.name}"
        # The folder has the same place as in the tree, so that the compiler's cache has unchanged files.
        self.folder = self.copy / "build" / "cmake"
        self.sources = {source.path: source for source in sources}
        wanted = set(chosen)
        self.numbers = {mutant: number for index, source in enumerate(sources)
                        for number, mutant in enumerate(source.mutants, NUMBERS * index + 1)
                        if mutant in wanted and source.is_together(mutant)}
        assert max(self.numbers.values(), default=0) < MOST_NUMBERS
        self.not_compiled = set()
        self.places = {}

    def program(self, name):
        return self.folder / "mutants" / name

    def _write(self, path, text, mode=0o644):
        target = self.copy / path
        if not target.exists() or target.read_bytes() != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
        target.chmod(mode)

    def _copy(self, listener):
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=self.root,
                                check=True, capture_output=True, text=True).stdout.split("\n")
        names = {name for name in listed if name and (self.root / name).is_file()}
        for name in names - set(self.sources):
            path = self.root / name
            self._write(name, path.read_bytes(), path.stat().st_mode & 0o777)
        own = {"mutants.h": b"extern int mutant;\nint mutant_reached(int place);\n"
                            b"void mutant_flag(int number, const _Bool *flag);\n",
               "mutants.cmake": HOOK.format(programs=" ".join(self.area.programs), listener=listener).encode()}
        for name, text in own.items():
            self._write(name, text)
        # CMake's patterns would still find files that are no longer in the tree.
        for folder, folders, files in os.walk(self.copy):
            here = pathlib.Path(folder).relative_to(self.copy)
            if folder == str(self.copy):
                folders[:] = [name for name in folders if name != "build"]
            for name in files:
                if str(here / name) not in names | set(own) and not name.endswith(".reached"):
                    (self.copy / here / name).unlink()

    def _configure(self):
        launcher = os.environ.get("CMAKE_CXX_COMPILER_LAUNCHER")
        flags = [flag.format(copy=self.copy) for flag in self.area.flags]
        subprocess.run(["cmake", "-S", self.copy, "-B", self.folder, "-G", "Ninja", "--no-warn-unused-cli",
                        "-DCMAKE_UNITY_BUILD=OFF", "-DNVDEBUG_UNITY=OFF",
                        f"-DCMAKE_PROJECT_nvdebug_INCLUDE={self.copy}/mutants.cmake",
                        *([f"-DCMAKE_C_COMPILER_LAUNCHER={launcher}"] if launcher else []), *flags],
                       check=True, stdout=subprocess.DEVNULL)

    def _build(self):
        environment = os.environ | {"CCACHE_BASEDIR": str(self.copy)}
        return subprocess.run(["cmake", "--build", self.folder, "-j", str(self.jobs), "--target", *self.area.programs,
                               "--", "-k", "0"], capture_output=True, text=True, env=environment)

    def _numbers(self, source):
        return {mutant: number for mutant, number in self.numbers.items() if mutant.path == source.path}

    def build(self, listener):
        """Builds the tests with all changes. Changes that cannot be compiled are left out."""
        self._copy(listener)
        for configured in (False, *[True] * 20):
            self.places = {}
            for source in self.sources.values():
                self._write(source.path, source.with_all(self._numbers(source), self.places).encode())
            if not configured:
                self._configure()
            result = self._build()
            if not result.returncode:
                return
            wrong = self.wrong(result.stdout)
            if not wrong:
                break
            self.not_compiled |= wrong
            self.numbers = {mutant: number for mutant, number in self.numbers.items() if mutant not in wrong}
        sys.exit(result.stdout[-3000:] + result.stderr[-3000:])

    def wrong(self, messages):
        """Returns the changes that the compiler complains about."""
        named = set(map(int, re.findall(r"^mutant-(\d+):\d+:\d+: +(?:error|fatal error|required)", messages, re.M)))
        found = {mutant for mutant, number in self.numbers.items() if number in named}
        if found:
            return found
        # If an expression is there in two forms, the compiler may complain about the unchanged one.
        errors = collections.defaultdict(set)
        for path, line in re.findall(r"^(\S+?):(\d+):\d+: (?:fatal )?error", messages, re.M):
            for name in self.sources:
                if path == name or path.endswith("/" + name):
                    errors[name].add(int(line) - 1)
        return {mutant for mutant in self.numbers for line in errors[mutant.path]
                if self.sources[mutant.path].covers(mutant, line)}

    def build_with(self, mutant):
        """Builds the tests with a change that is compiled alone. Returns whether it can be compiled."""
        source = self.sources[mutant.path]
        self._write(source.path, source.with_one(mutant, self._numbers(source), {}).encode())
        return not self._build().returncode

    def build_without(self, path):
        self._write(path, self.sources[path].with_all(self._numbers(self.sources[path]), {}).encode())
