# SPDX-License-Identifier: MIT OR GPL-2.0
"""Boots a guest whose GPUs are models, and runs commands in it."""
