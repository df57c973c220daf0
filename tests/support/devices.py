# SPDX-License-Identifier: MIT OR GPL-2.0
"""Devices for programs that write into them."""

import os
import stat


def full(folder):
    """Makes a device like /dev/full in the folder, and returns its path.

    A program that replaces its output by mistake then replaces no device of this machine. A user without the right to make devices may
    not replace /dev/full either, and gets that one."""
    path = folder / "full"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
    except PermissionError:
        assert not os.access("/dev", os.W_OK), "this user may replace /dev/full, and may make no device of its own"
        return "/dev/full"
    return str(path)
