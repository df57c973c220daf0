# SPDX-License-Identifier: MIT OR GPL-2.0
"""The folder for files that take long to make and outlive a checkout."""

import contextlib
import fcntl
import pathlib
import shutil
import subprocess

from nvdvm import paths


def folder():
    printed = subprocess.run([paths.ROOT / "scripts" / "cache-dir"], stdout=subprocess.PIPE, text=True, check=True)
    return pathlib.Path(printed.stdout.strip()).resolve()


@contextlib.contextmanager
def locked(place):
    """Keeps other processes from making this folder."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{place}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def being_made(place):
    """Yields a folder to fill, which takes its place if no error occurs."""
    work = place.with_name(place.name + ".tmp")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    yield work
    shutil.rmtree(place, ignore_errors=True)
    work.rename(place)
