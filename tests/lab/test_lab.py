# SPDX-License-Identifier: MIT OR GPL-2.0
"""The lab without a GPU: the conclusions of experiments from recorded data. Each experiment notices if a rule does
not hold."""

import copy
import json
import re
import shutil
import subprocess
import sys

import pytest
from ctl import tool
from nvdvm import paths

LAB = paths.ROOT / "lab"
sys.path.insert(0, str(LAB))

# pylint: disable=wrong-import-position
from nvdlab import bench, model, page, picture, record, spans  # noqa: E402
from nvdlab.bench import Failed  # noqa: E402
from nvdlab.model_bench import ModelBench  # noqa: E402
from nvdlab.picture import ticks  # noqa: E402
from nvdlab.quotas import engine, page as quota_page, pictures as quota_pictures, plan, results  # noqa: E402

RECORDS = [(name, machine) for name in record.names() for machine in record.records(name)]


LAB_MODEL = paths.ROOT / "build/cmake/lab/model/lab-model"
MODELLED = {name: experiment.MODEL for name in record.names()
            if not (experiment := record.experiment(name)).MODEL.absent}


def recorded(name, machine):
    return record.load(record.records(name)[machine])


@pytest.mark.parametrize("name, machine", RECORDS)
def test_a_replay_concludes_what_was_concluded(name, machine):
    """Each conclusion holds, and the picture of the data is the same each time."""
    one = recorded(name, machine)
    assert one["experiment"] == name and record.machine(one) == machine
    experiment = record.experiment(name)
    claims = experiment.conclude(one["data"])
    assert len({claim.key for claim in claims}) == len(claims) > 1
    assert [claim.sentence for claim in claims if not claim.holds] == []
    assert page.picture(name, experiment, one) == page.picture(name, experiment, one)


# --- data that was altered so that a rule is broken ---

def shift(all_of, us):
    return [[begin + us, end + us, *rest] for begin, end, *rest in all_of]


def shift_blocks(blocks, us):
    return [shift(ran, us) for ran in blocks]


def at(data, *path):
    for key in path:
        data = data[key]
    return data


def put(*path, value):
    def alter(data):
        at(data, *path[:-1])[path[-1]] = value(at(data, *path)) if callable(value) else value
    return alter


def both(*alterations):
    def alter(data):
        for one in alterations:
            one(data)
    return alter


def scaled(factor):
    return lambda values: [value * factor for value in values]


def delayed(run, stream, us, kernels="kernels"):
    """Lets the kernels of a stream start later."""
    def alter(data):
        for kernel in at(data, *run)[kernels] if kernels else at(data, *run):
            if kernel["stream"] == stream:
                kernel["ran"] = [time + us for time in kernel["ran"]]
    return alter


def no_late_stream(data):
    for kernel in data["runs"][0]["kernels"]:
        if kernel["stream"] == 8:
            kernel["ran"] = [time - 60_000 for time in kernel["ran"]]


def in_order(data):
    """Lets the last of ten streams start after all others."""
    for kernel in data["runs"][2]["kernels"]:
        if kernel["stream"] == 9:
            kernel["ran"] = [time + 1e6 for time in kernel["ran"]]


def copies_while_it_computes_alone(data):
    task = data["tasks"]["both"]
    task["copy"] = [[begin, end] for begin, end in
                    spans.common(spans.merged(task["copy"]), spans.merged(task["compute"]))]


def ends_meanwhile(data):
    begin, end = data["paused"]
    data["operations"]["set"].append([begin + 100_000, (begin + end) / 2])


def ends_with_the_pause(data):
    data["operations"]["h2d"] = [op for op in data["operations"]["h2d"] if op[1] < data["paused"][0]]


def rates(task, beside, factor):
    def alter(data):
        for pair in data["pairs"]:
            if (pair["task"], pair["beside"]) == (task, beside):
                pair["rate"] = [rate * factor for rate in pair["rate"]]
    return alter


