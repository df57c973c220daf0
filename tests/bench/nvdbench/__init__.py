# SPDX-License-Identifier: MIT OR GPL-2.0
"""What nvdebug, its library and its model cost: each part gives rows of counts or ratios."""
