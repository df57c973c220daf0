# SPDX-License-Identifier: MIT OR GPL-2.0
"""Kernels for the VM, and folders with other Debians: fetched once, and nothing is installed on this machine."""
