# SPDX-License-Identifier: MIT OR GPL-2.0
"""Runs nvstgm, and checks its documents against their schemas."""

import json
import pathlib
import re
import subprocess

import building
import ctl
import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "tools/nvstgm/schema"
PATIENCE_S = 60


def nvstgm(*words, stdin=""):
    done = subprocess.run([building.built("bin/nvstgm"), *map(str, words)], input=stdin, check=False,
                          capture_output=True, text=True, timeout=PATIENCE_S)
    return ctl.Result(done.returncode, done.stdout, done.stderr)


def document(result):
    """Returns the document's data, after a check against its schema."""
    found = json.loads(result.out)
    schema = json.loads((SCHEMAS / (found["schema"].replace("/", ".") + ".json")).read_text(encoding="utf-8"))
    jsonschema.validate(found, schema, jsonschema.Draft202012Validator)
    return found["data"]


def responses(result):
    return {task["name"]: task["response"] for task in document(result)["tasks"]}


def check(taskset, *words):
    return nvstgm("check", "-", *words, stdin=json.dumps(taskset))


def names_of_curves(picture):
    """Returns the height and the name of each curve. The letters of names are smaller than those of the axes."""
    return [(float(y), name) for y, name in
            re.findall(r'<text x="[\d.]+" y="([\d.]+)" font-size="12">([^<]*)</text>', picture)]


def check_names_of_curves(picture):
    bottom = float(re.search(r'y="([\d.]+)"[^>]*>0 %</text>', picture)[1])
    names = names_of_curves(picture)
    heights = sorted(y for y, _ in names)
    assert len(names) > 5 and not any("_" in name for _, name in names) and len({name for _, name in names}) == len(names)
    assert heights[-1] <= bottom, "the labels of the axis are below"
    assert all(b - a >= 14.9 for a, b in zip(heights, heights[1:]))
