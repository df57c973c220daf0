# SPDX-License-Identifier: MIT OR GPL-2.0
"""What is made for other distributions, and folders with their roots."""

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
    """The file that `make TARGET` makes. Other workers may make it, too."""
    (ROOT / "build").mkdir(exist_ok=True)
    run("flock", "build/release.lock", "make", "-s", target, cwd=ROOT)
    (found,) = (ROOT / "build" / folder).glob(pattern)
    return found


def in_root(root, *words, user=(), **options):
    """What a command in that root prints on both streams, and its status."""
    done = subprocess.run(["chroot", *user, root, *words], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL,
                          env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent"}, **options)
    return done.returncode, done.stdout


def epoch():
    """That of the last commit, as packaging/archive has it."""
    return os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
