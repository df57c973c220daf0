# SPDX-License-Identifier: MIT OR GPL-2.0
"""Boots a guest with models as GPUs, and runs commands in it."""
