#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0
"""Prints the tables of the benchmark from records, and draws its picture.

    table.py RECORD... [--picture FILE.svg] [--page FILE.md]

A record is a file of tests/hardware/qos_llm.py, or of another system (schema.json beside this file; checked if
python3-jsonschema is installed). It may be compressed by xz. With --page the tables replace what is between the lines
`<!-- figures -->` and `<!-- end of figures -->` of a page, folded, and the answer what is between those of `answer`. The answer
has the ways that a record has at two loads or more beside training. The picture is of the record with the most loads.
"""

import argparse
import dataclasses
import itertools
import json
import lzma
import pathlib
import re
import sys
from collections.abc import Callable

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))

# pylint: disable=wrong-import-position
from nvdlab import picture  # noqa: E402
from nvdlab.llm import cells, figures  # noqa: E402

SCHEMA = pathlib.Path(__file__).with_name("schema.json")
NAMES = {"none": "alone", "train": "training", "diffusion": "a diffusion model", "long": "kernels of 10 ms",
         "engine": "a second engine", "sleep": "a stand-in"}
COLUMNS = ("TTFT p50, p99 (ms)", "TPOT p50, p99 (ms)", "gap p99 (ms)", "attained at 1.1, 1.25, 1.5, 2 × alone", "tokens/s",
           "neighbour: of alone, of the rest", "outside, inside", "bits")
METHOD = ("In parentheses behind a 99th percentile is an interval of 90 % by order statistics over the requests of all seeds, which count as "
          "independent; a dash is an end beyond the smallest or largest request.")


class Wrong(Exception):
    """A record cannot be used. The message is a sentence."""


def load(path):
    """Returns a record. Raises Wrong."""
    try:
        data = pathlib.Path(path).read_bytes()
        found = json.loads(lzma.decompress(data) if str(path).endswith(".xz") else data)
    except (OSError, ValueError, lzma.LZMAError) as error:
        raise Wrong(f"{path} cannot be read: {error}") from None
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError:
        jsonschema = None
    if jsonschema:
        try:
            jsonschema.validate(found, json.loads(SCHEMA.read_text(encoding="utf-8")))
        except jsonschema.ValidationError as error:
            where = "/".join(map(str, error.absolute_path)) or "its top"
            raise Wrong(f"{path} is no record: at {where}, {error.message[:300]}; lab/nvdlab/llm/schema.json has the rules") from None
    return found


# --- figures of several cells ---

def pooled(found, of_alone, per_s_alone):
    """Returns the figures of the cells of one row, load and kind of arrivals, over all seeds.

    @param of_alone are the cells of the row alone with the same load, arrivals and seeds
    """
    asked = [request for cell in found for request in cell["requests"]]
    times, alone = figures.times(asked), figures.times([request for cell in of_alone for request in cell["requests"]])
    made = {"seeds": len(found), "counted": sum(request["counted"] for request in asked),
            "failed": sum(request["counted"] and not figures.is_done(request) for request in asked)}
    for key in ("ttft", "tpot", "gap"):
        made[key] = {"p50": figures.percentile(times[key], 0.5), "p99": figures.percentile(times[key], 0.99),
                     "between": figures.interval(times[key], 0.99)}
    made["attained"] = figures.attainment(asked, alone)
    made["tokens_per_s"] = sum(figures.tokens_per_s(cell["requests"]) for cell in found) / len(found)
    made["idle"], made["rate"] = mean(figures.idle(cell["requests"]) for cell in found), mean(cell["rate"] for cell in found)
    made["captures"] = sum(cell.get("captures") or 0 for cell in found)
    if per_s_alone:
        parts = [figures.neighbour(cell["steps"], cell["requests"], cell.get("alone_per_s") or per_s_alone) for cell in found]
        made["neighbour"] = {key: mean(part[key] for part in parts if part) for key in ("per_s", "of_alone", "outside", "inside")}
        rest = mean(figures.idle(cell["requests"]) for cell in of_alone)
        of_alone_speed = made["neighbour"]["of_alone"]
        made["neighbour"]["of_rest"] = of_alone_speed / rest if rest and of_alone_speed is not None else None
    mine, other = ([cell["bits"] for cell in some if cell.get("bits")] for some in (found, of_alone))
    made["bits"] = ("equal" if set(mine) == set(other) else "different") if mine and other and found != of_alone else None
    return made


