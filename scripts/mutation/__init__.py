# SPDX-License-Identifier: MIT OR GPL-2.0
"""Parts of scripts/mutate, which changes one thing at a time and asks whether a test notices."""
