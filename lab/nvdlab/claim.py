# SPDX-License-Identifier: MIT OR GPL-2.0
"""The conclusions of an experiment from its data."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Claim:
    """A conclusion. Tests use its `key`; the sentence has the measured numbers."""

    key: str
    sentence: str
    holds: bool
