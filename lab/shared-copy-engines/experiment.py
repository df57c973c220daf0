# SPDX-License-Identifier: MIT OR GPL-2.0
"""R8: copy engines of different runlists may run on the same physical ones, and then slow each other down."""

from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("R8",)
TITLE = "Copy engines that share physical ones"
PAPER = ("RTAS 2024, Fig. 10 and 11 (RTX 6000 Ada): a GPU-to-CPU copy takes about twice as long beside OpenGL texture "
         "uploads, in the opposite direction and on other channels, runlists and LCEs; on a GTX 1080 Ti hardly longer")
PART = ("which copy engines have the same physical ones was read from registers; but no program here copied by a GRCE, "
        "so that sharing slows copies down was not seen: Vulkan's do so on the way to the host's memory "
        "(lab/host-memory)")
MS, BYTES = 300, 64 << 20
MODEL = Model(breaks={"shared_pces": ["physical"]},
              differs={"graphics_queue": "copies that GR0 makes slow no copy engine down there: on hardware they "
                                         "have the way to the host's memory in common (lab/host-memory)"},
              numbers={"same_engine": "PCIe's rate is constant there"})


def copies(kind, size=BYTES, **more):
    return ("copies", {"ms": MS, "kind": kind, "bytes": size, "depth": 2, **more})


def textures(how):
    return ("textures", {"ms": MS, "side": 4096, "how": how})


TASKS = {
    "copy to the GPU": copies("h2d"), "copy to the host": copies("d2h"), "copy on the GPU": copies("d2d"),
    "51,200 bytes to the GPU": copies("h2d", 51_200), "51,200 bytes to the host": copies("d2h", 51_200),
    "51,200 bytes on the GPU": copies("d2d", 51_200),
    "to the GPU, of pageable memory": copies("h2d", pageable=1),
    "kernel, then copy to the GPU": copies("h2d", kernels=1), "kernel, then copy to the host": copies("d2h", kernels=1),
    "kernel, then 51,200 bytes to the GPU": copies("h2d", 51_200, kernels=1),
    "kernel, then 51,200 bytes on the GPU": copies("d2d", 51_200, kernels=1),
    "Vulkan, to the GPU": ("buffers", {"ms": MS, "kind": "h2d"}),
    "Vulkan, to the host": ("buffers", {"ms": MS, "kind": "d2h"}),
    "Vulkan, on the GPU": ("buffers", {"ms": MS, "kind": "d2d"}),
    "texture upload (buffer)": textures("pbo"), "texture upload (memory)": textures("client"),
    "texture download": textures("down"), "OpenGL buffer upload": textures("buffer"),
    "OpenGL buffer copy": textures("copy"),
}
# Only the model runs this: copies to the GPU by LCE0, which has the physical engines of LCE2.
BY_GRCE = ("buffers", {"ms": MS, "kind": "h2d", "grce": 1})
COPIES = ("copy to the GPU", "copy to the host")
PAIRED = (*COPIES, "copy on the GPU", "Vulkan, to the GPU", "Vulkan, to the host", "Vulkan, on the GPU",
          "texture upload (buffer)", "OpenGL buffer copy")


def rate(found):
    """Returns how many copies ended in a millisecond."""
    ends = [end for _, end in found["spans"]]
    return (len(ends) - 1) / (ends[-1] - ends[0]) * 1e6


def measure(bench):
    alone, engines, pairs = {}, {}, []
    for name, task in TASKS.items():
        with bench.ready(task) as (one,):
            one.go()
            engines[name] = bench.samples(12)
            alone[name] = rate(one.finish())
    for copy in COPIES:
        for other in PAIRED:
            pairs.append({"task": copy, "beside": other,
                          "rate": [rate(found) for found in bench.together(TASKS[copy], TASKS[other])]})
    found = {"wiring": bench.data("copy", "show")["lces"], "engines": engines, "alone": alone, "pairs": pairs}
    if bench.has_grce_program:
        found["beside_grce"] = {copy: rate(bench.together(TASKS[copy], BY_GRCE)[0]) for copy in COPIES}
    return found


