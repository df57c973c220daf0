# SPDX-License-Identifier: MIT OR GPL-2.0
"""The experiment atlas on made-up data and with made-up records of switches. test_lab.py has measured data."""

import contextlib
import sys
import types

from building import ROOT

sys.path.insert(0, str(ROOT / "lab"))

# pylint: disable=wrong-import-position
from nvdlab import machine, page, record, spans  # noqa: E402

EXPERIMENT = record.experiment("atlas")
ONE, OTHER, FOREIGN = 100, 200, 300
US = 1000


def made_up_data():
    """Returns data in which each conclusion holds."""
    def state(gap, turn):
        return {"registers": 32, "sms": 132, "gap_us": [gap] * 60, "turn_us": [turn] * 60}
    return {
        "sm_clock_mhz": ["1980 MHz", "1980 MHz"],
        "states": {name: how | state(80 + number, 2171 + 8 * number)
                   for number, (name, how) in enumerate(EXPERIMENT.STATES.items())},
        "counts": {str(count): state(80, 2171) for count in EXPERIMENT.COUNTS},
        "requests": {kind: {"request_us": [700] * 12, "until_us": [900] * 12, "clock_error_us": 4} for kind in EXPERIMENT.REQUESTS},
        "arrivals": {"alone": [15] * 100} | {str(us): [100 + us] * 100 for us in EXPERIMENT.SLICES_US},
    }


def set_all(*path, value):
    def alter(data):
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = [value] * len(data[path[-1]])
    return alter


ALTERATIONS = {
    "seen": lambda data: data["counts"]["8"].update(gap_us=[80] * 49),
    "gap": set_all("states", "2,048 threads", "gap_us", value=120),
    "saving": lambda data: [set_all("states", name, "turn_us", value=2171)(data) for name in EXPERIMENT.STATES],
    "counts": set_all("counts", "8", "gap_us", value=160),
    "requests": set_all("requests", "preempt", "until_us", value=40_000),
    "arrivals": set_all("arrivals", "200", value=9000),
}


def failed(data):
    return {claim.key for claim in EXPERIMENT.conclude(data) if not claim.holds}


def test_atlas_concludes_from_data():
    assert failed(made_up_data()) == set()
    assert sorted(ALTERATIONS) == sorted(claim.key for claim in EXPERIMENT.conclude(made_up_data()))
    for key, alter in ALTERATIONS.items():
        altered = made_up_data()
        alter(altered)
        assert key in failed(altered), key


def test_atlas_has_a_row_for_each_machine():
    one = {"gpu": "NVIDIA L40S", "driver": "570.1", "data": made_up_data(), "measured": "2026-01-01", "command": "make lab"}
    others = {name: [(machine, record.load(path), []) for machine, path in record.records(name).items()]
              for name in ("context-switch",)}
    found = [("atlas", EXPERIMENT, [("l40s-570.1", one, [])]),
             ("context-switch", record.experiment("context-switch"), others["context-switch"])]
    rows = [line for line in page.atlas(found).splitlines() if line.startswith("| NVIDIA ")]
    assert rows[2] == "| NVIDIA L40S, 570.1 | 80 to 87 | 56 | 900 (700) | 900 (700) | 900 (700) | 300 / 2100 | - | - |"
    assert [row.split(" | ")[1] for row in rows] == ["-", "-", "80 to 87"]
    assert "l40s" in page.picture("atlas", EXPERIMENT, one).lower()


def switches_by_turns(length_us, gap_us, until_us, pids):
    """Returns a record of switches in which these processes take turns of LENGTH_US, as the driver keeps it."""
    found, at, number = [], 0, 0
    while at + length_us < until_us:
        pid = pids[number % len(pids)]
        found += [(at * US, True, pid + 7, pid), ((at + length_us) * US, False, pid + 7, pid)]
        at, number = at + length_us + gap_us, number + 1
    return found


def test_turns_of_other_processes_count_to_no_task():
    mine = switches_by_turns(2000, 80, 10_000, (ONE, OTHER))
    assert EXPERIMENT.costs(mine, {ONE, OTHER}) == {"gap_us": [80] * 3, "turn_us": [2000] * 2}
    foreign = [(US * 2010, True, 9, FOREIGN), (US * 2050, False, 9, FOREIGN)]
    assert EXPERIMENT.costs(sorted(mine + foreign), {ONE, OTHER}) == EXPERIMENT.costs(mine, {ONE, OTHER})
    # The record begins in the middle of a turn.
    assert EXPERIMENT.costs(mine[1:], {ONE, OTHER}) == {"gap_us": [80] * 2, "turn_us": [2000]}


class Bench:
    """Two instruments whose turns are made up. The clock of the GPU is BEHIND_US behind that of the host."""

    BEHIND_US = 1_000_000

    def __init__(self, clock):
        self.clock, self.asked = clock, []

    @contextlib.contextmanager
    def ready(self, *wanted):
        answer = {"registers": 32, "sms": 132, "clock": {"host": self.BEHIND_US * US, "gpu": 0, "error": 4000}}
        yield [types.SimpleNamespace(pid=pid, go=lambda: None, finish=lambda: answer) for pid, _ in zip((ONE, OTHER), wanted)]

    def theirs(self, pid):
        def timeslice(tsg, us=None):
            if us is None:
                return tsg
            self.asked.append((pid, tsg, us))
            self.clock.ns += 700 * US
            return None
        return types.SimpleNamespace(tsgs=[1048, 2097], timeslice=timeslice, channels={})

    def switches(self, meanwhile):
        result = meanwhile()
        return result, switches_by_turns(2000, 80, self.clock.ns / US, (ONE, OTHER))


def test_requests_are_measured_in_turns_of_the_holder(monkeypatch):
    class Clock:
        ns = Bench.BEHIND_US * US

        def monotonic_ns(self):
            return self.ns

        def sleep(self, seconds):
            self.ns += int(1e9 * seconds)

    clock = Clock()
    monkeypatch.setattr(EXPERIMENT, "time", clock)
    bench = Bench(clock)
    found = EXPERIMENT.requests(bench, "a new timeslice")
    # Requests go to the TSG of compute, which has the longer timeslice.
    assert {tsg for _, tsg, _ in bench.asked} == {2097}
    assert 0 < len(found["until_us"]) < EXPERIMENT.ROUNDS and found["clock_error_us"] == 4
    assert all(0 < us <= 2080 for us in found["until_us"]) and all(us == 700 for us in found["request_us"])


def test_atlas_measures_everything_that_it_concludes_from(monkeypatch):
    bench = types.SimpleNamespace(alone=lambda *_, **__: {"spans": [(0, 15_000)]})
    monkeypatch.setattr(machine, "ask_gpu", lambda *fields: ["1980 MHz"] * len(fields))
    monkeypatch.setattr(EXPERIMENT, "switches_of", lambda bench, count, how: made_up_data()["counts"]["2"])
    monkeypatch.setattr(EXPERIMENT, "requests", lambda bench, kind: made_up_data()["requests"][kind])
    monkeypatch.setattr(EXPERIMENT, "arrivals", lambda bench, us: made_up_data()["arrivals"][str(us)])
    data = EXPERIMENT.measure(bench)
    assert {key: sorted(one) if isinstance(one, dict) else len(one) for key, one in data.items()} == {
        key: sorted(one) if isinstance(one, dict) else len(one) for key, one in made_up_data().items()}
    assert spans.median(data["arrivals"]["alone"]) == 15
