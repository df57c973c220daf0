# SPDX-License-Identifier: MIT OR GPL-2.0
"""ECRTS 2025, pitfall 5: the number of an SM that a client of MPS reads is not the SM's own number."""

from nvdlab import spans
from nvdlab.bench import on_host, without_mps
from nvdlab.claim import Claim
from nvdlab.model import Model
from nvdlab.picture import Panel

RULES = ("Pitfall 5",)
TITLE = "MPS clients are told SM numbers of their own"
PAPER = ("ECRTS 2025, Sec. 4.4 (no figure; Volta, Turing, Ampere, Ada): each client's blocks start on %smid 0, though "
         "another one runs there")
# Each block takes more than half of an SM's shared memory, so that no two blocks are on the same SM.
BLOCKS, SHARED, MS = 48, 160 << 10, 60
MODEL = Model(breaks={"mps_sm_numbers": ["fake", "not_from_zero"]},
              numbers={"fake": "which numbers clients are told is made up there", "not_from_zero": "the same"})


def run(bench, *envs):
    found = bench.together(*(("exec", {"ms": MS, "blocks": BLOCKS, "shared": SHARED}, env) for env in envs))
    origin = min(on_host(one, block["ran"][0][0]) for one in found for block in one["blocks"])
    return [[{"sm": block["sm"], "ran": [(on_host(one, begin) - origin, on_host(one, end) - origin)
                                         for begin, end in block["ran"]]} for block in one["blocks"]] for one in found]


def measure(bench):
    alone = run(bench, without_mps())[0]
    with bench.mps() as (clients, _):
        both = run(bench, clients, clients)
    return {"blocks": BLOCKS, "shared_bytes": SHARED, "alone": alone, "clients": both}


def numbers(data):
    ids = [{block["sm"] for block in client} for client in data["clients"]]
    when = [spans.merged([span for block in client for span in block["ran"]], gap=20) for client in data["clients"]]
    return {"first": [client[0]["sm"] for client in data["clients"]], "ids": ids,
            "alone": sorted({block["sm"] for block in data["alone"]}),
            "both": sorted(ids[0] & ids[1]), "together_ms": spans.total(spans.common(*when)) / 1000}


def conclude(data):
    n = numbers(data)
    return [
        Claim("one_each", f"without MPS {data['blocks']} blocks, each with more than half of an SM's shared memory, "
              f"read {len(n['alone'])} numbers", len(n["alone"]) == data["blocks"]),
        Claim("fake", f"two clients that run at once for {n['together_ms']:.0f} ms read {len(n['ids'][0])} and "
              f"{len(n['ids'][1])} numbers, {len(n['both'])} of which are the same, though no two such blocks fit on "
              f"one SM",
              n["together_ms"] > 0.5 * MS and len(n["both"]) > 5),
        Claim("not_from_zero", f"unlike in the paper the first block of each is not on number 0: {n['first'][0]} and "
              f"{n['first'][1]}", 0 not in n["first"]),
    ]


def picture(data):
    n = numbers(data)
    most = max(max(ids) for ids in (*n["ids"], n["alone"]))
    panel = Panel("Numbers of SMs that blocks read", (0, most + 1), "%smid",
                  rows=["without MPS", "client 1", "client 2"])
    for row, ids in enumerate((n["alone"], *n["ids"])):
        for number in ids:
            panel.bar(number + 0.05, number + 0.95, row, row)
    return [panel]
