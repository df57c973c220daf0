# SPDX-License-Identifier: MIT OR GPL-2.0
"""tests/hardware/qos_reach.py, qos_hami.py and their tables without a GPU: programs take the places of kernels, nvqos,
nvtaskset and MPS' daemon. What they measure is made up; the order, the bounds and the arithmetic are those of a GPU. Time is
virtual (virtual_time.py)."""

import json
import lzma
import os
import re
import stat
import subprocess
import sys

import pytest
import virtual_time
from building import ROOT

HARDWARE = ROOT / "tests/hardware"
sys.path.append(str(HARDWARE))  # behind our own: both have a stgm.py
import reach_summary  # noqa: E402
PATIENCE_S = 600

# How programs begin that take the places of others: many are started, so they are to be quick at it.
PYTHON = f"#!{sys.executable} -IS\n"
TIMED = PYTHON + f"""import os, signal, sys
sys.path.append({os.path.dirname(virtual_time.__file__)!r})
from virtual_time import clock as time
"""
# Counts by the clock alone.
KERNELS = TIMED + """\
RATES = {"compute": 1000, "short": 4000}
if sys.argv[1] not in RATES:
    sys.exit("kernels: no such kind")
print("ready", file=sys.stderr, flush=True)
begin = time.monotonic_ns()
end = begin + float(sys.argv[2]) * 1e9
while (now := time.monotonic_ns()) < end:
    print(now, int((now - begin) * RATES[sys.argv[1]] / 1e9), flush=True)
    time.sleep(0.1)
"""
NVTASKSET = PYTHON + """\
import os, sys
words = sys.argv[1:]
with open(os.environ["TOLD"], "a") as told:
    print(*words, file=told)
if "--list" in words:
    print('{"gpus": [{"tpcs": [' + ", ".join(f'{{"tpc": {n}}}' for n in range(10)) + "]}]}")
elif "-p" not in words:
    words = words[words.index("--prepare") + 1:] if "--prepare" in words else words[words.index("-t") + 2:]
    os.execv(words[0], words)
"""
NVQOS = TIMED + """\
import json
with open(os.environ["TOLD"], "a") as told:
    print("nvqos", *sys.argv[1:], file=told)
if any("90%" in word for word in sys.argv):
    sys.exit("nvqos: gpu0: shares and speeds add up to too much")
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
while True:
    tenants = [{"name": "a", "got_percent": 50.0, "wait_p99_us": None, "speed_percent": 50.0, "launches_alone_per_s": 1000.0,
                "tpcs": 7 if "--tpcs" in sys.argv else None}
               for word in sys.argv[2:] if "=" in word]
    print(json.dumps({"data": {"tenants": tenants}}), flush=True)
    time.sleep(0.1)
"""
MPS = "#!/bin/sh\nexit 0\n"
SMI = "#!/bin/sh\necho 'A GPU, 1.2.3, 100 MHz'\n"


@pytest.fixture(name="programs")
def _programs(tmp_path):
    for name, text in (("kernels", KERNELS), ("nvtaskset", NVTASKSET), ("nvqos", NVQOS), ("nvidia-cuda-mps-control", MPS),
                       ("nvidia-smi", SMI)):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return tmp_path


def run(programs, script, *words):
    env = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "TOLD": str(programs / "told")}
    return subprocess.run([sys.executable, virtual_time.__file__, HARDWARE / script, *map(str, words)], env=env, capture_output=True, text=True,
                          timeout=PATIENCE_S, check=False)


