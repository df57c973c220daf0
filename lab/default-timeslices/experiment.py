# SPDX-License-Identifier: MIT OR GPL-2.0
"""The driver gives default timeslices to compute, copy and graphics tasks."""

from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("Timeslices",)
TITLE = "Default timeslices"
PAPER = "RTAS 2024, Sec. V.C: about 2 ms for compute, 1 ms for copies (GTX 1060 3GB); Listing 1: 128 << 3"
MODEL = Model(breaks={"default_timeslices": ["compute"]})


def measure(bench):
    found = {}
    for name, instrument in (("CUDA", "exec"), ("OpenGL", "textures"), ("Vulkan", "buffers")):
        before = bench.tsgs()
        with bench.ready((instrument, {"ms": 50})):
            found[name] = [tsg for place, tsg in bench.tsgs().items() if place not in before]
    return found


def of(data, who, on_gr):
    return sorted({tsg["timeslice_us"] for tsg in data[who] if tsg["engines"] and ("GR0" in tsg["engines"]) == on_gr})


def conclude(data):
    def said(who, on_gr):
        return ", ".join(f"{us} us" for us in of(data, who, on_gr)) or "none"

    return [
        Claim("compute", f"CUDA's compute TSG: {said('CUDA', True)}", of(data, "CUDA", True) == [2097.2]),
        Claim("copy", f"CUDA's copy TSGs: {said('CUDA', False)}", of(data, "CUDA", False) == [1048.6]),
        Claim("graphics", f"OpenGL's TSG on GR0: {said('OpenGL', True)}", len(of(data, "OpenGL", True)) >= 1),
    ]


def picture(data):
    rows = [(f"{who}, {','.join(tsg['engines'])}", tsg["timeslice_us"]) for who, tsgs in data.items() for tsg in tsgs
            if tsg["engines"]]
    panel = Panel("Timeslices in the runlists", (0, max(us for _, us in rows) * 1.15), "us",
                  rows=[name for name, _ in rows])
    for row, (_, us) in enumerate(rows):
        panel.bar(0, us, row, 0)
        panel.words(us, row, f"{us:.0f}")
    return [panel]
