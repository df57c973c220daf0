# SPDX-License-Identifier: MIT OR GPL-2.0
"""Parts of scripts/mutate, which makes one change at a time and finds out whether a test notices."""
