# SPDX-License-Identifier: MIT OR GPL-2.0
"""Records the times of boots of VMs, for scripts/times."""

import os
import sys


def record(seconds, release, gpus):
    """Appends a line to the file that NVDEBUG_BOOTS names, if it is set: seconds, the kernel's release, number
    of GPUs.

    Several processes write lines to one file. A file that cannot be written does not end a VM.
    """
    path = os.environ.get("NVDEBUG_BOOTS")
    if not path:
        return
    try:
        # The line is one write(2), so that lines of other processes are not mixed with it.
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{seconds:.3f}\t{release}\t{gpus}\n")
    except OSError as error:
        print(f"vm: cannot record this boot in NVDEBUG_BOOTS: {error}", file=sys.stderr)