def mean(values):
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def groups(record):
    """Returns [(row, neighbour, load, arrivals), the figures] of a record, in the order of the rows; refused rows have only that."""
    usable = [cell for cell in record["cells"] if not cell.get("crash")]
    keys = {(cell["row"], cell["neighbour"], cell["load"], cell["arrivals"]): None for cell in usable}
    order = [*cells.BY_NAME, *(key[0] for key in keys if key[0] not in cells.BY_NAME)]
    found = []
    for key in sorted(keys, key=lambda key: (list(NAMES).index(key[1]), key[3] != "poisson", key[2], order.index(key[0]))):
        mine = [cell for cell in usable if (cell["row"], cell["neighbour"], cell["load"], cell["arrivals"]) == key]
        if refused := [cell["refused"] for cell in mine if cell.get("refused")]:
            found.append((key, {"refused": refused[0]}))
            continue
        seeds = {cell["seed"] for cell in mine}
        alone = [cell for cell in usable if (cell["row"], cell["load"], cell["arrivals"]) == ("alone", *key[2:]) and cell["seed"] in seeds]
        per_s = record["neighbours"].get(key[1], {}).get("per_s")
        found.append((key, pooled(mine, alone, per_s)))
    return found


def title(record, row):
    return record.get("rows", {}).get(row) or (cells.BY_NAME[row].title if row in cells.BY_NAME else row)


# --- Markdown ---

def number(value, places=1):
    return "–" if value is None else f"{value:.{places}f}"


def percent(value):
    return "–" if value is None else f"{100 * value:.1f} %"


def with_interval(found):
    low, high = found["between"]
    return f"{number(found['p50'])}, {number(found['p99'])} ({number(low)} to {number(high)})"


def line(record, key, made):
    name = title(record, key[0])
    if "refused" in made:
        return f"| {name} | refused: {made['refused']} |" + " |" * (len(COLUMNS) - 1)
    neighbour, attained = made.get("neighbour"), made["attained"]
    marks = "".join(f" ({made[what]} {what})" for what in ("failed", "captures") if made[what])
    return "| " + " | ".join((
        name + marks, with_interval(made["ttft"]), with_interval(made["tpot"]), number(made["gap"]["p99"]),
        ", ".join(percent(attained[scale]).removesuffix(" %") for scale in attained) + " %" if attained else "–",
        number(made["tokens_per_s"], 0),
        f"{percent(neighbour['of_alone'])}, {percent(neighbour['of_rest'])}" if neighbour else "",
        f"{percent(neighbour['outside'])}, {percent(neighbour['inside'])}" if neighbour else "", made["bits"] or "–")) + " |"


def crashes(record):
    """Returns the lines of the table of crashes."""
    lines = []
    for cell in record["cells"]:
        if crash := cell.get("crash"):
            after = [one for one in cell["requests"] if one["counted"] and one["due"] > crash["at"]]
            done = [one for one in after if figures.is_done(one)]
            lines.append(f"| {title(record, cell['row'])} | {cells.CRASHES.get(crash['how'], crash['how'])} | {crash['engine']} | "
                         f"{len(done)} of {len(after)} | {number(figures.percentile([figures.ttft_ms(one) for one in done], 0.99))} |")
    head = ["", "| way | what happens | the engine | later requests done | their TTFT p99 (ms) |", "|---|---|---|---|---|"]
    return [*head, *lines] if lines else []


def markdown(record):
    """Returns the tables of a record as text."""
    return f"{tables(record)}\n{METHOD}\n"


