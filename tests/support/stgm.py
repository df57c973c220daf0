# SPDX-License-Identifier: MIT OR GPL-2.0
"""nvstgm, and its documents held against their schemas."""

import json
import pathlib
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
    """The document, held against its schema."""
    found = json.loads(result.out)
    schema = json.loads((SCHEMAS / (found["schema"].replace("/", ".") + ".json")).read_text(encoding="utf-8"))
    jsonschema.validate(found, schema, jsonschema.Draft202012Validator)
    return found["data"]


def responses(result):
    return {task["name"]: task["response"] for task in document(result)["tasks"]}


def check(taskset, *words):
    return nvstgm("check", "-", *words, stdin=json.dumps(taskset))
