# SPDX-License-Identifier: MIT OR GPL-2.0
"""python3 -m nvdebugctl, and the command nvdebugctl of the wheel."""

import os
import sys

from . import program


def main():
    os.execv(program(), ["nvdebugctl", *sys.argv[1:]])


if __name__ == "__main__":
    main()
