# SPDX-License-Identifier: MIT OR GPL-2.0
"""The wheel nvdebugctl: the module, and the static program that it runs. packaging/make-wheel calls it."""

import platform

import setuptools
from wheel.bdist_wheel import bdist_wheel


class Wheel(bdist_wheel):
    """For any Python 3, on Linux of this machine's kind: a static program needs no C library."""

    def get_tag(self):
        return "py3", "none", f"manylinux_2_17_{platform.machine()}"


class Machines(setuptools.Distribution):
    """It has a program for one kind of machine."""

    def has_ext_modules(self):
        return True


with open("VERSION", encoding="ascii") as file:
    VERSION = file.read().strip()

setuptools.setup(
    distclass=Machines,
    name="nvdebugctl",
    version=VERSION,
    description="How NVIDIA GPUs schedule work, as dicts: the JSON of nvdebugctl, and the program itself",
    license="MIT OR GPL-2.0",
    python_requires=">=3.8",
    packages=["nvdebugctl"],
    package_data={"nvdebugctl": ["bin/nvdebugctl", "schema/*.json", "py.typed"]},
    extras_require={"pandas": ["pandas"]},
    entry_points={"console_scripts": ["nvdebugctl = nvdebugctl.__main__:main"]},
    cmdclass={"bdist_wheel": Wheel})
