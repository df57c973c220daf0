# SPDX-License-Identifier: MIT OR GPL-2.0
"""Packages for other distributions, and folders with the roots of these distributions."""

import functools
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = (ROOT / "VERSION").read_text(encoding="ascii").strip()
PATIENCE_S = 1800


def run(*words, status=0, **options):
    done = subprocess.run([str(word) for word in words], check=False, capture_output=True, text=True, timeout=PATIENCE_S, **options)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@functools.cache
def made(target, folder, pattern):
    """Makes the file of `make TARGET` and returns its path. Other workers may make it, too."""
    (ROOT / "build").mkdir(exist_ok=True)
    run("flock", "build/release.lock", "make", "-s", target, cwd=ROOT)
    (found,) = (ROOT / "build" / folder).glob(pattern)
    return found


def in_root(root, *words, user=(), **options):
    """Runs a command in that root. Returns its exit status, and what it printed on both streams."""
    done = subprocess.run(["chroot", *user, root, *words], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL,
                          env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent"}, **options)
    return done.returncode, done.stdout


def epoch():
    """Returns the time of the last commit, as packaging/archive uses it."""
    return os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
