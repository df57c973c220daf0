# SPDX-License-Identifier: MIT OR GPL-2.0
"""Surroundings in which GPUs cannot be seen: commands that make them, and the sentences that they cause. They need
root."""

# NVIDIA's device files, which this machine may have, are hidden, too. "$1" is a file with the release of another
# kernel.
HIDDEN = {
    "subset=pid": ("mount -t proc -o subset=pid proc /proc", "/proc shows processes alone here (subset=pid)"),
    "no /proc": ("umount -l /proc", "/proc is not mounted here"),
    "an empty /proc": ("mount -t tmpfs none /proc", "/proc is not mounted here"),
    "no /sys": ("mount -t tmpfs none /sys", "/sys is not mounted here"),
    "WSL2": ('mount --bind "$1" /proc/sys/kernel/osrelease', "this is the Windows Subsystem for Linux"),
}


def hidden(where, folder, *words):
    """Returns the command line that runs another command in these surroundings."""
    release = folder / "osrelease"
    release.write_text("5.15.153.1-microsoft-standard-WSL2\n")
    script = f'mount -t tmpfs none /dev && {HIDDEN[where][0]} && shift && exec "$@"'
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", release, *words]
