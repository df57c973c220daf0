# SPDX-License-Identifier: MIT OR GPL-2.0
"""The common parts of experiments: a bench with a GPU, spans of time, claims, pictures, records."""
