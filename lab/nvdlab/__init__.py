# SPDX-License-Identifier: MIT OR GPL-2.0
"""What the experiments share: a bench with a GPU, spans of time, claims, pictures, records."""
