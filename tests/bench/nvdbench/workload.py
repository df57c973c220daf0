# SPDX-License-Identifier: MIT OR GPL-2.0
"""A workload with any number of channels."""

import json

CHANNELS_PER_TSG = 5


def write(folder, channels):
    """Writes the workload. Half of the channels are GR0's and half LCE2's, so that 4,000 have room although a runlist
    has only 2,048."""
    tsgs, rest = divmod(channels, 2 * CHANNELS_PER_TSG)
    assert rest == 0, channels
    name = f"{channels}-channels"
    entries = [{"repeat": tsgs, "task": f"{engine}-{{n}}", "engine": engine, "timeslice_us": 2000,
                "channels": [{"repeat": CHANNELS_PER_TSG, "work": "busy"}]}
               for engine in ("GR0", "LCE2")]
    path = folder / f"{name}.json"
    path.write_text(json.dumps({
        "SPDX-License-Identifier": "MIT OR GPL-2.0", "format": 1, "name": name,
        "title": f"{channels} busy channels in TSGs of {CHANNELS_PER_TSG}",
        "entries": entries}), encoding="utf-8")
    return path
