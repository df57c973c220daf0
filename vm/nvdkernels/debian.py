# SPDX-License-Identifier: MIT OR GPL-2.0
"""Makes folders with other Debians, and unpacks Debian's packages."""

import os
import pathlib
import subprocess
import sys

from nvdvm.errors import VmError

from . import cache, commands

MIRROR = "http://deb.debian.org/debian"
# One recipe makes every Debian, even a Debian that is newer than this debootstrap.
RECIPE = "/usr/share/debootstrap/scripts/sid"


def folder(suite, packages=()):
    """Returns a folder with this Debian and these packages in it. Only root can make it."""
    place = cache.folder() / "debian" / suite
    with cache.locked(place):
        if not (place / "etc" / "debian_version").exists():
            _need_root(f"make {place}")
            if not pathlib.Path("/usr/sbin/debootstrap").exists():
                commands.install("folder")
            with cache.being_made(place) as work:
                # Other users of this Debian read the folder, whatever the present umask is.
                work.chmod(0o755)
                commands.run(f"Debian {suite}",
                             ["/usr/sbin/debootstrap", "--variant=minbase", suite, work, MIRROR, RECIPE])
        missing = [package for package in packages if not _is_installed(place, package)]
        if missing:
            _need_root(f"install {' '.join(missing)} into {place}")
            print(f"Debian {suite}: installing {' '.join(missing)}", file=sys.stderr, flush=True)
            # A cache of the mirror may be weeks behind; signatures are checked all the same. The status goes to
            # stdout through descriptor 3: with APT::Status-Fd=1 scripts of packages that print would fail.
            apt_get = ["sh", "-c", 'exec "$@" 3>&1', "sh", "chroot", place, "apt-get", "-q", "-o", "APT::Status-Fd=3"]
            commands.run(f"Debian {suite}", [*apt_get, "-o", "Acquire::Check-Valid-Until=false", "update"])
            commands.run(f"Debian {suite}", [*apt_get, "-y", "install", "--no-install-recommends", *missing],
                         env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})
    return place


def unpack(into):
    """Unpacks all packages that are files in this folder."""
    for package in into.glob("*.deb"):
        commands.run(f"unpacking {package.name}", ["dpkg-deb", "-x", package, into])
        package.unlink()


def _is_installed(place, package):
    said = subprocess.run(["dpkg-query", f"--admindir={place}/var/lib/dpkg", "-W", "-f", "${db:Status-Status}", package],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return said.stdout == "installed"


def _need_root(what):
    if os.getuid():
        raise VmError(f"only root can {what}")
