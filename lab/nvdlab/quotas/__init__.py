# SPDX-License-Identifier: MIT OR GPL-2.0
"""Figures 5 to 13 of the paper on quotas, on the engine of lab/quotas (docs/quotas.md)."""
