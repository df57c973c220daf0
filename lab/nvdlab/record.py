# SPDX-License-Identifier: MIT OR GPL-2.0
"""Finds experiments, lab/NAME/experiment.py, and their measured data, lab/NAME/CARD-DRIVER.json."""

import importlib.util
import json
import pathlib

from nvdlab.machine import gpu, program

LAB = pathlib.Path(__file__).resolve().parents[1]


def names():
    return sorted(path.parent.name for path in LAB.glob("*/experiment.py"))


def experiment(name):
    spec = importlib.util.spec_from_file_location(f"lab_{name.replace('-', '_')}", LAB / name / "experiment.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def records(name):
    """Returns the paths of an experiment's data, by machine, such as h100-580.159.04."""
    return {path.stem: path for path in sorted((LAB / name).glob("*-*.json"))}


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def _rounded(value):
    if isinstance(value, float):
        return round(value, 1) if abs(value) >= 100 else float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(each) for each in value]
    return value


def lines(value, depth):
    """Returns VALUE as JSON with a line for each item of the outer DEPTH levels."""
    if depth and isinstance(value, dict) and value:
        return "{" + ",\n".join(f"{json.dumps(key)}: {lines(each, depth - 1)}" for key, each in value.items()) + "}"
    if depth and isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        return "[\n" + ",\n".join(lines(each, depth - 1) for each in value) + "]"
    return json.dumps(value, separators=(",", ":"))


def rows(value, indent=0):
    """Returns VALUE as JSON in which records have a line each, so that a diff shows a change.

    A value is divided into lines if it is longer than 120 columns and has parts that have parts of their own.
    """
    flat = json.dumps(value)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if indent + len(flat) <= 120 or not any(isinstance(part, (dict, list)) for part in parts):
        return flat
    pad = "\n" + " " * (indent + 1)
    items = ([f"{json.dumps(key)}: {rows(part, indent + 1)}" for key, part in value.items()]
             if isinstance(value, dict) else [rows(part, indent + 1) for part in value])
    first, last = "{}" if isinstance(value, dict) else "[]"
    return first + pad + ("," + pad).join(items) + pad[:-1] + last


def write(path, found):
    """Writes the data of a measurement of tests/hardware at once, with the program and the GPU unless FOUND has them."""
    found = {key: fact() for key, fact in (("program", program), ("gpu", gpu)) if key not in found} | found
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(rows(found) + "\n", encoding="utf-8")
    part.replace(path)


def text(record):
    return lines(_rounded(record), 3) + "\n"


def machine(record):
    """Returns the GPU's model and the driver's version, such as h100-580.159.04."""
    name = record["gpu"].removeprefix("NVIDIA ").split()
    return f"{'-'.join(name[:2] if name[0] in ('GeForce', 'Tesla', 'Quadro') else name[:1]).lower()}-{record['driver']}"