def third_as_if_alone(data):
    data["three"][2] = copy.deepcopy(data["two"][1])


def slower_in_time(data):
    data["running"] = [[begin, end + (20_000 if begin > data["changed"] else 0), sms]
                       for begin, end, sms in data["running"]]


def whole_blocks(mode):
    return put(mode, "blocks", value=lambda blocks: [[[block[0][0], block[-1][1]]] for block in blocks])


def as_if_small(data):
    small = data["1 block of 32 threads"]["slices"]
    for one in data.values():
        one["slices"] = small


def steps(kind, way, **of_both):
    """Gives both jobs the same steps."""
    return put(kind, way, value=lambda jobs: [one | of_both for one in jobs])


def long_gaps(data):
    one = data["1 block of 32 threads"]
    one["slices"] = [[[begin, last, stop, end - 300] for begin, last, stop, end in task] for task in one["slices"]]


H2D, D2H = "copy to the GPU", "copy to the host"
ALTERATIONS = {
    "timeslices": {
        "exclusive": put("compute", 1, value=lambda blocks: shift_blocks(blocks, 500)),
        "alternate": put("compute", 1, value=lambda blocks: [ran[::3] for ran in blocks]),
        "timeslice": put("timeslice_us", value=[1024, 1024]),
        "copies": put("copies", 1, value=lambda all_of: shift(all_of, 500)),
    },
    "disabled-channels": {
        "off": put("channels", "d2d", value=[3, 20]),
        "stops": ends_meanwhile,
        "goes_on": ends_with_the_pause,
        "allocations": put("operations", "host", value=[]),
    },
    "unlisted-tasks": {
        "enabled_are_listed": put("lists", 0, "enabled", value=lambda enabled: [*enabled, 2000]),
        "tsg": put("attempts", 0, "listed", value=[4, 0, 4]),
        "channel": put("attempts", 1, "listed", value=[4, 4, 4]),
    },
    "false-dependencies": {
        "false": no_late_stream,
        "none": delayed(("runs", 1), 8, 70_000),
        "limit": put("runs", 5, "channels", value=5),
        "dispatched": delayed(("runs", 0), 8, 5_000),
        "order": in_order,
    },
    "independent-runlists": {
        "list_by_list": put("tasks", "both", "compute", value=lambda all_of: shift(all_of, 500)),
        "independent": copies_while_it_computes_alone,
        "no_turns": put("rate_beside", value=lambda rate: rate / 2),
    },
    "shared-runlist": {
        "several": put("engines", value=lambda engines: [
            each | {"runlist": 50 + n} if each["engine"].startswith("LCE") else each
            for n, each in enumerate(engines)]),
        "one": put("engines", value=lambda engines: [*engines, {"engine": "GR0", "runlist": 5}]),
        "coupled": lambda data: data.update(texture_beside=data["texture_alone"]),
        "by_gr0": put("texture_busy", "LCE0", value=[20, 5]),
        "apart": put("copy_beside", value=scaled(2)),
    },
    "shared-copy-engines": {
        "wiring": put("wiring", value=lambda lces: [lce | {"borrows_from": None} for lce in lces]),
        "engines": put("engines", D2H, value={"LCE2": [12, 12]}),
        "same_engine": rates(D2H, D2H, 2),
        "other_engine": rates(H2D, D2H, 0.5),
        "graphics_queue": rates(H2D, "Vulkan, to the GPU", 3),
        "grce": put("engines", "Vulkan, on the GPU", "LCE1", value=[12, 5]),
    },
    "mps-one-task": {
        "one_tsg": put("tsgs", 1, value=[99]),
        "together": put("tasks", 1, value=lambda task: shift(task, 1_000)),
        "alternate": put("tasks", 2, value=lambda task: shift(task, 500)),
        "one_timeslice": put("tasks", 2, value=lambda task: task[::2] + task[-1:]),
    },
    "mps-streams": {
        "without": delayed(("runs", "without MPS"), 3, 30_000, None),
        "with": delayed(("runs", "with MPS"), 2, -15_000, None),
        "connections": delayed(("runs", "with MPS, CUDA_DEVICE_MAX_CONNECTIONS=8"), 3, 30_000, None),
    },
    "mps-sm-ids": {
        "one_each": put("alone", value=lambda blocks: [*blocks[1:], blocks[1]]),
        "fake": put("clients", 1, value=lambda blocks: [block | {"sm": block["sm"] + 200} for block in blocks]),
        "not_from_zero": put("clients", 0, 0, "sm", value=0),
    },
    "mps-partitions": {
        "two_fit": put("three", 0, "ended", value=lambda ended: ended[:60] + [count / 2 for count in ended[60:]]),
        "left": third_as_if_alone,
        "static": slower_in_time,
        "of_the_start": lambda data: data.update(started_later=data["running"]),
    },
    "copy-behind-copies": {
        "one": put("small_us", "1 queued", value=scaled(10)),
        "starves": put("small_us", "4 queued", value=scaled(0.01)),
        "priority": put("small_us", "4 queued, urgent stream", value=[700.0]),
        "pieces": put("small_us", "4 queued, of 1 MiB each", value=[90.0]),
        "other_ways": put("small_us", "4 queued the other way", value=scaled(100)),
        "process": put("small_us", "4 queued by another process", value=scaled(100)),
    },
    "host-memory": {
        "writes": put("kernels", 4, "beside", "to the host", 0, value=40.0),
        "more": put("kernels", 7, "beside", "to the GPU", 0, value=20.0),
        "reads": put("kernels", 3, "beside", "to the host", 0, value=54.0),
        "few_reads": put("kernels", 0, "beside", "to the GPU", 0, value=20.0),
    },
    "preemption": {
        "mid_kernel": whole_blocks("as it is"),
        "bounded": put("as it is", "waits_us", value=scaled(10)),
        "cilp": whole_blocks("cilp"),
        "cta": put("cta", "waits_us", value=scaled(0.1)),
        "wfi": put("wfi", "waits_us", value=scaled(0.1)),
    },
    "context-switch": {
        "seen": put("2 of 1,024", "slices", value=lambda tasks: [task[:4] for task in tasks]),
        "small": long_gaps,
        "grows": as_if_small,
        "threads": as_if_small,
    },
    "default-timeslices": {
        "compute": put("CUDA", 0, "timeslice_us", value=1048.6),
        "copy": put("CUDA", 1, "timeslice_us", value=2097.2),
        "graphics": put("OpenGL", value=[]),
    },
    "atlas": {
        "seen": put("states", "2,048 threads", "gap_us", value=lambda gaps: gaps[:40]),
        "gap": put("states", "224 KiB of shared memory", "gap_us", value=scaled(1.4)),
        "saving": put("states", "2,048 threads that write memory", "turn_us", value=scaled(1.2)),
        "counts": put("counts", "8", "gap_us", value=scaled(1.4)),
        "requests": put("requests", "preempt", "until_us", value=scaled(30)),
        "arrivals": put("arrivals", "8000", value=scaled(0.01)),
    },
    "shared-collectives": {
        "small": steps("reduce256k", "as it is", per_s=4000),
        "large": steps("reduce256m", "as it is", per_s=600),
        "small_gang": steps("reduce256k", "gang", per_s=3000),
        "large_gang": put("reduce256m", "gang", 1, "ms", value=[2.6, 2.6, 2.7, 2.7]),
        "train64_gang": put("train64", "gang", 0, "per_s", value=1.0),
        "train16_gang": steps("train16", "as it is", per_s=10),
    },
    "overhead": {
        "launch": put("with MPS", "launch_us", value=lambda turns: [scaled(2)(five) for five in turns]),
        "start": put("without MPS", "start_us", value=scaled(100)),
    },
}