def reach(programs, *options):
    done = run(programs, "qos_reach.py", programs / "nvqos", programs / "nvtaskset", programs / "kernels",
               programs / "out", "--seconds", "1", *options)
    path = programs / "out/qos_reach.json"
    return done, json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def test_every_case_is_run_or_listed(programs):
    done, found = reach(programs, "--kinds", "compute,short", "--goals", "50,90", "--seed", "7", "--budget", "90")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("seed 7,") and found["seed"] == 7 and "A GPU" in found["gpu"]
    # 4 pairs: 2 ways without a goal, 5 with 2 goals.
    rows = [(tuple(row["pair"]), row["way"], row["goal"]) for row in found["runs"] + found["not_run"]]
    assert len(rows) == len(set(rows)) == 4 * (2 + 5 * 2)
    assert found["runs"], "the budget is enough for one pair"
    assert {row["why"] for row in found["not_run"]} == {"the budget was used up"}
    assert {row["way"] for row in found["runs"]} == set(found["ways"])
    for row in found["runs"]:
        if "refused" in row:
            assert row["way"].startswith("nvqos by ") and row["goal"] == 90 and "add up" in row["refused"]
        else:
            for kind, rate in zip(row["pair"], row["rates"]):
                assert rate == pytest.approx({"compute": 1000, "short": 4000}[kind], rel=0.01)
            if row["way"] in ("nvqos by launches", "nvqos by TPCs"):
                assert row["nvqos_speed_percent"] == 50 and row["nvqos_alone_per_s"] == 1000
            if row["way"] == "nvqos by TPCs":
                assert [own for own, _ in row["tpcs_of_first"]] == [7]
    told = (programs / "told").read_text(encoding="utf-8")
    # Spart takes a TPC away from a kernel that is faster than its goal.
    assert re.search(r"-q -t 0-3 -p \d+\n-q -t 4-9 -p \d+\n", told)
    assert re.search(r"nvqos --json \d+=speed:50%", told) and re.search(r"nvqos --json --tpcs \d+=speed:50%", told)


def test_pairs_can_be_chosen(programs):
    done, found = reach(programs, "--pairs", "short/compute", "--goals", "50", "--ways", "nvqos by TPCs,MPS", "--settle", "0.2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted((row["pair"], row["way"]) for row in found["runs"]) == [(["short", "compute"], way)
                                                                          for way in ("MPS", "nvqos by TPCs")]
    assert found["settle_s"] == 0.2 and not found["not_run"]
    assert {row["kind"] for row in found["alone_prepared"]} == {row["kind"] for row in found["alone_busy"]} == {"short", "compute"}
    for wrong, why in (("short", "two kinds"), ("short/compute/short", "two kinds"), ("short/magic", "no kind 'magic'")):
        done, _ = reach(programs, "--pairs", wrong)
        assert done.returncode == 1 and why in done.stderr


def test_the_same_seed_is_the_same_order_and_no_budget_runs_nothing(programs):
    orders = []
    for seed in (1, 1, 2):
        done, found = reach(programs, "--budget", "0", "--seed", seed)
        assert done.returncode == 0 and not found["runs"] and len(found["not_run"]) == 36 * (2 + 5 * 3)
        orders.append([row["pair"] for row in found["not_run"]])
    assert orders[0] == orders[1] != orders[2]


def test_what_fails_is_said_and_the_rest_is_run(programs):
    text = KERNELS.replace('"short": 4000', '"latency": 10')
    (programs / "kernels").write_text(text.replace("sys.exit(", 'sys.exit("a fault: " + '), encoding="utf-8")
    done, found = reach(programs, "--kinds", "compute,short", "--goals", "50", "--ways", "as it is", "--budget", "60")
    assert done.returncode == 1
    assert [row["pair"] for row in found["runs"]] == [["compute", "compute"]]
    assert len(found["not_run"]) == 3 and all("a fault: kernels: no such kind" in row["why"] for row in found["not_run"])


def test_unknown_ways_are_refused(programs):
    done, _ = reach(programs, "--ways", "magic")
    assert done.returncode == 1 and "there is no way 'magic'; there are as it is, MPS" in done.stderr


def made(ways, rates, goals=(50,), **more):
    """One pair of kinds of 100 and 200 a second alone."""
    runs = [{"at_s": 10, "pair": ["compute", "short"], "way": way, "goal": goal, "rates": list(rates[way, goal]),
             "slowest": [rates[way, goal][0] / 2, 0]} for way in ways for goal in goals if (way, goal) in rates]
    return {"gpu": "A GPU", "seed": 1, "seconds": 5, "ways": list(ways), "kinds": ["compute", "short"],
            "goals": list(goals), "runs": runs, "not_run": [],
            "alone": [{"at_s": at, "kind": kind, "rate": rate} for at, kind, rate in (
                (0, "compute", 90), (0, "short", 200), (20, "compute", 110), (20, "short", 200))]} | more