def tables(record):
    """Returns the tables of a record as text, without a word on their intervals."""
    system, options, calibration = record["system"], record["options"], record["calibration"]
    lines = [f"**{system['name']}** {system['version']} ({system['source']}), {record['gpu']}. Engine: {record['engine']['engine']}, shape "
             f"{record['engine']['shape'] or 'not known'}, prompts of {options['prompt']} tokens, outputs of {options['output'][0]} to "
             f"{options['output'][1]}; a request takes {1000 * calibration['request_s']:.1f} ms alone, and the engine makes at most "
             f"{calibration['most_per_s']:.1f} a second."]
    found = groups(record)
    alone = {key[2:]: made for key, made in found if key[0] == "alone"}
    for kind, some in itertools.groupby([one for one in found if one[0][1] != "none"], lambda one: one[0][1:]):
        some, (neighbour, load_percent, arrivals) = list(some), kind
        counted = next((made["counted"] for _, made in some if "counted" in made), 0)
        speed = record["neighbours"].get(neighbour, {}).get("per_s")
        lines += ["", f"Beside {NAMES[neighbour]} ({number(speed)} steps/s alone), load {load_percent} %"
                  + (f" ({percent(1 - alone[kind[1:]]['idle'])} alone)" if kind[1:] in alone else "")
                  + f", {number(mean(made.get('rate') for _, made in some))} requests/s"
                  + (", bursts" if arrivals == "bursts" else "") + f", {counted} requests:", "",
                  f"| way | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
        if kind[1:] in alone:
            lines.append(line(record, ("alone",), alone[kind[1:]]))
        lines += [line(record, key, made) for key, made in some]
    return "\n".join([*lines, *crashes(record)]) + "\n"


# --- the answer ---

@dataclasses.dataclass(frozen=True)
class Measure:
    """A figure of the answer. `of` takes the figures of a way and of the row alone. `goal` is the largest value that keeps the goal, or
    the smallest one if `is_least`."""

    title: str
    of: Callable
    goal: float
    is_least: bool = False

    def value(self, made, alone):
        """Returns the figure; None: a part of it is missing."""
        try:
            return self.of(made, alone)
        except (TypeError, KeyError, ZeroDivisionError):
            return None

    def word(self, value):
        """Returns a value as text, in bold if it keeps the goal."""
        if value is None:
            return "–"
        text = f"{100 * value:.1f}" if self.is_least else change(value)
        return f"**{text}**" if (value >= self.goal if self.is_least else value <= self.goal) else text

    def promise(self):
        return f"≥ {100 * self.goal:g}" if self.is_least else f"≤ {100 * self.goal - 100:+g}"


def change(ratio):
    """Returns by how many percent a figure is above alone, or how many times alone it is from twice on."""
    return f"{ratio:.1f} ×" if ratio >= 2 else f"{round(100 * ratio - 100, 1) + 0.0:+.1f}"


TTFT = Measure("TTFT p99", lambda made, alone: made["ttft"]["p99"] / alone["ttft"]["p99"], 1.05)
TPOT = Measure("TPOT p99", lambda made, alone: made["tpot"]["p99"] / alone["tpot"]["p99"], 1.04)
OF_REST = Measure("training, of the rest", lambda made, _: made["neighbour"]["of_rest"], 0.95, is_least=True)
MEASURES = (TTFT, Measure("TPOT p50", lambda made, alone: made["tpot"]["p50"] / alone["tpot"]["p50"], 1.02), TPOT,
            Measure("attained at 1.25", lambda made, _: made["attained"]["1.25"], 0.99, is_least=True), OF_REST)


def beside_training(record):
    """Returns the figures of the ways beside training, {row: {load: figures}}, and of the row alone, {load: figures}."""
    ways, alone = {}, {}
    for (row, neighbour, load_percent, arrivals), made in groups(record):
        if arrivals == "poisson" and "refused" not in made:
            if row == "alone":
                alone[load_percent] = made
            elif neighbour in ("train", "sleep"):
                ways.setdefault(row, {})[load_percent] = made
    return ways, alone


def short_name(record):
    """Returns the engine and the GPU of a record in a few words."""
    return ", ".join(re.split("[:,]", part)[0] for part in (record["engine"]["engine"], record["gpu"]))


def answer(records):
    """Returns a table of the ways that were measured at two loads or more."""
    lines = ["| | way | " + " | ".join(f"{measure.title} (%)" for measure in MEASURES) + " |", "|---" * (len(MEASURES) + 2) + "|",
             "| | goal | " + " | ".join(measure.promise() for measure in MEASURES) + " |"]
    for record in records:
        ways, alone = beside_training(record)
        loads = sorted(alone)
        name = f"{short_name(record)}; loads of {', '.join(map(str, loads))} %"
        for row, by_load in ways.items():
            if len(by_load) > 1:
                words = (", ".join(measure.word(measure.value(by_load.get(one), alone[one])) for one in loads) for measure in MEASURES)
                lines.append(f"| {name} | {title(record, row)} | {' | '.join(words)} |")
                name = ""
    return "\n".join(lines) + "\n"


# --- the page ---

def folded(record):
    """Returns the tables of a record behind a line that opens them."""
    counted = max(sum(request["counted"] for request in cell["requests"]) for cell in record["cells"])
    return (f"<details>\n<summary>{short_name(record)}; {len(record['cells'])} cells of {counted} requests, "
            f"commit {record.get('program', 'not known')}</summary>\n\n{tables(record)}\n</details>\n")


def page(text, records):
    """Returns the text of a page with the answer and the tables of the records in their places. Raises Wrong."""
    for name, made in (("answer", answer(records)), ("figures", "\n".join(map(folded, records)))):
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, found, rest = text.partition(begin)
        _, ended, after = rest.partition(end)
        if not found or not ended:
            raise Wrong(f"the page has no lines '{begin.strip()}' and '{end}'")
        text = f"{before}{begin}\n{made}\n{end}{after}"
    return text


# --- the picture ---

def drawn(records):
    """Returns an SVG of the record with the most loads: for each load the 99th percentile of TTFT and TPOT against alone, and the
    neighbour's part of the rest."""
    record, (ways, alone) = max(((record, beside_training(record)) for record in records), key=lambda found: len(found[1][1]))
    panels = []
    for name, measure, wide in (("TTFT, 99th percentile, against alone", TTFT, 5), ("TPOT, 99th percentile, against alone", TPOT, 5),
                                ("the neighbour's speed, against the time that the engine leaves", OF_REST, 1.5)):
        points = {row: [(one, found) for one, made in by_load.items() if one in alone
                        and (found := measure.value(made, alone[one])) is not None] for row, by_load in ways.items()}
        highest = max([1.2, *(found for each in points.values() for _, found in each)])
        panel = picture.Panel(name, (0, 100), "load: part of the time with a request, alone (%)", (0, min(wide, highest * 1.05)), height=150)
        panel.line([(0, 1), (100, 1)], 7, dashes="4 4")
        for color, row in enumerate(points):
            shown = [(load_percent, min(found, wide)) for load_percent, found in points[row]]
            if shown:
                panel.line(shown, color % 7)
                panel.dots(shown, color % 7, row)
        panels.append(panel)
    return picture.render(panels, [f"{record['system']['name']}, {record['gpu'].split(',')[0]}: an LLM engine beside training",
                                   f"{record['engine']['engine']}; dots at the upper edge are larger"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", metavar="RECORD")
    parser.add_argument("--picture", metavar="FILE.svg", type=pathlib.Path)
    parser.add_argument("--page", metavar="FILE.md", type=pathlib.Path)
    options = parser.parse_args()
    try:
        records = [load(path) for path in options.records]
        if options.page:
            options.page.write_text(page(options.page.read_text(encoding="utf-8"), records), encoding="utf-8")
        else:
            print("\n".join(markdown(record) for record in records), end="")
        if options.picture:
            options.picture.write_text(drawn(records), encoding="utf-8")
    except (Wrong, OSError) as error:
        sys.exit(f"table.py: {error}")


if __name__ == "__main__":
    main()
