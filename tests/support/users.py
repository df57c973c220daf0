# SPDX-License-Identifier: MIT OR GPL-2.0
"""Commands that tests run as another user, and folders that such a user may read.

Other users may not be able to reach the clone: it may lie below /root, which is root's alone, or have been made with
umask 077. So no test needs the clone, the build folder or the cache to be readable for another user. Tests copy what such
a user runs, loads or reads into an open_folder(), and run it with as_user(), which hides the clone and the cache from it
on every machine."""

import contextlib
import functools
import os
import pathlib
import shutil
import subprocess
import tempfile

from nvdvm import paths

# The user whom /etc/passwd calls nobody, and a user without a name or a process.
NOBODY, NAMELESS = 65534, 65531
# The options of chroot for the second user. A clone is not in the new root.
NAMELESS_IN_ROOT = (f"--userspec={NAMELESS}:{NAMELESS}", "--groups=")
# The command starts in the folder "$2", because a relative name would lead from a folder of the clone past the mounts.
HIDE = """
user=$1
cd "$2"
for folder in "$3" "$4"; do
    [ ! -d "$folder" ] || mount -t tmpfs -o mode=700 none "$folder"
done
shift 4
exec setpriv --reuid="$user" --regid="$user" --clear-groups "$@"
"""


@functools.cache
def hidden():
    """Returns the clone with its build folder, and the cache."""
    printed = subprocess.run([paths.ROOT / "scripts/cache-dir"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return paths.ROOT, pathlib.Path(printed.strip()).resolve()


def as_user(folder, user=NOBODY):
    """Returns the words before a command that another user runs in that folder. This needs root."""
    in_namespace = ("unshare", "--mount", "--propagation", "private", "sh", "-ec", HIDE, "sh")
    return (*in_namespace, *map(str, (user, folder, *hidden())))


@contextlib.contextmanager
def open_mask():
    """Lets other users read the files that this process and its children make in the with-block. It is a decorator as
    well."""
    before = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(before)


@contextlib.contextmanager
def open_folder(prefix="nvdebug-"):
    """Yields a folder that other users may read, and removes it. It is in /tmp, because they may not be able to reach
    $TMPDIR."""
    # Daemons may still write there while they end.
    with open_mask(), tempfile.TemporaryDirectory(prefix=prefix, dir="/tmp", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


def copy_for_all(folder, *sources):
    """Copies files and folders into a folder, so that other users may read and run them. Returns the folder."""
    folder.mkdir(exist_ok=True)
    for source in sources:
        place = folder / source.name
        if source.is_dir():
            shutil.copytree(source, place, symlinks=True)
        else:
            shutil.copy2(source, place)
        for path in (place, *place.rglob("*")):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444))
    return folder
