# SPDX-License-Identifier: MIT OR GPL-2.0
"""Random cases for the quota machine. They have every scheme and reading, and are so small that counters often cross
0."""

SCHEMES = ("naive", "history", "elastic", "rollover", "rollover_time")
# The first value of each reading is the default.
READINGS = {
    "alpha": (None, True, False), "neg_boundary": (None, "forgive", "carry"), "refill": ("add", "set"),
    "refill_trigger": ("all", "own", "qos"), "absent": ("exempt", "counts"),
    "search_op": ("product", "min", "mean", "sum"), "search_base": ("achieved", "goal"),
    "search_alpha": ("new", "prev", "none"), "search_floor": ("1", "0", 3, "1/3"),
    "init_ipc": ("1", "1/4", 0, 7.5), "cap": (True, False), "hist": ("cumulative", 1, 2, "3"),
    "alpha_max": (None, "5/4", 1, 2.5), "round": ("largest", "floor", "ceil", "nearest"),
    "charge": ("issue", "complete"), "check": ("snapshot", "serial"), "elastic_scope": ("sm", "gpu"),
    "rollover_cap": (None, 0, "1/2", 1, 2.5), "rollover_scope": ("sm", "pool"), "latency": (0, 1, 3, 12),
}


def values():
    """Returns each reading with each of its values."""
    return [(name, value) for name, all_of in READINGS.items() for value in all_of]


# Readings that only affect these schemes.
OF_SCHEME = {"elastic": ("elastic_scope",), "rollover": ("rollover_cap", "rollover_scope"),
             "rollover_time": ("rollover_cap", "rollover_scope")}


def some_readings(rng, scheme):
    found = {name: rng.choice(all_of) for name, all_of in READINGS.items()
             if rng.random() < (0.7 if name in OF_SCHEME.get(scheme, ()) else 0.12)}
    if found.get("charge") == "complete":
        found["latency"] = rng.choice(READINGS["latency"])
    return found


def some_blocks(rng, sms):
    return [rng.choice((0, 1, 1, 2, 3)) if rng.random() < 0.8 else 0 for _ in range(sms)]


def some_lanes(rng):
    one = lambda: rng.choice((32, 32, 32, rng.randint(1, 32), 1))  # noqa: E731
    return one() if rng.random() < 0.6 else [one() for _ in range(rng.randint(1, 5))]


def some_offer(rng, sms, kernels, time):
    offer = {"sm": "all" if rng.random() < 0.6 else rng.randrange(sms), "k": rng.randrange(kernels),
             "lanes": some_lanes(rng)}
    if rng.random() < 0.4:
        offer["from"] = rng.randint(0, time)
    if rng.random() < 0.4:
        offer["to"] = rng.randint(0, time)
    if rng.random() < 0.4:
        offer["every"] = rng.randint(1, 5)
    if rng.random() < 0.5:
        offer["count"] = rng.randint(0, 5)
    return offer


def some_case(rng, name, scheme=None, readings=None):
    sms, slots, time = rng.randint(1, 4), rng.randint(1, 4), rng.choice((1, 2, 5, 10, 20, 30))
    kernels = []
    for _ in range(rng.randint(1, 4)):
        kernel = {"qos": rng.random() < 0.55}
        if kernel["qos"]:
            # Half of the kernels need more than a fair share of the GPU, and some more than all of it.
            goal = rng.choice((1, 10, 30, 60, 110)) * sms * slots * 32
            kernel["goal"] = f"{rng.randint(1, goal)}/{rng.choice((100, 97))}"
        if rng.random() < 0.3:
            kernel["tbs"] = some_blocks(rng, sms)
        kernels.append(kernel)
    epochs = []
    for _ in range(rng.randint(1, 7)):
        epoch = {"offers": [some_offer(rng, sms, len(kernels), time) for _ in range(rng.choice((0, 2, 4, 6)))]}
        if rng.random() < 0.2:
            epoch["tbs"] = [some_blocks(rng, sms) for _ in kernels]
        if rng.random() < 0.3:
            epoch["exits"] = [{"sm": rng.randrange(sms), "k": rng.randrange(len(kernels)), "at": rng.randrange(time)}
                              for _ in range(rng.randint(1, 3))]
        epochs.append(epoch)
    scheme = scheme or rng.choice(SCHEMES)
    return {"id": name, "input": {"S": sms, "W": slots, "T": time, "kernels": kernels, "epochs": epochs},
            "scheme": scheme,
            "readings": some_readings(rng, scheme) if readings is None else readings}
