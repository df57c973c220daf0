# SPDX-License-Identifier: MIT OR GPL-2.0
"""scripts/install-deps installs or names all packages that building the Debian packages needs, before anything is
built."""

import os
import re
import subprocess

import pytest
from nvdvm import paths

CONTROL = (paths.ROOT / "packaging/debian/control").read_text(encoding="utf-8")
STATUS = "/var/lib/dpkg/status"
# These names in packaging/debian/control are no packages, but are provided by others.
PROVIDED_BY = {"debhelper-compat": "debhelper", "dh-sequence-dkms": "dh-dkms"}


def needed():
    """Returns the packages that building ours needs. By Debian's policy build-essential is not listed."""
    fields = re.findall(r"^Build-Depends(?:-\w+)?:((?:.*\n)(?:[ \t].*\n)*)", CONTROL, re.MULTILINE)
    relations = [part.strip() for field in fields for part in field.split(",") if part.strip()]
    names = [re.match(r"[a-z0-9.+-]+", relation)[0] for relation in relations]
    assert len(names) > 5
    return ["build-essential"] + [PROVIDED_BY.get(name, name) for name in names]


@pytest.fixture
def install_deps(tmp_path):
    """install_deps(PACKAGE, USER) runs the script as if PACKAGE were not installed. Returns its result, and the words
    that apt-get was called with."""
    programs, admin, asked = tmp_path / "programs", tmp_path / "admin", tmp_path / "asked"
    programs.mkdir()
    (admin / "info").mkdir(parents=True)
    (admin / "updates").mkdir()

    def program(name, text):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (programs / name).chmod(0o755)

    def run(package, user):
        with open(STATUS, encoding="utf-8") as file:
            stanzas = file.read().split("\n\n")
        (admin / "status").write_text("\n\n".join(
            stanza for stanza in stanzas if not stanza.startswith(f"Package: {package}\n")), encoding="utf-8")
        program("id", f"echo {user}")
        program("apt-get", f'echo "$@" >>{asked}')
        done = subprocess.run(
            [paths.ROOT / "scripts/install-deps", "build", "package"], check=False, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "DPKG_ADMINDIR": str(admin)})
        return done, asked.read_text(encoding="utf-8") if asked.exists() else ""

    return run


@pytest.mark.parametrize("package", needed())
def test_a_user_is_told_what_is_missing(install_deps, package):
    done, asked = install_deps(package, 1000)
    assert done.returncode == 1 and asked == ""
    assert package in done.stderr.split()


@pytest.mark.parametrize("package", needed())
def test_root_gets_the_missing_package(install_deps, package):
    done, asked = install_deps(package, 0)
    update, install = asked.splitlines()
    assert update.split()[-1] == "update" and package in install.split()
    # This apt-get installs nothing, and the script notices that as well.
    assert done.returncode == 1 and "cannot be built here" in done.stderr
