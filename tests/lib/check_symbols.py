#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Fails if the symbols of libnvdebug.so differ from those of the public headers, the map and VERSION.

Usage: check_symbols.py LIBRARY MAP VERSION HEADER...
"""

import pathlib
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def exported(library):
    """Returns the symbols with their versions: ("nvdebug::Tree::open", "NVDEBUG_0.1")."""
    lines = output("nm", "-D", "-C", "--defined-only", library).splitlines()
    symbols = [line.split(maxsplit=2)[1:] for line in lines]
    named = [name.partition("@@") for kind, name in symbols if kind != "A"]
    return {(re.split(r"\(|\[abi", name)[0], version) for name, _, version in named}


def declared(headers):
    """Returns the names of functions marked NVDEBUG_API, and of members of classes marked so."""
    names = set()
    for header in headers:
        text = without_comments(pathlib.Path(header).read_text(encoding="utf-8"))
        for name, body in re.findall(r"class NVDEBUG_API (\w+) \{(.*?)\n\};", text, flags=re.S):
            inline = re.sub(r"\{[^{}]*\}", "{}", re.sub(r" = \{\}", "", body))
            for member in re.findall(r"(~?\b\w+|operator=)\([^;{}]*\)[^;{}]*;", inline):
                names.add(f"nvdebug::{name}::{member}")
        for name in re.findall(r"^(?:\[\[nodiscard\]\] )?NVDEBUG_API[^;(]*?(\w+)\(", text, flags=re.M):
            names.add(f"nvdebug::{name}")
    return names


def interface(major, minor):
    """Returns the version in the file's name: until 1.0 each minor version may change the interface."""
    return f"0.{minor}" if major == "0" else major


def main(library, version_map, version, *headers):
    wrong = []
    soname = re.search(r"SONAME.*\[(.*)\]", output("readelf", "-d", library)).group(1)
    major, minor = version.split(".")[:2]
    if soname != f"libnvdebug.so.{interface(major, minor)}":
        wrong.append(f"the SONAME is {soname}, but the version {version}")
    nodes = re.findall(r"^(NVDEBUG_[\d.]+) \{", pathlib.Path(version_map).read_text(), flags=re.M)
    if not nodes or nodes[-1] != f"NVDEBUG_{major}.{minor}":
        wrong.append(f"the newest node of {version_map} is {nodes}, but the version {version}")
    shown = exported(library)
    names = {name for name, _ in shown}
    public = declared(headers)
    wrong += [f"{name} shows, but no public header declares it" for name in names - public]
    wrong += [f"{name} is declared, but does not show: add it to the map" for name in public - names]
    wrong += [f"{name} has the version {node}, which is not in the map"
              for name, node in shown if node not in nodes]
    print("\n".join(sorted(wrong)) or f"{len(names)} names, as declared")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
