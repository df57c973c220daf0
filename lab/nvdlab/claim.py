# SPDX-License-Identifier: MIT OR GPL-2.0
"""What an experiment concludes from its data."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Claim:
    """`key` names it in tests; the sentence has the numbers that were found."""

    key: str
    sentence: str
    holds: bool