def slowed(data):
    """Returns for each (copy, other task) how many times as long the copy takes as alone."""
    return {(pair["task"], pair["beside"]): data["alone"][pair["task"]] / pair["rate"][0] for pair in data["pairs"]}


def beside_grce(data):
    """Returns the claim that only the model can show, if the data are its."""
    if "beside_grce" not in data:
        return []
    h2d, d2h = (data["alone"][copy] / data["beside_grce"][copy] for copy in COPIES)
    return [Claim("physical", "beside copies to the GPU by LCE0, which no program did on hardware, a copy takes "
                              f"{h2d:.2f} (to the GPU, by the same physical engines) and {d2h:.2f} (to the host, by "
                              "others) times as long", h2d > 1.7 and d2h < 1.1)]


def conclude(data):
    found = slowed(data)
    h2d, d2h = COPIES
    vulkan = ("Vulkan, to the GPU", "Vulkan, to the host")
    own = {lce["lce"]: lce["own_pces"] for lce in data["wiring"] if lce["own_pces"]}
    shared = {lce["lce"]: lce["borrows_from"] for lce in data["wiring"] if lce["borrows_from"]}
    used = {name: [engine for engine, (_, busy) in on.items() if busy] for name, on in data["engines"].items()}
    on_grce = [name for name, engines in used.items() if set(engines) & set(shared)]
    looks = sum(max(seen for seen, _ in on.values()) for on in data["engines"].values())
    return [
        Claim("wiring", "; ".join(f"{grce} has the physical engines of {lce}: {', '.join(map(str, own[lce]))}"
                                  for grce, lce in shared.items()) + "; to themselves: "
              + ", ".join(f"{lce} has {len(pces)}" for lce, pces in own.items() if lce not in shared.values()),
              bool(shared) and all(own[lce] for lce in shared.values())),
        Claim("engines", f"CUDA copies to the GPU by {', '.join(used[h2d])}, to the host by {', '.join(used[d2h])}, on "
              f"the GPU by {', '.join(used['copy on the GPU'])}",
              used[h2d] != used[d2h] and len(used[h2d]) == len(used[d2h]) == 1),
        Claim("same_engine", f"beside another copy the same way a copy takes {found[h2d, h2d]:.2f} (to the GPU) and "
              f"{found[d2h, d2h]:.2f} (to the host) times as long", min(found[h2d, h2d], found[d2h, d2h]) > 1.7),
        Claim("other_engine", f"beside a copy the other way, by other physical engines, {found[h2d, d2h]:.2f} and "
              f"{found[d2h, h2d]:.2f}", max(found[h2d, d2h], found[d2h, h2d]) < 1.4),
        Claim("graphics_queue", "beside Vulkan's copies on the graphics queue, whose channels, runlist and engine are "
              f"others: to the GPU {found[h2d, vulkan[0]]:.2f} and {found[h2d, vulkan[1]]:.2f}, to the host "
              f"{found[d2h, vulkan[0]]:.2f} and {found[d2h, vulkan[1]]:.2f} (beside copies to the GPU and to the host)",
              min(found[copy, other] for copy in COPIES for other in vulkan) > 1.7),
        Claim("grce", f"in {looks} looks at copies of CUDA, OpenGL and Vulkan {' and '.join(shared)} were never busy",
              not on_grce),
        *beside_grce(data),
    ]


def picture(data):
    found = slowed(data)
    rows = [f"{copy}, beside {other}" for copy in COPIES for other in PAIRED]
    panel = Panel("How many times as long a copy takes beside another task", (0, max(found.values()) * 1.1),
                  "times as long as alone", rows=rows)
    for row, pair in enumerate((copy, other) for copy in COPIES for other in PAIRED):
        panel.bar(0, found[pair], row, COPIES.index(pair[0]))
        panel.words(found[pair], row, f"{found[pair]:.2f}")
    return [panel]
