# SPDX-License-Identifier: MIT OR GPL-2.0
"""The cost of nvdebug, of its library and of its model. Each part gives rows of counts or ratios."""
