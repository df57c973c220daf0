# SPDX-License-Identifier: MIT OR GPL-2.0
"""`make install` into a staging folder, and programs that are built against the installed files."""

import json
import os
import pathlib
import re
import subprocess

import golden_text
import pytest

# The tests need a build of their own, because the prefix is written into it.
pytestmark = pytest.mark.ci

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = "/opt/gpu-tools"
VERSION = (ROOT / "VERSION").read_text(encoding="ascii").strip()
MAJOR, MINOR, _ = VERSION.split(".")
SONAME = f"libnvdebug.so.{MAJOR if MAJOR != '0' else f'0.{MINOR}'}"

CXX = """
#include <iostream>
#include <nvdebug/nvdebug.hpp>

int main(int, char **argv) {
    auto tree = nvdebug::Tree::open(argv[1]);
    if (!tree) { std::cerr << tree.error().sentence << "\\n"; return 1; }
    auto gpus = nvdebug::gpus(*tree);
    for (const nvdebug::Gpu &gpu : *gpus)
        for (const nvdebug::TsgShare &tsg : nvdebug::expected_shares(*gpu.runlist(0)))
            std::cout << *gpu.info()->chip << " " << tsg.tsg << " " << *tsg.share << "\\n";
}
"""
CMAKE = f"""
cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES CXX)
find_package(nvdebug {VERSION} REQUIRED)
add_executable(example example.cpp)
target_link_libraries(example PRIVATE nvdebug::nvdebug)
"""
SHARES = "GV100 0 0.333333\nGV100 1 0.333333\nGV100 2 0.333333\n"


def run(*command, cwd=None, status=0, **environment):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True,
                          env={**os.environ, **environment}, check=False, timeout=1800)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def staging(tmp_path_factory):
    folder = tmp_path_factory.mktemp("staging")
    (ROOT / "build").mkdir(exist_ok=True)
    # Other workers may do the same in the same build folder.
    run("flock", "build/release.lock", "make", "install", f"DESTDIR={folder}", f"PREFIX={PREFIX}",
        cwd=ROOT)
    return folder


@pytest.mark.parametrize("user, told", [(0, True), (1000, False)])
def test_the_loader_is_told_of_roots_installation(tmp_path, user, told):
    """Programs in a user's own folder start without ldconfig, which needs root."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, does in (("id", f"echo {user}"), ("ldconfig", f"touch {tmp_path}/told")):
        (commands / name).write_text(f"#!/bin/sh\n{does}\n")
        (commands / name).chmod(0o755)
    run("flock", "build/release.lock", "make", "install", f"PREFIX={tmp_path}/mine", cwd=ROOT,
        PATH=f"{commands}:{os.environ['PATH']}")
    assert (tmp_path / "mine" / "bin" / "nvdebugctl").exists()
    assert (tmp_path / "told").exists() == told


@pytest.fixture(scope="module")
def prefix(staging):
    return staging / PREFIX[1:]


@pytest.fixture(scope="module")
def libdir(prefix):
    """Returns the folder lib, or the folder that this distribution has in its place."""
    (library,) = prefix.glob(f"**/libnvdebug.so.{VERSION}")
    return library.parent


@pytest.fixture(scope="module")
def gpu_folder(tmp_path_factory):
    """Makes the files of a modelled TITAN V that runs three tasks."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "gpu0").mkdir()
    for part in ("topology", "fig6"):
        for section in golden_text.load(f"titan-v/{part}").split("==> ")[1:]:
            name, _, rest = section.partition("\n")
            (folder / "gpu0" / name).write_text(rest, encoding="ascii")
    return folder


@pytest.fixture
def pkg_config(staging, libdir):
    environment = {"PKG_CONFIG_LIBDIR": str(libdir / "pkgconfig"),
                   "PKG_CONFIG_SYSROOT_DIR": str(staging)}
    return lambda *words: run("pkg-config", *words, "nvdebug", **environment)


def build_with(compiler, source, flags, folder):
    """Builds a program as a Makefile would."""
    (folder / source[0]).write_text(source[1], encoding="ascii")
    run("sh", "-c", f"{compiler} -Wall -Wextra -Werror -o example {source[0]} {flags}", cwd=folder)
    return folder / "example"