def rows(text, title=None):
    part = text if title is None else text[text.index(title):]
    lines = re.search(r"\| ---.*\n((?:\|.*\n)+)", part)[1].splitlines()
    return {line.split(" | ")[0].lstrip("| "): line.strip("| ").split(" | ")[1:] for line in lines}


def test_tables_are_the_arithmetic_of_the_file(tmp_path):
    found = made(("A", "B"), {("A", 50): (49.6, 100), ("B", 50): (60, 20), ("A", 90): (80, 50), ("B", 90): (99, 10)},
                 (50, 90))
    text = reach_summary.summary([(tmp_path / "a.json", found)])
    # A: 0.992 and 0.889 of its goals; B: 1.2 and 1.1. Alone 100: the mean of before and after.
    assert rows(text)["A"] == ["2", "0.0", "50.0", "50.0", "-0.8", "50.0", "50.0", "49.6"]
    assert rows(text)["B"] == ["2", "100.0", "100.0", "100.0", "15.0", "7.5", "10.0", "57.5"]
    assert "Common cases: 1." in text
    assert rows(text, "Goal 90 %")["A"] == ["1", "0.0", "0.0", "0.0", "–", "–", "–", "–"]
    assert "22.2 to" not in text and "0.0 to 22.2 %" in text and "at an MPS server" not in text
    found["alone_prepared"] = [{"at_s": 2, "kind": "compute", "rate": 90}, {"at_s": 3, "kind": "short", "rate": 200}]
    text = reach_summary.summary([(tmp_path / "a.json", found)])
    assert "at an MPS server, beside those without: -10.0 to 0.0 %" in text and "busy" not in text


def test_goals_of_a_speed_that_is_not_known_have_no_place_in_a_table(tmp_path):
    found = made(("A",), {("A", 50): (40, 100)})
    assert "is known to" not in reach_summary.summary([(tmp_path / "a.json", found)]), "none is: 90 and 110 alone"
    found["runs"].append({"at_s": 11, "pair": ["short", "compute"], "way": "A", "goal": 50, "rates": [100, 20], "slowest": [90, 0]})
    text = reach_summary.summary([(tmp_path / "a.json", found)])
    assert rows(text)["A"][:2] == ["2", "50.0"]
    assert rows(text, "Where the first kernel's speed alone is known to 2 %")["A"][:2] == ["1", "100.0"]
    found["alone_busy"] = [{"at_s": 3, "kind": "short", "rate": 195}]
    text = reach_summary.summary([(tmp_path / "a.json", found)])
    assert "is known to" not in text and "with a busy processor beside, beside those without: -2.5 to -2.5 %" in text


def test_a_run_without_a_goal_counts_for_each_and_failures_for_none(tmp_path):
    found = made(("as it is", "B"), {("as it is", None): (60, 100)}, (None,))
    found |= {"goals": [50, 70]}
    found["runs"] += [{"at_s": 11, "pair": ["compute", "short"], "way": "B", "goal": 50, "failed": "it hung"},
                      {"at_s": 12, "pair": ["compute", "short"], "way": "B", "goal": 70, "refused": "too much"}]
    found["not_run"] = [{"pair": ["short", "short"], "way": "B", "goal": 50, "why": "the budget was used up"}]
    text = reach_summary.summary([(tmp_path / "a.json", found)])
    assert rows(text)["as it is"][:3] == ["2", "50.0", "50.0"]
    assert rows(text)["B"][:3] == ["1", "0.0", "0.0"], "refused is not reached"
    assert "Failed: 1\n* it hung: 1: compute beside short, B, 50 %" in text
    assert "Refused: 1\n* too much: 1:" in text
    assert "Not run: 1\n* the budget was used up: 1: short beside short, B, 50 %" in text


def summary_of(*paths):
    return subprocess.run([sys.executable, HARDWARE / "reach_summary.py", *paths], capture_output=True, text=True,
                          timeout=PATIENCE_S, check=False)


