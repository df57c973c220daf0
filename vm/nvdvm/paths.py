# SPDX-License-Identifier: MIT OR GPL-2.0
"""The places of files in the source and build trees."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
MODEL = BUILD / "cmake" / "model" / "nvdebug-model"
BRIDGE = BUILD / "cmake" / "bin" / "nvdebug-bridge"
BOARDS = ROOT / "model" / "boards"
WORKLOADS = ROOT / "model" / "workloads"
GUEST_FILES = ROOT / "vm" / "guest"


def guest_programs(arch):
    return BUILD / f"vm{arch.suffix}"


def kselftests(arch):
    return BUILD / f"kselftest{arch.suffix}"
