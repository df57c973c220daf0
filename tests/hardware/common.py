# SPDX-License-Identifier: MIT OR GPL-2.0
"""The beginning of the measurements of this folder: the lab's modules are on their path, and errors end them in a sentence."""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "lab"))

# pylint: disable=wrong-import-position
from nvdlab import bounded, checks, counts, machine, record, rm  # noqa: E402

__all__ = ("begun", "bounded", "checks", "counts", "machine", "record", "kind", "rm", "run", "words")


def program(word):
    """Returns the path of a program, which a word without a slash names in this folder or else on PATH."""
    path = pathlib.Path(word)
    return (path if "/" in word or path.exists() else pathlib.Path(shutil.which(word) or word)).resolve()


def kind(name):
    return pathlib.Path if name == "folder" else program


def words(text, *names):
    """Returns the words of the command line, a path for each name. A name in brackets may be left out."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in names:
        parser.add_argument(name.strip("[]"), type=kind(name.strip("[]")), nargs="?" if name.startswith("[") else None)
    return list(vars(parser.parse_args()).values())


def begun(path, **lengths):
    """Returns the content of the file so far, which has each length in seconds by the name of its option. Raises Failed if its
    runs have other lengths, or are of another commit."""
    if not path.exists():
        return lengths | {"runs": []}
    whole = json.loads(path.read_text(encoding="utf-8"))
    if whole["program"] != machine.program():
        raise bounded.Failed(f"{path} has runs of the commit {whole['program']}, and this is {machine.program()}; give another folder")
    for name, seconds in lengths.items():
        if whole[name] != seconds:
            raise bounded.Failed(f"{path} was begun with another length; give --{name} {whole[name]:g}, or another folder")
    return whole


def run(main):
    """Calls main(), and ends the program with its status, or with a sentence if a program or a file fails."""
    name = pathlib.Path(sys.argv[0]).stem
    try:
        sys.exit(main())
    except (bounded.Failed, OSError, subprocess.SubprocessError) as error:
        sys.exit(f"{name}: {error}")
    except json.JSONDecodeError as error:
        sys.exit(f"{name}: a file or a program's output is no JSON: {error.doc[:100]!r} ({error})")