def test_measured_files_are_compressed_and_give_the_figures_of_the_page(tmp_path):
    """docs/qos-measured.md rounds them: reached 0.99 of the goal, beyond it, the second kernel's speed."""
    paths = sorted(HARDWARE.glob("*/qos_reach*"))
    assert len(paths) == 7 and {path.suffix for path in paths} == {".xz"}
    for path in paths:
        done = summary_of(path)
        assert done.returncode == 0 and rows(done.stdout), done.stderr
        plain = tmp_path / path.stem
        plain.write_bytes(lzma.decompress(path.read_bytes()))
        assert summary_of(plain).stdout == done.stdout
    table = rows(summary_of(HARDWARE / "h100-580.159.04/qos_reach.json.xz").stdout)
    assert {way: [cells[2], cells[4], cells[5]] for way, cells in table.items() if cells[0] != "0"} == {
        "as it is": ["13.3", "17.4", "63.1"], "MPS": ["73.3", "41.1", "83.6"], "nvqos by time": ["86.7", "7.2", "31.1"]}


@pytest.mark.parametrize("name, data", (("a.json", b"{"), ("a.json.xz", b"{}"), ("a.json.xz", lzma.compress(b"{}")[:-3]), ("b", None)))
def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path, name, data):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    done = summary_of(tmp_path / name)
    assert done.returncode == 1 and done.stderr.startswith("reach_summary: ") and done.stderr.count("\n") == 1
    assert name in done.stderr


def hami(programs):
    done = run(programs, "qos_hami.py", programs / "nvqos", programs / "kernels", programs / "out", "--seconds", "1",
               "--times", "1")
    return done, json.loads((programs / "out/qos_hami.json").read_text(encoding="utf-8"))


def test_caps_that_are_not_kept_are_seen(programs):
    """The kernels here take no notice of caps."""
    done, found = hami(programs)
    assert done.returncode == 1
    both = found["runs"][2]
    assert both["way"] == "caps" and both["caps"] == [30, 70] and both["ratio"] == pytest.approx(1, rel=0.02)
    assert both["good"] is False and both["nvqos_got_percent"] == [50, 50]
    assert re.search(r"nvqos --json \d+=cap:30% \d+=cap:70%", (programs / "told").read_text(encoding="utf-8"))
    assert found["reported"]["ratio"] == 0.84 and found["ratio_of_caps"] == 0.429


def test_caps_that_are_kept_are_good(programs):
    """Kernels that are capped by the words that nvqos is given."""
    (programs / "kernels").write_text(KERNELS.replace(
        "    print(now, int((now - begin) * RATES[sys.argv[1]] / 1e9), flush=True)\n", """\
    told = open(os.environ["TOLD"]).read().splitlines() if os.path.exists(os.environ["TOLD"]) else []
    caps = [int(word.split(":")[1][:-1]) for line in told for word in line.split() if word.startswith(f"{os.getpid()}=")]
    if caps and RATES[sys.argv[1]] > 900:
        RATES[sys.argv[1]] *= caps[-1] / 100
        begin, end = now, end + now - begin
    print(now, int((now - begin) * RATES[sys.argv[1]] / 1e9), flush=True)
"""), encoding="utf-8")
    done, found = hami(programs)
    assert done.returncode == 0, done.stdout
    assert found["runs"][2]["percent_of_alone"] == pytest.approx([30, 70], abs=1)
    assert found["runs"][2]["ratio"] == pytest.approx(3 / 7, rel=0.03)
    assert found["runs"][3]["percent_of_alone"] == pytest.approx([30], abs=1)


def test_what_nvqos_refuses_is_no_result(programs):
    (programs / "nvqos").write_text("#!/bin/sh\necho 'nvqos: no driver' >&2; exit 2\n", encoding="utf-8")
    done, found = hami(programs)
    assert done.returncode == 1
    assert [row.get("failed") for row in found["runs"]] == [None, None] + ["nvqos refused: nvqos: no driver"] * 2


