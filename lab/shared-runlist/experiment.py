# SPDX-License-Identifier: MIT OR GPL-2.0
"""R6, R7: a runlist may serve several engines, an engine has one runlist; who shares a runlist takes turns."""

from nvdlab import spans
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("R6", "R7")
TITLE = "Engines of one runlist, and who takes turns there"
PAPER = ("RTAS 2024, Tables II to IV and Fig. 9 (Jetson TX2): GR0 is on runlist 0 with two copy engines, every other "
         "engine alone on its own; copies progress for 1024 us, then stand for 1000 us, beside a task that only "
         "computes")
MS = 500
MODEL = Model(breaks={"graphics_turns": ["coupled"]},
              numbers={"apart": "copies by different engines share no memory there, and PCIe's rate is constant"})


def took(found):
    return [(end - begin) / 1000 for begin, end in found["spans"]][2:]


def measure(bench):
    engines = [{"engine": each["engine"], "runlist": each["runlist"]} for each in bench.data("engine", "list")]
    texture, copy, kernel = ("textures", {"ms": MS}), ("copies", {"ms": MS, "bytes": 16 << 20}), ("exec", {"ms": MS})
    before = bench.tsgs()
    with bench.ready(texture) as (one,):
        on = [tsg for place, tsg in bench.tsgs().items() if place not in before]
        one.go()
        busy = bench.samples(20)
        alone = one.finish()
    copy_alone = bench.together(copy)[0]
    return {
        "engines": engines,
        "texture_lists": on,
        "texture_busy": busy,
        "texture_alone": took(alone), "texture_beside": took(bench.together(texture, kernel)[0]),
        "copy_alone": took(copy_alone), "copy_beside": took(bench.together(copy, kernel)[0]),
    }


def conclude(data):
    lists, of_engine = {}, {}
    for each in data["engines"]:
        if each["runlist"] is not None:
            lists.setdefault(each["runlist"], []).append(each["engine"])
            of_engine.setdefault(each["engine"], set()).add(each["runlist"])
    several = {runlist: names for runlist, names in lists.items() if len(names) > 1}
    busy = {engine: count for engine, (_, count) in data["texture_busy"].items()}
    texture = spans.median(data["texture_beside"]) / spans.median(data["texture_alone"])
    copy = spans.median(data["copy_beside"]) / spans.median(data["copy_alone"])
    return [
        Claim("several", "engines that share a runlist: " + "; ".join(
            f"{', '.join(names)} (runlist {runlist})" for runlist, names in several.items()),
            "GR0" in several.get(0, ()) and len(several[0]) > 1),
        Claim("one", f"each of {len(of_engine)} engines is on one runlist",
              all(len(on) == 1 for on in of_engine.values())),
        Claim("coupled", "a texture upload by OpenGL, whose channels are on the compute engine's runlist, takes "
              f"{texture:.2f} times as long beside a task that only computes", texture > 1.5),
        Claim("by_gr0", f"GR0 was busy with uploads in {busy['GR0']} of {data['texture_busy']['GR0'][0]} looks, its "
              "copy engines in none: so these are turns on one engine, and that two engines of a list wait for each "
              "other was not seen",
              busy["GR0"] > 0 and not any(busy.get(engine) for engine in several.get(0, ()) if engine != "GR0")),
        Claim("apart", f"a copy on a runlist of its own takes {copy:.2f} times as long beside it (median); of 100 copies "
              f"90 take at most {spans.part(data['copy_beside'], 0.9):.0f} us, alone "
              f"{spans.part(data['copy_alone'], 0.9):.0f}, and the longest {max(data['copy_beside']):.0f}, alone "
              f"{max(data['copy_alone']):.0f}", copy < 1.1),
    ]


def picture(data):
    most = max(max(data[key]) for key in ("texture_alone", "texture_beside", "copy_alone", "copy_beside")) / 1000
    panel = Panel("How long each upload takes: 16 MiB", (0, most * 1.02), "ms",
                  rows=["texture, alone", "texture, beside kernel", "copy, alone", "copy, beside kernel"])
    for row, key in enumerate(("texture_alone", "texture_beside", "copy_alone", "copy_beside")):
        panel.dots([(us / 1000, row + 0.5) for us in data[key]], row % 2)
    return [panel]