def test_all_files_are_installed(prefix, libdir):
    # The programs find the library beside them, wherever both are. sudo drops LD_LIBRARY_PATH.
    commands = json.loads(run(prefix / "bin/nvdebugctl", "help", "--json"))["data"]["commands"]
    assert run(prefix / "sbin/nvdebug-exporter", "--help")
    lib = libdir.relative_to(prefix)
    expected = {str(lib / name) for name in (
        "libnvdebug.a", "libnvstgm_task.a", "libnvdebug.so", SONAME, f"libnvdebug.so.{VERSION}", "pkgconfig/nvdebug.pc",
        "cmake/nvdebug/nvdebugConfig.cmake", "cmake/nvdebug/nvdebugConfigVersion.cmake",
        "cmake/nvdebug/nvdebugTargets.cmake",
        "cmake/nvdebug/nvdebugTargets-release.cmake")}
    expected |= {f"include/nvdebug/{path.name}" for path in (ROOT / "include/nvdebug").iterdir()}
    for tool, folder in (("nvdebugctl", "bin"), ("nvqos", "bin"), ("nvstgm", "bin"), ("nvtaskset", "bin"),
                         ("nvdebug-device-plugin", "sbin")):
        expected |= {f"{folder}/{tool}", f"share/bash-completion/completions/{tool}",
                     f"share/fish/vendor_completions.d/{tool}.fish", f"share/zsh/vendor-completions/_{tool}"}
    expected |= {"lib/nvtaskset/libnvtaskset.so", "share/nvdebug/schema/nvtaskset.json"}
    expected |= {f"share/nvdebug/schema/{path.name}"
                 for tool in ("nvqos", "nvstgm") for path in (ROOT / "tools" / tool / "schema").iterdir()}
    expected |= {f"share/nvdebug/schema/{name}" for name in (
        "common.json", "error.json", "recording.line.json",
        *(each["schema"] for each in commands if each["schema"]))}
    expected |= {
        *(f"share/man/man1/{tool}.1" for tool in ("nvdebugctl", "nvqos", "nvstgm", "nvtaskset")),
        *(f"share/man/man1/nvdebugctl-{each['object']}.1" for each in commands if each["object"] != "help")}
    expected |= {"sbin/nvdebug-exporter", "share/man/man8/nvdebug-exporter.8", "share/nvdebug/dashboard.json",
                 "share/nvdebug/fleet.json", "share/nvdebug/rules.yml",
                 "lib/slurm/spank_nvdebug.so", "share/man/man8/spank_nvdebug.8", "share/man/man8/nvdebug-device-plugin.8",
                 "lib/systemd/system/nvdebug-exporter.service", "lib/systemd/system/nvqos.service"}
    found = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir()}
    assert found == expected


def test_a_task_of_nvstgm_builds_in_c(prefix, libdir, tmp_path):
    """The program needs the C library alone."""
    run("cc", "-I", prefix / "include", "-o", tmp_path / "planner", ROOT / "docs/examples/stgm/planner.c",
        "-L", libdir, "-lnvstgm_task")
    done = subprocess.run([tmp_path / "planner"], check=False, capture_output=True, text=True)
    assert done.returncode == 1 and "no task of a running 'nvstgm run'" in done.stderr


def test_nothing_outside_the_prefix(staging, prefix):
    outside = [path for path in staging.rglob("*")
               if not path.is_dir() and prefix not in path.parents]
    assert not outside


def test_program_through_pkg_config(pkg_config, libdir, gpu_folder, tmp_path):
    flags = pkg_config("--cflags", "--libs").strip()
    example = build_with("g++ -std=c++20", ("example.cpp", CXX), flags, tmp_path)
    assert run(example, gpu_folder, LD_LIBRARY_PATH=str(libdir)) == SHARES
    assert pkg_config("--modversion").strip() == VERSION


def test_static_program_through_pkg_config(pkg_config, gpu_folder, tmp_path):
    flags = pkg_config("--static", "--cflags", "--libs").strip()
    example = build_with("g++ -std=c++20 -static", ("example.cpp", CXX), flags, tmp_path)
    assert run(example, gpu_folder) == SHARES


def test_static_program_through_cmake(prefix, gpu_folder, tmp_path):
    (tmp_path / "example.cpp").write_text(CXX, encoding="ascii")
    (tmp_path / "CMakeLists.txt").write_text(
        CMAKE.replace("nvdebug::nvdebug)", "nvdebug::nvdebug_static)"), encoding="ascii")
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    assert run(tmp_path / "build/example", gpu_folder) == SHARES


def test_program_through_cmake(prefix, libdir, gpu_folder, tmp_path):
    (tmp_path / "example.cpp").write_text(CXX, encoding="ascii")
    (tmp_path / "CMakeLists.txt").write_text(CMAKE, encoding="ascii")
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    assert run(tmp_path / "build/example", gpu_folder, LD_LIBRARY_PATH=str(libdir)) == SHARES


def test_examples_build_and_run(prefix, libdir, gpu_folder, tmp_path):
    """The programs of docs/library.md are built as a user would do it, and run as they stand there."""
    run("cmake", "-S", ROOT / "docs/examples", "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    out = run(tmp_path / "build/example_shares", gpu_folder, LD_LIBRARY_PATH=str(libdir))
    assert re.findall(r"TSG (\d+): \d+ ns, 33.3333 %", out) == ["0", "1", "2"]
    run(tmp_path / "build/example_hold", "x", "true", LD_LIBRARY_PATH=str(libdir), status=1)
    shown = re.findall(r"```cpp\n(.*?)```", (ROOT / "docs/library.md").read_text(encoding="utf-8"),
                       re.DOTALL)
    assert shown == [(ROOT / "docs/examples" / name).read_text(encoding="utf-8").partition("\n")[2]
                     for name in ("shares.cpp", "hold.cpp")]


def test_cmake_refuses_another_version(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.replace(VERSION, "99.0"), encoding="ascii")
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}", status=1)


def test_installed_tool_finds_its_library(prefix, libdir):
    out = run(prefix / "bin/nvdebugctl", "--version", LD_LIBRARY_PATH=str(libdir))
    assert VERSION in out