# Two of these have equal rates, or with an nvqos that runs, and is not stopped, those of its goal.
SHARING = TIMED + """\
import json, pathlib
print("ready", file=sys.stderr, flush=True)
place = pathlib.Path(os.environ["TOLD"]).with_name("here")
place.mkdir(exist_ok=True)
(place / str(os.getpid())).touch()
def runs(pid, name):
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    except OSError:
        return False
    return fields[2].split()[0] not in STOPPED and name in pathlib.Path(f"/proc/{pid}/cmdline").read_text()
STOPPED = "TZX"
done, begin, was = 0.0, time.monotonic(), time.monotonic()
while was < begin + float(sys.argv[2]):
    time.sleep(0.1)
    now = time.monotonic()
    part = 1 / sum(runs(int(one.name), "kernels") for one in place.iterdir())
    kept = place.with_name("kept")
    goal = json.loads(kept.read_text()) if kept.exists() else None
    if part < 1 and goal and runs(goal["nvqos"], "nvqos"):
        part = goal["part"] if goal["pid"] == os.getpid() else 1 - goal["part"]
    done += 1000 * part * (now - was)
    was = now
    print(time.monotonic_ns(), int(done), flush=True)
"""
KEEPING = TIMED + """\
import json, pathlib
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
pid, goal = sys.argv[-1].split("=speed:")
kept = pathlib.Path(os.environ["TOLD"]).with_name("kept")
kept.with_suffix(".part").write_text(json.dumps({"nvqos": os.getpid(), "pid": int(pid), "part": int(goal[:-1]) / 100}))
kept.with_suffix(".part").replace(kept)
while True:
    print(json.dumps({"data": {"tenants": []}}), flush=True)
    time.sleep(0.1)
"""


def ends(programs, kernels, *options):
    (programs / "kernels").write_text(kernels, encoding="utf-8")
    (programs / "nvqos").write_text(KEEPING, encoding="utf-8")
    # No server is there to be killed: the clients end as by its end.
    (programs / "pgrep").write_text(f"#!/bin/sh\npkill -f '{programs}/kernels compute 60'; echo 999999999\n", encoding="utf-8")
    (programs / "pgrep").chmod(0o755)
    done = run(programs, "qos_ends.py", programs / "nvqos", programs / "nvtaskset", programs / "kernels", programs / "out",
               *options)
    assert (programs / "out/qos_ends.json").exists(), done.stdout + done.stderr
    return done, json.loads((programs / "out/qos_ends.json").read_text(encoding="utf-8"))


def test_ends_at_an_mps_server(programs):
    done, found = ends(programs, SHARING)
    assert done.returncode == 0 and "11 of 11 checks passed" in done.stdout, done.stdout + done.stderr
    assert [row["check"] for row in found["nvqos ends"]] == ["SIGKILL"] * 3 + ["SIGSTOP"]
    assert all(row["core_percent"] >= 0 for row in found["costs"])


def test_what_is_left_after_nvqos_is_seen(programs):
    done, found = ends(programs, SHARING.replace('STOPPED = "TZX"', 'STOPPED = ""'), "--parts", "nvqos ends")
    assert done.returncode == 1, done.stdout
    # One that is stopped still keeps its goal.
    assert [row["good"] for row in found["nvqos ends"]] == [True] * 3 + [False]


# --- qos_ends.py ---

def test_every_part_of_qos_ends_is_run_and_the_checks_that_fail_are_seen(programs):
    """The stand-in of nvqos holds no launch, so killing it changes nothing, which those checks notice."""
    done = run(programs, "qos_ends.py", programs / "nvqos", programs / "nvtaskset", programs / "kernels", programs / "out",
               "--parts", "nvqos ends,costs,a tenant ends")
    found = json.loads((programs / "out/qos_ends.json").read_text(encoding="utf-8"))
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stdout + done.stderr
    assert set(found) == {"program", "gpu", "nvqos ends", "costs", "a tenant ends"} and "A GPU" in found["gpu"]
    assert [row["good"] for row in found["nvqos ends"]] == [False] * 4
    for row in found["a tenant ends"]:
        assert row["good"] and row["alone"] == pytest.approx(1000, rel=0.01)
    assert "5 of 9 checks passed" in done.stdout