@pytest.mark.parametrize("name, machine", RECORDS)
def test_data_that_break_a_rule_are_noticed(name, machine):
    one = recorded(name, machine)["data"]
    experiment = record.experiment(name)
    assert sorted(ALTERATIONS[name]) == sorted(claim.key for claim in experiment.conclude(one)), \
        "each conclusion, and how data would look if it did not hold"
    for key, alter in ALTERATIONS[name].items():
        altered = copy.deepcopy(one)
        alter(altered)
        failed = {claim.key for claim in experiment.conclude(altered) if not claim.holds}
        assert key in failed, f"{key} still holds of altered data"


# --- Experiments on the GPU model ---

@pytest.fixture(name="model_bench")
def _model_bench():
    with ModelBench(LAB_MODEL, tool()) as one:
        yield one


@pytest.mark.parametrize("name", MODELLED)
def test_the_model_gives_the_numbers_of_the_page(name, model_bench):
    """Times are virtual, so each number is the same as in docs/lab.md."""
    experiment = record.experiment(name)
    claims = model.conclude(experiment, model_bench)
    assert [claim.sentence for claim in claims if not model.as_expected(experiment, claim)] == []
    assert claims == model.kept()[name], "run 'make lab'"


@pytest.mark.ci
@pytest.mark.parametrize("name, rule", [(name, rule) for name, its in MODELLED.items() for rule in its.breaks])
def test_an_experiment_notices_a_rule_that_the_model_breaks(name, rule):
    experiment = record.experiment(name)
    with ModelBench(LAB_MODEL, tool(), [rule]) as one:
        claims = model.conclude(experiment, one)
    failed = {claim.key for claim in claims if not model.as_expected(experiment, claim)}
    assert failed == set(experiment.MODEL.breaks[rule])


def test_each_rule_of_the_model_has_an_experiment():
    text = subprocess.run([LAB_MODEL, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    rules = text.partition("Rules: ")[2].rstrip(".\n").split(", ")
    assert len(rules) > 10 and set(rules) == {rule for its in MODELLED.values() for rule in its.breaks}


def test_notes_on_the_model_name_conclusions():
    for name, its in MODELLED.items():
        keys = {claim.key for claim in model.kept()[name]}
        assert set(its.differs) <= keys, name
        assert all(set(broken) and set(broken) <= keys for broken in its.breaks.values()), name
    assert set(model.kept()) == set(MODELLED)


def test_differences_of_model_and_hardware_are_explained():
    """Nothing else is explained as a difference."""
    for name, its in MODELLED.items():
        experiment = record.experiment(name)
        measured = [{claim.key: claim.sentence for claim in experiment.conclude(record.load(path)["data"])}
                    for path in record.records(name).values()]
        for claim in model.kept()[name]:
            differs = any(claim.key in one and model.numbers_differ(claim.sentence, one[claim.key]) for one in measured)
            assert differs == bool(its.why(claim.key)), f"{name}, {claim.key}: {claim.sentence}"


def test_small_differences_do_not_count():
    assert not model.numbers_differ("1,000 us of 0.1 %", "1,090 us of 0.0 %")
    assert not model.numbers_differ("of 3", "of 4")
    assert all(model.numbers_differ("1,000 us of 1.00", other)
               for other in ("880 us of 1.00", "1,000 us of 1.20", "1,000 us"))


@pytest.mark.parametrize("words, sentence", [
    (("open", "sleep"), "the model has no instrument 'sleep'; there are: exec, "),
    (("open", "exec", "fast"), "'fast' is not NAME=VALUE"),
    (("open", "exec", "colour=1"), "this instrument has no option 'colour'"),
    (("open", "exec", "ms=long"), "ms=long: a number up to 20000 is expected"),
    (("open", "exec", "blocks=0"), "blocks must not be 0"),
    (("open", "copies", "kind=up"), "'up' is no kind of copy: h2d, d2h or d2d"),
    (("open", "exec", "CUDA_DEVICE_MAX_CONNECTIONS=99"), "CUDA_DEVICE_MAX_CONNECTIONS=99: a number from 1 to 32 is"),
    (("open", "exec", "CUDA_VISIBLE_DEVICES=0"), "the model makes nothing of CUDA_VISIBLE_DEVICES"),
    (("go", 4711), "there is no instrument 4711"),
    (("finish", "x"), "'x' is no number"),
    (("advance", 10 ** 12), "600000000 microseconds at most"),
    (("preemption", 1, "soon"), "'soon' is no mode of preemption: wfi, cta or cilp"),
    (("dance",), "there is no request 'dance'; --help lists them"),
    (("open",), "open is to be asked as: open INSTRUMENT [OPTION=VALUE]..."),
])
def test_lab_model_explains_refusals(words, sentence, model_bench):
    with pytest.raises(Failed, match=re.escape("lab-model: " + sentence)):
        model_bench.ask(*words)
    model_bench.ask("advance", 1)  # the model goes on


def test_a_block_that_fits_on_no_sm_is_refused(model_bench):
    with pytest.raises(Failed, match="lab-model: a block of this kernel does not fit on an SM"):
        model_bench.alone("exec", shared=256 << 10)


def test_a_folder_that_cannot_be_written_is_refused(model_bench):
    with pytest.raises(Failed, match="lab-model: .*cannot create directories.*/dev/null"):
        model_bench.ask("files", "/dev/null/folder")


def test_an_unknown_rule_is_refused():
    done = subprocess.run([LAB / "run", "--break", "gravity", "--lab-model", LAB_MODEL, "--nvdebugctl", tool()],
                          capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "lab-model: there is no rule 'gravity'; there are: disabled_stop, " in done.stderr


class Driver:
    """Stands in for nvdlab.rm. It accepts requests for channels, and refuses requests for TSGs."""

    class Refused(Exception):
        status = 0x56

    class Ours:
        client = 0xc1d00001

        def registers(self, *offsets):
            return [offset + 1 for offset in offsets]

    class Theirs:
        def __init__(self, pid, youngest):
            assert (pid, youngest) == (4711, 0xc1d00001)
            self.tsgs = [(self, 1, 10, 0xa06c)]
            self.channels = {0x1000: (self, 1, 20), 0x2000: (self, 1, 21)}

        def control(self, client, handle, request, text):
            if request == 0xa06c0101:
                raise Driver.Refused
            assert (client, request, text) == (1, 0xa06f0103, b"\0\0\0") and handle in (20, 21)


def test_the_driver_is_asked_for_tsgs_and_channels(monkeypatch):
    monkeypatch.setattr(bench, "rm", Driver)
    machine = bench.Bench(None, None)
    ask = machine.scheduling(4711)
    assert (ask("of each TSG", False), ask("of each channel", False)) == ([0x56], [0, 0])
    assert machine.registers(4, 8) == [5, 9]


def test_a_broken_rule_ends_the_run_with_1():
    done = subprocess.run([LAB / "run", "--break", "default_timeslices", "--lab-model", LAB_MODEL, "--nvdebugctl",
                           tool(), "default-timeslices"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "FAIL  compute: " in done.stdout
    assert "which breaks default_timeslices" in done.stdout


def test_every_experiment_is_recorded_and_described():
    recorded_names = {name for name, _ in RECORDS}
    assert recorded_names == set(record.names()) == set(page.ORDER)
    for name in record.names():
        text = (LAB / name / "README.md").read_text(encoding="utf-8")
        assert all(f"**{part}.**" in text for part in ("Procedure", "Expected", "Caveats")), name


def test_page_pictures_and_evidence_are_of_the_records():
    """`make lab` makes these files again."""
    made = page.files()
    different = [str(path.relative_to(paths.ROOT)) for path, text in made.items()
                 if not path.exists() or path.read_text(encoding="utf-8") != text]
    assert not different, "run 'make lab'"
    assert set((page.DOCS / "lab").iterdir()) == {path for path in made if path.suffix == ".svg"}


def texts_of(svg):
    """Returns the left and right edge, the line and the text of each unturned text in a picture."""
    found, group = [], (0, 0)
    for element in re.finditer(r'<g (?:transform="translate\((\S+) (\S+)\)")?[^>]*>|<text x="(\S+?)" y="(\S+?)"([^>]*)>([^<]*)',
                               svg):
        left, top, x, y, attributes, text = element.groups()
        if left:
            group = float(left), float(top)
        elif x and "middle" in attributes:
            wide = picture.LETTER * len(text)
            found.append((float(x) - wide / 2, float(x) + wide / 2, group[1] + float(y), text))
        elif x and 'font-size="11"' in attributes:
            found.append((float(x), float(x) + 6 * len(text), group[1] + float(y), text))
    return found


def overlaps(svg):
    texts = texts_of(svg)
    return [(one[3], other[3]) for number, one in enumerate(texts) for other in texts[:number]
            if abs(one[2] - other[2]) < 10 and one[0] < other[1] and other[0] < one[1]]


def test_a_legend_leaves_the_title_of_its_axis_free():
    """The legend does so with any number of names, and with names of any length."""
    for names in range(12):
        for wide in (3, 20, 60):
            panel = picture.Panel("title", (0, 10), "a title of many words below its axis", (0, 1), "y")
            for number in range(names):
                panel.line([(0, 0), (10, 1)], number % len(picture.COLORS), f"{number:0{wide}}")
            svg = picture.render([panel, picture.Panel("next", (0, 1), "x", (0, 1), "y")], ["caption"])
            assert overlaps(svg) == [], (names, wide)
            assert all(f">{number:0{wide}}</text>" in svg for number in range(names))


PICTURES = sorted(path for folder in ("lab", "quotas", "quotas-full") for path in (page.DOCS / folder).glob("*.svg"))


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_words_of_a_picture_overlap(path):
    assert overlaps(path.read_text(encoding="utf-8")) == []


OUTCOMES = {"short": "short.jsonl", "full": "full.jsonl.xz"}


@pytest.mark.parametrize("form", OUTCOMES)
def test_pictures_of_quotas_are_of_the_outcomes(form):
    """lab/quotas/figures makes these pictures again."""
    found = results.Results(plan.FORMS[form], engine.outcomes(LAB / "quotas" / OUTCOMES[form]))
    for name, text in quota_pictures.all_of(found, results.of_mean).items():
        path = page.DOCS / quota_page.FOLDERS[form] / f"{name}.svg"
        assert path.read_text(encoding="utf-8") == text, f"{path}: run lab/quotas/figures"


def test_panels_of_time_begin_at_one_edge():
    for machine in record.records("timeslices"):
        panels = record.experiment("timeslices").picture(recorded("timeslices", machine)["data"])
        assert len({panel.left for panel in panels}) == 1


def test_the_page_has_each_machine_s_figures():
    """With the machine's own number of each `505 / 314`, a row is the conclusion on that machine. No letter stands for
    a number."""
    text, rows = (page.DOCS / "lab.md").read_text(encoding="utf-8"), 0
    for name, experiment, machines in page.everything():
        section = text.partition(f"\n## {experiment.TITLE}\n")[2].partition("\n## ")[0]
        table = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]
        assert len(table) == len(machines[0][2])
        for row, claims in zip(table, zip(*(claims for _, _, claims in machines))):
            for n, (cell, claim) in enumerate(zip(row[1:], claims, strict=True)):
                number = r"-?\d[\d,.]*(?<=\d)"
                own = re.sub(rf"{number} / {number}", lambda both: both[0].split(" / ")[n], row[0])
                assert (own, cell) == (claim.sentence, "holds" if claim.holds else "**does not hold**")
                rows += 1
    assert not re.search(r"\*[a-z]\*", text)
    assert rows > 100


def test_conclusions_in_common_differ_in_numbers():
    """Conclusions that differ only in numbers get a common sentence. If their words differ, each has its own
    sentence."""
    assert page.in_common(["1,024 of 3 in 1.5 us", "2 of 3 in 1.5 us"]) == ("1,024 / 2 of 3 in 1.5 us", ["", ""])
    assert page.in_common(["1, 2", "1, 2"]) == ("1, 2", ["", ""])
    assert page.in_common(["one 1", "two 1"]) == ("", ["one 1", "two 1"])


def test_a_replay_says_so():
    done = subprocess.run([LAB / "run", "--replay", "timeslices"], capture_output=True, text=True, timeout=60, check=True)
    assert "replay of what was measured on" in done.stdout and "no GPU was used" in done.stdout


def test_a_broken_rule_ends_the_replay_with_1(tmp_path):
    shutil.copytree(LAB, tmp_path / "lab", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "docs").mkdir()
    path = tmp_path / "lab/timeslices/h100-580.159.04.json"
    one = json.loads(path.read_text(encoding="utf-8"))
    one["data"]["timeslice_us"] = [1024, 1024]
    path.write_text(json.dumps(one), encoding="utf-8")
    done = subprocess.run([tmp_path / "lab/run", "--replay", "timeslices"], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 1 and "FAIL  timeslice" in done.stdout
    assert "R4,Hopper,h100-580.159.04,does not hold" in (tmp_path / "lab/evidence.csv").read_text(encoding="utf-8")


@pytest.mark.ci
def test_clang_makes_the_same_kernels(tmp_path):
    subprocess.run([LAB / "kernels/make", tmp_path], check=True, timeout=60)
    # Every driver since 2017 translates the first version, for every GPU since Pascal.
    for name, head in (("kernels", ".version 6.0\n.target sm_60\n"), ("tensor", ".version 6.3\n.target sm_70\n")):
        made = (tmp_path / f"{name}.ptx").read_text(encoding="utf-8")
        assert made == (LAB / f"kernels/{name}.ptx").read_text(encoding="utf-8"), "run 'lab/kernels/make'"
        assert made.startswith(head)


def test_an_instrument_explains_refusals():
    program = paths.ROOT / "build/cmake/lab/instruments/instrument"

    def asked(*words):
        return subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=False)
    usage = asked()
    assert usage.returncode == 1 and all(f"  {name} " in usage.stderr for name in ("exec", "streams", "copies"))
    wrong = asked("exec", "fast")
    assert (wrong.returncode, wrong.stdout, wrong.stderr) == (1, "", "instrument: 'fast' is not NAME=VALUE\n")


def test_spans_are_merged_cut_and_counted():
    assert spans.merged([(5, 6), (0, 2), (1, 3)]) == [(0, 3), (5, 6)]
    assert spans.merged([(0, 2), (4, 5)], gap=2) == [(0, 5)]
    assert spans.common([(0, 3), (5, 9)], [(2, 6), (8, 10)]) == [(2, 3), (5, 6), (8, 9)]
    assert spans.cut([(0, 4)], 1, 2) == [(1, 2)]
    assert spans.turns({"a": [(0, 1), (2, 3)], "b": [(4, 5)]}) == [(0, 3, "a"), (4, 5, "b")]
    assert (spans.total([(0, 2), (3, 4)]), spans.median([3, 1, 2]), spans.part([1, 2, 3, 4], 0.5)) == (3, 2, 3)


def test_ticks_are_round_numbers():
    assert ticks(0, 10) == [0, 2, 4, 6, 8, 10]
    assert len(ticks(0, 123_456)) in range(3, 8)
